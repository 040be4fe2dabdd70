import pathlib
import signal
import socket
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support import figures  # noqa: E402
from support.daemon import Daemon  # noqa: E402
from support.failpoint import Failpoint  # noqa: E402
from support.fixtures import directory  # noqa: E402, F401
from support.target import Target  # noqa: E402
from support.worker import Worker  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: run with --slow only")


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))


def pytest_terminal_summary(terminalreporter):
    figures.write(terminalreporter)


@pytest.fixture(autouse=True)
def no_test_lasts_for_ever():
    """What hangs fails, and its processes are ended."""
    def too_long(_signal, _frame):
        raise AssertionError("the test took more than 150 s")
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(150)
    yield
    signal.alarm(0)


class Closing:
    """Makes things and closes them in the reverse order."""

    def __init__(self):
        self.made = []

    def add(self, thing, close):
        self.made.append(close)
        return thing

    def close(self):
        errors = []
        for close in reversed(self.made):
            try:
                close()
            except (Exception, AssertionError) as error:  # all others must be closed as well
                errors.append(error)
        if errors:
            raise errors[0]


@pytest.fixture
def closing(directory):  # which is to be there until all are closed
    things = Closing()
    yield things
    things.close()


@pytest.fixture
def sharing_sockets(closing):
    """Listening sockets of the test's own that share a port (SO_REUSEPORT), and the port."""
    def make(count, backlog=128):
        port, sockets = 0, []
        for _ in range(count):
            one = socket.socket()
            sockets.append(closing.add(one, one.close))
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            one.bind(("127.0.0.1", port))
            one.listen(backlog)
            port = one.getsockname()[1]
        return port, sockets
    return make


@pytest.fixture
def start_daemon(directory, closing):
    def start(*listeners, **options):
        daemon = Daemon(directory, listeners, **options)
        return closing.add(daemon, daemon.stop)
    return start


@pytest.fixture
def daemon(start_daemon):
    """A ringdeald with one owned listener, "web". It takes nothing back from a worker that a slow
    machine, or a test that looks at what waits for it, keeps from coming: test_recall is for that."""
    return start_daemon("name: web, bind: 127.0.0.1:0, recall_after: 1min")


@pytest.fixture
def join(daemon, closing):
    """Registers a worker that does nothing by itself."""
    def register(**options):
        worker = Worker(daemon, **options)
        return closing.add(worker, worker.close)
    return register


@pytest.fixture
def target(closing):
    def start(command, daemon=None, **options):
        program = Target(command, daemon, **options)
        return closing.add(program, program.close)
    return start


@pytest.fixture
def failpoint(directory, closing):
    def make(*names):
        point = Failpoint(directory, *names)
        return closing.add(point, point.close)
    return make
