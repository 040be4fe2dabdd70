"""With on_stop: close, whoever has connected is answered and whoever comes after is refused; and the
same workers are dealt to when ringdeald is back."""
import os
import signal
import socket

import pytest

from support import build
from support.activated import Activated, out_of_the_way
from support.clients import Burst, Load, connect, free_port, get
from support.process import assert_idle
from support.programs import waiting_by
from support.users import NOBODY
from support.waiting import wait_until
from support.worker import Worker

PROGRAMS = waiting_by("level", "edge", "select", "blocking")
CLOSE = "on_stop: close\ndrain_timeout: 10s"
REFUSED = (ConnectionRefusedError, FileNotFoundError)


def start(program, workers, start_daemon, target, limits="", more=()):
    where = ("127.0.0.1", free_port())
    daemon = start_daemon("name: web, bind: '%s:%d'%s" % (*where, limits), *more, more=CLOSE)
    script, *options = PROGRAMS[program]
    server = target([build.PYTHON, script, "%s:%d" % where, str(workers), *options], daemon)
    server.address()
    return daemon, where, server, joined(daemon, workers)


def joined(daemon, count):
    return sorted(each["pid"] for each in daemon.wait_for_workers(count, timeout=20))


def stop(daemon):
    daemon.process.signal(signal.SIGTERM)
    assert daemon.process.wait(15) == 0, daemon.log()


def stop_under_load(daemon, where, refusals=("ConnectionRefusedError",)):
    """Whoever connects is answered, or refused in one of these ways."""
    load = Load(where, concurrency=4)
    try:
        wait_until(lambda: load.finished > 100, "requests go on")
        stop(daemon)
    finally:
        load.stop()
    assert set(load.failures) <= set(refusals), load.failures
    assert_refused(where)


def is_let_in_by_nobody(where):
    try:
        connect(where, timeout=0.3).close()
    except TimeoutError:
        return True
    return False


def assert_refused(where):
    with pytest.raises(REFUSED):
        connect(where)


@pytest.mark.parametrize("program", PROGRAMS)
def test_nobody_is_cut_off_and_the_same_workers_come_back(program, start_daemon, target):
    daemon, where, _, pids = start(program, 4, start_daemon, target)
    stop_under_load(daemon, where)
    assert_idle(pids)
    daemon.start()
    assert joined(daemon, 4) == pids
    # One that blocks in accept serves one connection at a time.
    count = 4 if program == "blocking" else 32
    daemon.wait_for(lambda _: all(each["load"] == 0 for each in daemon.workers()))
    with Burst(where, count) as burst:
        assert set(burst.spread().values()) == {count // 4}
    # And they have the new listener now.
    daemon.kill()
    with connect(where) as connection:
        assert int(get(connection)) in pids


def test_connections_that_a_worker_has_go_on(start_daemon, target):
    daemon, where, _, pids = start("level", 2, start_daemon, target)
    with connect(where) as connection:
        pid = int(get(connection))
        stop(daemon)
        assert_refused(where)
        assert pid in pids and int(get(connection)) == pid


def test_the_only_worker_that_accepts_by_itself_stops_as_well(start_daemon, target):
    daemon, where, _, (pid,) = start("level", 1, start_daemon, target)

    def is_direct():
        with connect(where) as connection:
            assert int(get(connection)) == pid
        return daemon.listener()["mode"] == "direct"
    wait_until(is_direct, "direct")
    stop_under_load(daemon, where)
    daemon.start()
    assert joined(daemon, 1) == [pid]
    with connect(where) as connection:
        assert int(get(connection)) == pid


@pytest.mark.parametrize("kind", ["tcp", "path", "abstract"])
def test_what_waits_at_a_limit_is_dealt_first(kind, start_daemon, target, directory):
    where = {"tcp": ("127.0.0.1", free_port()), "path": f"{directory}/app.sock",
             "abstract": f"\0{directory}"}[kind]
    text = "%s:%d" % where if kind == "tcp" else "unix:" + where.replace("\0", "@")
    daemon = start_daemon(f'name: web, bind: "{text}", max_active: 4', more=CLOSE)
    target([build.PYTHON, *PROGRAMS["level"], text, "2"], daemon)
    joined(daemon, 2)
    with Burst(where, 12) as burst:
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding", "held")
        daemon.process.signal(signal.SIGTERM)
        daemon.process.wait_for_line("event=stopping")
        answered = 0
        while burst.connections:
            get_and_close(burst.connections.pop(0))
            answered += 1
        assert answered == 12
        assert daemon.process.wait(15) == 0, daemon.log()
    assert "connections_dropped" not in daemon.log()
    assert_refused(where)


def get_and_close(connection):
    connection.setblocking(True)
    with connection:
        return get(connection)


def test_a_listener_that_is_held_keeps_no_other_one_open(start_daemon, target, directory):
    path, port = f"{directory}/app.sock", free_port()
    daemon, _, _, _ = start("level", 1, start_daemon, target, ", max_active: 1",
                            more=[f'name: path, bind: "unix:{path}"',
                                  f'name: port, bind: "127.0.0.1:{port}"'])
    with Burst(daemon.address("web"), 2) as burst:
        daemon.wait_for(lambda _: daemon.listener("web")["mode"] == "holding", "one is held")
        daemon.process.signal(signal.SIGTERM)
        for name in "path", "port":
            daemon.process.wait_for_line(f"event=closed listener={name}")
        assert_refused(path)
        assert_refused(("127.0.0.1", port))
        assert daemon.process.running()
        for connection in burst.connections:
            get_and_close(connection)
    assert daemon.process.wait(15) == 0
    assert "connections_dropped" not in daemon.log()


def test_workers_let_clients_in_that_a_killed_ringdeald_turned_away(start_daemon, target):
    daemon, where, _, pids = start("level", 2, start_daemon, target, ", max_active: 1")
    with Burst(where, 2) as burst:
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding", "one is held")
        daemon.process.signal(signal.SIGTERM)
        daemon.process.wait_for_line("event=stopping")
        wait_until(lambda: is_let_in_by_nobody(where), "new clients are turned away")
        daemon.kill()
        for connection in burst.connections[:1]:
            get_and_close(connection)
        for _ in range(4):
            with connect(where) as connection:
                assert int(get(connection)) in pids


def test_one_that_was_refused_does_not_turn_in_circles_at_a_closed_listener(start_daemon, target):
    where = ("127.0.0.1", free_port())
    daemon = start_daemon("name: web, bind: '%s:%d'" % where,
                          more=CLOSE + "\nlimits: {workers: 1}")
    server = target([build.PYTHON, *PROGRAMS["level"], "%s:%d" % where, "2"], daemon)
    server.address()
    joined(daemon, 1)
    server.process.wait_for_line("ringdeald did not take the listener")
    stop(daemon)
    assert_refused(where)
    assert_idle(server.workers())


def test_a_worker_that_is_forked_while_listeners_are_closed_is_dealt_to(start_daemon, target,
                                                                        closing):
    where = ("127.0.0.1", free_port())
    daemon = start_daemon("name: web, bind: '%s:%d'" % where, more=CLOSE)
    with connect(where) as connection:
        daemon.process.signal(signal.SIGTERM)
        daemon.process.wait_for_line("event=stopping")
        worker = Worker(daemon).become()
        closing.add(worker, worker.close)
        assert worker.readable(10) and worker.take() is not None
        assert worker.connections[0].getpeername() == connection.getsockname()
    assert daemon.process.wait(15) == 0


def test_a_unix_path_goes_and_comes_back(start_daemon, target, directory):
    path = f"{directory}/app.sock"
    daemon = start_daemon(f'name: web, bind: "unix:{path}"', more=CLOSE)
    target([build.PYTHON, *PROGRAMS["level"], f"unix:{path}", "2"],
           daemon).process.wait_for_line(path)
    pids = joined(daemon, 2)
    stop_under_load(daemon, path, ["ConnectionRefusedError", "FileNotFoundError"])
    assert not os.path.exists(path)
    daemon.start()
    assert joined(daemon, 2) == pids
    with Burst(path, 8) as burst:
        assert set(burst.spread()) == set(pids)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give it up")
def test_workers_that_gave_up_root_get_the_next_listener(start_daemon, target, tmp_path):
    """The closed one is what permits it."""
    where = ("127.0.0.1", free_port())
    daemon = start_daemon("name: web, bind: '%s:%d'" % where, more=CLOSE)
    target([build.PYTHON, build.SOURCE / "tests/integration/programs/jailed_server.py",
            "%s:%d" % where, "2", tmp_path, NOBODY], daemon).address()
    pids = joined(daemon, 2)
    stop(daemon)
    assert_refused(where)
    daemon.start()
    assert joined(daemon, 2) == pids
    assert {each["uid"] for each in daemon.workers()} == {NOBODY}
    with Burst(where, 8) as burst:
        assert set(burst.spread()) == set(pids)


def test_an_adopted_listener_stays_with_its_server(start_daemon, target):
    daemon = start_daemon(more=CLOSE)
    server = target([build.PYTHON, *PROGRAMS["level"], "127.0.0.1:0", "2"], daemon)
    where = server.address()
    pids = joined(daemon, 2)
    stop(daemon)
    for _ in range(4):
        with connect(where) as connection:
            assert int(get(connection)) in pids


def test_the_second_signal_closes_while_clients_come(start_daemon, target):
    """The acceptor, which mends a listener that others shut down, lets this one be."""
    daemon, where, server, _ = start("level", 2, start_daemon, target)
    daemon.process.signal(signal.SIGTERM)
    daemon.process.wait_for_line("event=stopping")
    daemon.process.signal(signal.SIGTERM)
    assert daemon.process.wait(5) == 0
    assert_refused(where)
    assert "event=closed" in daemon.log()
    assert_idle(server.workers())


def test_the_second_signal_closes_at_once(start_daemon):
    where = ("127.0.0.1", free_port())
    daemon = start_daemon("name: web, bind: '%s:%d'" % where, more=CLOSE)
    with connect(where):  # for whom there is no worker
        daemon.process.signal(signal.SIGTERM)
        daemon.process.wait_for_line("event=stopping")
        daemon.process.signal(signal.SIGTERM)
        assert daemon.process.wait(5) == 0
    assert_refused(where)


def test_the_next_one_lets_clients_in_that_a_killed_one_turned_away(start_daemon, target):
    daemon, where, _, pids = start("level", 2, start_daemon, target, ", max_active: 1")
    with Burst(where, 2) as burst:
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding", "one is held")
        daemon.process.signal(signal.SIGTERM)
        daemon.process.wait_for_line("event=stopping")
        wait_until(lambda: is_let_in_by_nobody(where), "new clients are turned away")
        daemon.kill()
        daemon.start()
        assert joined(daemon, 2) == pids
        get_and_close(burst.connections.pop(0))
    with connect(where) as connection:
        assert int(get(connection)) in pids


def test_the_socket_of_a_socket_unit_stays_open(directory, closing):
    """The service manager waits on it for the next start, and takes a shutdown for a failure."""
    with socket.create_server(("127.0.0.1", 0)) as low:
        given = out_of_the_way(low)
    closing.add(given, given.close)
    where = given.getsockname()
    daemon = Activated(directory, [given], ["web"], ["name: web, bind: 127.0.0.1:0"],
                       more=CLOSE)
    closing.add(daemon, daemon.stop)
    stop(daemon)
    with connect(where) as connection:
        daemon.start()
        worker = Worker(daemon).become()
        closing.add(worker, worker.close)
        daemon.wait_for(lambda _: worker.take_all() is not None and worker.page.taken == 1)
        assert worker.connections[0].getpeername() == connection.getsockname()
