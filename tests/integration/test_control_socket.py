"""What is wrong on the control socket is refused by name, bounded, and harms nobody else."""
import os
import socket
import struct

import pytest

from support.clients import Burst
from support.daemon import ask, receive_answer
from support.waiting import wait_until
from support.worker import Refused, Worker

REGISTER = {"op": "register", "version": 1, "listener": "web"}


def assert_closed(connection):
    try:
        assert connection.recv(1) == b""
    except ConnectionResetError:
        pass  # closed before it read all that was sent


def code_of(daemon, request, descriptors=()):
    with daemon.connect() as connection:
        return ask(connection, request, descriptors)[0].get("code")


@pytest.mark.parametrize("request_, code", [
    ({}, "bad-request"),
    ({"op": 7}, "bad-request"),
    ({"op": "dance"}, "unknown-op"),
    ({**REGISTER, "version": 2}, "wrong-version"),
    ({**REGISTER, "version": 0}, "wrong-version"),
    ({**REGISTER, "version": "1"}, "bad-request"),
    ({**REGISTER, "listener": "nothing"}, "unknown-listener"),
    ({"op": "register", "version": 1}, "unknown-listener"),
    ({**REGISTER, "weight": 0}, "bad-request"),
    ({**REGISTER, "weight": 1001}, "bad-request"),
    ({**REGISTER, "weight": -1}, "bad-request"),
    ({**REGISTER, "weight": 1.5}, "bad-request"),
    ({**REGISTER, "observer": "yes"}, "bad-request"),
    ({**REGISTER, "listener": ["web"]}, "bad-request"),
    ({**REGISTER, "cpus": 3}, "bad-request"),
    ({**REGISTER, "passes_listener": True}, "bad-descriptors"),
    ({**REGISTER, "passes_pidfd": True}, "bad-descriptors"),
    ({"op": "report", "active": 1, "pending": 0, "taken": 1}, "not-registered"),
    ({"op": "leave"}, "not-registered"),
    ({"op": "drain", "listener": "web", "slot": 5}, "unknown-worker"),
    ({"op": "drain", "listener": "nothing", "slot": 5}, "unknown-listener"),
    ({"op": "drain", "listener": "web"}, "unknown-worker"),
    ({"op": "bind", "version": 1}, "bad-request"),
])
def test_a_request_that_is_wrong_is_refused_by_name(daemon, request_, code):
    assert code_of(daemon, request_) == code
    assert daemon.workers() == []


@pytest.mark.parametrize("line", [b"\n", b"[]\n", b"nonsense\n", b'{"op":"status"\n', b"\0\n",
                                  b'{"op":"\xff\xfe"}\n', b"[" * 60000 + b"\n"])
def test_a_line_that_is_no_request_is_refused_and_the_next_is_answered(daemon, line):
    with daemon.connect() as connection:
        connection.sendall(line)
        assert receive_answer(connection)[0]["code"] in ("bad-request", "unknown-op")
        answer, descriptors = ask(connection, {"op": "status"})
        assert answer["ok"]
        os.close(descriptors[0])


def test_a_line_without_end_is_cut_off(daemon):
    with daemon.connect() as connection:
        try:
            for _ in range(70):
                connection.sendall(b"x" * 1024)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was cut off already; the answer waits
        assert receive_answer(connection)[0]["code"] == "too-large"
        assert_closed(connection)


def test_requests_in_one_write_and_one_in_many_are_all_answered(daemon):
    with daemon.connect() as connection:
        connection.sendall(b'{"op":"dance"}\n{"op":"leave"}\n{"op":"re')
        assert receive_answers(connection, 2) == ["unknown-op", "not-registered"]
        for byte in b'port"}\n':
            connection.send(bytes([byte]))
        assert receive_answers(connection, 1) == ["not-registered"]


def receive_answers(connection, count):
    import json
    data = b""
    while data.count(b"\n") < count:
        data += connection.recv(65536)
    return [json.loads(line)["code"] for line in data.splitlines()]


def test_one_connection_is_one_worker(daemon, join):
    worker = join()
    assert ask(worker.control, REGISTER)[0]["code"] == "already-registered"
    assert len(daemon.workers()) == 1


def test_what_is_passed_must_listen(daemon):
    request = {**REGISTER, "passes_listener": True}
    reader, writer = os.pipe()
    with socket.socket() as quiet, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        for wrong in (reader, quiet.fileno(), datagrams.fileno()):
            assert code_of(daemon, request, [wrong]) == "bad-descriptors"
    os.close(reader)
    os.close(writer)


def test_more_descriptors_than_any_request_has_end_the_connection(daemon):
    with daemon.connect() as connection:
        socket.send_fds(connection, [b'{"op":"status"}\n'], [0] * 20)
        assert receive_answer(connection)[0]["code"] == "bad-descriptors"
        assert_closed(connection)


def test_who_says_nothing_is_cut_off_and_a_worker_is_not(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0",
                          more="limits: {registration_timeout: 200ms}")
    worker = Worker(daemon).become()
    closing.add(worker, worker.close)
    with daemon.connect() as silent:
        assert silent.recv(1) == b""
    with Burst(daemon.address(), 1):
        assert worker.readable(10)


def test_workers_are_bounded(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", more="limits: {workers: 2}")
    workers = [Worker(daemon) for _ in range(2)]
    for worker in workers:
        closing.add(worker, worker.close)
    with pytest.raises(Refused) as refused:
        Worker(daemon)
    assert refused.value.code == "too-many-workers"
    workers[0].close()

    def joined():
        try:
            return Worker(daemon)
        except Refused:
            return None
    again = wait_until(joined, "its place is free again")
    closing.add(again, again.close)


def test_control_connections_are_bounded_and_the_data_plane_goes_on(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", more="limits: {control_connections: 16}")
    worker = Worker(daemon).become()
    closing.add(worker, worker.close)
    address = daemon.address()
    crowd = [daemon.connect() for _ in range(20)]
    codes = []
    for connection in crowd[-4:]:
        codes.append(receive_answer(connection)[0]["code"])
        assert connection.recv(1) == b""
    assert codes == ["too-many-connections"] * 4
    with Burst(address, 1):
        assert worker.readable(10)
    for connection in crowd:
        connection.close()

    def answers():
        try:
            return daemon.status()
        except AssertionError:
            return None  # not all of them were seen to end yet
    refusals = wait_until(answers, "room again")["control_refusals"]
    assert refusals["too-many-connections"] >= 4


def test_one_who_does_not_read_its_answers_is_cut_off(daemon):
    with daemon.connect() as deaf:
        deaf.settimeout(10)
        try:
            while True:
                deaf.sendall(b'{"op":"dance"}\n' * 1000)
        except (BrokenPipeError, ConnectionResetError):
            pass
    daemon.wait_for(lambda status: status["control_connections"] <= 1)


def test_a_drained_worker_gets_nothing_and_what_waited_goes_to_others(daemon, join):
    drained, other = join().become(), join().become()
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: [each["pending"] for each in daemon.workers()] == [4, 4])
        request = {"op": "drain", "listener": "web", "slot": drained.slot}
        assert daemon.ask(request)[0]["ok"]
        daemon.wait_for(lambda _: daemon.workers()[other.slot]["pending"] == 8)
        assert drained.frame() is None
        assert drained.page.mode == 2
        shown = daemon.workers()[drained.slot]
        assert (shown["state"], shown["pending"]) == ("draining", 0)
        assert len(other.take_all()) == 8
        assert daemon.ask({**request, "op": "undrain"})[0]["ok"]
        assert drained.page.mode == 0
        with Burst(daemon.address(), 8):
            daemon.wait_for(lambda _: daemon.workers()[drained.slot]["pending"] == 8)


def test_a_drained_process_is_named_by_its_pid(daemon, join):
    worker = join().become()
    assert daemon.ask({"op": "drain", "listener": "web", "pid": os.getpid()})[0]["ok"]
    assert daemon.workers()[worker.slot]["state"] == "draining"


def test_the_control_path_of_a_dead_daemon_is_taken_over_and_of_a_living_one_not(daemon):
    from support import build
    from support.process import Process
    second = Process([build.DAEMON, "--config", daemon.config], daemon.environment)
    assert second.wait() == 111
    second.kill()
    daemon.status()
    daemon.kill()
    daemon.process.kill()
    daemon.start()
    daemon.status()


def test_a_descriptor_whose_close_waits_holds_nobody_up(daemon):
    """The last close of a socket with SO_LINGER waits for its peer, who does not read."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        lingering = socket.create_connection(server.getsockname())
        silent, _ = server.accept()
    with silent:
        lingering.setblocking(False)
        try:
            while True:
                lingering.send(b"x" * 65536)
        except BlockingIOError:
            pass
        lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
        with daemon.connect() as stranger:
            # It keeps the descriptor until the line ends, so that its close is the last.
            socket.send_fds(stranger, [b"{"], [lingering.fileno()])
            lingering.close()
            stranger.sendall(b'"op":"status"}\n')
            assert b"bad-descriptors" in stranger.recv(65536)
            with daemon.connect() as other:
                other.settimeout(10)
                other.sendall(b'{"op":"status"}\n')
                assert b'"ok":true' in other.recv(65536)
