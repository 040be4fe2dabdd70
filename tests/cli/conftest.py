"""The ringdeal command and the servers that it is tried on, each ended with its test."""

import json
import os
import pathlib
import socket
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
PROGRAMS = ROOT / "tests" / "programs"
BINARY = os.environ.get("RINGDEAL_BINARY", str(ROOT / "build" / "dev" / "cli" / "ringdeal"))
PATIENCE = 60


def ringdeal(*arguments, environment=None):
    """Runs the command to its end."""
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True,
                          timeout=PATIENCE, env={**os.environ, **(environment or {})})


def spread(address, *arguments, exit_code=0):
    """The JSON of one spread; its parts always add up to the whole."""
    if "--timeout" not in arguments:
        arguments += ("--timeout", PATIENCE / 2)  # the machine may be busy
    done = ringdeal("spread", address, "--json", *arguments)
    assert done.returncode == exit_code, done.stderr
    report = json.loads(done.stdout)
    placed = sum(worker["connections"] for worker in report["workers"])
    others = sum(report[key] for key in ("unaccepted", "shared", "unknown", "failed"))
    assert placed + others == report["connections"]
    return report


def pids(report):
    return sorted(worker["pid"] for worker in report["workers"])


def counts(report):
    return [worker["connections"] for worker in report["workers"]]


def parent_of(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])


def children_of(pid):
    everyone = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    return sorted(each for each in everyone if parent_of(each) == pid)


class Server:
    """A running server: its process, and the address that clients use."""

    def __init__(self, process, address):
        self.process = process
        self.address = address

    @property
    def pid(self):
        return self.process.pid


@pytest.fixture
def processes():
    """Starts processes that are ended after the test."""
    started = []

    def start(command, **options):
        process = subprocess.Popen([str(part) for part in command], **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.terminate()
    for process in started:
        process.wait(PATIENCE)
        if process.stdout:
            process.stdout.close()


@pytest.fixture
def python_server(processes):
    """Starts one of tests/programs; returns when its workers are forked."""

    def start(program, address="127.0.0.1:0", workers=2, *arguments):
        command = [sys.executable, PROGRAMS / program, address, workers, *arguments]
        process = processes(command, stdout=subprocess.PIPE, text=True)
        ready = process.stdout.readline().strip()
        assert ready, f"{program} did not start"
        if not address.startswith("unix:"):
            address = address.rpartition(":")[0] + ":" + ready
        return Server(process, address)

    return start


@pytest.fixture
def silent_listener():
    """An address where connections are queued by the kernel and never accepted."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield "127.0.0.1:%d" % listener.getsockname()[1]
