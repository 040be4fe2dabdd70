"""A worker that has not begun gets nothing, and nobody waits for it."""
import time

from support import build
from support.clients import Burst


def test_a_registered_process_that_has_not_begun_gets_nothing(daemon, join):
    starting, working = join(), join().become()
    with Burst(daemon.address(), 32):
        daemon.wait_for(lambda _: daemon.workers()[working.slot]["handed"] == 32)
        assert starting.frame() is None
        assert daemon.workers()[starting.slot]["handed"] == 0


def test_an_observer_gets_doorbells_and_no_connection(daemon, join):
    observer, working = join(observer=True).become(state=1), join().become()
    with Burst(daemon.address(), 8):
        def taken(_):
            working.take_all()
            return working.page.taken == 8
        daemon.wait_for(taken)
    kinds = set()
    while frame := observer.frame():
        kinds.add(frame[0])
    assert kinds <= {2}, "a connection went to a process that never accepted"
    daemon.wait_for(lambda _: daemon.workers()[observer.slot]["handed"] == 0)


def test_an_observer_that_answers_its_bell_is_dealt_to(daemon, join):
    observer = join(observer=True).become(state=1)
    with Burst(daemon.address(), 1):
        assert observer.readable(10), "no bell"
        assert observer.frame()[0] == 2
        observer.page.rung += 1
        observer.become()
        assert observer.readable(10), "no connection after the promotion"
        assert observer.take() is not None


def test_a_worker_held_before_its_first_accept_gets_nothing(daemon, target):
    held_for = 3
    begin = time.monotonic()
    server = target([build.PYTHON, build.SERVERS / "prefork_server.py",
                     "%s:%d" % daemon.address(), "2", "--hold-worker", "1", str(held_for)], daemon)
    server.address()
    working = daemon.wait_for_workers(1)[0]["pid"]
    burst_begin = time.monotonic()
    with Burst(daemon.address(), 16) as burst:
        assert burst.spread() == {working: 16}
        now = time.monotonic()
        assert now - begin < held_for, "the machine was too slow: the worker had begun"
        assert now - burst_begin < 1
        # Once it begins it is dealt to: the next go to the idle one, until both have as many.
        daemon.wait_for_workers(2, timeout=held_for + 10)
        with Burst(daemon.address(), 16) as second:
            assert second.spread()[working] == 0
