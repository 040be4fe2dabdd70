"""The shim's own descriptors, closed by a way that no hook sees and used again by the program: nothing
of the program's is touched, and it is a worker again."""
import signal

import pytest

from support.waiting import wait_until


@pytest.mark.parametrize("wait", ["epoll", "poll", "accept"])
def test_what_the_program_puts_in_their_place_is_left_alone(peer, run, helpers, wait):
    program = run("losing", wait)
    port = helpers.port_of(program)
    worker = peer.wait_for_worker()
    assert helpers.deal(peer, worker, port) == program.pid
    wait_until(lambda: worker.waiting == 1, "waits again")
    program.signal(signal.SIGUSR1)
    program.wait_for_line("^lost$")
    again = peer.wait_for_worker(2)
    assert again.pid == program.pid and again.request["listener"] == f"127.0.0.1:{port}"
    assert worker.state == "left"
    for _ in range(3):
        assert helpers.deal(peer, again, port) == program.pid
    program.signal(signal.SIGUSR2)
    program.wait_for_line("^mine$")
    assert helpers.deal(peer, again, port) == program.pid
