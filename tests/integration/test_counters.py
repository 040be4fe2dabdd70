"""After many connections that end in every way and order, every count is right."""
import re

import pytest

from support import build
from support.process import Process


def connect_many(closing, where, count, *ways):
    connector = Process([build.PROGRAMS / "connector", where[1], count, *ways])
    closing.add(connector, connector.kill)
    assert connector.wait(120) == 0
    said = re.search(r"connected (\d+) greeted (\d+) left (\d+)", connector.output())
    connected, greeted, left = map(int, said.groups())
    assert connected == count, connector.output()
    assert greeted + left == count, f"{count - greeted - left} connections were lost"


# One that is alone accepts by itself, unless there is a limit to keep.
KINDS = {"handed": "max_active: 100000, recall_after: 1min", "direct": "recall_after: 1min"}


@pytest.mark.parametrize("kind, mode, count", [
    ("handed", "epoll", 100_000),
    ("direct", "epoll", 20_000),
    ("handed", "block", 20_000),
    pytest.param("handed", "block", 100_000, marks=pytest.mark.slow),
])
def test_four_accepting_threads_and_random_ends(kind, mode, count, start_daemon, target, closing):
    daemon = start_daemon(f"name: web, bind: 127.0.0.1:0, {KINDS[kind]}")
    where = daemon.address()
    server = target([build.PROGRAMS / "threads_server", where[1], count, mode], daemon)
    server.address()
    connect_many(closing, where, count, "random")
    server.process.wait_for_line("all closed", 30)
    # The listener, three of its output, those of the shim, and the sets of the threads.
    assert server.process.descriptors() < 24, "descriptors of connections are left"
    worker = daemon.worker(server.pid)
    listener = daemon.listener()
    assert listener["accepted"] + worker["direct"] == count
    assert (worker["direct"] > 0) == (kind == "direct")
    assert worker["handed"] - worker["recalled"] + worker["direct"] == count
    assert worker["taken"] + worker["direct"] == count
    assert worker["closed"] == count
    assert (worker["active"], worker["pending"], worker["load"]) == (0, 0, 0)
    assert listener["counters_clamped"] == 0


def test_the_same_without_ringdeald(target, closing):
    """The programs themselves lose nothing: what the test above finds is ringdeal's."""
    server = target([build.PROGRAMS / "threads_server", "0", "5000", "epoll"])
    connect_many(closing, server.address(), 5000, "random")
    server.process.wait_for_line("all closed", 30)
