"""A listener that is passed on, to another image or another process, is a socket there: with the shim
and without."""
import os

import pytest

from support import build

WAYS = ["execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat",
        "syscall"]
STAYS = ["failing", "vfork", "fork", "spawn", "spawn-actions", "spawn-source", "sendmsg",
         "sendmmsg"]
PATH = f"{build.BUILD / 'tests' / 'shim'}:{os.environ['PATH']}"


@pytest.mark.parametrize("way", WAYS + STAYS)
def test_who_is_given_the_listener_finds_a_listening_socket(surroundings, run, helpers, way):
    server = run("hand_on", way, preload=surroundings != "bare", PATH=PATH)
    port = helpers.port_of(server)
    for _ in range(3):
        assert int(helpers.ask(port)) == server.pid, server.output()


@pytest.mark.parametrize("way", ["execve", "execvp", "execle"])
def test_another_image_of_the_process_joins_anew(peer, run, helpers, way):
    server = run("hand_on", way, PATH=PATH)
    port = helpers.port_of(server)
    old, new = peer.wait_for_worker(1), peer.wait_for_worker(2)
    assert old.pid == new.pid == server.pid
    assert old.state == "paused", "nothing more was to be handed to the old image"
    assert helpers.deal(peer, new, port) == server.pid


@pytest.mark.parametrize("way", STAYS)
def test_who_goes_on_is_still_the_same_worker(peer, run, helpers, way):
    server = run("hand_on", way)
    port = helpers.port_of(server)
    worker = peer.wait_for_worker()
    for _ in range(3):
        assert helpers.deal(peer, worker, port) == server.pid
    assert worker.state == "worker" and len(peer.workers) == 1
