#!/usr/bin/python3
"""full_queue.py DIRECTORY ROUNDS DEPTH...: what ringdeald costs while so many connections wait in the accept
queue of its listener. To be run in a network namespace of its own, whose limits it raises. Prints the
rounds as JSON: for each depth the CPU time of ringdeald for each connection that it deals, in
nanoseconds, and the memory that is its own in KiB."""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from support import build  # noqa: E402
from support.daemon import Daemon  # noqa: E402
from support.process import Process  # noqa: E402
from support.waiting import wait_until  # noqa: E402
from support.worker import Worker  # noqa: E402

DEALT = 5000  # connections that are measured
EACH = 10000  # connections of one client process, whose descriptors are limited
TCP_LISTEN = "0A"


def waiting(port):
    """Connections in the accept queue."""
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == TCP_LISTEN and fields[1].endswith(f":{port:04X}"):
            return int(fields[4].partition(":")[2], 16)
    raise AssertionError("nobody listens")


def cpu_ns(pid):
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((each / "schedstat").read_text().split()[0]) for each in tasks)


def memory_kib(pid):
    rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Anonymous: +(\d+)", rollup, re.MULTILINE).group(1))


def accept_and_close(daemon, count):
    """A worker takes so many, or a few more, and closes each; others come in their place."""
    worker = Worker(daemon).become()
    before, begun = daemon.listener()["accepted"], cpu_ns(daemon.pid)
    while worker.page.taken < count:
        worker.readable(10)
        for connection in worker.take_all():
            worker.close_connection(connection)
    used, dealt = cpu_ns(daemon.pid) - begun, daemon.listener()["accepted"] - before
    worker.close()
    return used / dealt


def measure(daemon, depth):
    port = daemon.address()[1]
    # As fast as they can, and no more than so many at once.
    clients = [Process([build.PROGRAMS / "arrivals", port, 1_000_000, min(EACH, depth - first)])
               for first in range(0, depth, EACH)]
    try:
        wait_until(lambda: waiting(port) >= depth, lambda: f"{waiting(port)} of {depth} wait", 60)
        result = {"memory_kib": memory_kib(daemon.pid), "cpu_ns": accept_and_close(daemon, DEALT)}
        assert depth <= DEALT or waiting(port) > depth / 2, "the queue became empty"
    finally:
        for each in clients:
            each.kill()
    # What they left in the queue is taken as well, before the next round.
    worker = Worker(daemon).become()
    wait_until(lambda: [worker.close_connection(each) for each in worker.take_all()] == []
               and waiting(port) == 0, "the queue is empty", 60)
    worker.close()
    return result


def main(directory, rounds, *depths):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for name in "core/somaxconn", "ipv4/tcp_max_syn_backlog":
        pathlib.Path(f"/proc/sys/net/{name}").write_text("65535")
    daemon = Daemon(directory, ["name: web, bind: 127.0.0.1:0, backlog: 65535"], leaks_allowed=True)
    try:
        measure(daemon, 10)  # what a first time costs is not what is measured
        results = [{depth: measure(daemon, int(depth)) for depth in depths} for _ in range(int(rounds))]
    finally:
        daemon.stop()
    print(json.dumps(results))


main(*sys.argv[1:])
