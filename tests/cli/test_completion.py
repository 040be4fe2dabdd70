"""Completion in real shells: subcommands, options, and the names of listeners."""
import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

from support import build
from support.fixtures import directory, start_daemon  # noqa: F401

COMPLETION = build.SOURCE / "cli/completion"


@pytest.fixture
def environment(tmp_path):
    """Both commands on the path, as installed."""
    for program in (build.COMMAND, build.DAEMON):
        (tmp_path / program.name).symlink_to(program)
    return {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "dumb"}


def completed(environment, *words):
    """What bash offers for the last word."""
    script = """source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_ringdeal "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; printf '%s\\n' "${COMPREPLY[@]}" """
    return set(subprocess.run(["bash", "-c", script, COMPLETION / "ringdeal.bash", *words], capture_output=True,
                              text=True, check=True, env=environment).stdout.split())


def help_of(environment, *command):
    return subprocess.run([*command, "--help"], capture_output=True, text=True, check=True, env=environment).stdout


def test_bash_offers_all_that_the_help_names(environment):
    subcommands = set(re.findall(r"^  ([a-z]+)  ", help_of(environment, "ringdeal").partition("Subcommands:")[2], re.M))
    assert len(subcommands) > 10 and completed(environment, "ringdeal", "") == subcommands
    assert completed(environment, "ringdeal", "un") == {"undrain"}
    for name in subcommands:
        options = set(re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", help_of(environment, "ringdeal", name), re.M))
        assert "--help" in options and completed(environment, "ringdeal", name, "--") == options
    assert "--check" in completed(environment, "ringdeald", "--")


def test_bash_offers_programs_after_the_dashes(environment):
    assert "bash" in completed(environment, "ringdeal", "run", "--", "bas")


def test_bash_offers_the_names_of_listeners(environment, start_daemon):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", "name: api, bind: 127.0.0.1:0")
    environment["RINGDEAL_CONTROL"] = daemon.control
    assert completed(environment, "ringdeal", "drain", "--listener", "") == {"web", "api"}
    assert completed(environment, "ringdeal", "top", "--listener", "w") == {"web"}


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh: run scripts/install-dependencies --test")
def test_zsh_completes(environment, tmp_path):
    (tmp_path / "_ringdeal").symlink_to(COMPLETION / "_ringdeal")
    (tmp_path / ".zshrc").write_text(f"fpath=({tmp_path} $fpath); autoload -U compinit; compinit -u -D; "
                                     "PROMPT='prompt: '; unsetopt beep zle_bracketed_paste\n")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("zsh", ["zsh", "-d", "-i"], {**environment, "ZDOTDIR": str(tmp_path)})
    try:
        wait_for(terminal, "prompt: ")
        os.write(terminal, b"ringdeal undr\t")
        wait_for(terminal, "ain")
        os.write(terminal, b"--sl\t")
        wait_for(terminal, "ot")
        os.write(terminal, b"\x15ringdeald --ch\t")
        wait_for(terminal, "eck")
    finally:
        os.close(terminal)
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def wait_for(terminal, text, timeout=20.0):
    seen, deadline = "", time.monotonic() + timeout
    while text not in seen:
        ready, _, _ = select.select([terminal], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"no {text!r} in {seen!r}"
        seen += os.read(terminal, 4096).decode(errors="replace")
