"""A worker that goes, however it goes, gets nothing more, and what it had not taken is answered by
another."""
import os
import signal

import pytest

from support import build
from support.clients import Burst, connect, get


def raw_worker(target, daemon):
    return target([build.PYTHON, build.SOURCE / "tests/integration/raw_worker.py",
                   daemon.control, "web"])


@pytest.fixture(params=["owned", "adopted"])
def prefork(request, start_daemon, target):
    """A daemon and the pids of the two workers of a server, which replaces none of them."""
    owned = request.param == "owned"
    daemon = start_daemon(*(["name: web, bind: 127.0.0.1:0"] if owned else []))
    address = "%s:%d" % daemon.address() if owned else "127.0.0.1:0"
    target([build.PYTHON, build.SERVERS / "prefork_server.py", address, "2"], daemon).address()
    return daemon, [each["pid"] for each in daemon.wait_for_workers(2)]


def test_what_waits_in_the_channel_of_one_that_leaves_goes_to_another(daemon, join):
    leaver, stayer = join().become(), join().become()
    with Burst(daemon.address(), 32):
        daemon.wait_for(lambda _: [each["pending"] for each in daemon.workers()] == [16, 16])
        leaver.page.state = 4
        leaver.say(b'{"op":"leave"}\n')
        daemon.wait_for(lambda _: len(daemon.workers()) == 1 and
                        daemon.workers()[0]["handed"] == 32)
        assert len(stayer.take_all()) == 32
        listener = daemon.listener()
        assert listener["redealt"] == 16
        assert {reason: n for reason, n in listener["recalls"].items() if n} == {"left": 16}


def test_one_that_says_left_gets_nothing_before_the_message_arrives(daemon, join):
    leaver, stayer = join().become(), join().become()
    leaver.page.state = 4
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: daemon.workers()[stayer.slot]["handed"] == 8)
        assert daemon.workers()[leaver.slot]["handed"] == 0


def test_one_that_shuts_its_channel_down_loses_nothing(daemon, join):
    leaver, stayer = join().become(), join().become()
    with Burst(daemon.address(), 4):
        daemon.wait_for(lambda _: [each["pending"] for each in daemon.workers()] == [2, 2])
        leaver.channel.shutdown(0)
        with Burst(daemon.address(), 4):
            daemon.wait_for(lambda _: len(daemon.workers()) == 1 and
                            daemon.workers()[0]["handed"] == 8)
            assert len(stayer.take_all()) == 8


def test_a_slot_is_free_again_once_its_channel_is_empty(daemon, join):
    slots = set()
    for _ in range(50):
        worker = join().become()
        slots.add(worker.slot)
        worker.close()
        daemon.wait_for(lambda _: not daemon.workers())
    assert len(slots) < 10, "slots are not used again"


def test_stopped_and_killed_with_half_of_a_burst_queued(daemon, target):
    workers = [raw_worker(target, daemon) for _ in range(2)]
    daemon.wait_for_workers(2)
    workers[0].process.signal(signal.SIGSTOP)
    with Burst(daemon.address(), 32) as burst:
        daemon.wait_for(lambda _: daemon.worker(workers[0].pid)["pending"] == 16)
        workers[0].process.signal(signal.SIGKILL)
        assert burst.spread() == {workers[1].pid: 32}


def test_a_shimmed_worker_stopped_and_killed_with_half_of_a_burst_queued(prefork):
    daemon, (stopped, other) = prefork
    os.kill(stopped, signal.SIGSTOP)
    with Burst(daemon.address(), 32) as burst:
        daemon.wait_for(lambda _: daemon.worker(stopped)["pending"] == 16)
        os.kill(stopped, signal.SIGKILL)
        assert burst.spread() == {other: 32}


def test_a_killed_worker_gets_nothing_more(prefork):
    daemon, (killed, other) = prefork
    os.kill(killed, signal.SIGKILL)
    with Burst(daemon.address(), 32) as burst:
        assert burst.spread() == {other: 32}
    daemon.wait_for_workers(1)


def test_one_that_exits_well_and_is_not_replaced_gets_nothing_more(prefork):
    daemon, pids = prefork
    with connect(daemon.address()) as connection:
        gone = int(get(connection, b"/exit"))
    with Burst(daemon.address(), 32) as burst:
        assert burst.spread() == {(set(pids) - {gone}).pop(): 32}
    daemon.wait_for_workers(1)


def test_one_that_closes_its_listening_descriptor_gets_nothing_more(prefork):
    daemon, pids = prefork
    with connect(daemon.address()) as connection:
        closed = int(get(connection, b"/close-listener"))
        with Burst(daemon.address(), 32) as burst:
            assert burst.spread() == {(set(pids) - {closed}).pop(): 32}
        assert int(get(connection)) == closed, "its own connections go on"


def test_what_waits_for_one_that_closes_its_listening_descriptor_is_answered(prefork):
    daemon, pids = prefork
    with connect(daemon.address()) as connection:
        closer = int(get(connection))
        os.kill(closer, signal.SIGSTOP)
        # Before the burst, so that it is what the loop sees first: it closes, and has taken nothing.
        connection.sendall(b"GET /close-listener HTTP/1.1\r\nHost: test\r\n\r\n")
        with Burst(daemon.address(), 31) as burst:
            daemon.wait_for(lambda _: daemon.worker(closer)["pending"] == 15)
            os.kill(closer, signal.SIGCONT)
            assert burst.spread() == {(set(pids) - {closer}).pop(): 31}


def test_all_killed_and_replaced_while_connections_wait(daemon, target):
    first = raw_worker(target, daemon)
    daemon.wait_for_workers(1)
    first.process.signal(signal.SIGSTOP)
    with Burst(daemon.address(), 32) as burst:
        daemon.wait_for(lambda _: daemon.worker(first.pid)["pending"] == 32)
        first.process.signal(signal.SIGKILL)
        daemon.wait_for(lambda _: not daemon.workers())
        second = raw_worker(target, daemon)
        assert burst.spread() == {second.pid: 32}
