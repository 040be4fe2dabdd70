"""At a descriptor limit, the worker's or ringdeald's own, there is waiting and no loss."""
import json
import os
import resource
import shutil

import pytest

from support import build
from support.clients import Burst
from support.daemon import ask, receive_answer
from support.process import Process
from support.users import NOBODY, become
from support.waiting import wait_until
from support.worker import Worker


def with_limit(number, then=None):
    def prepare():
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))
        if then:
            then()
    return prepare


@pytest.mark.parametrize("kind", ["bare", "dealt"])
def test_a_worker_at_its_limit_beside_a_thread_that_opens_files(kind, start_daemon, target,
                                                                closing):
    count = 20_000
    daemon = start_daemon("name: web, bind: 127.0.0.1:0") if kind == "dealt" else None
    port = daemon.address()[1] if daemon else 0
    server = target([build.PROGRAMS / "limit_server", port, count, "128"], daemon)
    where = server.address()
    connector = Process([build.PROGRAMS / "connector", where[1], count])
    closing.add(connector, connector.kill)
    assert connector.wait(120) == 0
    assert f"greeted {count}" in connector.output(), connector.output()
    said = server.process.wait_for_line(r"accepted (\d+) full (\d+)")
    assert int(said.group(1)) == count
    assert int(said.group(2)) > 0, "it never was at its limit: nothing was tested"


def test_ringdeald_at_its_own_limit_refuses_workers_and_goes_on_dealing(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", preexec=with_limit(160))
    worker = Worker(daemon).become()
    closing.add(worker, worker.close)
    address = daemon.address()
    crowd = [daemon.connect() for _ in range(150)]
    for connection in crowd:
        closing.add(connection, connection.close)
    # A number that comes free late lets one more in, which is cut off as it says nothing.
    codes = []
    for connection in crowd[-3:]:
        try:
            codes.append(receive_answer(connection)[0]["code"])
        except ConnectionError:
            pass
    assert "no-descriptors" in codes
    for _ in range(4):
        with Burst(address, 50):
            for _ in range(50):
                assert worker.readable(10)
                assert worker.take() is not None
            for connection in list(worker.connections):
                worker.close_connection(connection)
    for connection in crowd:
        connection.close()
    # Until it has closed them too, it has no number for who would ask it.
    wait_until(lambda: daemon.process.descriptors() < 100, "the descriptors of the crowd are free")
    daemon.wait_for(lambda status: status["control_connections"] <= 2)
    second = Worker(daemon)
    closing.add(second, second.close)


def test_a_recall_of_more_than_ringdeald_may_hold_loses_nothing(start_daemon, closing):
    queued = 120
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", preexec=with_limit(128),
                          more="limits: {channel_depth: 200}")
    leaver = Worker(daemon).become()
    closing.add(leaver, leaver.close)
    stayer = Worker(daemon).become(state=3)
    closing.add(stayer, stayer.close)
    bursts = [Burst(daemon.address(), queued // 4) for _ in range(4)]
    for burst in bursts:
        closing.add(burst, burst.close)
    daemon.wait_for(lambda _: daemon.workers()[0]["pending"] == queued)
    leaver.close()
    # All of them are ringdeald's now, more than it has descriptor numbers for.
    wait_until(lambda: daemon.process.descriptors() > 110, "its descriptors are used up")
    stayer.become()

    def take():
        stayer.take_all()
        return stayer.page.taken == queued
    wait_until(take, lambda: f"all {queued} taken, {stayer.page.taken} were")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to run ringdeald as somebody else")
def test_descriptors_in_flight_are_bounded_for_a_user_without_privilege(directory, start_daemon,
                                                                        closing):
    """ETOOMANYREFS: ringdeald pauses, and goes on once its workers took some."""
    limit = 150
    shutil.chown(directory, NOBODY)
    daemon = start_daemon("name: web, bind: 127.0.0.1:0",
                          preexec=with_limit(limit, become(NOBODY)),
                          more="limits: {channel_depth: 1000}", http=True)
    worker = Worker(daemon).become()
    closing.add(worker, worker.close)
    count = 2 * limit
    address = daemon.address()
    bursts = [Burst(address, 50) for _ in range(count // 50)]
    for burst in bursts:
        closing.add(burst, burst.close)

    # Over HTTP: an answer on the control socket would have to carry a descriptor.
    def refused():
        listener = json.loads(daemon.fetch("/status.json"))["listeners"][0]
        return listener if listener["handoffs"]["refused"] > 0 else None
    listener = wait_until(refused, "the kernel refuses")
    assert listener["mode"] == "paused"
    assert listener["handoffs"]["delivered"] < count
    with daemon.connect() as connection:
        assert ask(connection, {"op": "status"})[0]["code"] == "no-descriptors"

    def take():
        worker.take_all()
        return worker.page.taken == count
    wait_until(take, lambda: f"all {count} taken, {worker.page.taken} were")
    assert daemon.workers()[0]["handed"] - daemon.workers()[0]["recalled"] == count
