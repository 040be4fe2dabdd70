"""ringdeald dies, is stopped or was never there, and comes back: no client notices, the same workers
register again, and the shares are exact as before."""
import json
import os
import pathlib
import signal
import socket
import time

import pytest

from support import build
from support.clients import Burst, Load, connect, free_port, get
from support.process import Discount
from support.programs import WAITING
from support.users import NOBODY
from support.waiting import wait_until
from support.worker import Worker

WORKERS = 4
KINDS = ["owned", "adopted"]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give it up")


def command(program, address, *more):
    script, *options = WAITING[program]
    return [build.PYTHON, script, address, str(WORKERS), *more, *options]


def listeners_of(kind, address):
    return [f'name: web, bind: "{address}"'] if kind == "owned" else []


def pids_of(daemon, state="worker"):
    return sorted(each["pid"] for each in daemon.wait_for_workers(WORKERS, state, timeout=20))


def assert_even(daemon, where, program):
    daemon.wait_for(lambda _: all(each["active"] == 0 for each in daemon.workers()))
    # One that blocks in accept serves one connection at a time.
    count = WORKERS if program == "blocking" else 32
    with Burst(where, count) as burst:
        assert set(burst.spread().values()) == {count // WORKERS}


def start_server(kind, program, start_daemon, target):
    """A ringdeald, its server, the server's address and the pids of its workers."""
    address = f"127.0.0.1:{free_port()}"
    daemon = start_daemon(*listeners_of(kind, address))
    server = target(command(program, address), daemon)
    where = server.address()
    return daemon, server, where, pids_of(daemon)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", WAITING)
def test_gone_and_back_under_load_no_client_notices(kind, program, start_daemon, target):
    daemon, server, where, pids = start_server(kind, program, start_daemon, target)
    load = Load(where, concurrency=4)

    def goes_on():
        finished = load.finished
        wait_until(lambda: load.finished > finished + 50, "requests go on")
    try:
        for end in signal.SIGTERM, signal.SIGKILL:
            goes_on()
            daemon.process.signal(end)
            daemon.process.wait()
            goes_on()
            daemon.start()
            assert pids_of(daemon) == pids
            goes_on()
    finally:
        load.stop()
    # What is lost is at most what ringdeald had accepted and not handed over when it was killed.
    assert sum(load.failures.values()) <= 1, load.failures
    assert_even(daemon, where, program)
    assert server.process.output().count("ringdeal:") == 0


@pytest.mark.parametrize("program", WAITING)
def test_without_ringdeald_and_dealt_to_again_each_within_a_second(program, start_daemon, target):
    daemon, server, where, pids = start_server("owned", program, start_daemon, target)
    daemon.kill()
    discount, begun = Discount([os.getpid(), *pids]), time.monotonic()
    with connect(where) as client:
        assert int(get(client)) in pids
    assert time.monotonic() - begun - discount.seconds() < 1
    daemon.start()
    discount, begun = Discount([os.getpid(), daemon.pid, *pids]), time.monotonic()
    assert pids_of(daemon) == pids
    assert time.monotonic() - begun - discount.seconds() < 1
    assert server.process.running()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", WAITING)
def test_idle_programs_register_with_the_next_ringdeald(kind, program, start_daemon, target):
    daemon, _, where, pids = start_server(kind, program, start_daemon, target)
    daemon.process.signal(signal.SIGTERM)
    assert daemon.process.wait(10) == 0
    daemon.start()
    assert pids_of(daemon) == pids
    assert_even(daemon, where, program)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", WAITING)
def test_started_before_ringdeald_they_are_dealt_to_once_it_is_there(kind, program, start_daemon,
                                                                     target, directory):
    address = f"127.0.0.1:{free_port()}"
    server = target(command(program, address), shim=True,
                    environment={"RINGDEAL_CONTROL": f"{directory}/control.sock"})
    where = server.address()
    with connect(where) as connection:
        assert int(get(connection)) in server.workers()
    # It is stopped before its workers, which keep its descriptors.
    daemon = start_daemon(*listeners_of(kind, address), leaks_allowed=True)
    daemon.wait_for(lambda status: status["listeners"], "a worker brings the listener")
    # Who watches and has not accepted is an observer until a connection comes.
    wait_until(lambda: len(daemon.workers()) == WORKERS, "all have registered", 20)
    assert sorted(each["pid"] for each in daemon.workers()) == sorted(server.workers())
    pids_of(daemon)
    assert_even(daemon, where, program)


@pytest.mark.parametrize("kind", KINDS)
def test_a_unix_path_stays_that_of_the_workers(kind, start_daemon, target, directory):
    path = f"{directory}/app.sock"
    daemon = start_daemon(*listeners_of(kind, f"unix:{path}"))
    target(command("level", f"unix:{path}"), daemon).process.wait_for_line(path)
    pids = pids_of(daemon)
    inode = os.stat(path).st_ino
    for _ in range(2):
        daemon.kill()
        with Burst(path, 8) as burst:
            assert sum(burst.spread().values()) == 8
        daemon.start()
        assert pids_of(daemon) == pids
        assert os.stat(path).st_ino == inode
        assert_even(daemon, path, "level")


@needs_root
@pytest.mark.parametrize("kind", KINDS)
def test_workers_that_gave_up_root_and_its_directory_come_back(kind, start_daemon, target,
                                                               tmp_path):
    address = f"127.0.0.1:{free_port()}"
    daemon = start_daemon(*listeners_of(kind, address))
    server = target([build.PYTHON, build.SOURCE / "tests/integration/programs/jailed_server.py",
                     address, str(WORKERS), tmp_path, NOBODY], daemon)
    where = server.address()
    pids = pids_of(daemon)
    daemon.kill()
    daemon.start()
    assert pids_of(daemon) == pids
    assert [each["uid"] for each in daemon.workers()] == [NOBODY] * WORKERS
    assert_even(daemon, where, "level")


@needs_root
def test_a_noted_listener_is_reclaimed_by_workers_whom_nothing_else_permits(start_daemon, target,
                                                                          tmp_path):
    """Neither the door nor the socket's maker speaks for them to the second ringdeald."""
    daemon = start_daemon(more="adopt: [0]")
    server = target([build.PYTHON, build.SOURCE / "tests/integration/programs/jailed_server.py",
                     "127.0.0.1:0", str(WORKERS), tmp_path, NOBODY], daemon)
    where = server.address()
    pids = pids_of(daemon)
    name = daemon.listener()["name"]
    daemon.kill()
    daemon.config.write_text(daemon.config.read_text().replace("adopt: [0]", "adopt: [1]"))
    daemon.start()
    assert pids_of(daemon) == pids
    assert daemon.listener()["name"] == name
    assert_even(daemon, where, "level")


@needs_root
def test_notes_that_somebody_else_may_have_written_count_for_nothing(start_daemon, target, tmp_path):
    daemon = start_daemon(more="adopt: [0]")
    server = target([build.PYTHON, build.SOURCE / "tests/integration/programs/jailed_server.py",
                     "127.0.0.1:0", str(WORKERS), tmp_path, NOBODY], daemon)
    where = server.address()
    pids_of(daemon)
    daemon.kill()
    daemon.config.write_text(daemon.config.read_text().replace("adopt: [0]", "adopt: [1]"))
    notes = daemon.directory / "control.listeners.json"
    assert notes.stat().st_mode & 0o777 == 0o600
    os.chown(notes, NOBODY, NOBODY)
    daemon.start()
    daemon.process.wait_for_line("event=notes_not_read")
    daemon.process.wait_for_line("code=not-allowed")
    assert not daemon.status()["listeners"]
    with Burst(where, 8) as burst:
        assert sum(burst.spread().values()) == 8


def test_an_address_that_is_let_go_meanwhile_is_bound(start_daemon):
    with socket.create_server(("127.0.0.1", 0)) as other:
        where = other.getsockname()
        daemon = start_daemon("name: web, bind: 127.0.0.1:%d" % where[1],
                              more="reclaim_timeout: 200ms")
        held_by = daemon.process.wait_for_line("event=not_reclaimed .*").group(0)
        assert f"({os.getpid()})" in held_by
        assert not daemon.status()["listeners"]
    daemon.wait_for(lambda status: status["listeners"], "bound")
    assert daemon.address("web") == where


def test_a_server_that_starts_while_an_address_is_awaited_finds_it_at_last(start_daemon, target):
    """Its first bind may be told too late; servers try again."""
    address = f"127.0.0.1:{free_port()}"
    daemon = start_daemon(*listeners_of("owned", address))
    first = target(command("level", address), daemon)
    first.address()
    pids_of(daemon)
    # Nobody is there who could bring it back.
    for pid in first.workers():
        os.kill(pid, signal.SIGSTOP)
    daemon.kill()
    daemon.start()
    daemon.process.wait_for_line("event=awaited")
    second = target(command("level", address), daemon)
    assert second.process.wait() != 0
    assert "Address already in use" in second.process.output()
    for pid in first.workers():
        os.kill(pid, signal.SIGCONT)
    pids_of(daemon)
    target(command("level", address), daemon).address()
    daemon.wait_for_workers(2 * WORKERS)


def test_notes_go_with_the_listener(start_daemon, target):
    daemon = start_daemon()
    server = target(command("level", "127.0.0.1:0"), daemon)
    server.address()
    pids_of(daemon)
    notes = pathlib.Path(daemon.directory / "control.listeners.json")
    assert len(json.loads(notes.read_text())["listeners"]) == 1
    server.stop()
    daemon.wait_for(lambda status: not status["listeners"], "let go")
    assert not json.loads(notes.read_text())["listeners"]


@pytest.mark.parametrize("first", ["lost", "current"])
def test_the_socket_at_a_path_is_where_clients_come_whichever_is_brought_back_first(first, start_daemon,
                                                                                  directory, closing):
    path = directory / "web.sock"
    # It goes on with both sockets, and began with one.
    daemon = start_daemon(f'name: web, bind: "unix:{path}"', leaks_allowed=True)
    worker = Worker(daemon)
    closing.add(worker, worker.close)
    path.unlink()
    _, received = daemon.ask({"op": "bind", "version": 1, "address": f"unix:{path}"})
    current, door = (socket.socket(fileno=each) for each in received)
    closing.add(current, current.close)
    door.close()
    daemon.kill()
    daemon.start()
    both = [worker.listener, current]
    for each in both if first == "lost" else both[::-1]:
        back = Worker(daemon, None, [each.fileno()], passes_listener=True)
        closing.add(back, back.close)
    given = Worker(daemon)
    closing.add(given, given.close)
    assert os.fstat(given.listener.fileno()).st_ino == os.fstat(current.fileno()).st_ino
