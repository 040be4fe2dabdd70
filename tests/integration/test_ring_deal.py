"""The ring deal, live: connections go to the workers nearest to the CPU that received them, as far as
that leaves the loads even."""
import json
import os
import pathlib
import socket
import subprocess
import time

import pytest

from support import build
from support.clients import Burst, connect, free_port
from support.waiting import wait_until
from support.worker import Refused, Worker

# More than this machine has: a test's workers say themselves where they are.
EIGHT = 'topology: "synthetic:pack:2 core:2 pu:2"'
VOTE = 0.01  # seconds between two accepts that both count for the place of a worker
CPUS = sorted(os.sched_getaffinity(0))
needs_two_cpus = pytest.mark.skipif(CPUS[:2] != [0, 1], reason="needs the CPUs 0 and 1")


@pytest.fixture
def on_cpu():
    """Moves this thread, and with it the connections that it begins."""
    yield lambda cpu: os.sched_setaffinity(0, {cpu})
    os.sched_setaffinity(0, CPUS)


@pytest.fixture
def eight(start_daemon):
    return start_daemon("name: web, bind: 127.0.0.1:0", more=EIGHT)


def worker_of(daemon, slot):
    return next(each for each in daemon.workers() if each["slot"] == slot)


def seat(daemon, slot):
    shown = worker_of(daemon, slot)
    return shown["placement"], shown["cpus"]


def take_one(daemon, worker):
    """One connection, begun, taken and closed."""
    taken = worker.page.taken
    with connect(daemon.address()):
        daemon.wait_for(lambda _: worker.take_all() is not None and worker.page.taken > taken)
        for connection in list(worker.connections):
            worker.close_connection(connection)


@needs_two_cpus
@pytest.mark.parametrize("owned", [True, False], ids=["owned", "adopted"])
def test_pinned_workers_get_what_their_own_cpu_receives(start_daemon, target, on_cpu, owned):
    port = free_port()
    # A worker that the machine keeps from running is still the nearest.
    patient = "busy_after: 10s, recall_after: 10s"
    listeners = [f"name: web, bind: 127.0.0.1:{port}, {patient}"] if owned else []
    daemon = start_daemon(*listeners, more="adopted: {%s}" % patient)
    target([build.BUILD / "tests" / "machine" / "server", str(port), "2", "pinned"], daemon)
    daemon.wait_for(lambda status: status["listeners"] and
                    [each["placement"] for each in daemon.workers() if each["state"] == "worker"]
                    == ["affinity", "affinity"], "two pinned workers")
    before = daemon.listener()["deals_by_ring"]["0"]
    same = 0
    for number in range(200):
        on_cpu(number % 2)
        with connect(("127.0.0.1", port)) as client:
            said = json.loads("{%s}" % client.recv(200).decode().strip())
            assert said["receiving"] == number % 2
            same += said["cpu"] == said["receiving"]
            # The worker closes when the client does: then its load is as before.
            client.shutdown(socket.SHUT_WR)
            assert client.recv(1) == b""
        daemon.wait_for(lambda _: all(each["active"] == 0 == each["pass_seconds"]
                                      for each in daemon.workers()), "both wait")
    assert same >= 190, f"{same} of 200 on the CPU that received them"
    assert daemon.listener()["deals_by_ring"]["0"] - before >= same


@needs_two_cpus
def test_load_from_one_cpu_alone_leaves_nobody_idle(eight, closing, on_cpu):
    """The guard: even to one, whoever is the nearest."""
    workers = [Worker(eight, cpus=cpu).become() for cpu in ("0", "5")]
    for worker in workers:
        closing.add(worker, worker.close)
    on_cpu(0)
    with Burst(eight.address(), 32):
        eight.wait_for(lambda _: [each.take_all() and None or each.page.taken for each in workers]
                       == [16, 16], "sixteen each")
    assert eight.listener()["turned_away"] > 0


@needs_two_cpus
def test_a_worker_is_placed_where_it_accepts_and_stays_there(start_daemon, closing):
    # As many CPUs as the test itself may use: else its affinity would say where it is.
    count = len(CPUS)
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, recall_after: 1min",
                          more=f'topology: "synthetic:core:{count} pu:1"')
    worker = Worker(daemon).become()
    closing.add(worker, worker.close)
    assert seat(daemon, worker.slot) == ("none", "")
    worker.page.cpu = 1 + 1

    def placed(_):
        take_one(daemon, worker)
        return seat(daemon, worker.slot) == ("learned", "1")
    daemon.wait_for(placed, "learned")
    # One that is elsewhere now and then does not move.
    end = time.monotonic() + 30 * VOTE
    accepts = 0
    while time.monotonic() < end:
        accepts += 1
        worker.page.cpu = (0 if accepts % 8 == 0 else 1) + 1
        take_one(daemon, worker)
        assert seat(daemon, worker.slot) == ("learned", "1")


def test_what_the_operator_sets_wins(eight, closing):
    worker = Worker(eight, cpus="4-7").become()
    closing.add(worker, worker.close)
    assert seat(eight, worker.slot) == ("set", "4-7")
    worker.page.cpu = 0 + 1
    end = time.monotonic() + 30 * VOTE
    while time.monotonic() < end:
        take_one(eight, worker)
    assert seat(eight, worker.slot) == ("set", "4-7")


def test_whoever_gets_a_slot_sits_where_it_says_not_where_the_one_before_did(eight, closing):
    def join(cpus):
        worker = Worker(eight, cpus=cpus).become()
        if worker.slot == 0:
            return worker
        worker.close()  # the one before is not yet emptied
        return None

    for cpus in ("0-3", "0-3", "6"):
        worker = wait_until(lambda: join(cpus), "slot 0 is free again")
        eight.wait_for(lambda _: len(eight.workers()) == 1)
        assert seat(eight, 0) == ("set", cpus)
        stakes = [stake for row in eight.listener()["deck"] for stake in row["workers"]]
        assert {stake["slot"] for stake in stakes} == {0}
        assert sum(stake["share"] for stake in stakes) == pytest.approx(1)
        nearest = 0 if cpus == "6" else 3
        assert min(stake["ring"] for stake in stakes) == nearest
        worker.close()
        eight.wait_for(lambda _: not eight.workers())
        assert eight.listener()["deck"] == []


@pytest.mark.parametrize("cpus", ["3-1", "a", "0-99999999", "0,,1"])
def test_a_list_of_cpus_that_is_none_is_refused(eight, cpus):
    with pytest.raises(Refused) as refused:
        Worker(eight, cpus=cpus)
    assert refused.value.code == "bad-request"


def test_cpus_that_the_machine_does_not_have_are_passed_over(eight, closing):
    worker = Worker(eight, cpus="5,4000").become()
    closing.add(worker, worker.close)
    assert seat(eight, worker.slot) == ("set", "5")


def test_a_unix_socket_has_one_row_and_is_even(start_daemon, directory, closing):
    """The kernel does not say what CPU received such a connection."""
    daemon = start_daemon(f"name: web, bind: 'unix:{directory}/web'", more=EIGHT)
    workers = [Worker(daemon, cpus=cpu).become() for cpu in ("0", "3", "6")]
    for worker in workers:
        closing.add(worker, worker.close)
    row, = daemon.listener()["deck"]
    assert row["cpu"] == -1 and [each["slot"] for each in row["workers"]] == [0, 1, 2]
    with Burst(str(directory / "web"), 24):
        daemon.wait_for(lambda _: [each.take_all() and None or each.page.taken for each in workers]
                        == [8, 8, 8], "eight each")


def test_a_policy_that_looks_at_no_cpu_deals_no_deck(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, policy: least-loaded")
    worker = Worker(daemon, cpus="0").become()
    closing.add(worker, worker.close)
    take_one(daemon, worker)
    shown = daemon.listener()
    assert shown["deck"] == [] and shown["decks_dealt"] == 0 and shown["deals_by_ring"] == {}


@pytest.fixture
def cgroup():
    """A group of CPUs of the test's own, in which ringdeald is put."""
    path = pathlib.Path("/sys/fs/cgroup/cpuset") / f"ringdeal-test-{os.getpid()}"
    if not os.access(path.parent, os.W_OK):
        pytest.skip("no cpuset of cgroups version 1 may be made here")
    path.mkdir()
    (path / "cpuset.mems").write_text((path.parent / "cpuset.mems").read_text())
    yield path
    wait_until(lambda: not (path / "cgroup.procs").read_text(), "all have left the group")
    path.rmdir()


@needs_two_cpus
def test_cpus_that_come_and_go_are_followed(cgroup, start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0")
    worker = Worker(daemon, cpus="0-1").become()
    closing.add(worker, worker.close)
    every = daemon.status()["topology"][0]["cpus"]

    def has(cpus, rows):
        take_one(daemon, worker)
        return (daemon.status()["topology"][0]["cpus"] == cpus
                and {row["cpu"] for row in daemon.listener()["deck"]} <= rows)
    (cgroup / "cpuset.cpus").write_text("0")
    (cgroup / "cgroup.procs").write_text(str(daemon.pid))
    # What comes from a CPU that it may not use counts as not said.
    daemon.wait_for(lambda _: has("0", {-1, 0}), "one CPU is left")
    daemon.process.wait_for_line("event=topology_changed cpus=0$")
    assert seat(daemon, worker.slot) == ("set", "0")
    (cgroup.parent / "cgroup.procs").write_text(str(daemon.pid))
    daemon.wait_for(lambda _: has(every, {-1, *CPUS}), "all are back")
    assert seat(daemon, worker.slot) == ("set", "0-1")


@pytest.mark.parametrize("topology", ["/no/such/file.xml", "synthetic:nonsense"])
def test_a_topology_that_cannot_be_read_is_told_in_one_line(directory, topology):
    config = directory / "bad.yaml"
    config.write_text(f'topology: "{topology}"\n')
    done = subprocess.run([build.DAEMON, "--config", config, "--check"], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 101
    assert done.stderr.startswith("ringdeald: topology: ") and done.stderr.count("\n") == 1
    assert topology.removeprefix("synthetic:") in done.stderr
