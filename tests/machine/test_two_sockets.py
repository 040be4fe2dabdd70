"""ringdeald, a server under the shim and clients, all of them the real ones, on a machine of two
sockets: what a machine of one cannot show. Which rounds there are is said in guest/init."""
import machine
import pytest

IN_TURN = {"pinned": 160, "unplaced": 320, "two receiving CPUs": 160}  # one after the other
KEPT = {"pinned, one socket": 160, "unplaced, one socket": 160}  # all at once
MOVED = "two receiving CPUs"


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


@pytest.mark.parametrize("name", [*IN_TURN, *KEPT])
def test_no_worker_gets_more_than_another(run, name):
    shares = run.rounds[name].shares()
    assert len(shares) == len(machine.CPUS) and max(shares) - min(shares) <= 1


@pytest.mark.parametrize("name", KEPT)
def test_connections_that_stay_weigh_alike_on_all_workers(run, name):
    active = [worker["active"] for worker in run.rounds[name].workers]
    assert sum(active) == KEPT[name] and max(active) - min(active) <= 1
