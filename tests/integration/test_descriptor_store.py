"""A service manager that keeps descriptors gives the next ringdeald its listeners back at once: whether a
worker is there to bring them or not, no connection is refused and no path is lost."""
import os
import socket

import pytest

from support.activated import Activated, Manager
from support.clients import Burst
from support.waiting import wait_until
from support.worker import Worker


@pytest.fixture
def manager(directory, closing):
    manager = Manager(directory)
    return closing.add(manager, manager.close)


@pytest.fixture
def start(directory, manager, closing):
    def start(*listeners):
        daemon = Activated(directory, [], [], listeners, manager=manager)
        manager.wait_until_ready(1)
        return closing.add(daemon, daemon.stop)
    return start


def test_a_service_manager_that_asks_for_signs_of_life_is_given_them(directory, manager, closing):
    daemon = Activated(directory, [], [], manager=manager, environment={"WATCHDOG_USEC": "40000"})
    closing.add(daemon, daemon.stop)
    manager.wait_until_said("WATCHDOG", lambda times: times >= 5)


def answer_all(daemon, burst, name="web"):
    """A worker takes all of the burst."""
    worker = Worker(daemon, listener=name).become()
    count = len(burst.connections)
    daemon.wait_for(lambda _: worker.take_all() is not None and worker.page.taken == count)
    worker.close()


@pytest.mark.parametrize("kind", ["TCP", "path"])
def test_what_waits_while_there_is_no_ringdeald_and_no_worker_is_dealt(kind, start, manager,
                                                                      directory):
    path = str(directory / "app.sock")
    daemon = start("name: web, bind: '%s'" % ("127.0.0.1:0" if kind == "TCP" else f"unix:{path}"))
    where = daemon.address() if kind == "TCP" else path
    inode = None if kind == "TCP" else os.stat(path).st_ino
    for times in 2, 3:
        daemon.kill()
        with Burst(where, 8) as burst:
            daemon.start()
            manager.wait_until_ready(times)
            answer_all(daemon, burst)
        assert kind == "TCP" or os.stat(path).st_ino == inode
        assert manager.stored()[1] == ["@web"]
        assert "event=awaited" not in daemon.log()


def test_what_is_configured_no_more_or_elsewhere_is_kept_no_more(start, manager):
    daemon = start("name: web, bind: 127.0.0.1:0", "name: api, bind: 127.0.0.1:0",
                   "name: moved, bind: 127.0.0.1:0")
    kept, gone, moved = (daemon.address(name) for name in ("web", "api", "moved"))
    assert sorted(manager.stored()[1]) == ["@api", "@moved", "@web"]
    daemon.kill()
    lines = daemon.config.read_text().splitlines()
    lines = [line.replace("name: moved, bind: 127.0.0.1", "name: moved, bind: 127.0.0.2")
             for line in lines if "name: api" not in line]
    daemon.config.write_text("\n".join(lines) + "\n")
    daemon.start()
    manager.wait_until_ready(2)
    assert sorted(manager.stored()[1]) == ["@moved", "@web"]
    assert daemon.address("web") == kept and daemon.address("moved")[0] == "127.0.0.2"
    for each in gone, moved:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(each, 10)


def test_what_a_reload_adds_is_kept_and_what_it_removes_or_moves_is_not(start, manager):
    daemon = start("name: web, bind: 127.0.0.1:0", "name: moved, bind: 127.0.0.1:0")
    text = daemon.config.read_text().replace("name: moved, bind: 127.0.0.1", "name: moved, bind: 127.0.0.2")
    daemon.config.write_text(text.replace("name: web,", "name: api,"))
    assert daemon.ask({"op": "reload"})[0]["ok"]
    wait_until(lambda: sorted(manager.stored()[1]) == ["@api", "@moved"], manager.stored)
    kept = dict(zip(manager.stored()[1], manager.stored()[0]))
    assert kept["@moved"].getsockname() == daemon.address("moved")
    assert daemon.address("moved")[0] == "127.0.0.2"


def test_a_path_that_somebody_removed_is_made_anew(start, manager, directory):
    path = directory / "app.sock"
    daemon = start(f"name: web, bind: 'unix:{path}'")
    daemon.kill()
    path.unlink()
    daemon.start()
    manager.wait_until_ready(2)
    with Burst(str(path), 4) as burst:
        answer_all(daemon, burst)
    assert manager.stored()[1] == ["@web"]
