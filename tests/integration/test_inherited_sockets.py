"""Listeners that the service manager opened, given as systemd gives them: numbers from 3 on, and three
variables that say how many, what they are called and whose they are."""
import os
import socket

import pytest

from support.activated import Activated, out_of_the_way
from support.clients import Burst
from support.daemon import Daemon
from support.worker import Worker


@pytest.fixture
def sockets(closing):
    """Two listening sockets of the test's own, in whose queues nobody looks yet."""
    def listen():
        with socket.create_server(("127.0.0.1", 0)) as low:
            return out_of_the_way(low)
    return [closing.add(each, each.close) for each in (listen(), listen())]


def test_what_the_service_manager_opened_is_served(directory, sockets, closing):
    """By its name in the configuration, or by that of the service manager alone. What waits in the
    queue by then is dealt too."""
    where = [each.getsockname() for each in sockets]
    with Burst(where[0], 4), Burst(where[1], 4):
        daemon = Activated(directory, sockets, ["web", "other"], ["name: web, bind: 127.0.0.1:0"])
        closing.add(daemon, daemon.stop)
        for name, address in zip(("web", "other"), where):
            assert daemon.listener(name)["owned"] and daemon.address(name) == address
            worker = Worker(daemon, listener=name).become()
            closing.add(worker, worker.close)
            daemon.wait_for(lambda _: worker.take_all() is not None and worker.page.taken == 4)


def test_what_was_given_to_another_process_is_let_alone(directory, sockets, closing):
    environment = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "2", "LISTEN_FDNAMES": "web:other"}
    daemon = Daemon(directory, environment=environment)
    closing.add(daemon, daemon.stop)
    assert daemon.status()["listeners"] == []
