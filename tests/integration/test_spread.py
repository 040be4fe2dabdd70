"""Workers share what comes exactly evenly: owned and adopted listeners, every shape of arrival."""
import itertools

import pytest

from support import build
from support.clients import Burst, connect, get
from support.process import Discount

SERVER = build.SERVERS / "prefork_server.py"
# What is counted here is not who was kept from running by the machine, and so passed over.
PATIENT = "busy_after: 1min, recall_after: 1min"
UNLINKING = build.SOURCE / "tests/integration/programs/unlinking_server.py"


def start(kind, start_daemon, target, workers):
    """A daemon and the address of a prefork server of so many workers."""
    listeners = [f"name: web, bind: 127.0.0.1:0, {PATIENT}"] if kind == "owned" else []
    daemon = start_daemon(*listeners, more="adopted: {%s}" % PATIENT)
    address = "%s:%d" % daemon.address() if kind == "owned" else "127.0.0.1:0"
    server = target([build.PYTHON, SERVER, address, str(workers)], daemon)
    where = server.address()
    daemon.wait_for_workers(workers)
    return daemon, where


def shares(daemon, where, count, gap=0.0):
    """How many connections each worker got, the rest of the listener being idle."""
    with Burst(where, count, gap) as burst:
        counts = sorted(burst.spread().values())
    daemon.wait_for(lambda _: all(each["active"] == 0 for each in daemon.workers()))
    return counts


@pytest.mark.parametrize("kind", ["owned", "adopted"])
@pytest.mark.parametrize("workers", [2, 3, 5])
def test_every_shape_is_exact_to_one(kind, workers, start_daemon, target):
    daemon, where = start(kind, start_daemon, target, workers)
    for count, gap in [(32, 0.0), (32, 0.01), (8, 0.0)]:
        counts = shares(daemon, where, count, gap)
        assert len(counts) == workers and counts[-1] - counts[0] <= 1, counts


@pytest.mark.parametrize("kind", ["owned", "adopted"])
def test_twenty_times_16_16_and_4_4(kind, start_daemon, target):
    daemon, where = start(kind, start_daemon, target, 2)
    seen = [(shares(daemon, where, 32), shares(daemon, where, 32, 0.01), shares(daemon, where, 8))
            for _ in range(20)]
    assert seen == list(itertools.repeat(([16, 16], [16, 16], [4, 4]), 20))


@pytest.mark.parametrize("kind", ["owned", "adopted"])
def test_the_first_clients_find_all_workers(kind, start_daemon, target):
    """Not one connection before has shown anybody what the workers are."""
    for _ in range(5):
        daemon, where = start(kind, start_daemon, target, 2)
        workers = Discount([each["pid"] for each in daemon.workers()])
        with Burst(where, 8) as burst:
            if sorted(burst.spread().values()) == [4, 4]:
                return
        # Each has 50 ms to say that it accepts.
        assert workers.seconds() > 0.02, "it was not the machine that kept one from answering"
    raise AssertionError("one was kept from answering five times")


def test_connections_that_stay_are_counted_with_new_ones(start_daemon, target):
    _, where = start("owned", start_daemon, target, 2)
    with Burst(where, 3) as first, Burst(where, 5) as second:
        assert sorted((first.spread() + second.spread()).values()) == [4, 4]


@pytest.mark.parametrize("address", ["[::1]:0", "unix"])
def test_other_families(address, start_daemon, target, directory):
    bind = f"unix:{directory}/web.sock" if address == "unix" else address
    daemon = start_daemon(f'name: web, bind: "{bind}", {PATIENT}')
    where = daemon.listener()["address"]
    server = target([build.PYTHON, SERVER, where, "2"], daemon)
    server.process.wait_for_line(".")
    daemon.wait_for_workers(2)
    with Burst(where[len("unix:"):] if address == "unix" else daemon.address(), 32) as burst:
        assert sorted(burst.spread().values()) == [16, 16]


def test_a_server_that_removes_the_path_before_it_binds_is_reached(start_daemon, target, directory):
    path = f"{directory}/web.sock"
    daemon = start_daemon(f'name: web, bind: "unix:{path}"')
    servers = []
    for _ in range(2):
        server = target([build.PYTHON, UNLINKING, path], daemon)
        server.process.wait_for_line("ready")
        servers.append(server.pid)
        daemon.wait_for_workers(len(servers))
    answered = set()
    for _ in range(8):
        with connect(path) as client:
            answered.add(int(get(client)))
    assert answered == set(servers)
    daemon.leaks_allowed = True  # the sockets that lost their path are kept, with what waits there


@pytest.mark.parametrize("policy", ["ring-deal", "least-loaded", "round-robin"])
def test_a_worker_of_weight_three_has_three_times_as_many(policy, start_daemon, target):
    # ring-deal's slack of some percent would let a near one have more.
    daemon = start_daemon(f"name: web, bind: 127.0.0.1:0, policy: {policy}, slack_percent: 0, "
                          f"{PATIENT}")
    for weight in ("3", "1"):
        target([build.PYTHON, SERVER, "%s:%d" % daemon.address(), "1"], daemon,
               environment={"RINGDEAL_WEIGHT": weight}).address()
    heavy = [each["pid"] for each in daemon.wait_for_workers(2) if each["weight"] == 3]
    assert len(heavy) == 1
    with Burst(daemon.address(), 32) as burst:
        spread = burst.spread()
        assert spread.pop(heavy[0]) == 24 and list(spread.values()) == [8]


def test_two_listeners_of_one_daemon_do_not_mix(start_daemon, target):
    daemon = start_daemon(*(f"name: {name}, bind: 127.0.0.1:0, {PATIENT}" for name in ("one", "two")))
    pids = {}
    for name in ("one", "two"):
        target([build.PYTHON, SERVER, "%s:%d" % daemon.address(name), "2"], daemon).address()
        pids[name] = {each["pid"] for each in daemon.wait_for_workers(2, name=name)}
    for name in ("one", "two"):
        with Burst(daemon.address(name), 16) as burst:
            assert burst.spread() == {pid: 8 for pid in pids[name]}
