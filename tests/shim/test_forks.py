"""Processes that share a listener by fork and exec: each joins for itself, and none harms another."""
import os
import signal
import socket

import pytest

import peer as words
from support.waiting import wait_until


def deal(peer, worker, port):
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        worker.hand(peer.accept())
        return int(client.recv(100))


def test_a_child_of_a_joined_parent_joins_for_itself(peer, run, helpers):
    port = helpers.port_of(run("family", "joined-parent"))
    parent, child = peer.wait_for_worker(1), peer.wait_for_worker(2)
    assert parent.pid != child.pid
    assert "forked" not in parent.request and child.request["forked"] is True
    for _ in range(5):
        for worker in (parent, child):
            assert deal(peer, worker, port) == worker.pid
    for worker in (parent, child):
        wait_until(lambda: worker.count(words.CLOSED) == 5, "closed")
        assert worker.count(words.TAKEN) == 5


def test_a_child_that_closes_its_copy_does_not_end_the_parent(peer, run, helpers):
    server = run("family", "closing-child")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    server.wait_for_line("child closed")
    assert deal(peer, worker, port) == worker.pid == server.pid
    assert "leave" not in peer.lines


def test_a_vfork_child_that_closes_everything_does_not_end_the_parent(peer, run, helpers):
    server = run("family", "vfork")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    server.wait_for_line("child ran")
    assert deal(peer, worker, port) == server.pid
    assert "leave" not in peer.lines


def test_children_on_an_epoll_set_of_the_parent_stay_direct(peer, run, helpers):
    server = run("family", "shared-epoll")
    port = helpers.port_of(server)
    parent = peer.wait_for_worker()
    parent.ring()
    children = set(wait_until(lambda: len(server.children()) == 2 and server.children(), "forks"))
    answered = {int(helpers.ask(port)) for _ in range(20)}
    assert answered <= children
    assert len(peer.workers) == 1


def test_a_handler_that_closes_the_listener_ends_a_blocked_accept(peer, run, helpers):
    server = run("family", "handler")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    assert deal(peer, worker, port) == server.pid
    wait_until(lambda: worker.waiting == 1, "blocked in accept")
    server.signal(signal.SIGQUIT)
    server.wait_for_line("accept: Invalid argument")
    assert server.wait() == 0
    peer.wait_for_line("leave")
    assert worker.state == "left"


def test_a_handler_that_closes_the_listener_ends_a_direct_accept(make_peer, run, helpers):
    make_peer(refuses=True)
    server = run("family", "handler")
    assert int(helpers.ask(helpers.port_of(server))) == server.pid
    wait_until(lambda: "poll" in open(f"/proc/{server.pid}/wchan").read() or
               open(f"/proc/{server.pid}/syscall").read() != "running\n", "blocked")
    server.signal(signal.SIGQUIT)
    server.wait_for_line("accept: ")
    assert server.wait() == 0


def test_an_on_demand_master_forks_for_the_doorbell(peer, run, helpers):
    server = run("family", "on-demand")
    port = helpers.port_of(server)
    master = peer.wait_for_worker()
    peer.wait_for_state(master, "observer")
    for number in (2, 3, 4):
        master.ring()
        child = peer.wait_for_worker(number)
        assert child.pid != server.pid and child.request["one_at_a_time"] is True
        assert deal(peer, child, port) == child.pid
    assert master.state == "observer"


@pytest.mark.parametrize("blocking", [False, True])
def test_a_listener_that_came_over_exec_is_joined(peer, run, helpers, blocking):
    server = run("inherit.py", *(["--blocking"] if blocking else []))
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    assert worker.pid == server.pid and worker.request["forked"] is True
    assert worker.request.get("one_at_a_time", False) == blocking
    for _ in range(3):
        assert deal(peer, worker, port) == server.pid


def test_the_flag_of_an_adopted_listener_is_what_the_program_believes(peer, run, helpers):
    """ringdeald has made the listener non-blocking since; a program that came by exec blocks."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    os.set_inheritable(listener.fileno(), True)
    program = words.__file__.replace("peer.py", "programs/inherit.py")
    server = run("/usr/bin/python3", program, "--serve", listener.fileno(), "--blocking",
                 pass_fds=[listener.fileno()])
    worker = peer.wait_for_worker()
    wait_until(lambda: worker.waiting == 1, "blocks in accept")
    assert worker.word(words.STYLE) == 1
    assert deal(peer, worker, listener.getsockname()[1]) == server.pid


@pytest.mark.parametrize("wait", ["poll", "accept"])
def test_a_child_made_inside_a_wait_does_not_end_its_parents(peer, run, wait):
    program = run("handler", wait)
    worker = peer.wait_for_worker()
    wait_until(lambda: worker.waiting == 1, "waits")
    program.signal(signal.SIGUSR2)
    program.wait_for_line("^interrupted$")
    wait_until(lambda: worker.waiting == 1, lambda: f"one waits, not {worker.waiting}")
