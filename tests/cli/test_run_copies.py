"""ringdeal run --workers: copies of a program, watched as one."""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import termios

import pytest

from conftest import BINARY, PROGRAMS, children_of, parent_of, ringdeal
from support import build
from support.clients import Burst, connect, free_port, get
from support.daemon import Daemon
from support.process import Process
from support.waiting import wait_until

HEEDFUL = [build.PYTHON, pathlib.Path(__file__).parent / "programs" / "heedful.py"]
LONE = PROGRAMS / "lone_server.py"
CPUS = sorted(os.sched_getaffinity(0))


class Run(Process):
    """`ringdeal run --workers N`, and the copies that said that they are ready."""

    def __init__(self, workers, *command, options=(), environment=None, **more):
        self.workers = workers
        super().__init__([BINARY, "run", "--workers", workers, *options, "--", *command],
                         {**os.environ, **(environment or {})}, **more)

    def lines(self, pattern):
        return re.findall(pattern, self.output(), re.MULTILINE)

    def copies(self):
        """Their process numbers, once all are there."""
        def all_of_them():
            found = self.lines(r"^ready (\d+)$")
            return found if len(found) == self.workers else None
        return [int(pid) for pid in wait_until(all_of_them, self.output)]

    def expect(self, pattern, times):
        wait_until(lambda: len(self.lines(pattern)) >= times, self.output)
        assert len(self.lines(pattern)) == times, self.output()


@pytest.fixture
def run():
    started = []

    def start(*arguments, **options):
        started.append(Run(*arguments, **options))
        return started[-1]
    yield start
    for process in started:
        process.kill()


@pytest.fixture
def directory():
    with tempfile.TemporaryDirectory(prefix="ringdeal-") as path:
        yield path


@pytest.fixture
def daemon(directory):
    daemon = Daemon(directory, ["name: web, bind: 127.0.0.1:0"])
    yield daemon
    daemon.stop()


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# --- what they are for

def test_copies_of_a_single_process_server_share_an_owned_address(daemon, run):
    host, port = daemon.address()
    runner = run(3, build.PYTHON, LONE, f"{host}:{port}", options=("--control", daemon.control))
    runner.expect(rf"^{port}$", 3)

    def all_have_accepted():
        with connect((host, port)) as connection:
            get(connection)
        return [each["state"] for each in daemon.workers()] == ["worker"] * 3
    wait_until(all_have_accepted, daemon.status)
    daemon.wait_for(lambda _: all(each["active"] == 0 for each in daemon.workers()))
    with Burst((host, port), 30) as burst:
        spread = burst.spread()
    assert sorted(spread) == children_of(runner.pid)
    assert sorted(spread.values()) == [10, 10, 10]
    runner.signal(signal.SIGTERM)
    assert runner.wait() == 0, runner.output()


def test_copies_that_cannot_share_an_address_say_what_is_missing(directory, run):
    adopting = Daemon(directory)
    try:
        runner = run(2, build.PYTHON, LONE, f"127.0.0.1:{free_port()}",
                     options=("--control", adopting.control))
        assert runner.wait() == 1
        assert runner.lines("ringdeald owns no address: several copies can bind one address only")
    finally:
        adopting.stop()


# --- pinning

def pinned(*arguments, **options):
    """What RINGDEAL_CPUS says and where the copy may run, for each copy."""
    script = ("import os; allowed = ' '.join(map(str, sorted(os.sched_getaffinity(0))));"
              "os.write(1, f'{os.environ[\"RINGDEAL_CPUS\"]} {allowed}\\n'.encode())")
    done = subprocess.run([BINARY, "run", *arguments, "--", build.PYTHON, "-c", script],
                          capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == 0, done.stderr
    return [line.split(" ", 1) for line in done.stdout.splitlines()]


def cpus_of(text):
    parts = (part.split("-") for part in text.split(","))
    return [cpu for part in parts for cpu in range(int(part[0]), int(part[-1]) + 1)]


def test_pinned_copies_run_where_they_say_they_do():
    copies = pinned("--workers", str(len(CPUS)), "--pin")
    for said, allowed in copies:
        assert cpus_of(said) == [int(cpu) for cpu in allowed.split()]
    assert sorted(cpu for said, _ in copies for cpu in cpus_of(said)) == CPUS


def test_pinned_copies_stay_within_what_the_runner_may_use():
    copies = pinned("--workers", "3", "--pin", preexec_fn=lambda: os.sched_setaffinity(0, CPUS[-1:]))
    assert copies == [[str(CPUS[-1])] * 2] * 3


@pytest.mark.parametrize("machine, workers, expected", [
    ("pack:2 core:4 pu:2", 2, ["0-7", "8-15"]),
    ("pack:2 core:2 pu:2", 4, ["0-1", "2-3", "4-5", "6-7"]),
    ("pack:2 core:1 pu:2", 8, ["0", "0", "1", "1", "2", "2", "3", "3"]),
])
def test_copies_are_as_far_from_each_other_as_the_machine_allows(machine, workers, expected):
    copies = pinned("--workers", str(workers), "--pin",
                    env={**os.environ, "HWLOC_SYNTHETIC": machine})
    assert sorted(said for said, _ in copies) == expected


# --- signals

def test_every_signal_reaches_every_copy(run):
    runner = run(3, *HEEDFUL)
    copies = runner.copies()
    for name in ("SIGHUP", "SIGUSR1", "SIGQUIT", "SIGWINCH"):
        runner.signal(getattr(signal, name))
        runner.expect(rf"^\d+ got {name}$", 3)
    runner.signal(signal.SIGTERM)
    assert runner.wait() == 0
    assert {int(pid) for pid in runner.lines(r"^(\d+) got SIGTERM$")} == set(copies)


def test_an_interrupt_from_the_terminal_comes_once():
    """The kernel sends it to the copies as well."""
    terminal, theirs = pty.openpty()

    def own_terminal():
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    runner = subprocess.Popen([BINARY, "run", "--workers", "2", "--", *HEEDFUL], stdin=theirs,
                              stdout=theirs, stderr=theirs, preexec_fn=own_terminal)
    os.close(theirs)
    said = ""

    def read_until(word, times):
        nonlocal said
        while said.count(word) < times:
            assert select.select([terminal], [], [], 30)[0], said
            said += os.read(terminal, 4096).decode()

    read_until("ready", 2)
    os.write(terminal, b"\x1c")  # SIGQUIT, on which heedful lives on
    read_until("got SIGQUIT", 2)
    os.write(terminal, b"\x03")
    read_until("got SIGINT", 2)
    assert runner.wait(30) == 0, said
    while select.select([terminal], [], [], 0)[0]:
        try:
            said += os.read(terminal, 4096).decode()
        except OSError:
            break  # all of it is read
    os.close(terminal)
    assert (said.count("got SIGQUIT"), said.count("got SIGINT")) == (2, 2), said


# --- ends

def test_the_first_failure_ends_the_others_and_is_the_status(run):
    runner = run(3, *HEEDFUL)
    first, *others = runner.copies()
    os.kill(first, signal.SIGUSR2)
    assert runner.wait() == 7
    assert runner.lines(rf"^ringdeal run: process {first} ended with status 7, ending the others$")
    assert {int(pid) for pid in runner.lines(r"^(\d+) got SIGTERM$")} == set(others)


def test_a_copy_that_is_killed_is_128_and_the_signal(run):
    runner = run(2, *HEEDFUL)
    os.kill(runner.copies()[1], signal.SIGKILL)
    assert runner.wait() == 128 + signal.SIGKILL


def test_a_copy_that_succeeds_ends_nobody_and_leaves_no_zombie(run):
    runner = run(2, *HEEDFUL)
    first, second = runner.copies()
    os.kill(first, signal.SIGTERM)
    wait_until(lambda: not pathlib.Path(f"/proc/{first}").exists(), "reaped")
    os.kill(second, signal.SIGHUP)
    runner.expect(r"got SIGHUP$", 1)
    os.kill(second, signal.SIGTERM)
    assert runner.wait() == 0


def test_a_stop_that_was_asked_for_is_told_once_and_is_no_failure_of_ours(run):
    """The first that ends by the signal does not have the others told again."""
    runner = run(3, "sh", "-c", "echo ready $$; exec sleep 60")
    runner.copies()
    runner.signal(signal.SIGTERM)
    assert runner.wait() == 128 + signal.SIGTERM
    assert not runner.lines("ringdeal run")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of the end")
def test_no_copy_outlives_a_runner_that_is_killed(run):
    runner = run(3, *HEEDFUL)
    copies = runner.copies()
    assert all(parent_of(pid) == runner.pid for pid in copies)
    runner.signal(signal.SIGKILL)
    wait_until(lambda: not any(map(alive, copies)), runner.output)


def test_a_parent_that_ignores_its_children_takes_no_status_away(run):
    runner = run(2, "sh", "-c", "exit 5",
                 preexec=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert runner.wait() == 5


def test_copies_start_with_the_signals_that_the_runner_was_given(run):
    script = ("import os, signal; blocked = len(signal.pthread_sigmask(signal.SIG_BLOCK, []));"
              "ignored = signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN;"
              "os.write(1, f'{ignored} {blocked}\\n'.encode())")
    runner = run(2, build.PYTHON, "-c", script,
                 preexec=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert runner.wait() == 0
    assert runner.output().splitlines() == ["True 0"] * 2


@pytest.mark.parametrize("command, status", [("no-such-command-here", 127), ("/etc/passwd", 126)])
def test_a_command_that_cannot_run_is_one_line(command, status):
    done = ringdeal("run", "--workers", 3, "--", command)
    assert (done.returncode, done.stderr.count("\n")) == (status, 1)


@pytest.mark.parametrize("options", [("--workers", "0"), ("--workers", "1025"), ("--pin",),
                                     ("--workers", "-1"), ("--workers", "two"),
                                     ("--workers", "2", "--pin", "--cpus", "0")])
def test_wrong_options_are_usage(options):
    assert ringdeal("run", *options, "--", "true").returncode == 100
