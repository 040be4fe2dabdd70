"""Drained by command, by closing the listening descriptor, and at ringdeald's stop: what a worker has goes
on, what it has not taken goes to others, and under load no client notices."""
import signal

import pytest

from support import build
from support.clients import Burst, Load, connect, get
from support.programs import SERVING
from support.waiting import wait_until
from support.worker import PAUSED, Refused, Worker

WORKERS = 3


def start_workers(daemon, target, program):
    target([build.PYTHON, SERVING[program], "%s:%d" % daemon.address(),
            str(WORKERS)], daemon).address()
    return [each["pid"] for each in daemon.wait_for_workers(WORKERS)]


def go_on(load, count=100):
    finished = load.finished
    wait_until(lambda: load.finished > finished + count, "requests go on")


@pytest.mark.parametrize("program", SERVING)
def test_one_after_another_drained_by_command_under_load(start_daemon, target, program):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0")
    pids = start_workers(daemon, target, program)
    load = Load(daemon.address(), concurrency=2)
    try:
        for pid in pids:
            go_on(load)
            request = {"listener": "web", "pid": pid}
            assert daemon.ask({"op": "drain", **request})[0]["ok"]
            daemon.wait_for(lambda _: daemon.worker(pid)["load"] == 0, "what it had is done")
            handed = daemon.worker(pid)["handed"]
            go_on(load)
            assert daemon.worker(pid)["handed"] == handed, "it was given more"
            assert daemon.ask({"op": "undrain", **request})[0]["ok"]
            daemon.wait_for(lambda _: daemon.worker(pid)["handed"] > handed, "it is dealt to again")
    finally:
        load.stop()
    assert not load.failures, load.failures


def test_one_after_another_closes_its_listening_descriptor_under_load(start_daemon, target):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0")
    pids = start_workers(daemon, target, "event loops")
    load = Load(daemon.address(), concurrency=8)
    try:
        for left in range(WORKERS - 1, 0, -1):
            go_on(load)
            with connect(daemon.address()) as kept:
                closed = int(get(kept, b"/close-listener"))
                daemon.wait_for(lambda _: closed not in [each["pid"] for each in daemon.workers()])
                go_on(load)
                assert int(get(kept)) == closed, "what it had goes on"
            assert len(daemon.workers()) == left and closed in pids
    finally:
        load.stop()
    assert not load.failures, load.failures


def hold_what_a_worker_left(daemon, count):
    """As many connections as ringdeald has in its hand, with nobody there to be given them."""
    leaver = Worker(daemon).become()
    burst = Burst(daemon.address(), count)
    daemon.wait_for(lambda _: daemon.workers()[leaver.slot]["pending"] == count)
    leaver.close()
    daemon.wait_for(lambda _: daemon.listener()["kept"] == count)
    return burst


def stop(daemon):
    daemon.process.signal(signal.SIGTERM)
    daemon.process.wait_for_line("event=stopping")


def take(worker, count):
    """So many, which come one by one."""
    wait_until(lambda: worker.take_all() is not None and worker.page.taken == count, "all taken")


def test_a_worker_that_comes_while_ringdeald_stops_is_given_what_it_has_in_hand(start_daemon):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", more="drain_timeout: 1min")
    with hold_what_a_worker_left(daemon, 8):
        stop(daemon)
        successor = Worker(daemon).become()
        take(successor, 8)
        assert daemon.process.wait() == 0
        successor.close()
    assert "connections_dropped" not in daemon.log()


def drain(daemon, worker):
    assert daemon.ask({"op": "drain", "listener": "web", "slot": worker.slot})[0]["ok"]


def test_what_waits_for_a_drained_one_stays_with_it_while_nobody_else_is_there(start_daemon):
    """In ringdeald's hand it would be lost if ringdeald were killed."""
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, recall_after: 1min")
    only = Worker(daemon).become()
    with Burst(daemon.address(), 4):
        daemon.wait_for(lambda _: daemon.workers()[only.slot]["pending"] == 4)
        drain(daemon, only)
        daemon.kill()
        assert all(only.take() for _ in range(4))
    only.close()


def take_what_is_left(worker):
    """Of a ringdeald that is gone; how many."""
    count = 0
    with pytest.raises(EOFError):
        while worker.take():
            count += 1
    return count


@pytest.mark.parametrize("moved_because", ["it is drained", "it is stuck"])
def test_a_ringdeald_killed_while_it_moves_a_queue_loses_only_the_one_in_its_hand(
        start_daemon, failpoint, closing, moved_because):
    """Also when the thread that accepts, which has one in its own, is in no hurry."""
    point = failpoint("taken-back", "accepted")
    point.close()
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, recall_after: 1s",
                          environment=point.environment)
    full, free = (closing.add(worker, worker.close) for worker in (Worker(daemon).become(),
                                                                   Worker(daemon).become()))
    with Burst(daemon.address(), 16):
        daemon.wait_for(lambda _: [each["pending"] for each in daemon.workers()] == [8, 8])
        assert len(free.take_all()) == 8
        point.open()
        with connect(daemon.address()):
            held = [point.wait()]
            assert held[0][0] == "accepted"
            if moved_because == "it is drained":
                drain(daemon, full)
            for _ in range(4):
                name, release = point.wait()
                assert name == "taken-back"
                release()
            held.append(point.wait())
            daemon.kill()
        assert (take_what_is_left(free), take_what_is_left(full)) == (4, 3)


def test_a_drained_one_is_given_what_nobody_else_takes_before_ringdeald_ends(start_daemon):
    """It accepts by itself once ringdeald is gone."""
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", more="drain_timeout: 1min")
    drained = Worker(daemon).become()
    drain(daemon, drained)
    with hold_what_a_worker_left(daemon, 8):
        assert drained.take() is None
        stop(daemon)
        take(drained, 8)
        assert daemon.process.wait() == 0
    drained.close()
    assert "connections_dropped" not in daemon.log()


def test_a_drained_one_is_not_asked_while_another_may_have_it(start_daemon):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", more="drain_timeout: 1min")
    drained, busy = Worker(daemon).become(), Worker(daemon).become(PAUSED)
    drain(daemon, drained)
    with hold_what_a_worker_left(daemon, 8):
        stop(daemon)
        assert not drained.readable(0.05)
        busy.become()
        take(busy, 8)
        assert daemon.process.wait() == 0
    with pytest.raises(EOFError):
        drained.take()  # nothing but the end
    drained.close()
    busy.close()


def test_a_drained_one_is_asked_before_what_another_does_not_take_is_dropped(start_daemon):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", more="drain_timeout: 1100ms")
    drained, stuck = Worker(daemon).become(), Worker(daemon).become(PAUSED)
    drain(daemon, drained)
    with hold_what_a_worker_left(daemon, 8):
        stop(daemon)
        take(drained, 8)
        assert daemon.process.wait() == 0
    drained.close()
    stuck.close()
    assert "connections_dropped" not in daemon.log()


def test_a_second_sigterm_ends_it_at_once(start_daemon):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", more="drain_timeout: 1min")
    with hold_what_a_worker_left(daemon, 1):
        stop(daemon)
        daemon.process.signal(signal.SIGTERM)
        assert daemon.process.wait() == 0


def test_nobody_joins_a_listener_that_has_nothing_to_give_while_ringdeald_stops(start_daemon):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", "name: idle, bind: 127.0.0.1:0",
                          more="drain_timeout: 1min")
    with hold_what_a_worker_left(daemon, 1):
        stop(daemon)
        with pytest.raises(Refused) as refused:
            Worker(daemon, listener="idle")
        assert refused.value.code == "stopping"
        daemon.process.signal(signal.SIGTERM)
        assert daemon.process.wait() == 0
