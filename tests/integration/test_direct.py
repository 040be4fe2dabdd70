"""The only worker of a listener accepts by itself, and ringdeald sleeps. As soon as another process
comes ringdeald deals again, whatever the first one does; and nothing is lost on the way."""
import os
import pathlib
import shutil
import signal
import socket
import time

import pytest

from support import build
from support.clients import Burst, Load, connect, free_port, get
from support.nginx import configuration
from support.process import assert_idle
from support.programs import waiting_by
from support.waiting import wait_until
from support.worker import Worker

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin")
PROGRAMS = {**waiting_by("level", "edge", "poll", "select"),
            "one process": [build.SERVERS / "lone_server.py"]}
KINDS = ["owned", "adopted"]


def start_copy(program, where, daemon, target):
    """One more copy of a server on the same address: with ringdeald's listener it has one worker."""
    script, *options = PROGRAMS[program]
    workers = [] if program == "one process" else ["1"]
    server = target([build.PYTHON, script, "%s:%d" % where, *workers, *options], daemon)
    server.address()
    return server


def ask(where, count=1):
    """So many connections, one after the other; the pids that answered."""
    answered = set()
    for _ in range(count):
        with connect(where) as connection:
            answered.add(int(get(connection)))
    return answered


def become_direct(daemon, where):
    """The order is followed with a connection: it wakes nobody by itself."""
    def is_direct():
        ask(where)
        return daemon.listener()["mode"] == "direct"
    wait_until(is_direct, lambda: f"direct\n{daemon.listener()}")


def counts(daemon):
    listener = daemon.listener()
    return listener["accepted"], sum(each["direct"] for each in listener["workers"])


def drain(daemon, server):
    """What it has is not to end with it."""
    pids = {server.pid, *server.workers()}
    slots = [each["slot"] for each in daemon.workers() if each["pid"] in pids]
    for slot in slots:
        assert daemon.ask({"op": "drain", "listener": "web", "slot": slot})[0]["ok"]
    daemon.wait_for(lambda _: not any(each["load"] for each in daemon.workers()
                                      if each["slot"] in slots), "drained")


def wait_until_idle(daemon):
    daemon.wait_for(lambda _: all(each["load"] == 0 for each in daemon.workers()), "idle")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def start(kind, program, start_daemon, target):
    where = ("127.0.0.1", free_port())
    daemon = start_daemon(*(["name: web, bind: '%s:%d'" % where] if kind == "owned" else []))
    server = start_copy(program, where, daemon, target)
    wait_until(lambda: daemon.status()["listeners"] and daemon.workers(), "it has joined")
    become_direct(daemon, where)
    return daemon, where, server


def turns(daemon):
    """How often the threads of ringdeald have gone to sleep, each since it began."""
    count = 0
    for status in pathlib.Path(f"/proc/{daemon.pid}/task").glob("*/status"):
        words = dict(line.split(":", 1) for line in status.read_text().splitlines())
        count += int(words["voluntary_ctxt_switches"])
    return count


# Turns a second of a thread of ThreadSanitizer's own, and some more.
OF_A_SANITIZER = 20


def wait_until_asleep(daemon):
    """It looks every few milliseconds after what it handed off last, for a while."""
    def is_asleep():
        before, begun = turns(daemon), time.monotonic()
        time.sleep(0.2)  # what is measured
        return turns(daemon) - before <= OF_A_SANITIZER * (time.monotonic() - begun)
    wait_until(is_asleep, "asleep")


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_only_worker_accepts_by_itself(kind, program, start_daemon, target):
    daemon, where, _ = start(kind, program, start_daemon, target)
    accepted, direct = counts(daemon)
    wait_until_asleep(daemon)
    before, begun = turns(daemon), time.monotonic()
    ask(where, 200)
    with Burst(where, 32) as burst:
        assert len(burst.spread()) == 1
    most = 10 + OF_A_SANITIZER * (time.monotonic() - begun)
    assert turns(daemon) - before < most, "ringdeald was to sleep"
    assert counts(daemon) == (accepted, direct + 232)
    worker, = daemon.workers()
    assert worker["handed"] == worker["taken"] + worker["recalled"]
    wait_until_idle(daemon)


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_nginx_with_one_worker(kind, start_daemon, target, tmp_path):
    where = ("127.0.0.1", free_port())
    daemon = start_daemon(*(["name: web, bind: '%s:%d'" % where] if kind == "owned" else []))
    file = tmp_path / "nginx.conf"
    file.write_text(configuration(tmp_path, "%s:%d" % where, workers=1))
    server = target([NGINX, "-c", file, "-p", tmp_path, "-e", "stderr"], daemon)
    wait_until(lambda: daemon.status()["listeners"] and daemon.workers(), "it has joined")
    become_direct(daemon, where)
    accepted, direct = counts(daemon)
    load = Load(where, concurrency=8, limit=2000).wait()
    assert not load.failures
    assert counts(daemon) == (accepted, direct + 2000)
    # A reload: two generations for a moment, and then one again.
    load = Load(where, concurrency=8)
    try:
        old, = load_pids(daemon)
        server.process.signal(signal.SIGHUP)
        daemon.wait_for(lambda _: load_pids(daemon) - {old} == load_pids(daemon), "a new one", 20)
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "direct", "direct again", 20)
    finally:
        load.stop()
    assert not load.failures


def load_pids(daemon):
    return {each["pid"] for listener in daemon.status()["listeners"]
            for each in listener["workers"]} or {None}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_second_worker_under_load_gets_its_share_and_leaves_again(program, start_daemon, target):
    daemon, where, _ = start("owned", program, start_daemon, target)
    load = Load(where, concurrency=8)

    def goes_on():
        finished = load.finished
        wait_until(lambda: load.finished > finished + 50, "requests go on")
    try:
        for _ in range(3):
            goes_on()
            second = start_copy(program, where, daemon, target)
            daemon.wait_for_workers(2)
            goes_on()
            assert daemon.listener()["mode"] == "handoff"
            drain(daemon, second)
            second.stop()
            daemon.wait_for(lambda _: daemon.listener()["mode"] == "direct", "direct again")
    finally:
        load.stop()
    assert not load.failures
    start_copy(program, where, daemon, target)
    with connect(where) as connection:  # whom only a connection promotes
        get(connection)
        daemon.wait_for_workers(2)
    wait_until_idle(daemon)
    for _ in range(3):
        with Burst(where, 32) as burst:
            assert sorted(burst.spread().values()) == [16, 16]
        wait_until_idle(daemon)


def test_a_second_worker_gets_everything_while_the_first_is_stopped(start_daemon, target):
    daemon, where, _ = start("owned", "level", start_daemon, target)
    first = daemon.workers()[0]["pid"]
    os.kill(first, signal.SIGSTOP)
    try:
        with Burst(where, 8) as waiting:  # for the first alone, as without ringdeald
            start_copy("level", where, daemon, target)
            assert set(waiting.spread()).isdisjoint({first})
            with Burst(where, 32) as burst:
                assert set(burst.spread()).isdisjoint({first})
    finally:
        os.kill(first, signal.SIGCONT)
    wait_until_idle(daemon)
    daemon.wait_for_workers(2)


def test_the_successor_of_one_that_was_killed_answers_what_waits(start_daemon, target):
    daemon, where, server = start("owned", "one process", start_daemon, target)
    os.kill(server.pid, signal.SIGSTOP)
    with Burst(where, 16) as burst:
        os.kill(server.pid, signal.SIGKILL)
        daemon.wait_for(lambda _: not daemon.workers(), "gone")
        second = start_copy("one process", where, daemon, target)
        assert burst.spread() == {second.pid: 16}
    become_direct(daemon, where)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_ringdeald_goes_and_comes_back_and_no_client_notices(kind, end, start_daemon, target):
    daemon, where, _ = start(kind, "level", start_daemon, target)
    pids = load_pids(daemon)
    load = Load(where, concurrency=4)
    try:
        for _ in range(2):
            daemon.process.signal(end)
            daemon.process.wait()
            daemon.start()
            daemon.wait_for(lambda _: load_pids(daemon) == pids, "it registered again")
            daemon.wait_for(lambda _: daemon.listener()["mode"] == "direct", "direct again")
    finally:
        load.stop()
    assert not load.failures


def test_a_frozen_ringdeald_is_not_missed(start_daemon, target):
    daemon, where, _ = start("owned", "level", start_daemon, target)
    accepted, direct = counts(daemon)
    daemon.freeze()
    ask(where, 20)
    daemon.thaw()
    assert counts(daemon) == (accepted, direct + 20)


def test_a_listener_that_somebody_shut_down_is_mended(start_daemon, target):
    daemon, where, _ = start("owned", "level", start_daemon, target)
    _, (listener, door) = daemon.ask({"op": "bind", "address": "%s:%d" % where})
    with socket.socket(fileno=listener) as holder, socket.socket(fileno=door):
        holder.shutdown(socket.SHUT_RDWR)
    daemon.wait_for(lambda _: daemon.listener()["listener_repairs"] > 0, "mended")
    worker, = daemon.workers()
    assert ask(where, 4) == {worker["pid"]}
    assert_idle([worker["pid"], daemon.pid])


def test_one_that_is_drained_accepts_no_more(start_daemon, target):
    daemon, where, server = start("owned", "one process", start_daemon, target)
    answer, _ = daemon.ask({"op": "drain", "listener": "web", "pid": server.pid})
    assert answer["ok"]
    with connect(where) as connection:
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding", "held")
        assert daemon.ask({"op": "undrain", "listener": "web", "pid": server.pid})[0]["ok"]
        assert int(get(connection)) == server.pid
    become_direct(daemon, where)


def test_a_limit_is_kept_by_ringdeald(start_daemon, target):
    where = ("127.0.0.1", free_port())
    daemon = start_daemon("name: web, bind: '%s:%d', max_active: 4" % where)
    start_copy("level", where, daemon, target)
    ask(where)
    wait_until_idle(daemon)
    with Burst(where, 16):
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding", "held")
        assert daemon.workers()[0]["load"] == 4
    wait_until_idle(daemon)
    assert counts(daemon)[1] == 0


def test_a_connection_in_ringdealds_hand_as_the_worker_acknowledges_is_handed_off(
        start_daemon, failpoint, closing):
    """Forced: accepted, the worker acknowledges, and only then is it dealt."""
    point = failpoint("accepted")
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", environment=point.environment)
    worker = Worker(daemon, direct=True)
    closing.add(worker, worker.close)
    worker.become()
    worker.say(b'{"op":"ready"}\n')
    wait_until(lambda: worker.page.mode == 1, "ordered")
    with connect(daemon.address()):
        _, go_on = point.wait()
        worker.page.mode_seen = 1
        worker.say(b'{"op":"ready"}\n')
        go_on()
        assert worker.readable(10)
        assert worker.take() is not None
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "direct", "left to the worker")
        assert daemon.workers()[0]["pending"] == 0


def test_one_that_does_not_acknowledge_is_dealt_to(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0")
    worker = Worker(daemon, direct=True)
    closing.add(worker, worker.close)
    worker.become()
    worker.say(b'{"op":"ready"}\n')
    wait_until(lambda: worker.page.mode == 1, "ordered")
    with Burst(daemon.address(), 8):
        wait_until(lambda: worker.take_all() is not None and worker.page.taken == 8, "all dealt")
    assert daemon.listener()["mode"] == "handoff"


def test_one_that_joins_as_the_only_one_is_killed_gets_what_waits(start_daemon, closing):
    """It had acknowledged and never accepted anything."""
    daemon = start_daemon("name: web, bind: 127.0.0.1:0")
    first = Worker(daemon, direct=True)
    first.become()
    first.say(b'{"op":"ready"}\n')
    wait_until(lambda: first.page.mode == 1, "ordered")
    first.page.mode_seen = 1
    first.say(b'{"op":"ready"}\n')
    daemon.wait_for(lambda _: daemon.listener()["mode"] == "direct", "left to the worker")
    with Burst(daemon.address(), 8):
        first.close()
        second = Worker(daemon, direct=True)
        closing.add(second, second.close)
        second.become()
        wait_until(lambda: second.take_all() is not None and second.page.taken == 8, "all dealt")
