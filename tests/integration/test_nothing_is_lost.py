"""Nine ways in which connections were once lost where workers passed them to each other: each forced,
32 connections at a time, none of which may be lost."""
import concurrent.futures
import contextlib
import os
import signal

import pytest

from support import build
from support.clients import Burst, connect, get

COUNT = 32
LEAVING = build.SOURCE / "tests/integration/programs/leaving_server.py"
PREFORK = build.SERVERS / "prefork_server.py"
# Nothing is taken back from a worker that is stopped or held, nor is one passed over that is held.
PATIENT = "recall_after: 1min, busy_after: 1min"


def is_half(count):
    """Of a burst. Loads may differ by the slack."""
    return abs(count - COUNT // 2) <= 2


@pytest.fixture(params=[("owned", 3), ("adopted", 3),
                        pytest.param(("owned", 100), marks=pytest.mark.slow)],
                ids=lambda kind_and_times: "%s-%d_times" % kind_and_times)
def kind_and_times(request):
    """Whose the listener is, and how often a case is forced."""
    return request.param


@pytest.fixture
def repeat(kind_and_times):
    def times(function):
        for _ in range(kind_and_times[1]):
            function()
    return times


class Pair:
    """A server with two workers, the leaver and the stayer, neither of which it replaces by itself."""

    def __init__(self, daemon, server):
        self.daemon = daemon
        self.server = server
        self.address = server.address()
        self.leaver, self.stayer = self.pids()

    def pids(self):
        return [each["pid"] for each in self.daemon.wait_for_workers(2)]

    def leaves(self, pid):
        """It is this one that is to leave."""
        self.leaver, self.stayer = sorted(self.pids(), key=lambda each: each != pid)

    def signal_leaver(self, number):
        os.kill(self.leaver, number)

    def connections(self, count, closing):
        """So many, one after the other, by the worker that has them."""
        held = {self.leaver: [], self.stayer: []}
        for _ in range(count):
            connection = closing.enter_context(connect(self.address))
            held[int(get(connection))].append(connection)
        return held

    def wait_for_load(self, count):
        """Until so many are open or under way in all; how many of them wait for the leaver."""
        self.daemon.wait_for(lambda _: sum(each["load"] for each in self.daemon.workers()) == count,
                             f"all {count} are handed out")
        return self.daemon.worker(self.leaver)["pending"]

    @contextlib.contextmanager
    def queue_at_stopped_leaver(self):
        """A burst of which it has half in its channel, stopped where it waits."""
        self.signal_leaver(signal.SIGSTOP)
        with Burst(self.address, COUNT) as burst:
            assert is_half(self.wait_for_load(COUNT))
            yield burst

    def wait_for_end_of_leaver(self):
        self.daemon.wait_for(lambda _: len(self.daemon.workers()) == 1, "the leaver has left")

    def start_worker(self):
        self.server.process.signal(signal.SIGTTIN)

    def settle(self):
        """Another worker was started. The longest there is the next leaver."""
        self.leaver, self.stayer = sorted(self.pids(), key=lambda each: each != self.stayer)
        self.wait_for_load(0)


@pytest.fixture
def start(kind_and_times, start_daemon, target):
    """Starts a server under the shim, beside the ringdeald that the first call starts."""
    owned = kind_and_times[0] == "owned"
    daemon = None

    def start(program, workers, at_daemon=None, at_worker=None):
        nonlocal daemon
        if daemon is None:
            listeners = [f"name: web, bind: 127.0.0.1:0, {PATIENT}"] if owned else []
            daemon = start_daemon(*listeners, more=f"adopted: {{{PATIENT}}}\ndrain_timeout: 50ms",
                                  environment=at_daemon and at_daemon.environment)
        address = "%s:%d" % daemon.address() if owned else "127.0.0.1:0"
        return daemon, target([build.PYTHON, program, address, str(workers)], daemon,
                              environment=at_worker and at_worker.environment)
    return start


@pytest.fixture
def start_pair(start):
    def start_two(program=PREFORK, **failpoints):
        return Pair(*start(program, 2, **failpoints))
    return start_two


@pytest.fixture
def closed_failpoint(failpoint):
    def make(name):
        point = failpoint(name)
        point.close()
        return point
    return make


def ask_to_leave(connection):
    connection.sendall(b"GET /close-listener HTTP/1.1\r\nHost: test\r\n\r\n")


def test_1_a_hand_off_sent_as_the_worker_stores_left(start_pair, closed_failpoint, repeat):
    picked, left = closed_failpoint("handed-not-sent"), closed_failpoint("left-stored")
    pair = start_pair(at_daemon=picked, at_worker=left)

    def once():
        with contextlib.ExitStack() as closing:
            held = pair.connections(4, closing)
            held[pair.leaver].pop().close()
            pair.wait_for_load(3)  # so the leaver is the one that is picked
            picked.open()
            burst = closing.enter_context(Burst(pair.address, COUNT))
            _, send = picked.wait()
            left.open()
            ask_to_leave(held[pair.leaver][0])
            _, pid, leave = left.wait_for_process()
            assert pid == pair.leaver
            picked.close()
            left.close()
            send()
            assert pair.wait_for_load(3 + COUNT) == 1, "sent to the one that has left"
            assert pair.daemon.worker(pair.leaver)["state"] == "left"
            leave()
            assert burst.spread() == {pair.stayer: COUNT}
        pair.signal_leaver(signal.SIGKILL)
        pair.start_worker()
        pair.settle()
    repeat(once)


def test_2_a_hand_off_between_the_leavers_last_look_and_its_close(start_pair, repeat):
    pair = start_pair()

    def once():
        with contextlib.ExitStack() as closing:
            held = pair.connections(2, closing)
            pair.signal_leaver(signal.SIGSTOP)
            # What it does first when it goes on, before it looks at its listener again.
            ask_to_leave(held[pair.leaver][0])
            burst = closing.enter_context(Burst(pair.address, COUNT))
            assert is_half(pair.wait_for_load(2 + COUNT))
            pair.signal_leaver(signal.SIGCONT)
            assert burst.spread() == {pair.stayer: COUNT}
        pair.signal_leaver(signal.SIGKILL)
        pair.start_worker()
        pair.settle()
    repeat(once)


def test_3_received_but_not_yet_admitted_by_a_leaver(start_pair, closed_failpoint, repeat):
    received = closed_failpoint("received")
    pair = start_pair(LEAVING, at_worker=received)

    def once():
        received.open()
        with connect(pair.address) as first:
            _, pid, admit = received.wait_for_process()
            received.close()
            pair.leaves(pid)
            with Burst(pair.address, COUNT - 1) as burst:
                assert is_half(pair.wait_for_load(COUNT))
                pair.signal_leaver(signal.SIGTERM)
                pair.wait_for_end_of_leaver()
                assert burst.spread() == {pair.stayer: COUNT - 1}
                admit()
                assert int(get(first)) == pair.leaver
        pair.start_worker()
        pair.settle()
    repeat(once)


def test_4_a_worker_killed_while_parked_with_a_queue_and_replaced(start_pair, repeat):
    pair = start_pair()

    def once():
        with pair.queue_at_stopped_leaver() as burst:
            pair.signal_leaver(signal.SIGKILL)
            pair.start_worker()
            assert pair.leaver not in burst.spread()
        pair.settle()
    repeat(once)


def test_5_a_worker_killed_with_a_queue_and_never_replaced(start_pair, repeat):
    pair = start_pair()

    def once():
        with pair.queue_at_stopped_leaver() as burst:
            pair.signal_leaver(signal.SIGKILL)
            assert burst.spread() == {pair.stayer: COUNT}
            with Burst(pair.address, COUNT) as later:
                assert later.spread() == {pair.stayer: COUNT}
        pair.start_worker()  # for the next time
        pair.settle()
    repeat(once)


def test_6_a_worker_that_exits_0_with_a_queue_and_is_never_replaced(start_pair, repeat):
    pair = start_pair()

    def once():
        with contextlib.ExitStack() as closing:
            held = pair.connections(2, closing)
            pair.signal_leaver(signal.SIGSTOP)
            held[pair.leaver][0].sendall(b"GET /exit HTTP/1.1\r\nHost: test\r\n\r\n")
            burst = closing.enter_context(Burst(pair.address, COUNT))
            assert is_half(pair.wait_for_load(2 + COUNT))
            pair.signal_leaver(signal.SIGCONT)
            assert burst.spread() == {pair.stayer: COUNT}
            later = closing.enter_context(Burst(pair.address, COUNT))
            assert later.spread() == {pair.stayer: COUNT}
        pair.start_worker()  # for the next time
        pair.settle()
    repeat(once)


def test_7_a_worker_killed_between_take_and_publication(start_pair, closed_failpoint, repeat):
    """What it has taken dies with it, and nothing else; the counts are right for its successor."""
    received = closed_failpoint("received")
    pair = start_pair(at_worker=received)

    def once():
        received.open()
        with connect(pair.address) as taken:
            _, pid, _ = received.wait_for_process()
            received.close()
            pair.leaves(pid)
            slot = pair.daemon.worker(pid)["slot"]
            with Burst(pair.address, COUNT) as burst:
                assert is_half(pair.wait_for_load(1 + COUNT))
                pair.signal_leaver(signal.SIGKILL)
                assert burst.spread() == {pair.stayer: COUNT}
            with contextlib.suppress(ConnectionResetError):
                assert taken.recv(1) == b""
        pair.start_worker()
        pair.settle()
        successor = pair.daemon.worker(pair.stayer)
        assert successor["slot"] == slot
        assert all(successor[count] == 0 for count in ("handed", "recalled", "taken", "closed"))
        with Burst(pair.address, COUNT) as burst:
            assert burst.spread() == {pair.stayer: COUNT // 2, pair.leaver: COUNT // 2}
        pair.wait_for_load(0)
        assert pair.daemon.listener()["counters_clamped"] == 0
    repeat(once)


def test_8_a_worker_that_starts_while_picked(start_pair, closed_failpoint, repeat):
    picked, starting = closed_failpoint("handed-not-sent"), closed_failpoint("not-started")
    pair = start_pair(at_daemon=picked, at_worker=starting)

    def once():
        pair.signal_leaver(signal.SIGKILL)
        pair.wait_for_end_of_leaver()
        starting.open()
        pair.start_worker()
        _, pid, go_on = starting.wait_for_process()
        starting.close()
        with Burst(pair.address, COUNT) as burst:
            assert burst.spread() == {pair.stayer: COUNT}, "nobody waits for it"
            assert pair.daemon.worker(pid)["handed"] == 0
        pair.daemon.wait_for(lambda _: pair.daemon.worker(pair.stayer)["load"] == 0)
        picked.open()
        with Burst(pair.address, COUNT) as burst:
            _, send = picked.wait()
            go_on()
            picked.close()
            send()
            assert set(burst.spread()) <= {pair.stayer, pid}
        pair.settle()
    repeat(once)


def outcomes(burst):
    """What becomes of each connection: the pid that answers, after which the client closes, or None
    if it was reset, as the kernel does with those that wait for a listener that is closed."""
    def outcome(connection):
        connection.settimeout(10)
        with connection:
            try:
                return int(get(connection))
            except ConnectionResetError:
                return None
    with concurrent.futures.ThreadPoolExecutor(COUNT) as pool:
        return list(pool.map(outcome, burst.connections))


def test_9_a_stop_that_arrives_while_a_worker_is_held_before_its_start(start, closed_failpoint,
                                                                       repeat):
    starting = closed_failpoint("not-started")
    daemon, server = start(LEAVING, 1, at_worker=starting)

    def once():
        nonlocal server
        address = server.address()
        working = daemon.wait_for_workers(1)[0]["pid"]
        starting.open()
        server.process.signal(signal.SIGTTIN)
        _, held, go_on = starting.wait_for_process()
        starting.close()
        os.kill(working, signal.SIGSTOP)
        with Burst(address, COUNT) as burst:
            daemon.wait_for(lambda _: daemon.worker(working)["pending"] == COUNT)
            server.process.signal(signal.SIGTERM)
            daemon.wait_for(lambda _: [each["pid"] for each in daemon.workers()] == [working],
                            "the held one has left")
            os.kill(working, signal.SIGCONT)
            go_on()
            stopped = server
            _, server = start(LEAVING, 1, at_worker=starting)
            pids = outcomes(burst)
            assert held not in pids
            if server.address() == address:
                assert None not in pids, "another server came for them"
        assert stopped.process.wait() == 0
        daemon.wait_for_workers(1)
    repeat(once)
