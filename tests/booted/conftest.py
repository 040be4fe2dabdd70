import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import needs  # noqa: E402
from machine import Machine  # noqa: E402
from support.waiting import wait_until  # noqa: E402


@pytest.fixture(scope="session")
def booted(tmp_path_factory):
    """A system with the packages in it, and nginx with its drop-in. Started once."""
    reason = needs.missing()
    if reason:
        pytest.skip(reason)
    machine = Machine(tmp_path_factory.mktemp("booted"))
    try:
        for package in needs.PACKAGES.glob("*.deb"):
            (machine.root / "root" / package.name).write_bytes(package.read_bytes())
        (machine.root / "root/load.py").write_bytes((HERE / "load.py").read_bytes())
        machine.run("sh", "-c", "dpkg -i /root/ringdeald_*.deb")
        machine.run("install", "-D", "-m", "644", "/usr/share/doc/ringdeal/examples/nginx.conf",
                    "/etc/systemd/system/nginx.service.d/ringdeal.conf")
        machine.run("systemctl", "daemon-reload")
        machine.run("systemctl", "start", "nginx.service")
        yield machine
    finally:
        machine.close()


class Load:
    def __init__(self, machine):
        self._clients = subprocess.Popen([*machine.enter(), "/usr/bin/python3", "/root/load.py"],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self):
        self._clients.stdin.write("?\n")
        self._clients.stdin.flush()
        said = json.loads(self._clients.stdout.readline())
        assert not said["failed"], said
        return said["answered"]

    def wait_for_more(self, requests=100):
        """Until so many more were answered, and none failed."""
        before = self.ask()
        wait_until(lambda: self.ask() >= before + requests, "clients are served", 30)

    def close(self):
        self._clients.stdin.close()
        assert self._clients.wait(60) == 0


@pytest.fixture
def load(booted):
    load = Load(booted)
    try:
        load.wait_for_more()
        yield load
        load.wait_for_more()
    finally:
        load.close()
