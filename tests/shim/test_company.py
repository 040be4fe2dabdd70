"""The shim beside other libraries that put themselves in front of the C library's functions, before
and after them in the preload list, and in programs that the loader does not let it into."""
import os
import pathlib
import shutil
import subprocess

import pytest

from support import build
from support.clients import Burst
from support.users import NOBODY, become

OTHERS = {"jemalloc": "libjemalloc.so.2", "faketime": "faketime/libfaketime.so.1",
          "faketime, threads": "faketime/libfaketimeMT.so.1"}
WRONG_TIME = {"FAKETIME": "+3d x20", "FAKETIME_NO_CACHE": "1"}


def library(name):
    """The loader's own folder for this machine's architecture."""
    libc = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True)
    folder = next(pathlib.Path(line.split()[-1]).parent for line in libc.stdout.splitlines()
                  if "libc.so.6" in line and "x32" not in line)
    return folder / name


@pytest.fixture(params=["before", "after"])
def preload(request):
    def preload(other):
        both = [str(library(OTHERS[other])), str(build.SHIM)]
        return ":".join(both if request.param == "before" else reversed(both))
    return preload


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("program", [["readiness", "epoll"], ["readiness", "pselect"],
                                     ["many_sets"], ["storm", "fork"], ["storm", "spawn"]],
                         ids=" ".join)
def test_another_preloaded_library_and_it_serves(daemon, run, preload, other, program):
    time = WRONG_TIME if program[0] != "readiness" else {}  # which measures time itself
    served = run(*program, preload=False, LD_PRELOAD=preload(other), **time)
    served.wait_for_line("^ok$", 30)
    assert served.wait() == 0, served.output()


def test_a_program_with_a_wrong_clock_gets_its_share(daemon, run, helpers, preload):
    """What a worker tells of its passes is in ringdeald's time, not in the program's."""
    server = run(build.PYTHON, build.SERVERS / "prefork_server.py", "127.0.0.1:0", "2",
                 preload=False, LD_PRELOAD=preload("faketime"), **WRONG_TIME)
    port = int(server.wait_for_line(r"^(\d+)$").group(1))
    daemon.wait_for_workers(2)
    for _ in range(3):
        with Burst(("127.0.0.1", port), 32) as burst:
            assert sorted(burst.spread().values()) == [16, 16], daemon.status()
        daemon.wait_for(lambda _: all(each["active"] == 0 for each in daemon.workers()))


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
# A forked child has its parent's threads on the books: no thread leak is reported.
@pytest.mark.parametrize("program", [["readiness", "epoll"], ["many_sets"], ["storm", "fork"],
                                     ["storm", "vfork-exec"], ["storm", "spawn"]], ids=" ".join)
def test_a_target_with_a_sanitizer_reports_nothing(daemon, run, sanitizer, program):
    name, *options = program
    runtime = {"address": "libasan.so.8", "thread": "libtsan.so.2"}[sanitizer]
    program = run(f"{name}-{sanitizer}", *options, preload=False,
                  LD_PRELOAD=f"{library(runtime)}:{build.SHIM}",
                  ASAN_OPTIONS="", TSAN_OPTIONS="report_thread_leaks=0")
    program.wait_for_line("^ok$", 60)
    assert program.wait() == 0, program.output()
    assert "Sanitizer" not in program.output()


@pytest.mark.skipif(os.getuid() != 0, reason="needs two users")
def test_a_setuid_program_runs_without_the_shim(daemon, run, helpers, directory):
    server = directory / "server"
    shutil.copy(build.BUILD / "tests" / "shim" / "server", server)
    os.chown(server, 1, 1)
    server.chmod(0o4755)
    process = run(str(server), "poll", preexec=become(NOBODY), RINGDEAL_REQUIRE="1")
    assert int(helpers.ask(helpers.port_of(process))) == process.pid
    assert not daemon.status()["listeners"]
    assert str(build.SHIM) not in pathlib.Path(f"/proc/{process.pid}/maps").read_text()
