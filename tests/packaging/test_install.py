"""What is installed is all there, finds itself, and can be compiled against."""

import os
import subprocess

import pytest

# Ends with 0 if the library works as far as it can where nobody listens.
PROGRAM = """\
#include <errno.h>
#include <ringdeal/ringdeal.h>

int main(void) {
  ringdeal_options options = {.size = sizeof(options), .listener = "web",
                              .control_path = "/nowhere/control.sock"};
  return ringdeal_join(&options) != NULL || errno != ECONNREFUSED;
}
"""


@pytest.mark.parametrize("name", ["sbin/ringdeald", "bin/ringdeal"])
def test_programs_say_their_version(installed, name):
    run = subprocess.run([installed.path(name), "--version"], capture_output=True, text=True, check=True)
    assert "0.1.0" in run.stdout


def test_shim_lies_where_the_command_looks_for_it(installed):
    shim = installed.only("libringdeal-preload.so")
    assert shim.parent.name == "ringdeal"
    run = subprocess.run(
        [installed.path("bin/ringdeal"), "run", "--control", "/nowhere/control.sock", "--",
         "/usr/bin/env"],
        capture_output=True, text=True, check=True,
    )
    environment = dict(line.split("=", 1) for line in run.stdout.splitlines() if "=" in line)
    assert os.path.samefile(environment["LD_PRELOAD"], shim)


def test_c_program_compiles_against_the_package(installed, tmp_path):
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM)
    environment = {
        **os.environ,
        "PKG_CONFIG_PATH": str(installed.only("ringdeal.pc").parent),
        "PKG_CONFIG_SYSROOT_DIR": str(installed.root),
    }
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "ringdeal"],
        env=environment, capture_output=True, text=True, check=True,
    ).stdout.split()
    compiled = subprocess.run(
        ["gcc", "-Wall", "-Werror", source, "-o", program, *flags], capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    library_directory = installed.only("libringdeal.so.*").parent
    subprocess.run([program], env={"LD_LIBRARY_PATH": str(library_directory)}, check=True)


@pytest.mark.parametrize(
    "name", ["ringdeal.minimal.yaml", "ringdeal.full.yaml", "ringdeal.adopted.yaml",
             "ringdeal.instance.yaml"])
def test_sample_configuration_is_there(installed, name):
    assert installed.only(name).parent.name == "examples"


@pytest.mark.parametrize("name", [
    "ringdeal.service", "ringdeald@.service", "ringdeal.socket", "ringdeal-app.socket"])
def test_unit_is_where_systemd_looks(installed, name):
    assert installed.only(name).parent == installed.path("lib/systemd/system")


@pytest.mark.parametrize("page", ["man1/ringdeal.1", "man3/ringdeal.3", "man5/ringdeal.yaml.5", "man8/ringdeald.8"])
def test_manual_page_is_where_man_looks(installed, page):
    assert installed.path(f"share/man/{page}").is_file()


@pytest.mark.parametrize("command", ["ringdeal", "ringdeald"])
def test_bash_finds_its_completion_by_the_command(installed, command):
    assert "complete -F" in installed.path(f"share/bash-completion/completions/{command}").read_text()


@pytest.mark.parametrize("name", ["preload.conf", "nginx.conf", "php-fpm.conf", "gunicorn.conf"])
def test_drop_in_names_the_installed_shim(installed, name):
    shim = "/" + str(installed.only("libringdeal-preload.so").relative_to(installed.root))
    assert f"Environment=LD_PRELOAD={shim}\n" in installed.only(name).read_text()
