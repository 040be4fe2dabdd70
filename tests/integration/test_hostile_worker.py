"""A worker can harm its own share, never another worker, another listener or ringdeald (rule 4)."""
import fcntl
import os
import socket

import pytest

from support import build
from support.clients import Burst, connect, free_port
from support.process import Process
from support.worker import Worker


@pytest.fixture
def two_listeners(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", "name: other, bind: 127.0.0.1:0")
    hostile = Worker(daemon).become()
    other = Worker(daemon, listener="other").become()
    for worker in (hostile, other):
        closing.add(worker, worker.close)
    return daemon, hostile, other


def assert_serves(daemon, worker, name, count=8):
    worker.take_all()
    expected = worker.page.taken + count
    with Burst(daemon.address(name), count):
        wait_for_taken(daemon, worker, expected)


def wait_for_taken(daemon, worker, count):
    """Takes until it has taken so many."""
    def taken(_):
        worker.take_all()
        return worker.page.taken >= count
    daemon.wait_for(taken, f"{count} taken, {worker.page.taken} were")
    assert worker.page.taken == count


def test_counts_that_are_lies_are_clamped_and_counted(daemon, join):
    liar, honest = join().become(), join().become()
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: [each["pending"] for each in daemon.workers()] == [4, 4])
        for taken, closed in [(2**64 - 1, 0), (0, 2**64 - 1), (3, 100), (1, 1), (0, 0)]:
            liar.page.taken, liar.page.closed = taken, closed
            shown = daemon.workers()[liar.slot]
            assert 0 <= shown["active"] <= 4 and 0 <= shown["pending"] <= 4
        liar.page.direct = 2**64 - 1
        liar.page.queued = 2**32 - 1
        liar.page.state = 77
        liar.page.waiting = 2**32 - 1
        liar.page.pass_start = 2**64 - 1
        assert daemon.listener()["counters_clamped"] > 0
        with Burst(daemon.address(), 8):
            wait_for_taken(daemon, honest, 12)


def test_the_pages_header_and_orders_are_not_read_back(daemon, join):
    liar, honest = join().become(), join().become()
    for word in ("magic", "version", "size", "slot", "listener_cookie", "worker_id", "mode"):
        setattr(liar.page, word, 2**32 - 1)
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: [each["handed"] for each in daemon.workers()] == [4, 4])
    assert honest.page.magic == 0x52444C50


def test_a_listener_made_blocking_by_a_holder_does_not_stop_the_others(two_listeners):
    daemon, hostile, other = two_listeners
    for _ in range(5):
        flags = fcntl.fcntl(hostile.listener, fcntl.F_GETFL)
        fcntl.fcntl(hostile.listener, fcntl.F_SETFL, flags & ~os.O_NONBLOCK)
        # ringdeald accepts until there is no more, which blocks now.
        assert_serves(daemon, hostile, "web", 1)
        assert_serves(daemon, other, "other")
        daemon.wait_for(lambda _: fcntl.fcntl(hostile.listener, fcntl.F_GETFL) & os.O_NONBLOCK)
    assert daemon.status()["acceptor_unblocked"] > 0


def test_a_listener_shut_down_by_a_holder_listens_again(start_daemon, closing):
    # A port that was asked for: the kernel takes one of its own choice away from a socket shut down.
    daemon = start_daemon(f"name: web, bind: 127.0.0.1:{free_port()}",
                          "name: other, bind: 127.0.0.1:0")
    hostile, other = Worker(daemon).become(), Worker(daemon, listener="other").become()
    for worker in (hostile, other):
        closing.add(worker, worker.close)
    for _ in range(3):
        hostile.listener.shutdown(socket.SHUT_RD)
        daemon.wait_for(lambda _: hostile.listener.getsockopt(socket.SOL_SOCKET,
                                                              socket.SO_ACCEPTCONN))
        assert_serves(daemon, hostile, "web")
        assert_serves(daemon, other, "other")
    assert daemon.listener("web")["listener_repairs"] >= 3


def test_a_channel_that_asks_for_credentials_loses_nothing(daemon, join):
    for option in (16, 76):  # SO_PASSCRED, SO_PASSPIDFD
        leaver, stayer = join().become(), join().become()
        try:
            leaver.channel.setsockopt(socket.SOL_SOCKET, option, 1)
        except OSError:
            pass  # the kernel is older
        with Burst(daemon.address(), 8):
            daemon.wait_for(lambda _: [each["pending"] for each in daemon.workers()] == [4, 4])
            leaver.close()
            wait_for_taken(daemon, stayer, 8)
        stayer.close()
        daemon.wait_for(lambda _: not daemon.workers())


def test_a_worker_that_withholds_its_memory_stops_nobody(two_listeners, closing):
    daemon, hostile, other = two_listeners
    second = Worker(daemon).become()
    closing.add(second, second.close)
    with Burst(daemon.address("web"), 8):
        daemon.wait_for(lambda _: [each["pending"] for each in daemon.workers("web")] == [4, 4])
        # It receives its first frame into memory whose page fault nobody resolves: the channel is
        # locked in the kernel for as long as that program lives.
        channel = hostile.channel.fileno()
        program = Process([build.PROGRAMS / "withhold_faults", channel], pass_fds=[channel])
        closing.add(program, program.kill)
        match = program.wait_for_line("^(withheld|not permitted)")
        if match.group(1) == "not permitted":
            pytest.skip("the kernel does not permit userfaultfd here")
        hostile.control.close()
        daemon.wait_for(lambda status: status["recall_threads_abandoned"] == 1)
        wait_for_taken(daemon, second, 4)  # its own; the others are locked up with the channel
        assert_serves(daemon, second, "web")
        assert_serves(daemon, other, "other")
        # Others that leave are still emptied, by the new recall thread.
        third = Worker(daemon).become()
        closing.add(third, third.close)
        with Burst(daemon.address("web"), 8):
            daemon.wait_for(lambda _: sum(each["pending"] for each in daemon.workers("web")) == 8)
            assert next(each for each in daemon.workers("web")
                        if each["slot"] == third.slot)["pending"] == 8, "the idle one has all"
            third.close()
            wait_for_taken(daemon, second, second.page.taken + 8)
        program.kill()


def test_a_worker_of_a_removed_listener_that_withholds_its_memory_is_cut_off(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, recall_after: 1s")
    hostile, other = Worker(daemon).become(), Worker(daemon).become()
    for worker in (hostile, other):
        closing.add(worker, worker.close)
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: [each["pending"] for each in daemon.workers()] == [4, 4])
        channel = hostile.channel.fileno()
        program = Process([build.PROGRAMS / "withhold_faults", channel], pass_fds=[channel])
        closing.add(program, program.kill)
        if program.wait_for_line("^(withheld|not permitted)").group(1) == "not permitted":
            pytest.skip("the kernel does not permit userfaultfd here")
        daemon.config.write_text(f'control: {{path: "{daemon.control}"}}\nhttp: {{bind: ""}}\n'
                                 "drain_timeout: 1min\n")
        assert daemon.ask({"op": "reload"})[0]["ok"]
        for connection in other.take_all():  # it could be given what the first one has
            other.close_connection(connection)
        daemon.wait_for(lambda status: status["recall_threads_abandoned"] == 1)
        assert hostile.control.recv(100) == b"", "its control connection ends"
        program.kill()
        with pytest.raises(EOFError):
            while other.readable(10):
                other.take()


def test_a_worker_can_send_nothing_on_its_channel(daemon, join):
    hostile, other = join().become(), join().become()
    with pytest.raises(BrokenPipeError):
        socket.send_fds(hostile.channel, [b"x" * 1000], [hostile.channel.fileno()])
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: [each["handed"] for each in daemon.workers()] == [4, 4])
        hostile.close()
        wait_for_taken(daemon, other, 8)


def test_a_client_that_ends_before_it_is_handed_over_costs_nothing(daemon, join):
    worker = join().become(state=3)
    for _ in range(16):
        with connect(daemon.address()) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    worker.become()
    wait_for_taken(daemon, worker, 16)
    assert_serves(daemon, worker, "web")
