"""ringdeald is restarted, killed and frozen while connections arrive by a schedule and the server, too, is
reloaded each time: none is refused, and but for those in the hand of a ringdeald that is killed, none is
lost."""
import signal
import time

import pytest

from support.arrivals import Arrivals
from support.waiting import wait_until

from cells.gunicorn import Sync
from cells.nginx import Default
from harness.lab import Lab

TIMES = 10
FROZEN = 5
RATE = 2000
# Under way at once: no more than the server's own backlog, or a server that is slower than they come
# loses some without us as well.
MOST = {Default: 12000, Sync: 1000}


@pytest.fixture(params=[Default, Sync], ids=lambda cell: cell.server)
def lab(request):
    lab = Lab(request.param(), dealt=True)
    yield lab
    lab.close()


def reload_and_end(lab, number, arrivals):
    """Once each; both go on, and all new workers register with the next ringdeald."""
    old = lab.pids()
    if number == signal.SIGTERM:
        lab.server.signal(lab.cell.reload_signal)
    lab.daemon.process.signal(number)
    lab.daemon.process.wait()
    if number == signal.SIGKILL:
        # From a worker that ends before it has taken what it was handed, nobody can take it back now.
        arrivals.go_on_past_now()
        lab.server.signal(lab.cell.reload_signal)
    arrivals.go_on(50)
    lab.daemon.start()
    wait_until(lambda: not old & lab.pids(), lambda: f"{old} end\n{lab.log()}", 20)
    lab.wait_for_workers()
    arrivals.go_on(50)


@pytest.mark.slow
def test_reloaded_beside_restarts_and_kills_and_a_freeze(lab, record_property):
    for number in signal.SIGTERM, signal.SIGKILL:
        arrivals = Arrivals(lab.address[1], RATE, MOST[type(lab.cell)])
        try:
            arrivals.go_on(100)
            for _ in range(TIMES):
                reload_and_end(lab, number, arrivals)
            if number == signal.SIGTERM:
                lab.daemon.freeze()
                lab.server.signal(lab.cell.reload_signal)
                time.sleep(FROZEN)  # that it lasts so long is what is tested
                lab.daemon.thaw()
                arrivals.go_on(100)
            counts = arrivals.stop().counts
        finally:
            arrivals.close()
        lost = sum(arrivals.failures.values())
        record_property("figure", f"{number.name}: {arrivals.figure}, {lost} lost")
        if number == signal.SIGTERM:
            assert not arrivals.failures, counts
        else:
            assert arrivals.failures.keys() <= {"reset", "closed"} and lost <= TIMES, counts
