"""stuck_after: a worker in one pass for longer is said once a pass, and nothing is done to it."""
import re

from support import build
from support.clients import connect, receive
from support.waiting import wait_until

STUCK = r"level=warn event=stuck listener=web slot=%d pid=%d seconds=[\d.]+"


def stuck(daemon):
    return daemon.listener()["workers_stuck"]


def test_each_pass_is_said_once(start_daemon, closing):
    from support.worker import Worker
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, stuck_after: 100ms", http=True)
    workers = [Worker(daemon), Worker(daemon)]
    for worker in workers:
        closing.add(worker, worker.close)
        worker.become().end_pass()
    # Each further one found is a look that has found the first again.
    workers[0].begin_pass()
    daemon.wait_for(lambda _: stuck(daemon) == 1)
    for count in range(2, 5):
        workers[1].begin_pass()
        daemon.wait_for(lambda _: stuck(daemon) == count)
        workers[1].end_pass()

    def slots():
        return re.findall(r"event=stuck listener=web slot=(\d)", daemon.log())

    wait_until(lambda: len(slots()) >= 4, daemon.log)
    assert slots() == ["0", "1", "1", "1"]
    assert 'ringdeal_workers_stuck_total{listener="web"} 4' in daemon.fetch("/metrics")


def test_a_loop_that_blocks_is_said_and_goes_on(start_daemon, target):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, stuck_after: 200ms")
    server = target([build.PYTHON, build.SERVERS / "prefork_server.py",
                     "%s:%d" % daemon.address(), "2"], daemon)
    server.address()
    daemon.wait_for_workers(2)
    with connect(daemon.address()) as client:
        client.sendall(b"GET /block/700 HTTP/1.1\r\nHost: test\r\n\r\n")
        pid = int(receive(client))
        daemon.process.wait_for_line(STUCK % (daemon.worker(pid)["slot"], pid))
    assert stuck(daemon) == 1
    assert len(daemon.wait_for_workers(2)) == 2
