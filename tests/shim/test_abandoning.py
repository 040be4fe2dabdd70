"""A thread that does not come back from a wait, cancelled or by a jump out of a signal handler, is not
counted as waiting for ever, and holds nothing open."""
import signal

import pytest

from support.waiting import wait_until

WAITS = ["accept", "poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait"]


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("how, leaves_by", [("cancel", signal.SIGUSR1), ("jump", signal.SIGUSR2)])
def test_who_does_not_come_back_waits_no_more(peer, run, helpers, wait, how, leaves_by):
    program = run("abandon", how, wait)
    port = helpers.port_of(program)
    worker = peer.wait_for_worker()
    wait_until(lambda: worker.waiting == 1, "waits")
    program.signal(leaves_by)
    program.wait_for_line("^left$")
    assert worker.waiting == 0
    program.signal(signal.SIGUSR1)
    wait_until(lambda: worker.waiting == 1, "waits again")
    assert helpers.deal(peer, worker, port) == program.pid
    wait_until(lambda: worker.waiting == 0, "has been served")
    program.signal(signal.SIGUSR1)
    program.wait_for_line("^closed$")
    # The three of the C library, and an epoll set.
    assert program.descriptors() <= 4, "what it held for the listener is closed"
    program.signal(signal.SIGUSR1)
    assert program.wait() == 0, program.output()
