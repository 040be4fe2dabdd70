"""ringdeal run prepares the environment and becomes the target program."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from conftest import BINARY, ringdeal

PRELOAD = "DYLD_INSERT_LIBRARIES" if sys.platform == "darwin" else "LD_PRELOAD"
LIBRARY_NAME = "libringdeal-preload." + ("dylib" if sys.platform == "darwin" else "so")


@pytest.fixture
def library(tmp_path):
    """Stands for the shim, so that the command can be tried alone."""
    compiler = shutil.which("cc") or shutil.which("c++")
    assert compiler, "a C compiler builds the stand-in"
    path = tmp_path / LIBRARY_NAME
    subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", path], check=True)
    return path


def run(library, *arguments, **environment):
    done = ringdeal("run", *arguments,
                    environment={"RINGDEAL_PRELOAD_LIBRARY": str(library), **environment})
    return done


def variables(done):
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def test_only_what_was_asked_for_is_set(library):
    seen = variables(run(library, "--", "env"))
    assert seen[PRELOAD] == str(library)
    ours = {name for name in seen if name.startswith("RINGDEAL_")} - set(os.environ)
    assert ours == {"RINGDEAL_PRELOAD_LIBRARY"}


def test_options_become_variables(library):
    seen = variables(run(library, "--control", "/run/x.sock", "--require", "--cpus", "0-3,8",
                         "--weight", "3", "--", "env"))
    assert seen["RINGDEAL_CONTROL"] == "/run/x.sock"
    assert seen["RINGDEAL_REQUIRE"] == "1"
    assert seen["RINGDEAL_CPUS"] == "0-3,8"
    assert seen["RINGDEAL_WEIGHT"] == "3"


def test_an_existing_preload_is_kept_and_ours_is_not_added_twice(library, tmp_path):
    other = tmp_path / "other.so"
    shutil.copy(library, other)
    both = f"{other}:{library}"
    for existing in (str(other), both):
        # The sanitizer of a sanitized command would insist on being first there.
        environment = {PRELOAD: existing, "ASAN_OPTIONS": "verify_asan_link_order=0"}
        assert variables(run(library, "--", "env", **environment))[PRELOAD] == both


@pytest.mark.parametrize("command", [["[", "a", "=", "a", "]"], ["sh", "-c", "exit 7"],
                                     ["sh", "-c", 'exit $#', "--", "--help", "--", "spread"]])
def test_the_command_is_passed_on_as_it_is(library, command):
    expected = subprocess.run(command).returncode
    assert run(library, "--", *command).returncode == expected


def test_the_target_program_has_the_same_process(library):
    process = subprocess.Popen([BINARY, "run", "--", "sh", "-c", "echo $$"], text=True,
                               stdout=subprocess.PIPE,
                               env={**os.environ, "RINGDEAL_PRELOAD_LIBRARY": str(library)})
    assert int(process.communicate()[0]) == process.pid


def test_a_command_that_does_not_exist_is_127(library):
    done = run(library, "--", "no-such-command-here")
    assert done.returncode == 127
    assert done.stderr.splitlines()[-1].startswith("ringdeal run: cannot run no-such-command-here:")


def test_a_command_that_cannot_be_executed_is_126(library, tmp_path):
    file = tmp_path / "file"
    file.write_text("#!/bin/sh\n")
    assert run(library, "--", str(file)).returncode == 126


@pytest.mark.parametrize("arguments", [(), ("--",), ("--no-such-option", "--", "env"),
                                       ("env",), ("--weight", "0", "--", "env")])
def test_a_wrong_command_line_is_usage(library, arguments):
    assert run(library, *arguments).returncode == 100


def test_without_the_shim_nothing_is_run(tmp_path):
    done = run(tmp_path / "none.so", "--", "env")
    assert (done.returncode, done.stdout) == (111, "")
    assert done.stderr.count("\n") == 1 and LIBRARY_NAME in done.stderr


def test_a_path_that_the_loader_would_split_is_refused(library, tmp_path):
    spaced = tmp_path / "a b.so"
    shutil.copy(library, spaced)
    assert run(spaced, "--", "env").returncode == 111


@pytest.mark.parametrize("folder", ["lib/ringdeal", "client-shim"])
def test_the_shim_is_found_beside_the_binary(library, tmp_path, folder):
    tree = tmp_path / "tree"
    (tree / "bin").mkdir(parents=True)
    (tree / folder).mkdir(parents=True)
    shutil.copy(BINARY, tree / "bin" / "ringdeal")
    shutil.copy(library, tree / folder / LIBRARY_NAME)
    environment = {name: value for name, value in os.environ.items()
                   if name != "RINGDEAL_PRELOAD_LIBRARY"}
    # Also through a symbolic link elsewhere.
    link = tmp_path / "ringdeal"
    link.symlink_to(tree / "bin" / "ringdeal")
    done = subprocess.run([link, "run", "--", "env"], capture_output=True, text=True,
                          env=environment)
    found = pathlib.Path(variables(done)[PRELOAD])
    assert found == (tree / folder / LIBRARY_NAME).resolve()
