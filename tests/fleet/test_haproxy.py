"""A real HAProxy, configured as config/haproxy/haproxy.cfg, spreads over two hosts by what their ringdealds say."""
import collections
import contextlib
import csv
import socket
import subprocess
import sys

import pytest

from namespaces import Host, Network, inside
from support import build
from support.process import Process
from support.waiting import wait_until

EXAMPLE = build.SOURCE / "config/haproxy/haproxy.cfg"
ASK = """
import sys, urllib.request
for _ in range(int(sys.argv[2])):
    print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode().split()[0], flush=True)
"""


class Balancer:
    def __init__(self, network, directory):
        self.network = network
        self.socket = directory / "admin.sock"
        text = EXAMPLE.read_text()
        for old, new in (("/run/haproxy/admin.sock", str(self.socket)), ("*:80\n", "127.0.0.1:8000\n"),
                         ("agent-inter 1s", "agent-inter 100ms"),
                         ("192.0.2.1", network.addresses["a"]), ("192.0.2.2", network.addresses["b"])):
            assert text.count(old) >= 1, old
            text = text.replace(old, new)
        (directory / "haproxy.cfg").write_text(text)
        self.process = Process(inside(network.front, ["haproxy", "-db", "-f", directory / "haproxy.cfg"]))

    def server(self, name):
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(str(self.socket))
            except OSError:
                return collections.defaultdict(str)
            connection.sendall(b"show stat\n")
            text = connection.makefile().read()
        return next(row for row in csv.DictReader(text.removeprefix("# ").splitlines()) if row["svname"] == name)

    def wait_for(self, name, status, weight=None):
        def is_so():
            found = self.server(name)
            return found["status"].startswith(status) and weight in (None, int(found["weight"] or -1))
        wait_until(is_so, lambda: f"{name} is {status} {weight}: {self.server(name)}", 20)

    def ask(self, count, host=None):
        """Pids that answered `count` connections, all through HAProxy or to one host."""
        url = f"http://{host.address}:8080/" if host else "http://127.0.0.1:8000/"
        done = subprocess.run(inside(self.network.front, [sys.executable, "-c", ASK, url, str(count)]),
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return [int(line) for line in done.stdout.split()]

    def spread(self, count, hosts):
        pids = self.ask(count)
        return [sum(pid in host.pids for pid in pids) for host in hosts]


@pytest.fixture
def fleet(directory):
    with contextlib.ExitStack() as stack:
        network = Network(["a", "b"])
        stack.callback(network.close)
        hosts = []
        for name in ("a", "b"):
            hosts.append(Host(network, name, directory))
            stack.callback(hosts[-1].close)
        balancer = Balancer(network, directory)
        stack.callback(balancer.process.kill)
        for name in ("a", "b"):
            balancer.wait_for(name, "UP", 100)
        yield balancer, *hosts


def test_the_example_is_a_good_configuration():
    checked = subprocess.run(["haproxy", "-c", "-f", EXAMPLE], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_load_moves_away_from_drained_and_dead_workers(fleet):
    balancer, a, b = fleet
    assert balancer.spread(40, (a, b)) == [20, 20]
    a.drain(a.pids[0])
    balancer.wait_for("a", "UP", 50)
    one, other = balancer.spread(60, (a, b))
    assert one + other == 60 and 18 <= one <= 22, "a host with half its workers has half the share"
    a.drain(a.pids[1])
    balancer.wait_for("a", "DRAIN")
    assert balancer.spread(20, (a, b)) == [0, 20]
    for pid in a.pids:
        a.drain(pid, "undrain")
    balancer.wait_for("a", "UP", 100)
    b.server.close()
    balancer.wait_for("b", "DOWN")
    assert balancer.spread(20, (a, b)) == [20, 0]


def test_load_moves_away_from_a_slow_host_and_back(fleet):
    balancer, a, b = fleet
    slow = Process(inside(balancer.network.front, [
        sys.executable, "-c", ASK, f"http://{a.address}:8080/block/6000", "1"]))
    balancer.wait_for("a", "UP", 50)
    one, other = balancer.spread(30, (a, b))
    assert one < other
    assert slow.wait(30) == 0
    balancer.wait_for("a", "UP", 100)


def test_a_ringdeald_that_is_away_takes_no_host_out(fleet):
    balancer, a, b = fleet
    a.daemon.kill()
    assert balancer.spread(20, (a, b)) == [10, 10]
    a.daemon.start()
    a.daemon.wait_for_workers(2)
    balancer.wait_for("a", "UP", 100)
