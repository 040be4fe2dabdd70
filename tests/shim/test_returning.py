"""A process that is without ringdeald goes on as if there were none, and joins once it comes."""
import errno
import os
import pathlib
import signal
import socket

import pytest

import peer as words
from support.waiting import wait_until

WAITS = ["epoll", "epoll-edge", "poll", "ppoll", "select", "pselect"]
ALL = ["accept", *WAITS]


def flags(wait):
    return [] if wait == "accept" else ["--nonblocking"]


def wait_until_without_ringdeald(pid):
    """Until it has joined: the listener itself is inside what stands in its place."""
    def text(info):
        try:
            return info.read_text()
        except FileNotFoundError:
            return ""  # closed meanwhile

    def watches_a_listener():
        infos = pathlib.Path(f"/proc/{pid}/fdinfo").glob("*")
        return any("tfd:" in text(each) for each in infos)
    wait_until(watches_a_listener, "a wait has begun")


def wait_until_asleep(pid):
    wait_until(lambda: pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
               == "S", "it sleeps, in accept as far as one can tell")


def assert_dealt(peer, worker, port, pid):
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        worker.hand(peer.accept())
        assert int(client.recv(100)) == pid


@pytest.mark.parametrize("wait", ALL)
def test_ringdeald_that_comes_later_is_joined(make_peer, run, helpers, wait):
    server = run("server", wait, *flags(wait))
    port = helpers.port_of(server)
    assert int(helpers.ask(port)) == server.pid
    peer = make_peer()
    worker = peer.wait_for_worker()
    peer.wait_for_state(worker, "worker")
    assert worker.request.get("one_at_a_time", False) == (wait == "accept")
    for _ in range(3):
        words.wait_until(lambda: worker.waiting == 1, "waits")
        assert_dealt(peer, worker, port, server.pid)


@pytest.mark.parametrize("wait", ALL)
def test_ringdeald_that_died_is_joined_again_and_again(make_peer, run, helpers, wait):
    peer = make_peer()
    server = run("server", wait, *flags(wait))
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    for _ in range(3):
        words.wait_until(lambda: worker.waiting == 1, "waits")
        peer.die()
        assert int(helpers.ask(port)) == server.pid
        peer = make_peer()
        worker = peer.wait_for_worker()
        peer.wait_for_state(worker, "worker")
    words.wait_until(lambda: worker.waiting == 1, "waits")
    assert_dealt(peer, worker, port, server.pid)


@pytest.mark.parametrize("wait", WAITS)
def test_who_only_watches_is_not_woken_by_ringdealds_coming(make_peer, run, helpers, wait):
    program = run("waits", wait, "-1" if wait == "poll" else "1000000")
    helpers.port_of(program)
    wait_until_without_ringdeald(program.pid)
    peer = make_peer()
    worker = peer.wait_for_worker()
    peer.wait_for_state(worker, "observer")
    words.wait_until(lambda: worker.waiting == 1, "shows that it waits")
    assert "result" not in program.output()
    worker.ring()
    program.wait_for_line("^result 1 errno 0$")


@pytest.mark.parametrize("preload", [True, False], ids=["shim", "bare"])
@pytest.mark.parametrize("wait", ALL)
def test_a_time_out_is_the_one_that_was_asked_for(run, helpers, wait, preload):
    program = run("waits", wait, 1500, preload=preload)
    expected = -1 if wait == "accept" else 0
    program.wait_for_line(f"^result {expected} errno {errno.EAGAIN if wait == 'accept' else 0}$")
    assert "short" not in program.output() and "set is not" not in program.output()
    assert ("left 0" in program.output()) == (wait == "select")


@pytest.mark.parametrize("preload", [True, False], ids=["shim", "bare"])
@pytest.mark.parametrize("wait", ALL)
def test_a_signal_ends_the_wait(run, helpers, wait, preload):
    program = run("waits", wait, 60_000, 700, preload=preload)
    program.wait_for_line(f"^result -1 errno {errno.EINTR}$")
    assert "short" not in program.output()
    if wait == "select":
        left = int(program.wait_for_line(r"^left (\d+)$").group(1))
        assert 40_000 < left < 60_000


def test_a_refusal_is_final(make_peer, run, helpers):
    server = run("server", "poll", "--nonblocking")
    port = helpers.port_of(server)
    peer = make_peer(refuses=True)
    wait_until(lambda: peer.refusals, "refused")
    refusals = peer.refusals
    for _ in range(3):
        assert int(helpers.ask(port)) == server.pid
    peer.die()
    make_peer()
    for _ in range(3):
        assert int(helpers.ask(port)) == server.pid
    assert peer.refusals == refusals == 1


def test_a_ringdeald_that_is_stopping_is_asked_again(make_peer, run, helpers):
    server = run("server", "poll", "--nonblocking")
    port = helpers.port_of(server)
    peer = make_peer(refuses=True, code="stopping")
    wait_until(lambda: peer.refusals, "refused")
    peer.die()
    peer = make_peer()
    worker = peer.wait_for_worker()
    peer.wait_for_state(worker, "observer")
    worker.ring()
    peer.wait_for_state(worker, "worker")
    assert_dealt(peer, worker, port, server.pid)


def test_children_that_are_forked_without_ringdeald_join_too(make_peer, run, helpers):
    server = run("server", "accept", "--forks", 3)
    helpers.port_of(server)
    peer = make_peer()
    peer.wait_for_worker(3)
    assert sorted(each.pid for each in peer.workers) == sorted(server.children())


def test_a_program_that_gets_the_listener_over_exec_goes_on_blocking(run, helpers):
    server = run("again.py")
    port = helpers.port_of(server)
    for _ in range(2):
        assert helpers.ask(port) == "first"
    server.signal(signal.SIGUSR1)
    server.wait_for_line("^again$")
    child, = server.children()
    # Nothing is there to be accepted when it first calls accept.
    wait_until_without_ringdeald(child)
    for _ in range(3):
        wait_until_asleep(child)
        assert helpers.ask(port) == "again"
    assert server.children() == [child], server.output()
