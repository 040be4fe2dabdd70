"""Fixtures that several folders of tests have: a conftest.py takes them by importing their names."""
import pathlib
import tempfile

import pytest

from support.daemon import Daemon
from support.worker import Worker


@pytest.fixture
def directory():
    """A short path that every user may reach: control sockets live in it."""
    with tempfile.TemporaryDirectory(prefix="ringdeal-") as path:
        pathlib.Path(path).chmod(0o755)
        yield pathlib.Path(path)


@pytest.fixture
def start_daemon(directory):
    """Starts real ringdealds, each with the listeners and options of support.daemon.Daemon."""
    started = []

    def start(*listeners, **options):
        started.append(Daemon(directory, listeners, **options))
        return started[-1]
    yield start
    for daemon in started:
        daemon.stop()


@pytest.fixture
def join():
    """Registers workers that do nothing by themselves, and ends them before their ringdeald."""
    joined = []

    def register(daemon, *arguments, **fields):
        joined.append(Worker(daemon, *arguments, **fields))
        return joined[-1].become()
    yield register
    for worker in joined:
        worker.close()
