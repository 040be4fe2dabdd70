import os
import pathlib
import socket
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from peer import Peer  # noqa: E402
from support import build  # noqa: E402
from support.fixtures import directory, start_daemon  # noqa: E402, F401
from support.process import Process  # noqa: E402

PROGRAMS = build.BUILD / "tests" / "shim"


@pytest.fixture
def control(directory):
    return str(directory / "control.sock")


@pytest.fixture
def make_peer(control):
    made = []

    def make(**options):
        made.append(Peer(control, **options))
        return made[-1]
    yield make
    for peer in made:
        try:
            peer.die()
        except FileNotFoundError:
            pass  # died already


@pytest.fixture
def peer(make_peer):
    return make_peer()


@pytest.fixture
def daemon(start_daemon):
    """A real ringdeald without configuration: it adopts."""
    return start_daemon()


@pytest.fixture(params=["bare", "no ringdeald", "ringdeald"])
def surroundings(request, directory):
    """What a program finds; the first is the judge of the others."""
    if request.param == "ringdeald":
        request.getfixturevalue("daemon")
    return request.param


@pytest.fixture
def run(control):
    """Starts a program under the shim; a name without a slash is one of tests/shim/programs. It waits for
    a ringdeald that this machine keeps from answering, unless it is `hasty`, as it would be anywhere."""
    started = []

    def start(*command, preload=True, **variables):
        program = str(command[0])
        if "/" not in program:
            source = pathlib.Path(__file__).parent / "programs" / program
            command = ([build.PYTHON, source] if program.endswith(".py")
                       else [PROGRAMS / program]) + list(command[1:])
        options = {"preexec": variables.pop("preexec", None),
                   "pass_fds": variables.pop("pass_fds", ())}
        if not variables.pop("hasty", False):
            variables["RINGDEAL_FAILPOINT_PATIENCE"] = "10000"
        environment = {**os.environ, "RINGDEAL_CONTROL": control, **variables}
        if preload:
            environment["LD_PRELOAD"] = str(build.SHIM)
        started.append(Process(command, environment, **options))
        return started[-1]
    yield start
    for process in started:
        process.kill()


def port_of(process):
    return int(process.wait_for_line(r"^port (\d+)$").group(1))


def ask(port, timeout=10):
    """Connects and reads to the end: the servers of these tests answer and close."""
    with socket.create_connection(("127.0.0.1", port), timeout) as connection:
        data = b""
        while more := connection.recv(4096):
            data += more
        return data.decode().strip()


def deal(peer, worker, port):
    """One connection by way of the peer, accepted and handed over; the pid that answers."""
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        worker.hand(peer.accept())
        return int(client.recv(100))


@pytest.fixture
def helpers():
    return type("Helpers", (), {"port_of": staticmethod(port_of), "ask": staticmethod(ask),
                                "deal": staticmethod(deal)})


@pytest.fixture
def daemon_with_web(start_daemon):
    """A real ringdeald that owns one listener."""
    return start_daemon("name: web, bind: 127.0.0.1:0")
