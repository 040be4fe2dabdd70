"""libringdeal, by its example worker and by ctypes from Python."""
import ctypes
import os
import select
import socket

import pytest

import peer as words
from support import build
from support.waiting import wait_until

LIBRARY = build.SHIM.parent / "libringdeal.so.1"
EXAMPLE = build.SHIM.parent / "examples" / "ringdeal-example-worker"


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("control_path", ctypes.c_char_p),
                ("listener", ctypes.c_char_p), ("address", ctypes.c_char_p),
                ("listener_fd", ctypes.c_int), ("weight", ctypes.c_uint),
                ("cpus", ctypes.c_char_p), ("one_at_a_time", ctypes.c_int),
                ("timeout_ms", ctypes.c_uint)]


@pytest.fixture(scope="module")
def library():
    loaded = ctypes.CDLL(str(LIBRARY), use_errno=True)
    loaded.ringdeal_join.restype = ctypes.c_void_p
    loaded.ringdeal_last_error.restype = ctypes.c_char_p
    for name in ("fd", "leave", "pass_begin", "pass_end"):
        getattr(loaded, f"ringdeal_{name}").argtypes = [ctypes.c_void_p]
    loaded.ringdeal_accept.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                                       ctypes.c_int]
    loaded.ringdeal_closed.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    loaded.ringdeal_queued.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
    return loaded


def join(library, control, **fields):
    return library.ringdeal_join(ctypes.byref(Options(
        size=ctypes.sizeof(Options), control_path=control.encode(), **fields)))


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def client_of(listener):
    return socket.create_connection(listener.getsockname(), 10)


def test_a_worker_takes_counts_and_leaves(library, peer, control, listener):
    handle = join(library, control, listener=b"web", listener_fd=listener.fileno(), weight=3)
    assert handle, library.ringdeal_last_error()
    worker = peer.wait_for_worker()
    assert worker.request["listener"] == "web" and worker.request["weight"] == 3
    assert worker.state == "worker"
    assert library.ringdeal_accept(handle, None, None, 0) == -1
    library.ringdeal_pass_end(handle)
    assert worker.waiting == 1 and worker.count(words.PASS_START) == 0
    library.ringdeal_pass_begin(handle)
    assert worker.waiting == 0 and worker.count(words.PASS_START) != 0
    library.ringdeal_queued(handle, 7)
    assert worker.word(168) == 7
    with client_of(listener) as client:
        worker.hand(peer.accept())
        assert select.select([library.ringdeal_fd(handle)], [], [], 10)[0]
        connection = library.ringdeal_accept(handle, None, None, socket.SOCK_NONBLOCK)
        assert connection >= 0 and not os.get_blocking(connection)
        assert worker.count(words.TAKEN) == 1
        os.write(connection, b"hello")
        assert client.recv(10) == b"hello"
        os.close(connection)
        library.ringdeal_closed(handle, 1)
        assert worker.count(words.CLOSED) == 1
    library.ringdeal_leave(handle)
    assert worker.state == "left"
    peer.wait_for_line("leave")


@pytest.mark.parametrize("call, count", [("closed", 1), ("queued", 0)])
def test_what_may_end_a_maximum_is_said_if_ringdeald_waits_for_it(call, count, library, peer, control,
                                                                  listener):
    handle = join(library, control, listener=b"web", listener_fd=listener.fileno())
    worker = peer.wait_for_worker()
    getattr(library, f"ringdeal_{call}")(handle, count)
    worker.page[words.WANTS_READY] = 1
    getattr(library, f"ringdeal_{call}")(handle, count)
    peer.wait_for_line("ready")
    library.ringdeal_leave(handle)
    assert sum("ready" in str(line) for line in peer.lines) == 1, "said without being asked"


def test_it_goes_direct_when_ringdeald_dies(library, peer, control, listener):
    handle = join(library, control, listener=b"web", listener_fd=listener.fileno())
    number = library.ringdeal_fd(handle)
    peer.wait_for_worker()
    peer.die()
    with client_of(listener) as client:
        def take():
            select.select([number], [], [], 10)
            connection = library.ringdeal_accept(handle, None, None, 0)
            return connection if connection >= 0 else None
        connection = wait_until(take, "a connection")
        assert library.ringdeal_fd(handle) == number
        os.write(connection, b"direct")
        assert client.recv(10) == b"direct"
        os.close(connection)
    library.ringdeal_leave(handle)


@pytest.mark.parametrize("fields, number", [
    ({}, 22), ({"listener": b"web"}, 111), ({"listener": b'a"b'}, 111)])
def test_errors_are_told_in_words(library, directory, fields, number):
    ctypes.set_errno(0)
    assert not join(library, str(directory / "nobody"), **fields)
    assert ctypes.get_errno() == number
    assert library.ringdeal_last_error()


def test_a_refusal_carries_ringdealds_answer(library, make_peer, control, listener):
    make_peer(refuses=True)
    assert not join(library, control, listener=b"web", listener_fd=listener.fileno())
    assert ctypes.get_errno() == 13
    assert b"not this one" in library.ringdeal_last_error()


def test_nothing_stays_open(peer, control, run):
    program = run("join_and_leave.py", LIBRARY, control, preload=False)
    program.wait_for_line("^ok$")


def test_the_example_serves(daemon_with_web, run, helpers):
    worker = run(EXAMPLE, "web", daemon_with_web.control)
    daemon_with_web.wait_for_workers(1)
    port = daemon_with_web.address("web")[1]
    for _ in range(20):
        assert int(helpers.ask(port)) == worker.pid
    daemon_with_web.wait_for(lambda status: status["listeners"][0]["workers"][0]["closed"] == 20)
