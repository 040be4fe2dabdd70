"""A program that sets and clears O_NONBLOCK on its listener sees what it set, and nobody else
does. Connections that are handed over are O_NONBLOCK for who asked for that, and for nobody else."""
import os

import pytest

from support import build
from support.clients import Burst, Load
from support.worker import CONNECTION, LEFT, NON_BLOCKING, PAUSED, Worker


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


@pytest.fixture
def workers(start_daemon, closing):
    """Two of whom the first wants its connections in non-blocking mode, and their ringdeald."""
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, policy: round-robin, recall_after: 1s")
    both = [closing.add(worker, worker.close) for worker in (Worker(daemon), Worker(daemon))]
    both[0].page.nonblocking = 1
    for worker in both:
        worker.page.waiting = 1
        worker.become()
    return daemon, both


def take_frames(worker, count):
    """The kinds that came; each connection blocks or not as its frame says."""
    kinds = []
    for _ in range(count):
        assert worker.readable(10)
        kind, _, _, (descriptor,) = worker.frame()
        assert os.get_blocking(descriptor) == (kind == CONNECTION)
        os.close(descriptor)
        worker.page.taken += 1
        worker.page.closed += 1
        kinds.append(kind)
    return kinds


def test_who_wants_them_blocking_gets_them_so_whoever_had_the_one_before(workers):
    daemon, (eager, plain) = workers
    with Burst(daemon.address(), 16):
        assert take_frames(plain, 8) == [CONNECTION] * 8
        # What comes after one of its own was accepted in the mode that it wants; the first was not.
        assert set(take_frames(eager, 8)) <= {CONNECTION, NON_BLOCKING}
    plain.close()
    daemon.wait_for_workers(1)
    with Burst(daemon.address(), 4):
        assert take_frames(eager, 4)[1:] == [NON_BLOCKING] * 3


def test_one_that_is_recalled_is_made_to_block_for_who_wants_that(workers):
    daemon, (eager, plain) = workers
    plain.page.state = PAUSED
    with Burst(daemon.address(), 4):
        daemon.wait_for(lambda _: daemon.workers()[eager.slot]["pending"] == 4)
        plain.become()
        eager.page.state = LEFT
        eager.close()
        assert take_frames(plain, 4) == [CONNECTION] * 4
