"""Unmodified prefork servers, adopted by a real ringdeald without configuration."""
import os
import signal

import pytest

from support import build
from support.clients import Burst, free_port
from support.nginx import configuration

NGINX = "/usr/sbin/nginx"


def at_rest(daemon):
    daemon.wait_for(lambda status: all(worker["active"] == 0 for listener in status["listeners"]
                                       for worker in listener["workers"]), "all closed")


@pytest.mark.parametrize("count, share", [(32, 16), (8, 4)])
def test_two_asyncio_workers_get_the_same(daemon, run, count, share):
    server = run(build.PYTHON, build.SERVERS / "prefork_server.py", "127.0.0.1:0", "2")
    address = "127.0.0.1", int(server.wait_for_line(r"^(\d+)$").group(1))
    daemon.wait_for_workers(2)
    for _ in range(5):
        with Burst(address, count) as burst:
            assert sorted(burst.spread().values()) == [share, share]
        at_rest(daemon)
    server.signal(signal.SIGTERM)
    assert server.wait() == 0


@pytest.fixture
def start_nginx(directory, run):
    def start(workers=2):
        port = free_port()
        user = "user www-data;" if os.geteuid() == 0 else ""
        file = directory / "nginx.conf"
        file.write_text(configuration(
            directory, f"127.0.0.1:{port}", workers=workers, connections=256,
            main=f"{user} error_log stderr warn;", http="keepalive_timeout 60;"))
        server = run(NGINX, "-p", directory, "-c", file)
        return server, ("127.0.0.1", port)
    return start


def test_nginx_with_two_workers(daemon, start_nginx):
    server, address = start_nginx()
    daemon.wait_for_workers(2)
    for _ in range(5):
        with Burst(address, 32) as burst:
            assert sorted(burst.spread().values()) == [16, 16]
        at_rest(daemon)
    server.signal(signal.SIGQUIT)
    assert server.wait() == 0


def test_nginx_reloads(daemon, start_nginx):
    server, address = start_nginx()
    old = {worker["pid"] for worker in daemon.wait_for_workers(2)}
    server.signal(signal.SIGHUP)
    daemon.wait_for(lambda status: old.isdisjoint(
        worker["pid"] for worker in daemon.workers() if worker["state"] == "worker") and
        len([w for w in daemon.workers() if w["state"] == "worker"]) == 2, "new workers")
    with Burst(address, 32) as burst:
        assert sorted(burst.spread().values()) == [16, 16]


def test_nginx_survives_the_death_of_ringdeald(daemon, start_nginx):
    server, address = start_nginx()
    daemon.wait_for_workers(2)
    with Burst(address, 8) as burst:
        burst.spread()
        daemon.kill()
        assert sum(burst.spread().values()) == 8
    with Burst(address, 8) as burst:
        assert sum(burst.spread().values()) == 8
    assert "emerg" not in server.output() and "alert" not in server.output()


def test_socketserver_that_polls_and_blocks_in_accept(daemon, run, helpers):
    server = run("threaded.py")
    address = "127.0.0.1", helpers.port_of(server)
    for _ in range(3):
        with Burst(address, 32) as burst:
            assert sum(burst.spread().values()) == 32
        at_rest(daemon)
    daemon.wait_for_workers(2)
    with Burst(address, 32) as burst:
        # One at a time, to whoever waits: both get their part, how much depends on how fast they are.
        assert len(burst.spread()) == 2
