"""A program that sets and clears O_NONBLOCK on its listener sees what it set, and nobody else
does."""
import pytest

from support import build
from support.clients import Load


@pytest.mark.parametrize("kind", ["owned", "adopted", "bare"])
def test_the_flag_toggled_around_every_accept(kind, start_daemon, target):
    workers = 1 if kind == "bare" else 2  # bare, two would see each other's flag: it is one
    daemon = None if kind == "bare" else start_daemon(
        *(["name: web, bind: 127.0.0.1:0"] if kind == "owned" else []))
    address = "%s:%d" % daemon.address() if kind == "owned" else "127.0.0.1:0"
    server = target([build.PYTHON, build.SOURCE / "tests/integration/programs/toggling_server.py",
                     address, str(workers)], daemon)
    where = server.address()
    load = Load(where, concurrency=4, limit=500).wait()
    assert not load.failures
    assert sum(load.answered.values()) == 500
    # The workers still live: none of them read back another flag than it had set.
    assert len(server.workers()) == workers, server.process.output()
    if daemon:
        assert daemon.status()["acceptor_unblocked"] == 0
