"""The columns of the matrix. A check gets a Lab, fails by an assertion, and may return a note. Those
marked `fresh` leave a server behind that is of no use to others, and start their own."""
import collections
import os
import pathlib
import resource
import signal
import statistics
import time

from support.clients import Load, connect
from support.waiting import wait_until

from harness.clients import Crowd, Held
from harness.lab import Lab

CONNECTIONS = 1000
KEPT_REQUESTS = 10000
BURST = 32
CONCURRENCY = 8


class NotApplicable(Exception):
    """Says why."""


def require(condition, reason):
    if not condition:
        raise NotApplicable(reason)


def concurrency(cell):
    return cell.workers if cell.one_at_a_time else CONCURRENCY


def load(lab, **options):
    options.setdefault("concurrency", concurrency(lab.cell))
    return Load(lab.address, protocol=lab.cell.protocol, **options)


def go_on(running, count):
    """Until `count` more requests of a load were finished."""
    aim = running.finished + count
    wait_until(lambda: running.finished >= aim, f"{count} more requests", 20)


# --- the whole life of one server


def start(lab):
    """start: all workers there, and registered."""
    lab.wait_for_workers()


def first_request(lab):
    with Held(lab, 1) as held:
        pid = int(held.answers()[0])
    assert pid in lab.pids(), f"{pid} answered, none of {lab.pids()}"


def burst(lab):
    """As many connections as possible at once; every one is asked while all are with a worker."""
    count = lab.cell.burst
    lab.wait_until_idle()
    with Held(lab, count) as held:
        lab.wait_until_taken(count)
        answers = collections.Counter(int(body) for body in held.answers())
        workers = lab.pids() | answers.keys() if not lab.cell.elastic else answers.keys()
    counts = sorted((answers[pid] for pid in workers), reverse=True)
    assert answers.keys() <= lab.pids(), f"{answers}, the workers are {lab.pids()}"
    assert not lab.dealt or counts[0] - counts[-1] <= 1, f"uneven: {counts}"
    return "/".join(map(str, counts))


def connection_per_request(lab):
    done = load(lab, limit=CONNECTIONS).wait()
    assert not done.failures and sum(done.answered.values()) == CONNECTIONS, done.failures


def keep_alive(lab):
    require(lab.cell.keep_alive, "the server closes every connection")
    connections = concurrency(lab.cell)
    each = KEPT_REQUESTS // connections
    done = load(lab, limit=connections, each=each).wait()
    assert not done.failures and sum(done.answered.values()) == each * connections, done.failures


def close_seen(lab):
    """The end of file follows the answer at once: nobody else holds the connection."""
    delays = []
    for _ in range(20):
        with connect(lab.address, timeout=5) as connection:
            connection.sendall(lab.cell.protocol.request(keep=False))
            data = b""
            while lab.cell.protocol.body(data) is None:
                more = connection.recv(65536)
                assert more, "closed before the whole answer"
                data += more
            answered = time.monotonic()
            assert connection.recv(65536) == b"", "more than the answer"
            delays.append(time.monotonic() - answered)
    assert statistics.median(delays) < 0.5, f"{delays} s until the end of file"


def special(lab):
    lab.cell.special(lab)


# --- what a server does not survive as it was


def reload_under_load(lab):
    require(lab.cell.reload_signal, "the server has no graceful reload")
    running = load(lab)
    try:
        go_on(running, 50)
        lab.cell.reload(lab.server)
        lab.wait_for_workers(registered=lab.cell.dealt_after_reload)
        go_on(running, 50)
    finally:
        running.stop()
    assert not running.failures, running.failures


def stop_under_load(lab):
    """Refused and reset is what happens to a closed listener's queue; all else is a loss. What waits
    at a listener of ringdeald's own is answered when the server is back."""
    require(lab.cell.stop_signal, "the server has no graceful stop")
    kept = lab.dealt and lab.cell.owned
    running = load(lab)
    try:
        go_on(running, 50)
        lab.cell.stop(lab.server)
        status = lab.server.wait(20)
        if kept:
            lab.start_server()
            go_on(running, 50)
    finally:
        running.stop()
    native = () if kept else ("ConnectionRefusedError", "ConnectionResetError", "FileNotFoundError")
    lost = {reason: count for reason, count in running.failures.items() if reason not in native}
    assert not lost, lost
    assert status == lab.cell.stop_status, f"status {status}\n{lab.log()}"


def idle_stop(lab):
    """Workers that wait for a connection end as well."""
    require(lab.cell.stop_signal, "the server has no graceful stop")
    lab.cell.stop(lab.server)
    status = lab.server.wait(20)
    assert status == lab.cell.stop_status, f"status {status}\n{lab.log()}"


def stop_process(pid):
    """Until all of its threads have stopped."""
    os.kill(pid, signal.SIGSTOP)
    threads = pathlib.Path(f"/proc/{pid}/task")
    wait_until(lambda: all((thread / "stat").read_text().rpartition(")")[2].split()[0] == "T"
                           for thread in threads.iterdir()), f"{pid} has stopped")


def worker_killed(lab):
    """A stopped worker that has connections queued is killed: others answer them."""
    require(lab.cell.workers > 1 or lab.cell.elastic, "there is one process only")
    victim = min(lab.pids())
    stop_process(victim)
    count = lab.cell.burst - 1 or 1
    with Held(lab, count) as held:
        os.kill(victim, signal.SIGKILL)
        answers = held.answers()
    assert str(victim) not in answers


def daemon_killed(lab):
    require(lab.dealt, "there is no ringdeald")
    running = load(lab)
    try:
        go_on(running, 50)
        lab.daemon.kill()
        go_on(running, 50)
        lab.daemon.start()
        go_on(running, 50)
        lab.wait_for_workers()  # they have registered again
    finally:
        running.stop()
    lost = sum(running.failures.values())
    assert lost <= 1, running.failures  # the one in ringdeald's hand


def without_daemon(lab):
    require(lab.dealt, "there is no ringdeald")
    done = load(lab, limit=100).wait()
    assert not done.failures, done.failures


def descriptor_limit(lab):
    """More clients than the workers have descriptors for: those who were answered stay until nobody
    else is, then they leave."""
    count = lab.cell.workers * lab.cell.descriptor_limit + BURST
    with Crowd(lab, count, keep=not lab.cell.one_at_a_time) as crowd:
        while crowd.waiting:
            answered = crowd.receive_until_quiet()
            assert answered or crowd.receive_until_quiet(patience=10), \
                f"{len(crowd.waiting)} of {count} had no answer"
            crowd.leave()


class Check:
    def __init__(self, title, run, fresh=False, options=None):
        self.title = title
        self.run = run
        self.fresh = fresh
        self.options = options or (lambda cell: {})

    @property
    def name(self):
        return self.run.__name__

    def lab(self, cell, dealt):
        return Lab(cell, dealt, **self.options(cell))


def few_descriptors(cell):
    limit = cell.descriptor_limit
    return {"preexec": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))}


ALL = [
    Check("start", start),
    Check("first request", first_request),
    Check("burst", burst),
    Check("1,000 connections", connection_per_request),
    Check("10,000 kept requests", keep_alive),
    Check("close seen", close_seen),
    Check("special", special),
    Check("reload", reload_under_load, fresh=True),
    Check("stop", stop_under_load, fresh=True),
    Check("idle stop", idle_stop, fresh=True),
    Check("worker killed", worker_killed, fresh=True),
    Check("ringdeald killed", daemon_killed, fresh=True),
    Check("no ringdeald", without_daemon, fresh=True, options=lambda _: {"with_daemon": False}),
    Check("descriptor limit", descriptor_limit, fresh=True, options=few_descriptors),
]
