"""No connection is lost at the descriptor limit, and the page says how many are open."""
import os
import pathlib
import re
import signal
import socket

import pytest

import peer as words
from support import build
from support.clients import Burst


@pytest.mark.parametrize("wait", ["epoll", "accept"])
@pytest.mark.parametrize("limit, connections", [(64, 1000), (300, 1000)])
@pytest.mark.parametrize("direct", [False, True], ids=["handed", "direct"])
def test_nothing_is_lost_at_the_descriptor_limit(start_daemon, run, helpers, wait, limit, connections,
                                                 direct):
    """One that is alone accepts by itself, unless there is a limit to keep; or if it blocks."""
    daemon = start_daemon(more="" if direct else "adopted: {max_active: 100000}")
    server = run("flood", limit, wait)
    port = helpers.port_of(server)
    assert helpers.ask(port) == ""
    is_direct = direct and wait == "epoll"

    def ask_all():
        answered = sum(helpers.ask(port) == "x" for _ in range(connections))
        assert answered == connections
        return answered

    asked = ask_all()
    while is_direct and asked < 100 * connections and daemon.workers()[0]["direct"] == 0:
        asked += ask_all()  # it is told a while after it registered
    line = server.wait_for_line(r"taken %d refused (\d+)" % asked)
    assert int(line.group(1)) > 0, "the limit was never met"
    worker = daemon.workers()[0]
    assert worker["taken"] == worker["handed"]
    assert worker["taken"] + worker["direct"] == asked + 1
    assert (worker["direct"] > 0) == is_direct


def test_a_full_process_that_frees_a_low_number_loses_nothing(daemon, run, helpers):
    server = run("holes", 4096)
    port = helpers.port_of(server)
    clients = [socket.create_connection(("127.0.0.1", port), 10) for _ in range(4)]
    os.kill(server.pid, signal.SIGUSR1)
    server.wait_for_line("^taken 4$")
    daemon.wait_for(lambda _: daemon.workers()[0]["taken"] == 4, "four taken")
    for client in clients:
        client.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.recv(1)  # open, and nobody has written


@pytest.mark.parametrize("how, told", [("close", "closed"), ("unseen", "waits")])
def test_a_full_process_is_handed_nothing_until_a_number_is_free(peer, run, helpers, how, told):
    program = run("full", how)
    port = helpers.port_of(program)
    worker = peer.wait_for_worker()
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        worker.hand(peer.accept())
        program.wait_for_line("^full$")
        assert worker.state == "paused"
        back = worker.take_back()  # or it would be taken as soon as it can be
        program.signal(signal.SIGUSR1)
        program.wait_for_line("^closed$")
        assert worker.state == ("worker" if told == "closed" else "paused")
        program.signal(signal.SIGUSR1)
        peer.wait_for_state(worker, "worker")
        worker.hand(back)
        assert int(client.recv(100)) == program.pid


def test_duplicates_of_a_connection_count_once(peer, run, helpers):
    server = run("counting.py")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    clients = []
    for step, closed in [("two duplicates", 0), ("one closed", 0), ("another closed", 0),
                         ("the last closed", 1), ("replaced by dup2", 2), ("closed as a stream", 3),
                         ("reopened as a file", 4), ("closed unseen", 4),
                         ("number given again", 5), ("all closed by range", 6)]:
        if step not in ("one closed", "another closed", "the last closed", "all closed by range"):
            client = socket.create_connection(("127.0.0.1", port), 10)
            clients.append(client)
            worker.hand(peer.accept())
        server.wait_for_line(step)
        assert worker.count(words.CLOSED) == closed, step
        os.kill(server.pid, 10)
    assert server.wait() == 0, server.output()
    assert worker.count(words.TAKEN) == 6


def test_a_child_counts_nothing_of_its_parents(peer, run, helpers):
    server = run("counting.py", "fork")
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    with socket.create_connection(("127.0.0.1", port), 10):
        worker.hand(peer.accept())
        server.wait_for_line("child closed its copy")
        assert worker.count(words.CLOSED) == 0
        os.kill(server.pid, 10)
        server.wait_for_line("parent closed")
        assert worker.count(words.CLOSED) == 1


def private_memory(pid):
    """Of the shim's own variables in this process, in bytes: what is written of them, a page at
    least for each that is."""
    total, is_shims = 0, False
    end = None
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        mapping = re.match(r"([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \S+ *(.*)", line)
        if mapping:
            begin, following, path = mapping.groups()
            # Variables without a value at the start follow the library, in a mapping without a name.
            is_shims = build.SHIM.name in path or (is_shims and not path and begin == end)
            end = following
        elif is_shims and line.startswith("Private_Dirty:"):
            total += int(line.split()[1]) * 1024
    return total


def test_a_connection_costs_one_word_of_private_memory(daemon_with_web, run):
    """docs/servers.md says so."""
    page, word, count = os.sysconf("SC_PAGESIZE"), 4, 4096
    server = run(build.PYTHON, build.SERVERS / "lone_server.py",
                 "%s:%d" % daemon_with_web.address())
    server.wait_for_line(r"^\d+$")
    daemon_with_web.wait_for_workers(1, state="observer")
    with Burst(daemon_with_web.address(), 1) as first:
        assert first.spread() == {server.pid: 1}
        before = private_memory(server.pid)
        assert 0 < before < 256 * 1024
        with Burst(daemon_with_web.address(), count) as burst:
            assert burst.spread(30) == {server.pid: count}
            assert private_memory(server.pid) - before <= count * word + page
