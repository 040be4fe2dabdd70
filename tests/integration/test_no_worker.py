"""With nobody to give a connection to, it waits in the kernel's queue, and the wake-up is not
lost."""
import errno
import selectors
import time

from support import build
from support.clients import Burst, Load, connect
from support.waiting import wait_until
from support.worker import Worker


def test_connections_wait_for_the_first_worker(daemon, join):
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding")
        assert daemon.listener()["accepted"] == 0, "accepted without a worker to give it to"
        worker = join().become()
        daemon.wait_for(lambda _: daemon.workers()[0]["handed"] == 8)
        assert len(worker.take_all()) == 8
    assert daemon.listener()["holds"] >= 1


def test_a_paused_worker_that_goes_on_is_seen_at_once(daemon, join):
    worker = join().become(state=3)
    for count in range(1, 6):
        with Burst(daemon.address(), 1):
            daemon.wait_for(lambda _: worker.page.wants_ready == 1)
            assert worker.frame() is None
            worker.become()
            assert worker.readable(10), "the poke was lost"
            worker.take()
            worker.page.state = 3
    assert daemon.workers()[0]["handed"] == count


def test_a_worker_that_becomes_ready_between_the_two_looks_is_seen(start_daemon, failpoint,
                                                                   closing):
    point = failpoint("hold-asked")
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", environment=point.environment)
    worker = Worker(daemon)
    closing.add(worker, worker.close)
    worker.page.state = 3
    address = daemon.address()
    with Burst(address, 1):
        name, release = point.wait()
        assert name == "hold-asked"
        # It is asked to poke and becomes ready, yet its poke is never sent: the second look must see.
        assert worker.page.wants_ready == 1
        worker.page.state = 2
        point.close()
        release()
        assert worker.readable(10), "the wake-up was lost"
        assert worker.take() is not None


def ends_of(burst, timeout=10):
    """The errno that each connection ends with; 0: an end of file."""
    ends = {}
    deadline = time.monotonic() + timeout
    with selectors.DefaultSelector() as selector:
        for connection in burst.connections:
            selector.register(connection, selectors.EVENT_READ)
        while selector.get_map() and time.monotonic() < deadline:
            for key, _ in selector.select(deadline - time.monotonic()):
                try:
                    ends[key.fileobj] = 0 if not key.fileobj.recv(1) else None
                except OSError as error:
                    ends[key.fileobj] = error.errno
                selector.unregister(key.fileobj)
    return [ends.get(each) for each in burst.connections]


def resets(daemon):
    return daemon.listener()["no_worker_resets"]


def times_said(daemon):
    return daemon.log().count("event=no_worker_resets listener=web")


def test_with_reset_what_waits_longer_than_the_timeout_is_reset(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, no_worker: reset, hold_timeout: 300ms",
                          http=True)
    began = time.monotonic()
    with Burst(daemon.address(), 20) as burst:
        assert ends_of(burst) == [errno.ECONNRESET] * 20
        assert time.monotonic() - began >= 0.3
    with Burst(daemon.address(), 20) as burst:  # by now nobody is waited for any more
        assert ends_of(burst) == [errno.ECONNRESET] * 20
    daemon.wait_for(lambda _: resets(daemon) == 40)
    listener = daemon.listener()
    assert listener["mode"] == "resetting" and listener["accepted"] == 40, listener
    assert 'ringdeal_no_worker_resets_total{listener="web"} 40' in daemon.fetch("/metrics")
    wait_until(lambda: times_said(daemon) == 1, daemon.log)
    worker = Worker(daemon)
    closing.add(worker, worker.close)
    worker.become()
    with Burst(daemon.address(), 20):
        daemon.wait_for(lambda _: daemon.workers()[0]["handed"] == 20)
        assert len(worker.take_all()) == 20
        assert resets(daemon) == 40 and daemon.listener()["mode"] == "handoff"
        worker.close()
    with Burst(daemon.address(), 5) as burst:
        assert ends_of(burst) == [errno.ECONNRESET] * 5
    wait_until(lambda: times_said(daemon) == 2, daemon.log)


def test_with_reset_a_worker_that_comes_in_time_is_given_what_waits(start_daemon, target):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, no_worker: reset, hold_timeout: 1min")
    load = Load(daemon.address(), concurrency=16, limit=64, timeout=60)
    daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding")
    target([build.PYTHON, build.SERVERS / "prefork_server.py", "%s:%d" % daemon.address(), "2"],
           daemon).address()
    load.wait()
    assert not load.failures and sum(load.answered.values()) == 64
    assert resets(daemon) == 0


def test_with_reset_a_worker_that_registers_again_and_again_loses_nothing(start_daemon, closing):
    """It comes while connections are accepted to be reset: each is reset, or handed to it."""
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, no_worker: reset, hold_timeout: 0s")
    handed = 0
    for count in range(20, 620, 20):
        with Burst(daemon.address(), 20) as burst:
            worker = Worker(daemon).become()

            def all_are_somewhere(status):
                listener = status["listeners"][0]
                now = handed + listener["workers"][0]["handed"]
                return listener["accepted"] == count == now + listener["no_worker_resets"]
            daemon.wait_for(all_are_somewhere)
            handed += len(worker.take_all())
            worker.close()
            assert None not in ends_of(burst)
            daemon.wait_for(lambda _: not daemon.workers())
    assert handed + resets(daemon) == 600


def test_a_paused_worker_is_waited_for(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, no_worker: reset, hold_timeout: 50ms")
    worker = Worker(daemon)
    closing.add(worker, worker.close)
    worker.become(state=3)
    with Burst(daemon.address(), 4):
        daemon.wait_for(lambda _: worker.page.wants_ready == 1)
        time.sleep(0.2)  # four times as long as it would take
        assert resets(daemon) == 0
        worker.become()
        daemon.wait_for(lambda _: daemon.workers()[0]["handed"] == 4)


def test_what_a_dead_worker_had_not_taken_is_reset_too(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, no_worker: reset, hold_timeout: 200ms, "
                          "recall_after: 1min")
    worker = Worker(daemon).become()
    with Burst(daemon.address(), 8) as burst:
        daemon.wait_for(lambda _: daemon.workers()[0]["handed"] == 8)
        worker.close()
        assert ends_of(burst) == [errno.ECONNRESET] * 8
    daemon.wait_for(lambda _: resets(daemon) == 8 and daemon.listener()["kept"] == 0)


def test_a_unix_connection_is_closed(start_daemon, directory):
    path = f"{directory}/web.sock"
    daemon = start_daemon(f'name: web, bind: "unix:{path}", no_worker: reset, hold_timeout: 0s')
    with connect(path) as client:
        assert client.recv(1) == b""
    assert resets(daemon) == 1
