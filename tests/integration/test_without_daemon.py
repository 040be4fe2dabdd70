"""Without a ringdeald, with a frozen one, and after its death, the program serves."""
import os
import signal
import time

import pytest

from support import build
from support.clients import Burst, connect, get

SERVER = [build.PYTHON, build.SERVERS / "prefork_server.py"]
BLOCKING = [build.PYTHON, build.SERVERS / "blocking_server.py"]


def said_of_ringdeal(server):
    return [line for line in server.process.output().splitlines() if "ringdeal" in line]


def test_no_daemon_is_said_once_and_the_program_serves(target, directory):
    server = target([*SERVER, "127.0.0.1:0", "2"], shim=True,
                    environment={"RINGDEAL_CONTROL": f"{directory}/nothing.sock"})
    where = server.address()
    with Burst(where, 32) as burst:
        assert sum(burst.spread().values()) == 32
    assert len(said_of_ringdeal(server)) == 1, server.process.output()


def test_no_daemon_is_an_error_where_it_is_required(target, directory):
    server = target([*SERVER, "127.0.0.1:0", "2"], shim=True,
                    environment={"RINGDEAL_CONTROL": f"{directory}/nothing.sock",
                                 "RINGDEAL_REQUIRE": "1"})
    assert server.process.wait() != 0
    assert said_of_ringdeal(server)


def test_a_disabled_shim_does_nothing(target, daemon):
    server = target([*SERVER, "127.0.0.1:0", "2"], daemon, environment={"RINGDEAL_DISABLE": "1"})
    with Burst(server.address(), 32) as burst:
        assert sum(burst.spread().values()) == 32
    assert not said_of_ringdeal(server)
    assert len(daemon.status()["listeners"]) == 1


@pytest.mark.parametrize("program", [SERVER, BLOCKING], ids=["events", "blocking"])
def test_a_frozen_daemon_delays_nobody_for_long(program, start_daemon, target):
    daemon = start_daemon()
    daemon.freeze()
    begin = time.monotonic()
    server = target([*program, "127.0.0.1:0", "2"], daemon)
    where = server.address()
    with connect(where) as connection:
        assert int(get(connection)) in server.workers()
    assert time.monotonic() - begin < 5
    with Burst(where, 2) as burst:
        assert sum(burst.spread().values()) == 2
    daemon.thaw()


def test_what_arrives_during_a_freeze_is_answered_after_it(start_daemon, target):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0")
    where = daemon.address()
    target([*SERVER, "%s:%d" % where, "2"], daemon).address()
    daemon.wait_for_workers(2)
    with Burst(where, 16) as before:
        before.spread()
        daemon.freeze()
        with Burst(where, 16) as during:
            assert sum(before.spread().values()) == 16, "workers go on with what they have"
            daemon.thaw()
            assert sum(during.spread().values()) == 16


def test_an_answer_that_comes_late_is_used(start_daemon, target):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0")
    where = daemon.address()
    server = target([*SERVER, "%s:%d" % where, "2", "--hold-worker", "1", "1"], daemon)
    server.address()
    first = daemon.wait_for_workers(1)[0]["pid"]
    daemon.freeze()
    # Only the second worker, which begins now and gets no answer, accepts from the listener itself.
    with connect(where) as connection:
        second = int(get(connection))
        assert second != first
    daemon.thaw()
    daemon.wait_for_workers(2)
    with Burst(where, 8) as burst:
        assert burst.spread() == {first: 4, second: 4}


@pytest.mark.parametrize("kind", ["owned", "adopted"])
@pytest.mark.parametrize("program", [SERVER, BLOCKING], ids=["events", "blocking"])
def test_a_killed_daemon_is_no_outage(kind, program, start_daemon, target):
    daemon = start_daemon(*(["name: web, bind: 127.0.0.1:0"] if kind == "owned" else []))
    address = "%s:%d" % daemon.address() if kind == "owned" else "127.0.0.1:0"
    server = target([*program, address, "2"], daemon)
    where = server.address()
    with connect(where) as kept:
        pid = get(kept)
        daemon.kill()
        assert get(kept) == pid
        count = 16 if program is SERVER else 1
        for _ in range(3):
            with Burst(where, count) as burst:
                assert sum(burst.spread().values()) == count


def test_what_was_handed_over_when_ringdeald_died_is_answered(start_daemon, target):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0")
    server = target([*SERVER, "%s:%d" % daemon.address(), "2"], daemon)
    where = server.address()
    pids = [each["pid"] for each in daemon.wait_for_workers(2)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    with Burst(where, 32) as burst:
        daemon.wait_for(lambda _: sum(each["pending"] for each in daemon.workers()) == 32)
        daemon.kill()
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        assert sum(burst.spread().values()) == 32


def test_a_stopped_daemon_hands_over_what_it_holds(start_daemon, target):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0")
    server = target([*SERVER, "%s:%d" % daemon.address(), "2"], daemon)
    where = server.address()
    daemon.wait_for_workers(2)
    with Burst(where, 32) as before:
        before.spread()
        daemon.process.signal(signal.SIGTERM)
        assert daemon.process.wait(10) == 0, daemon.log()
        assert sum(before.spread().values()) == 32
        with Burst(where, 32) as after:
            assert sum(after.spread().values()) == 32
