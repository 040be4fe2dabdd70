"""Told to accept by itself, a process takes what comes to the listener, and goes on taking what is
handed over; told to stop, it does. Who cannot is dealt to as before."""
import os
import select
import signal
import socket

import pytest

from peer import DIRECT, MODE_SEEN, TAKEN, WAITING
from support.process import assert_idle, state
from support.waiting import wait_until

WAITS = ["epoll", "epoll-edge", "poll", "ppoll", "select", "pselect"]
HANDOFF_MODE, DIRECT_MODE, DRAINING_MODE = range(3)


def connect(port):
    return socket.create_connection(("127.0.0.1", port), 10)


def answer(client):
    with client:
        return int(client.recv(100))


def wait_until_seen(worker, mode):
    wait_until(lambda: worker.word(MODE_SEEN) == mode, f"mode {mode} acknowledged")


@pytest.fixture(params=WAITS)
def served(request, peer, run, helpers):
    """A server that is a worker, and where."""
    server = run("server", request.param, "--nonblocking")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    assert helpers.deal(peer, worker, port) == server.pid
    assert worker.request["direct"]
    return server, worker, port


def go_direct(peer, worker, port, pid):
    """The order wakes nobody: it is followed with the next connection, or before it by who is awake."""
    worker.order(DIRECT_MODE)
    assert answer(connect_by(peer, worker, port)) == pid
    wait_until_seen(worker, DIRECT_MODE)
    peer.wait_for_line("ready")


def test_it_accepts_by_itself_and_counts_it(peer, served):
    server, worker, port = served
    go_direct(peer, worker, port, server.pid)
    taken = worker.count(TAKEN)
    for _ in range(20):
        assert answer(connect(port)) == server.pid
    assert worker.count(DIRECT) == 20 and worker.count(TAKEN) == taken
    assert not server.output().count("errno was changed")


def test_what_was_handed_over_as_the_mode_changed_is_taken(peer, served):
    """The server is held while one connection is in its channel and one in the accept queue; another
    comes through the channel after it has acknowledged."""
    server, worker, port = served
    wait_until(lambda: worker.word(WAITING) == 1, "it waits")
    server.signal(signal.SIGSTOP)
    worker.order(DIRECT_MODE)
    handed = connect(port)
    worker.hand(peer.accept())
    queued = connect(port)
    server.signal(signal.SIGCONT)
    assert answer(handed) == answer(queued) == server.pid
    wait_until_seen(worker, DIRECT_MODE)
    # One that is accepted by ringdeald, which has not seen the acknowledgment.
    server.signal(signal.SIGSTOP)
    late = connect(port)
    worker.hand(peer.accept())
    beside = connect(port)
    server.signal(signal.SIGCONT)
    assert answer(late) == answer(beside) == server.pid


def test_told_to_stop_it_leaves_what_comes_to_ringdeald(peer, served):
    server, worker, port = served
    go_direct(peer, worker, port, server.pid)
    for mode in HANDOFF_MODE, DIRECT_MODE, DRAINING_MODE, HANDOFF_MODE:
        if mode == DIRECT_MODE:
            go_direct(peer, worker, port, server.pid)
            continue
        # One that is between its look at the order and its accept may still accept the next.
        wait_until(lambda: state(server.pid) == "S", "it sleeps")
        worker.order(mode)
        direct = worker.count(DIRECT)
        client = connect(port)
        connection = peer.accept()
        # In direct mode it may be woken by this one or by the next.
        worker.hand(connection)
        assert answer(client) == server.pid
        wait_until_seen(worker, mode)
        assert worker.count(DIRECT) == direct


def test_a_change_of_mind_is_followed_to_the_last_word(peer, served):
    server, worker, port = served
    for _ in range(10):
        for mode in DIRECT_MODE, HANDOFF_MODE, DRAINING_MODE, HANDOFF_MODE, DIRECT_MODE:
            worker.order(mode)
        assert answer(connect_by(peer, worker, port)) == server.pid
        wait_until_seen(worker, DIRECT_MODE)
        assert answer(connect(port)) == server.pid
        worker.order(HANDOFF_MODE)
        assert answer(connect_by(peer, worker, port)) == server.pid
        wait_until_seen(worker, HANDOFF_MODE)


def connect_by(peer, worker, port):
    """The connection is handed over, unless the worker accepts it by itself: one that is awake as it is
    ordered to does so at once."""
    client = connect(port)

    def done():
        try:
            worker.hand(peer.listener.accept()[0])
            return True
        except BlockingIOError:
            return bool(select.select([client], [], [], 0)[0])
    wait_until(done, "the connection is handed over or answered")
    return client


def test_without_ringdeald_it_goes_on_and_begins_anew_with_the_next(make_peer, served, peer, helpers):
    server, worker, port = served
    go_direct(peer, worker, port, server.pid)
    peer.die()
    for _ in range(3):
        assert answer(connect(port)) == server.pid
    following = make_peer()
    worker = following.wait_for_worker()
    following.wait_for_state(worker, "worker")
    assert worker.word(MODE_SEEN) == HANDOFF_MODE
    assert helpers.deal(following, worker, port) == server.pid
    go_direct(following, worker, port, server.pid)
    assert answer(connect(port)) == server.pid


def test_a_listener_that_somebody_shut_down_is_left_to_ringdeald(peer, served, helpers):
    server, worker, port = served
    go_direct(peer, worker, port, server.pid)
    ready = peer.lines.count("ready")
    peer.listener.shutdown(socket.SHUT_RDWR)
    wait_until_seen(worker, HANDOFF_MODE)
    wait_until(lambda: peer.lines.count("ready") > ready, "says so")
    assert_idle([server.pid])
    peer.listener.bind(("127.0.0.1", port))
    peer.listener.listen()
    assert helpers.deal(peer, worker, port) == server.pid
    assert worker.word(MODE_SEEN) == HANDOFF_MODE


def test_a_listener_that_was_closed_is_left_for_its_successor(make_peer, served, peer, helpers):
    server, worker, port = served
    go_direct(peer, worker, port, server.pid)
    peer.die()
    assert answer(connect(port)) == server.pid
    peer.listener.shutdown(socket.SHUT_RDWR)
    assert_idle([server.pid])
    with socket.create_server(("127.0.0.1", 0)) as successor:
        successor.setblocking(False)
        following = make_peer(listener=successor)
        worker = following.wait_for_worker()
        following.wait_for_state(worker, "worker")
        port = successor.getsockname()[1]
        assert helpers.deal(following, worker, port) == server.pid
        assert_idle([server.pid])
        go_direct(following, worker, port, server.pid)
        assert answer(connect(port)) == server.pid


def test_a_frozen_ringdeald_is_not_missed(peer, served):
    server, worker, port = served
    go_direct(peer, worker, port, server.pid)
    peer.freeze()
    for _ in range(3):
        assert answer(connect(port)) == server.pid


def test_a_child_joins_for_itself(peer, run, helpers):
    """What its parent was told is nothing to it."""
    server = run("server", "poll", "--nonblocking", "--forks", 2)
    port = helpers.port_of(server)
    workers = [peer.wait_for_worker(count) for count in (1, 2)]
    for worker in workers:
        assert worker.word(MODE_SEEN) == HANDOFF_MODE
        assert helpers.deal(peer, worker, port) == worker.pid
    go_direct(peer, workers[0], port, workers[0].pid)
    os.kill(workers[0].pid, signal.SIGSTOP)  # else it may be the one that accepts
    try:
        assert helpers.deal(peer, workers[1], port) == workers[1].pid
    finally:
        os.kill(workers[0].pid, signal.SIGCONT)


def test_one_that_blocks_in_accept_is_dealt_to_whatever_the_page_says(peer, run, helpers):
    server = run("server", "accept")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    wait_until(lambda: worker.word(WAITING) == 1, "it waits")
    worker.order(DIRECT_MODE)
    for _ in range(3):
        assert helpers.deal(peer, worker, port) == server.pid
    assert worker.word(MODE_SEEN) == HANDOFF_MODE and worker.count(DIRECT) == 0


def test_one_that_comes_to_block_goes_back_by_itself_and_says_so(peer, run, helpers):
    server = run("turning.py")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    assert helpers.deal(peer, worker, port) == server.pid
    go_direct(peer, worker, port, server.pid)
    assert answer(connect(port)) == server.pid
    ready = peer.lines.count("ready")
    os.kill(server.pid, signal.SIGUSR1)
    server.wait_for_line("^blocks$")
    wait_until_seen(worker, HANDOFF_MODE)
    wait_until(lambda: peer.lines.count("ready") > ready, "says so")
    for _ in range(3):
        assert helpers.deal(peer, worker, port) == server.pid


def test_threads_that_accept_at_once_lose_nothing_while_the_mode_changes(peer, run):
    server = run("threads_at_once.py")
    port = int(server.wait_for_line(r"^port (\d+)$").group(1))
    worker = peer.wait_for_worker()
    peer.wait_for_state(worker, "observer")
    worker.ring()
    peer.wait_for_state(worker, "worker")
    answered = 0
    for turn in range(200):
        worker.order(DIRECT_MODE if turn % 2 == 0 else HANDOFF_MODE)
        clients = [connect(port) for _ in range(4)]
        for client in clients:
            answered += answer_by_either(peer, worker, client)
    assert answered == 800
    assert worker.count(TAKEN) + worker.count(DIRECT) == 800


def answer_by_either(peer, worker, client):
    """Accepts beside the server, as ringdeald does until an order is acknowledged."""
    client.setblocking(False)

    def attempt():
        try:
            worker.hand(peer.listener.accept()[0])
        except BlockingIOError:
            pass
        try:
            return client.recv(100)
        except BlockingIOError:
            return b""
    with client:
        return bool(wait_until(attempt, "an answer"))
