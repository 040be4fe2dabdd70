"""ringdeal spread finds the process that holds each connection, whatever the server is."""

import contextlib
import os
import signal
import socket
import threading

import pytest

from conftest import children_of, counts, pids, ringdeal, spread

SHAPES = ("burst", "ramp", "one-by-one")


@pytest.mark.parametrize("shape", SHAPES)
def test_counts_every_connection_of_a_prefork_server(python_server, shape):
    server = python_server("prefork_server.py", "127.0.0.1:0", 3)
    report = spread(server.address, "--shape", shape)
    assert report["connections"] == 32
    assert pids(report) == children_of(server.pid)
    assert sum(counts(report)) == 32
    assert counts(report) == sorted(counts(report), reverse=True)
    assert (report["max"], report["min"]) == (counts(report)[0], counts(report)[-1])


@pytest.mark.parametrize("shape", SHAPES)
def test_the_kernel_and_the_server_name_the_same_processes(python_server, shape):
    server = python_server("prefork_server.py", "127.0.0.1:0", 1)
    by_kernel = spread(server.address, "--shape", shape)
    by_answer = spread(server.address, "--shape", shape, "--path", "/pid")
    assert by_kernel["workers"] == by_answer["workers"] == [
        {"pid": children_of(server.pid)[0], "connections": 32}]


def test_a_worker_without_connections_is_not_left_out(python_server):
    server = python_server("prefork_server.py", "127.0.0.1:0", 2, "--hold-worker", "0", "600")
    report = spread(server.address)
    assert counts(report) == [32, 0]
    assert pids(report) == children_of(server.pid)
    assert (report["max"], report["min"]) == (32, 0)
    assert counts(spread(server.address, "--path", "/pid")) == [32, 0]


@pytest.mark.parametrize("address", ["[::1]:0", "127.0.0.1:0"])
def test_a_server_of_one_process_has_one_worker(python_server, address):
    server = python_server("prefork_server.py", address, 1)
    report = spread(server.address, "-n", 8)
    assert report["workers"] == [{"pid": children_of(server.pid)[0], "connections": 8}]
    assert (report["max"], report["min"]) == (8, 8)


def test_an_ipv6_listener_that_also_serves_ipv4_is_found(python_server):
    server = python_server("prefork_server.py", "[::]:0", 2, "--hold-worker", "1", "600")
    port = server.address.rpartition(":")[2]
    report = spread(f"127.0.0.1:{port}")
    assert pids(report) == children_of(server.pid)
    assert counts(report) == [32, 0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("question", [(), ("--silent",), ("--path", "/pid")])
def test_unix_sockets(python_server, tmp_path, shape, question):
    server = python_server("prefork_server.py", f"unix:{tmp_path}/socket", 2)
    report = spread(server.address, "--shape", shape, *question)
    assert sum(counts(report)) == 32
    assert pids(report) == children_of(server.pid)


@pytest.mark.parametrize("name", ["file", "@abstract"])
def test_an_idle_worker_of_a_unix_socket_is_not_left_out(python_server, tmp_path, name):
    path = f"@{tmp_path}" if name == "@abstract" else tmp_path / "socket"
    server = python_server("prefork_server.py", f"unix:{path}", 2, "--hold-worker", "0", "600")
    report = spread(server.address)
    assert counts(report) == [32, 0]
    assert pids(report) == children_of(server.pid)


def test_a_full_unix_accept_queue_is_waited_for(python_server, tmp_path):
    server = python_server("prefork_server.py", f"unix:{tmp_path}/socket", 1, "--backlog", "1")
    assert counts(spread(server.address, "-n", 200)) == [200]


def test_what_no_process_accepts_is_said_to_be_unaccepted(silent_listener):
    for question in ((), ("--silent",), ("--path", "/pid")):
        report = spread(silent_listener, "-n", 8, "--timeout", 0.2, *question, exit_code=1)
        assert report["unaccepted"] == 8
        assert report["workers"] == [{"pid": os.getpid(), "connections": 0}]


def test_unaccepted_on_a_unix_socket(tmp_path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen(64)
        report = spread(f"unix:{tmp_path}/socket", "-n", 8, "--timeout", 0.2, exit_code=1)
        assert report["unaccepted"] == 8


def test_a_worker_that_serves_one_at_a_time_has_one(python_server):
    server = python_server("blocking_server.py", "127.0.0.1:0", 2)
    report = spread(server.address, "-n", 8, "--timeout", 3, exit_code=1)
    assert counts(report) == [1, 1]
    assert report["unaccepted"] == 6
    assert pids(report) == children_of(server.pid)


def test_what_was_accepted_and_not_answered_has_a_worker():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        accepted = []
        thread = threading.Thread(
            target=lambda: accepted.extend(listener.accept()[0] for _ in range(3)))
        thread.start()
        address = "127.0.0.1:%d" % listener.getsockname()[1]
        report = spread(address, "-n", 4, "--timeout", 3, exit_code=1)
        thread.join()
        for connection in accepted:
            connection.close()
    assert report["workers"] == [{"pid": os.getpid(), "connections": 3}]
    assert report["unaccepted"] == 1


def test_a_stopped_worker_is_not_waited_for(python_server):
    server = python_server("prefork_server.py", "127.0.0.1:0", 2)
    stopped, running = children_of(server.pid)
    os.kill(stopped, signal.SIGSTOP)
    try:
        report = spread(server.address, "-n", 8)
    finally:
        os.kill(stopped, signal.SIGCONT)
    assert report["workers"] == [{"pid": running, "connections": 8},
                                 {"pid": stopped, "connections": 0}]


def test_a_server_that_closes_without_an_answer_is_not_counted_as_unaccepted(closing_server):
    address = closing_server(b"")
    assert spread(address, "-n", 8, exit_code=1)["unknown"] == 8
    assert counts(spread(address, "-n", 8, "--silent")) == [8]


@pytest.fixture
def closing_server():
    """Closes each connection when its request has come, after an answer if there is one."""
    with socket.socket() as listener, contextlib.ExitStack() as ends:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)

        def end(connection, answer):
            with connection:
                if connection.recv(4096) and answer:
                    connection.sendall(answer)

        def serve(answer):
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=end, args=(connection, answer)).start()

        def start(answer):
            thread = threading.Thread(target=serve, args=(answer,))
            thread.start()
            ends.callback(thread.join)
            ends.callback(listener.shutdown, socket.SHUT_RDWR)
            return "127.0.0.1:%d" % listener.getsockname()[1]

        yield start


@pytest.mark.parametrize("answer", [b"HTTP/1.0 404 Not Found\r\n\r\n404",
                                    b"HTTP/1.0 200 OK\r\n\r\npid 7",
                                    b"HTTP/1.0 200 OK\r\n\r\n0", b"7", b""])
def test_an_answer_that_names_no_process_is_not_believed(closing_server, answer):
    report = spread(closing_server(answer), "-n", 4, "--path", "/", exit_code=1)
    assert report["unknown"] == 4


@pytest.mark.parametrize("answer", [
    b"HTTP/1.0 200 OK\r\n\r\n77\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n77",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n7\r\n1;x=y\r\n7\r\n0\r\n\r\n"])
def test_the_number_is_found_in_every_form_of_body(closing_server, answer):
    report = spread(closing_server(answer), "-n", 4, "--path", "/")
    assert report["workers"] == [{"pid": 77, "connections": 4}]


def test_workers_of_names_the_workers(python_server):
    server = python_server("prefork_server.py", "127.0.0.1:0", 1)
    report = spread(server.address, "-n", 4, "--workers-of", os.getpid())
    assert {"pid": server.pid, "connections": 0} in report["workers"]


def test_the_table_shows_the_same(python_server):
    server = python_server("prefork_server.py", "127.0.0.1:0", 2, "--hold-worker", "0", "600")
    held, serving = children_of(server.pid)
    lines = ringdeal("spread", server.address).stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["32", str(serving)], ["0", str(held)]]
    assert lines[3] == "max:min 32:0 of 32 connections"


def test_many_connections(python_server):
    server = python_server("prefork_server.py", "127.0.0.1:0", 2)
    report = spread(server.address, "-n", 2000)
    assert sum(counts(report)) == 2000


def test_nobody_there_is_one_line(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        refused = "127.0.0.1:%d" % free.getsockname()[1]
        for address in (refused, f"unix:{tmp_path}/none"):
            done = ringdeal("spread", address)
            assert done.returncode == 111
            assert done.stdout == ""
            assert done.stderr.startswith(f"ringdeal spread: cannot connect to {address}: ")
            assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("wrong", [("localhost:80",), ("127.0.0.1:80", "-n", "0"),
                                   ("127.0.0.1:80", "-n", "10001"), ("127.0.0.1:80", "--shape", "x"),
                                   ("127.0.0.1:80", "--path", "/", "--silent"), ()])
def test_a_wrong_command_line_is_usage(wrong):
    assert ringdeal("spread", *wrong).returncode == 100
