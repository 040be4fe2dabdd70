"""The slot is ready when a connection was handed over, in every way to wait for one."""
import os
import signal
import socket

import pytest

import peer as words  # offsets of the page

WAITS = ["epoll", "epoll-edge", "epoll-exclusive", "poll", "ppoll", "select", "pselect"]


def deal(peer, worker, port):
    """One connection by way of ringdeald: accepted here, handed over; what the worker answers."""
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        worker.hand(peer.accept())
        return int(client.recv(100))


@pytest.mark.parametrize("wait", WAITS)
def test_a_handed_connection_wakes(peer, run, helpers, wait):
    server = run("server", wait, "--nonblocking")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    assert worker.request["observer"] is True
    assert "one_at_a_time" not in worker.request and "forked" not in worker.request
    peer.wait_for_state(worker, "observer")
    for taken in range(1, 20):
        assert deal(peer, worker, port) == server.pid
        words.wait_until(lambda: worker.count(words.CLOSED) == taken, "closed")
        assert worker.count(words.TAKEN) == taken
        assert worker.state == "worker"
    words.wait_until(lambda: worker.waiting == 1, "parked again")
    assert worker.count(words.PASS_START) == 0
    assert server.output() == f"port {port}"


def test_blocking_accept_takes_what_is_handed(peer, run, helpers):
    server = run("server", "accept")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    assert worker.request["one_at_a_time"] is True and "observer" not in worker.request
    for taken in range(1, 20):
        words.wait_until(lambda: worker.waiting == 1, "a thread waits")
        assert deal(peer, worker, port) == server.pid
        assert worker.count(words.TAKEN) == taken
    assert worker.state == "worker"
    assert server.output() == f"port {port}"


@pytest.mark.parametrize("wait", WAITS)
def test_a_doorbell_promotes_and_is_no_connection(peer, run, helpers, wait):
    server = run("server", wait, "--nonblocking")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    peer.wait_for_state(worker, "observer")
    worker.ring()
    peer.wait_for_state(worker, "worker")
    words.wait_until(lambda: worker.count(words.RUNG) == 1, "rung")
    words.wait_until(lambda: worker.waiting == 1, "waits again")
    assert deal(peer, worker, port) == server.pid


def test_blocking_accept_answers_a_doorbell_by_blocking_on(peer, run, helpers):
    server = run("server", "accept")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    worker.ring()
    words.wait_until(lambda: worker.count(words.RUNG) == 1, "rung")
    assert deal(peer, worker, port) == server.pid


def test_a_worker_that_becomes_ready_pokes(peer, run, helpers):
    server = run("server", "epoll", "--nonblocking")
    helpers.port_of(server)
    worker = peer.wait_for_worker()
    words.wait_until(lambda: worker.waiting == 1, "waits")
    worker.page[words.WANTS_READY] = 1
    worker.ring()
    peer.wait_for_line("ready")


@pytest.mark.parametrize("wait", WAITS + ["accept"])
def test_death_of_ringdeald_is_not_noticed(peer, run, helpers, wait):
    server = run("server", wait, *(["--nonblocking"] if wait != "accept" else []))
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    assert deal(peer, worker, port) == server.pid
    peer.die()
    for _ in range(20):
        assert int(helpers.ask(port)) == server.pid
    assert server.output() == f"port {port}"


def test_what_was_handed_before_death_is_still_taken(peer, run, helpers):
    server = run("server", "epoll", "--nonblocking")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    peer.wait_for_state(worker, "observer")
    os.kill(server.pid, 19)
    client = socket.create_connection(("127.0.0.1", port), 10)
    worker.hand(peer.accept())
    peer.die()
    os.kill(server.pid, 18)
    assert int(client.recv(100)) == server.pid
    assert int(helpers.ask(port)) == server.pid


@pytest.mark.parametrize("how", ["poll", "select", "accept", "tries"])
def test_a_paused_worker_that_goes_on_by_another_way_is_no_longer_paused(peer, run, helpers, how):
    server = run("pausing.py", how)
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    server.wait_for_line("^paused$")
    assert worker.state == "paused"
    server.signal(signal.SIGUSR1)
    peer.wait_for_state(worker, "observer" if how in ("poll", "select") else "worker")
    assert deal(peer, worker, port) == server.pid


def test_an_epoll_set_that_no_hook_saw_goes_on_waking_its_program(daemon, run, helpers):
    server = run("unseen.py")
    port = helpers.port_of(server)
    for _ in range(20):
        assert int(helpers.ask(port)) == server.pid
    server.wait_for_line("cannot follow")
    assert server.output().count("ringdeal:") == 1


def test_a_moved_channel_does_not_keep_its_program_awake(peer, run, helpers):
    server = run("sitting.py")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    assert deal(peer, worker, port) == 1
    peer.die()
    assert int(helpers.ask(port)) <= 3
    for _ in range(20):
        assert int(helpers.ask(port)) == 1
