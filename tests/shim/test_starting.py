"""With no ringdeald, a frozen one, or one that refuses, a program runs as if there were no shim."""
import errno
import os
import pathlib
import re
import shutil
import signal
import socket
import time

import pytest

import peer as words
from conftest import PROGRAMS
from support import build, users

ALL = ["accept", "epoll", "poll", "select"]


def flags(wait):
    return [] if wait == "accept" else ["--nonblocking"]


@pytest.mark.parametrize("wait", ALL)
def test_no_ringdeald_and_it_serves(run, helpers, wait):
    server = run("server", wait, *flags(wait))
    port = helpers.port_of(server)
    for _ in range(5):
        assert int(helpers.ask(port)) == server.pid
    said = [line for line in server.output().splitlines() if line.startswith("ringdeal:")]
    assert len(said) == 1 and "no ringdeald" in said[0]


def test_no_ringdeald_is_said_once_for_all_children(run, helpers):
    server = run("server", "accept", "--forks", "5")
    assert helpers.ask(helpers.port_of(server))
    assert server.output().count("ringdeal:") == 1


def test_no_ringdeald_is_an_error_if_it_is_required(run):
    server = run("server", "accept", RINGDEAL_REQUIRE="1")
    server.wait_for_line("cannot listen: Connection refused")
    assert server.wait() == 1
    assert server.output().count("ringdeal:") == 1


@pytest.mark.parametrize("stderr", ["closed", "a pipe that nobody reads"])
def test_what_it_says_never_ends_the_program(run, helpers, stderr):
    def spoil():
        if stderr == "closed":
            os.close(2)  # then the listener's number
        else:
            reader, writer = os.pipe()
            os.dup2(writer, 2)
            os.close(reader)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    server = run("server", "poll", preexec=spoil)
    assert int(helpers.ask(helpers.port_of(server))) == server.pid
    assert server.running()


def test_disabled_it_says_nothing(run, helpers):
    server = run("server", "poll", RINGDEAL_DISABLE="1")
    assert int(helpers.ask(helpers.port_of(server))) == server.pid
    assert "ringdeal" not in server.output()


def test_a_listener_that_is_not_meant_is_left_alone(peer, run, helpers):
    server = run("server", "poll", RINGDEAL_LISTENERS=":1,127.0.0.1:2")
    assert int(helpers.ask(helpers.port_of(server))) == server.pid
    assert not peer.binds and not peer.workers


@pytest.mark.parametrize("wait", ALL)
def test_a_frozen_ringdeald_delays_once_and_is_joined_when_it_thaws(peer, run, helpers, wait):
    peer.freeze()
    start = time.monotonic()
    server = run("server", wait, *flags(wait), hasty=True)
    port = helpers.port_of(server)
    for _ in range(5):
        assert int(helpers.ask(port)) == server.pid
    assert time.monotonic() - start < 2
    assert server.output().count("ringdeal:") == 1
    peer.thaw()
    worker = peer.wait_for_worker()
    peer.wait_for_state(worker, "worker")
    assert worker.word(words.STYLE) == (wait == "accept")
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        worker.hand(peer.accept())
        assert int(client.recv(100)) == server.pid


def test_a_blocking_accept_times_out_without_ringdeald_as_well(peer, run):
    peer.freeze()
    program = run("scenario.py", "time_out", hasty=True)
    program.wait_for_line("^ok$")
    assert program.wait() == 0, program.output()


def test_frozen_at_the_join_and_not_before(peer, run, helpers):
    server = run("late.py", hasty=True)
    port = helpers.port_of(server)
    peer.freeze()
    start = time.monotonic()
    server.signal(signal.SIGUSR1)
    assert int(helpers.ask(port)) == server.pid
    assert time.monotonic() - start < 2
    peer.thaw()
    worker = peer.wait_for_worker()
    peer.wait_for_state(worker, "worker")


def test_refused_and_it_serves_from_the_listener(make_peer, run, helpers):
    make_peer(refuses=True)
    server = run("server", "accept")
    port = helpers.port_of(server)
    for _ in range(5):
        assert int(helpers.ask(port)) == server.pid
    server.wait_for_line("not this one")


def test_refused_and_accept_goes_on_blocking(make_peer, run, helpers):
    make_peer(refuses=True)
    server = run("inherit.py", "--blocking")
    port = helpers.port_of(server)
    for _ in range(5):
        assert int(helpers.ask(port)) == server.pid


def test_not_adopted_and_it_serves_untouched(make_peer, run, helpers):
    peer = make_peer(doors=False)
    server = run("server", "epoll", "--nonblocking")
    assert int(helpers.ask(helpers.port_of(server))) == server.pid
    assert not peer.workers


def test_an_owned_listener_comes_with_bind(make_peer, run, helpers):
    owned = socket.create_server(("127.0.0.1", 0))
    port = owned.getsockname()[1]
    owned.setblocking(False)
    peer = make_peer(owned=owned)
    servers = [run("server", "accept", "--port", port) for _ in range(2)]
    workers = [peer.wait_for_worker(1), peer.wait_for_worker(2)]
    assert peer.binds[0] == f"127.0.0.1:{port}"
    for worker in workers:
        assert worker.request["one_at_a_time"] is True  # what the program's own socket was
        with socket.create_connection(("127.0.0.1", port), 10) as client:
            worker.hand(peer.accept())
            assert int(client.recv(100)) == worker.pid
    for server in servers:
        assert helpers.port_of(server) == port


def test_a_late_answer_does_not_cost_the_owned_listeners_that_follow(make_peer, run, helpers):
    owned = socket.create_server(("127.0.0.1", 0))
    port = owned.getsockname()[1]
    owned.setblocking(False)
    peer = make_peer(owned=owned)
    peer.freeze()
    server = run("second.py", port, hasty=True)
    server.wait_for_line("^first$")
    peer.thaw()
    server.signal(signal.SIGUSR1)
    assert helpers.port_of(server) == port
    worker = peer.wait_for_worker()
    peer.wait_for_state(worker, "worker")
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        worker.hand(peer.accept())
        assert int(client.recv(100)) == server.pid


def test_one_listener_too_many_is_not_taken_half(make_peer, run):
    owned = socket.create_server(("127.0.0.1", 0))
    make_peer(owned=owned)
    program = run("many.py", owned.getsockname()[1])
    program.wait_for_line("^ok$")
    assert f"error {errno.EADDRINUSE}" in program.output()
    assert program.output().count("ringdeal:") == 1
    assert program.wait() == 0, program.output()


def test_a_socket_that_a_child_made_listen_is_joined(peer, run, helpers):
    with socket.socket() as reserved:  # never listens: the port is the program's
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        server = run("child_listens.py", reserved.getsockname()[1])
        port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    assert worker.pid == server.pid
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        worker.hand(peer.accept())
        assert int(client.recv(100)) == server.pid


def test_a_number_whose_close_no_hook_saw_is_asked_about_again(make_peer, run, helpers):
    owned = socket.create_server(("127.0.0.1", 0))
    port = owned.getsockname()[1]
    peer = make_peer(owned=owned)
    program = run("reused.py", port)
    first = helpers.port_of(program)
    worker = peer.wait_for_worker()
    with socket.create_connection(("127.0.0.1", first), 10):
        worker.hand(peer.accept())
        program.wait_for_line("^ok$")
    assert peer.binds[-1] == f"127.0.0.1:{port}"
    assert worker.count(words.CLOSED) == 1


STRANGER = """
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind("\\0" + sys.argv[1])
server.listen()
print("listens", flush=True)
while True:
    connection = server.accept()[0]
    print("got", connection.recv(100), flush=True)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_a_stranger_at_the_abstract_name_is_told_nothing(run, helpers, control):
    stranger = run(build.PYTHON, "-c", STRANGER, control, preload=False,
                   preexec=lambda: os.setuid(65534))
    stranger.wait_for_line("^listens$")
    server = run("server", "poll", "--nonblocking")
    assert int(helpers.ask(helpers.port_of(server))) == server.pid
    assert "{" not in stranger.output()


def test_a_program_that_overwrites_its_environment_finds_ringdeald(peer, run):
    program = run("overwritten.py", RINGDEAL_WEIGHT="3")
    worker = peer.wait_for_worker()
    assert worker.pid == program.pid and worker.request["weight"] == 3


@pytest.mark.parametrize("weight, meant", [("1000", 1000), ("1001", 1), ("0", 1), ("-1", 1),
                                           ("2x", 1), ("18446744073709551617", 1)])
def test_a_weight_that_is_none_is_said_once_and_1_is_taken(peer, run, helpers, weight, meant):
    server = run("server", "epoll", "--nonblocking", "--forks", "2", RINGDEAL_WEIGHT=weight)
    helpers.port_of(server)
    assert [peer.wait_for_worker(count).request["weight"] for count in (1, 2)] == [meant, meant]
    said = [line for line in server.output().splitlines() if "RINGDEAL_WEIGHT" in line]
    assert len(said) == (weight != "1000")
    assert not said or f'from 1 to 1000, not "{weight}": 1 is taken' in said[0]


def test_a_setuid_program_is_left_alone(peer, directory, run, helpers):
    program = directory / "server"
    shutil.copy(PROGRAMS / "server", program)
    program.chmod(0o4755)
    server = run(program, "poll", preexec=users.become(users.NOBODY))
    assert int(helpers.ask(helpers.port_of(server))) == server.pid
    uids = re.search(r"^Uid:\s+(\d+)\s+(\d+)", (pathlib.Path("/proc") / str(server.pid) /
                                                "status").read_text(), re.MULTILINE).groups()
    if uids[0] == uids[1]:
        pytest.skip("a file system, or a user, without setuid programs")
    assert not peer.binds and not peer.workers
