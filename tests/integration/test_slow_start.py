"""slow_start: a worker that joins while the others have many connections is not given all new ones."""
import datetime
import re
import signal
import time

import pytest

from support import build
from support.clients import Burst
from support.worker import Worker

SERVER = build.SERVERS / "prefork_server.py"
SLOW = 3600  # an hour: what passes while a test runs is a small part of it


def start(start_daemon, target, more=""):
    """A daemon with a server of two workers that have 100 connections each."""
    daemon = start_daemon(f"name: web, bind: 127.0.0.1:0, policy: least-loaded{more}")
    serve(daemon, target, 2)
    burst = Burst(daemon.address(), 200)
    assert sorted(burst.spread().values()) == [100, 100]
    return daemon, burst


def serve(daemon, target, workers):
    before = len(daemon.workers())
    target([build.PYTHON, SERVER, "%s:%d" % daemon.address(), str(workers)], daemon).address()
    daemon.wait_for_workers(before + workers)


def part_of(daemon, pid):
    return daemon.worker(pid)["weight_part"]


def seconds_of_joining(daemon):
    """Between the first worker that joined and the last."""
    times = [datetime.datetime.fromisoformat(each)
             for each in re.findall(r"ts=(\S+)Z \S+ event=joined", daemon.log())]
    return (times[-1] - times[0]).total_seconds()


def test_a_worker_that_joins_at_load_is_not_flooded(start_daemon, target):
    daemon, burst = start(start_daemon, target, f", slow_start: {SLOW}s")
    before = time.monotonic()
    serve(daemon, target, 1)
    with burst, Burst(daemon.address(), 50) as more:
        spread = more.spread()
        late = daemon.workers()[2]["pid"]
        held_to = 1 + (time.monotonic() - before) / SLOW * 125
        assert spread[late] <= held_to < 10, (spread, held_to)
        assert spread[late] >= 1
        assert part_of(daemon, late) <= held_to / 125
        assert [each["weight_part"] for each in daemon.workers()[:2]] == [1, 1]


def test_without_it_a_worker_that_joins_at_load_gets_all(start_daemon, target):
    daemon, burst = start(start_daemon, target)
    serve(daemon, target, 1)
    with burst, Burst(daemon.address(), 50) as more:
        late = daemon.workers()[2]["pid"]
        assert more.spread() == {late: 50}


def test_a_worker_that_is_alone_gets_all_at_once(start_daemon, target):
    daemon, burst = start(start_daemon, target, f", slow_start: {SLOW}s")
    serve(daemon, target, 1)
    late = daemon.workers()[2]["pid"]
    for slot in (0, 1):
        daemon.ask({"op": "drain", "listener": "web", "slot": slot})
    with burst, Burst(daemon.address(), 50) as more:
        assert more.spread() == {late: 50}


@pytest.mark.parametrize("policy", ["least-loaded", "ring-deal", "round-robin"])
def test_workers_that_come_back_to_a_restarted_ringdeald_are_equal(policy, start_daemon, target):
    daemon = start_daemon(f"name: web, bind: 127.0.0.1:0, policy: {policy}, slow_start: {SLOW}s")
    serve(daemon, target, 4)
    host, port = daemon.address()
    config = daemon.config.read_text()
    daemon.config.write_text(config.replace("127.0.0.1:0", f"{host}:{port}"))
    for _ in range(3):
        daemon.process.signal(signal.SIGTERM)
        assert daemon.process.wait(10) == 0
        daemon.start()
        daemon.wait_for_workers(4)
        if seconds_of_joining(daemon) < 1.5:  # a busy machine may take longer
            break
    assert [each["weight_part"] for each in daemon.workers()] == [1] * 4
    with Burst((host, port), 32) as burst:
        assert sorted(burst.spread().values()) == [8, 8, 8, 8]


def test_one_that_brings_connections_along_begins_with_its_part(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, policy: least-loaded, "
                          f"slow_start: {SLOW}s")
    for direct, part in ((100, 1), (50, 0.5), (100, 1), (0, 0)):
        worker = Worker(daemon)
        closing.add(worker, worker.close)
        worker.page.direct = direct
        worker.become()
        shown = daemon.workers()[worker.slot]["weight_part"]
        assert abs(shown - part) < 0.05, (direct, shown)
