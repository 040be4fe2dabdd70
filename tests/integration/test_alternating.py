"""Long and short connections by turns: by counting alone one of two workers would get all the long ones."""
import collections
import time

import pytest

from support import build
from support.clients import Http, connect

HELD = 64  # long ones at once
LOOK = 200  # connections between two looks
SECONDS = 90  # one after another they take long where the machine is slow: then there are fewer


def ask(connection, keep):
    """One answer; with `keep` false also the end of the connection, of which ringdeald knows by then."""
    connection.sendall(Http.request(keep=keep))
    received = b""
    while Http.body(received) is None or not keep:
        more = connection.recv(65536)
        if not more:
            assert Http.body(received), "closed before the answer"
            return
        received += more


def assert_within_slack(daemon, held):
    """As ringdeald deals by default: the difference is a connection, or an eighth of the mean."""
    workers = daemon.wait_for(lambda status: sum(
        each["active"] for each in status["listeners"][0]["workers"]) == held
        and status["listeners"][0]["workers"], f"{held} are open")
    counts = [each["active"] for each in workers]
    assert max(counts) - min(counts) <= max(1, held / 2 / 8), counts


@pytest.mark.parametrize("kind, count", [
    ("owned", 2000), ("adopted", 2000), pytest.param("owned", 100_000, marks=pytest.mark.slow)])
def test_two_workers_have_as_many_open_at_all_times(kind, count, start_daemon, target,
                                                    record_property):
    daemon = start_daemon(*(["name: web, bind: 127.0.0.1:0"] if kind == "owned" else []))
    address = "%s:%d" % daemon.address() if kind == "owned" else "127.0.0.1:0"
    where = target([build.PYTHON, build.SERVERS / "prefork_server.py", address, "2"], daemon).address()
    daemon.wait_for_workers(2)
    long = collections.deque()
    begun, made = time.monotonic(), 0
    while made < count and time.monotonic() - begun < SECONDS:
        with connect(where) as short:
            ask(short, keep=False)
        if len(long) == HELD:
            with long.popleft() as oldest:
                ask(oldest, keep=False)
        long.append(connect(where))
        ask(long[-1], keep=True)
        made += 2
        if made % LOOK == 0:
            assert_within_slack(daemon, len(long))
    assert_within_slack(daemon, len(long))
    for each in long:
        each.close()
    assert daemon.listener()["accepted"] == made
    record_property("figure", f"{made} of {count}, in {time.monotonic() - begun:.0f} s")
