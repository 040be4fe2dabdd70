"""max_accept_rate: what comes faster waits in the kernel, and none of it is lost."""
import subprocess
import time

from support import build
from support.clients import Burst, Load
from support.worker import Worker

SERVER = build.SERVERS / "prefork_server.py"


def test_never_more_are_accepted_than_the_bucket_has(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, max_accept_rate: 100", http=True)
    worker = Worker(daemon)
    closing.add(worker, worker.close)
    worker.become()
    began = time.monotonic()
    with Burst(daemon.address(), 80):
        accepted, modes = 0, set()
        while accepted < 80:
            listener = daemon.listener()
            seconds = time.monotonic() - began
            accepted = listener["accepted"]
            assert accepted <= 10 + 100 * seconds, (accepted, seconds)
            assert seconds < 10, "the rate is not reached"
            modes.add(listener["mode"])
            time.sleep(0.01)  # between two samples
        assert "limited" in modes
        daemon.wait_for(lambda _: daemon.workers()[0]["handed"] == 80)
        assert len(worker.take_all()) == 80
    listener = daemon.listener()
    assert 0 < listener["rate_pauses"] <= 80, "each pause ends with a connection"
    assert 0 < listener["rate_paused_seconds"] < 10 and listener["holds"] == 0
    shown = f'ringdeal_rate_pauses_total{{listener="web"}} {listener["rate_pauses"]}'
    assert shown in daemon.fetch("/metrics")


def test_a_pause_does_not_keep_what_comes_back_from_others(start_daemon, closing):
    """What was accepted once is dealt again at once: not with the next token, a second later."""
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, max_accept_rate: 1, recall_after: 1min")
    for _ in range(5):  # a busy machine may take a second for it
        first, second = Worker(daemon), Worker(daemon)
        for worker in (first, second):
            closing.add(worker, worker.close)
        first.become()
        with Burst(daemon.address(), 1):
            assert first.readable(10)
            began = time.monotonic()
            accepted = daemon.listener()["accepted"]
            second.become()
            first.close()
            assert second.readable(10)
            seconds = time.monotonic() - began
            assert daemon.listener()["accepted"] == accepted
        second.close()
        daemon.wait_for(lambda _: not daemon.workers())
        if seconds < 0.7:
            return
    raise AssertionError("it waits for a token")


def test_a_load_beyond_the_rate_loses_nothing(start_daemon, target):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, max_accept_rate: 400")
    target([build.PYTHON, SERVER, "%s:%d" % daemon.address(), "2"], daemon).address()
    daemon.wait_for_workers(2)
    began = time.monotonic()
    load = Load(daemon.address(), concurrency=32, limit=600).wait()
    assert time.monotonic() - began >= (600 - 40) / 400
    assert not load.failures and sum(load.answered.values()) == 600


def waiting(port):
    """How many connections wait at each socket of the port."""
    listing = subprocess.run(["ss", "-ltnH", "sport", "=", f":{port}"], capture_output=True,
                             text=True, check=True).stdout
    return [int(line.split()[1]) for line in listing.splitlines()]


def test_sockets_that_share_an_address_share_the_rate(start_daemon, closing, sharing_sockets):
    """The kernel spreads connections over them: none is to be left waiting for the others' sake."""
    daemon = start_daemon(more="adopted: {max_accept_rate: 20}")
    port, sockets = sharing_sockets(2, backlog=200)
    workers = [Worker(daemon, None, [each.fileno()], passes_listener=True) for each in sockets]
    for worker in workers:
        closing.add(worker, worker.close)
    with Burst(("127.0.0.1", port), 100):
        daemon.wait_for(lambda _: sum(waiting(port)) + daemon.listener()["accepted"] == 100)
        before, accepted = waiting(port), daemon.listener()["accepted"]
        for worker in workers:
            worker.become()
        daemon.wait_for(lambda _: daemon.listener()["accepted"] >= accepted + 16)
        served = sorted(had - has for had, has in zip(before, waiting(port)))
        assert served[0] >= 4, (before, served)
