"""What a worker does not come for goes to one that is free, and none waits behind a worker that is
stopped, in a long pass, or paused."""
import os
import re
import signal
import time

import pytest

from support import build
from support.arrivals import Arrivals
from support.clients import Burst, connect, get
from support.process import Discount, all_threads_stopped
from support.programs import SERVING
from support.waiting import wait_until
from support.worker import DOORBELL, Worker

WORKERS = 8
RECALL_AFTER = 0.005  # the default
LONGEST = RECALL_AFTER + 0.05


@pytest.fixture
def daemon(start_daemon):
    return start_daemon("name: web, bind: 127.0.0.1:0")


@pytest.fixture(params=SERVING)
def prefork(request, daemon, target):
    """The pids of eight workers of one server."""
    target([build.PYTHON, SERVING[request.param], "%s:%d" % daemon.address(), str(WORKERS)],
           daemon).address()
    return [each["pid"] for each in daemon.wait_for_workers(WORKERS)]


def recalled(daemon, pid):
    """How long something had waited in its channel at each recall from this worker, in seconds."""
    return [float(seconds) for seconds in re.findall(
        rf"event=recalled .* pid={pid} seconds=([\d.e-]+)", daemon.log())]


def stop_with_nothing_in_hand(daemon, pid):
    """One that is stopped while it serves has more load than the others, and may never be dealt to again."""
    def stopped_so():
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: all_threads_stopped(pid), "it is stopped")
        worker = daemon.worker(pid)
        if worker["load"] == 0:
            return True
        os.kill(pid, signal.SIGCONT)
        return False
    wait_until(stopped_so, "it is stopped with nothing in its hand")


def test_none_waits_for_a_stopped_worker(daemon, prefork, closing, record_property):
    stopped = prefork[3]
    arrivals = Arrivals(daemon.address()[1], 400)
    closing.add(arrivals, arrivals.close)
    all_of_us = Discount([daemon.pid, arrivals.process.pid, *prefork])
    arrivals.go_on(100)
    earlier = len(recalled(daemon, stopped))
    ringdeald = Discount([daemon.pid])
    stop_with_nothing_in_hand(daemon, stopped)
    try:
        daemon.wait_for(lambda _: len(recalled(daemon, stopped)) > earlier, "something is recalled")
        # What it had taken when it was stopped waits with it; what it had not taken does not.
        longest, allowed = recalled(daemon, stopped)[earlier], LONGEST + ringdeald.seconds()
        assert longest <= allowed, f"{longest} s, {allowed} s are allowed"
        arrivals.go_on(500)
        daemon.wait_for(lambda _: daemon.worker(stopped)["pending"] == 0, "nothing waits there")
        client_allowed = LONGEST + all_of_us.seconds()
        handed = daemon.worker(stopped)["handed"]
    finally:
        os.kill(stopped, signal.SIGCONT)
    continued = time.monotonic()
    on_the_way = Discount([daemon.pid, arrivals.process.pid, stopped])
    daemon.wait_for(lambda _: daemon.worker(stopped)["handed"] > handed)
    again = time.monotonic() - continued
    assert again - on_the_way.seconds() < 1, "it is dealt to again"
    assert not arrivals.stop().failures, arrivals.counts
    # As the clients saw it: of those that others answered none waited for the one that was stopped.
    seen = max(longest for pid, (_, longest) in arrivals.by_pid.items() if pid != stopped) / 1000
    record_property("figure", f"recalled after {longest * 1000:.1f} ms, {allowed * 1000:.0f} are allowed; "
                    f"longest wait of a client {seen * 1000:.0f} ms, {client_allowed * 1000:.0f} are "
                    f"allowed; dealt to again after {again * 1000:.0f} ms")
    assert seen <= client_allowed


def test_none_waits_behind_a_worker_that_is_stopped_while_it_holds_a_queue(start_daemon, closing):
    # So late that both have a queue before.
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, recall_after: 1s")
    stuck, free = (closing.add(worker, worker.close) for worker in (Worker(daemon).become(),
                                                                    Worker(daemon).become()))
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


def test_a_listener_that_is_let_go_resets_what_nobody_came_for(start_daemon, target):
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
            with pytest.raises(ConnectionResetError):
                connection.recv(1)
