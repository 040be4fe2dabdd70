"""Two hosts and what stands before them, each a network namespace; nothing of it is on the machine's own
network."""
import os
import subprocess

from support import build
from support.daemon import Daemon
from support.target import Target


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


class Network:
    """The namespace `front`, and one for each host, at the other end of a cable."""

    def __init__(self, hosts):
        self.prefix = f"rd{os.getpid()}"
        self.front = f"{self.prefix}-front"
        self.made = []
        try:
            self._add(self.front)
            self.addresses = {host: self._connect(host, number) for number, host in enumerate(hosts)}
        except BaseException:
            self.close()
            raise

    def _add(self, name):
        ip("netns", "add", name)
        self.made.append(name)
        ip("-n", name, "link", "set", "lo", "up")

    def of(self, host):
        return f"{self.prefix}-{host}"

    def _connect(self, host, number):
        self._add(self.of(host))
        ip("-n", self.front, "link", "add", f"to-{host}", "type", "veth", "peer", "name", "uplink", "netns", self.of(host))
        for namespace, device, last in ((self.front, f"to-{host}", 1), (self.of(host), "uplink", 2)):
            ip("-n", namespace, "address", "add", f"198.18.{number}.{last}/24", "dev", device)
            ip("-n", namespace, "link", "set", device, "up")
        return f"198.18.{number}.2"

    def close(self):
        for name in self.made:
            subprocess.run(["ip", "netns", "delete", name], check=False)


def inside(namespace, command):
    return ["ip", "netns", "exec", namespace, *command]


class HostDaemon(Daemon):
    def __init__(self, namespace, *arguments, **options):
        self.namespace = namespace
        super().__init__(*arguments, **options)

    def command(self):
        return inside(self.namespace, super().command())


class Host:
    """A ringdeald with a server of two workers."""

    def __init__(self, network, name, directory):
        self.address = network.addresses[name]
        directory = directory / name
        directory.mkdir()
        self.daemon = HostDaemon(network.of(name), directory, leaks_allowed=True, listeners=[
            f"name: web, bind: '{self.address}:8080', agent: '{self.address}:9946'"])
        self.server = Target(inside(network.of(name), [
            build.PYTHON, build.SERVERS / "prefork_server.py", f"{self.address}:8080", "2"]), self.daemon)
        self.server.address()
        self.pids = [each["pid"] for each in self.daemon.wait_for_workers(2)]

    def drain(self, pid, op="drain"):
        assert self.daemon.ask({"op": op, "listener": "web", "pid": pid})[0]["ok"]

    def close(self):
        self.server.close()
        self.daemon.stop()
