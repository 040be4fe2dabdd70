"""ringdeald, a server under the shim and clients, all of them the real ones, on a machine of two
sockets: what a machine of one cannot show. Which rounds there are is said in guest/init."""
import machine
import pytest

MOVED = "two receiving CPUs"
IN_TURN = {"pinned": 160, "unplaced": 640, MOVED: 1200}  # one after the other
KEPT = {"pinned, one socket": 160, "unplaced, one socket": 160}  # all at once
PINNED = [name for name in (*IN_TURN, *KEPT) if "unplaced" not in name]
# Connections after which ringdeald knows which CPUs receive, and where the workers are.
SETTLED = {"pinned": 0, "unplaced": 320, MOVED: 800}
SLACK_PERCENT = 12.5


def cpus_of(worker):
    """The CPUs where ringdeald believes it to be."""
    cpus = set()
    for part in filter(None, worker["cpus"].split(",")):
        first, _, last = part.partition("-")
        cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


def test_hwloc_sees_the_sockets_cores_and_threads_that_the_rings_are_measured_with(run):
    seen = {cpu: (line["node"], line["package"], line["cache"], line["core"])
            for cpu, line in run.tree.items()}
    assert seen == {cpu: (*[machine.socket(cpu)] * 3, machine.core(cpu)) for cpu in machine.CPUS}


@pytest.mark.parametrize("name, count", {**IN_TURN, **KEPT}.items())
def test_no_connection_is_left_without_an_answer(run, name, count):
    played = run.rounds[name]
    assert len(played.connections) == len(played.answered) == count
    assert played.listener["accepted"] == played.listener["handoffs"]["delivered"] == count
    assert sum(worker["taken"] for worker in played.workers) == count
    assert {each["worker"] for each in played.answered} == {each["pid"] for each in played.workers}


@pytest.mark.parametrize("name", [name for name in (*IN_TURN, *KEPT) if name != MOVED])
def test_a_connection_is_received_where_its_client_runs(run, name):
    for each in run.rounds[name].answered:
        assert each["receiving"] == each["client"]


def test_steered_packets_are_received_on_the_cpus_that_they_are_steered_to(run):
    """As by the queues of a network card: on two CPUs, one a socket, wherever the client is."""
    assert set(run.rounds[MOVED].received()) == {2, 6}


@pytest.mark.parametrize("name", PINNED)
def test_pinned_workers_are_placed_by_their_affinity(run, name):
    played = run.rounds[name]
    assert all(worker["placement"] == "affinity" for worker in played.workers)
    assert {worker["pid"]: cpus_of(worker) for worker in played.workers} == \
        {pid: set(cpus) for pid, cpus in played.accepts().items()}


def test_a_worker_that_stays_where_it_is_is_learned_to_be_there(run):
    """Nothing says where these run but their accepts."""
    played = run.rounds["unplaced"]
    staying = {pid: set(cpus) for pid, cpus in played.accepts().items() if len(set(cpus)) == 1}
    assert len(staying) >= len(machine.CPUS) / 2, "the kernel moves them about"
    learned = {worker["pid"]: cpus_of(worker) for worker in played.workers
               if worker["placement"] == "learned"}
    assert {pid: learned.get(pid) for pid in staying} == staying


@pytest.mark.parametrize("name", IN_TURN)
def test_no_connection_leaves_the_socket_that_received_it_without_need(run, name):
    played = run.rounds[name].settled(SETTLED[name])
    assert played.near() >= 0.95 * played.near_at_most()


@pytest.mark.parametrize("name, tolerance", [("pinned", 0.1), ("unplaced", 0.2), (MOVED, 0.25)])
def test_every_worker_gets_its_share_of_what_comes_one_by_one(run, name, tolerance):
    shares = run.rounds[name].settled(SETTLED[name]).shares()
    mean = sum(shares) / len(machine.CPUS)
    assert all(abs(share - mean) <= tolerance * mean for share in shares), shares


@pytest.mark.parametrize("name", KEPT)
def test_load_from_one_socket_weighs_on_all_workers_within_the_slack(run, name):
    active = [worker["active"] for worker in run.rounds[name].workers]
    mean = KEPT[name] / len(machine.CPUS)
    assert sum(active) == KEPT[name]
    assert max(active) - min(active) <= max(1, mean * SLACK_PERCENT / 100)
