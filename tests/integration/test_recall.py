"""What a worker does not come for goes to one that is free, and none waits behind a worker that is
stopped, in a long pass, or paused."""
import os
import signal
import time

import pytest

from support import build
from support.clients import Burst, Load, connect, get
from support.worker import DOORBELL

WORKERS = 8


@pytest.fixture
def daemon(start_daemon):
    return start_daemon("name: web, bind: 127.0.0.1:0")


@pytest.fixture(params=["event loops", "one at a time"])
def prefork(request, daemon, target):
    """The pids of eight workers of one server."""
    program = "prefork_server.py" if request.param == "event loops" else "blocking_server.py"
    target([build.PYTHON, build.SERVERS / program, "%s:%d" % daemon.address(), str(WORKERS)],
           daemon).address()
    return [each["pid"] for each in daemon.wait_for_workers(WORKERS)]


def test_none_waits_for_a_stopped_worker(daemon, prefork):
    stopped = prefork[3]
    load = Load(daemon.address(), concurrency=4)
    try:
        daemon.wait_for(lambda _: load.finished > 200)
        os.kill(stopped, signal.SIGSTOP)
        try:
            begun = load.finished
            daemon.wait_for(lambda _: load.finished > begun + 1000)
            # What it had taken when it was stopped waits with it; what it had not taken does not,
            # nor what it is sent while all others are busy.
            daemon.wait_for(lambda _: daemon.worker(stopped)["pending"] == 0, "nothing waits there")
        finally:
            os.kill(stopped, signal.SIGCONT)
        handed = daemon.worker(stopped)["handed"]
        continued = time.monotonic()
        daemon.wait_for(lambda _: daemon.worker(stopped)["handed"] > handed)
        assert time.monotonic() - continued < 3, "it is dealt to again"
    finally:
        load.stop()
    assert not load.failures, load.failures


def test_none_waits_behind_a_worker_that_is_stopped_while_it_holds_a_queue(daemon, join):
    stuck, free = join().become(), join().become()
    stuck.page.waiting = free.page.waiting = 1
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: [each["pending"] for each in daemon.workers()] == [4, 4])
        assert len(free.take_all()) == 4
        daemon.wait_for(lambda _: free.readable(5) and daemon.workers()[free.slot]["handed"] == 8)
        assert len(free.take_all()) == 4
        assert daemon.workers()[stuck.slot]["state"] == "suspect"
        assert stuck.frame()[0] == DOORBELL


def test_a_blocked_event_loop_delays_nobody_else(daemon, target):
    target([build.PYTHON, build.SERVERS / "prefork_server.py", "%s:%d" % daemon.address(), "3"],
           daemon).address()
    daemon.wait_for_workers(3)
    with connect(daemon.address()) as blocking:
        blocking.sendall(b"GET /block/2000 HTTP/1.1\r\nHost: test\r\n\r\n")
        begin = time.monotonic()
        for _ in range(60):
            with connect(daemon.address()) as other:
                get(other)
        assert time.monotonic() - begin < 1.5, "one of them waited for the blocked loop"


def test_a_listener_that_is_let_go_closes_what_nobody_came_for(start_daemon, target):
    daemon = start_daemon()
    server = target([build.PYTHON, build.SERVERS / "prefork_server.py", "127.0.0.1:0", "1"], daemon)
    address = server.address()
    worker = daemon.wait_for_workers(1)[0]["pid"]
    os.kill(worker, signal.SIGSTOP)
    with Burst(address, 4) as burst:
        daemon.wait_for(lambda _: daemon.worker(worker)["pending"] == 4)
        server.close()
        for connection in burst.connections:
            connection.settimeout(10)
            try:
                assert connection.recv(1) == b""
            except ConnectionResetError:
                pass
