"""max_active_per_worker and max_active: what is beyond waits in the kernel unharmed, and each close
lets exactly one more in."""
import pytest

from support import build
from support.clients import Burst, Http, Load, connect, get, receive
from support.worker import Worker

SERVER = build.SERVERS / "prefork_server.py"
THREADED = build.SOURCE / "tests/integration/programs/threaded_server.py"
LIMITS = {"worker": "max_active_per_worker: 4", "listener": "max_active: 8"}


@pytest.fixture(params=sorted(LIMITS))
def limited(request, start_daemon):
    """Two workers may have eight connections, whichever limit says so."""
    return start_daemon(f"name: web, bind: 127.0.0.1:0, {LIMITS[request.param]}")


def wait_for_hold(daemon, accepted):
    """Until so many were accepted and ringdeald has stopped; more would show as more accepted."""
    def held(status):
        listener = status["listeners"][0]
        return listener["mode"] == "holding" and listener["accepted"] >= accepted
    daemon.wait_for(held, f"a hold after {accepted}")
    listener = daemon.listener()
    assert listener["accepted"] == accepted and listener["kept"] == 0, listener


def two_workers(daemon, closing):
    return [closing.add(worker, worker.close).become() for worker in (Worker(daemon), Worker(daemon))]


def test_each_close_of_a_worker_by_the_protocol_lets_one_in(limited, closing):
    workers = two_workers(limited, closing)
    with Burst(limited.address(), 32):
        wait_for_hold(limited, 8)
        assert [len(worker.take_all()) for worker in workers] == [4, 4]
        for count in range(9, 33):
            worker = workers[count % 2]
            worker.close_connection(worker.connections[0])
            limited.wait_for(lambda _: limited.listener()["accepted"] == count)
            if count < 32:
                wait_for_hold(limited, count)
            assert worker.readable(10), "the other worker got it"
            assert len(worker.take_all()) == 1
    assert [each["handed"] for each in limited.workers()] == [16, 16]


def test_a_report_of_fewer_connections_lets_one_in(limited, closing):
    workers = [Worker(limited), Worker(limited)]
    for worker in workers:
        closing.add(worker, worker.close)
        worker.say(b'{"op":"report","active":0,"pending":0,"taken":0}\n')
    with Burst(limited.address(), 9):
        wait_for_hold(limited, 8)
        workers[0].say(b'{"op":"report","active":3,"pending":0,"taken":4}\n')
        limited.wait_for(lambda _: limited.listener()["accepted"] == 9)


def test_each_close_under_the_shim_lets_one_in(limited, target):
    target([build.PYTHON, SERVER, "%s:%d" % limited.address(), "2"], limited).address()
    limited.wait_for_workers(2)
    with Burst(limited.address(), 32) as burst:
        wait_for_hold(limited, 8)
        for connection in burst.connections:
            connection.setblocking(True)
            connection.settimeout(10)
            connection.sendall(Http.request())
        # The kernel's queue is in the order of arrival: the first eight are the ones that are served.
        for count, connection in enumerate(burst.connections):
            if count < 24:
                wait_for_hold(limited, 8 + count)
            assert receive(connection)
            connection.close()
    limited.wait_for(lambda _: all(each["active"] == 0 for each in limited.workers()))
    assert sum(each["handed"] for each in limited.workers()) == 32


def test_a_close_while_the_program_waits_is_said(start_daemon, target):
    """No wait of it ends or begins: nothing but the close itself can wake ringdeald."""
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, max_active_per_worker: 2")
    target([build.PYTHON, THREADED, "%s:%d" % daemon.address()], daemon).address()
    with Burst(daemon.address(), 8) as burst:
        for count in range(2, 8):
            wait_for_hold(daemon, count)
            daemon.wait_for(lambda _: daemon.workers()[0]["active"] == 2
                            and daemon.workers()[0]["pass_seconds"] == 0)
            burst.connections.pop(0).close()
        daemon.wait_for(lambda _: daemon.listener()["accepted"] == 8)


def test_a_worker_that_dies_makes_room(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, max_active: 8, recall_after: 20s")
    workers = two_workers(daemon, closing)
    with Burst(daemon.address(), 16):
        wait_for_hold(daemon, 8)
        assert [len(worker.take_all()) for worker in workers] == [4, 4]
        workers[0].close()
        wait_for_hold(daemon, 12)
        assert len(workers[1].take_all()) == 4


def test_no_wake_up_is_lost_under_load(limited, target):
    """Closes race with holds that begin: a connection too few, and the load stands still."""
    target([build.PYTHON, SERVER, "%s:%d" % limited.address(), "2"], limited).address()
    limited.wait_for_workers(2)
    load = Load(limited.address(), concurrency=32, limit=3000).wait()
    assert not load.failures and sum(load.answered.values()) == 3000
    assert limited.listener()["holds"] > 100


def test_an_adopted_listener_keeps_to_its_limit(start_daemon, target):
    daemon = start_daemon(more="adopted: {max_active_per_worker: 4}")
    where = target([build.PYTHON, SERVER, "127.0.0.1:0", "2"], daemon).address()
    daemon.wait_for_workers(2)
    with Burst(where, 32) as burst:
        wait_for_hold(daemon, 8)
        burst.connections.pop(0).close()
        wait_for_hold(daemon, 9)
    with connect(where) as client:
        assert get(client)
