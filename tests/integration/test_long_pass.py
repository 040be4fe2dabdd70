"""A worker in a long pass gets nothing while another is free. A pass that is just longer than
busy_after, as of a worker that the machine kept from running, only loses ties."""
import time

from support import build
from support.clients import Burst, connect

PASSED_OVER = 0.1  # seconds of one pass; 25 times busy_after is less


def test_a_worker_in_a_long_pass_is_passed_over(daemon, join):
    busy, free = join().become(), join().become()
    busy.begin_pass()
    time.sleep(PASSED_OVER)
    with Burst(daemon.address(), 16):
        daemon.wait_for(lambda _: free.take_all() is not None and free.page.taken == 16)
        assert busy.frame() is None
    busy.end_pass()
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: daemon.workers()[busy.slot]["handed"] == 8)


def test_with_only_busy_workers_left_the_least_loaded_gets_it(daemon, join):
    workers = [join().become(), join().become()]
    for worker in workers:
        worker.begin_pass()
    time.sleep(PASSED_OVER)
    with Burst(daemon.address(), 16):
        daemon.wait_for(lambda _: [each["handed"] for each in daemon.workers()] == [8, 8])


def test_a_loop_that_blocks_gets_nothing_until_it_returns(daemon, target):
    server = target([build.PYTHON, build.SERVERS / "prefork_server.py",
                     "%s:%d" % daemon.address(), "2"], daemon)
    server.address()
    pids = {each["pid"] for each in daemon.wait_for_workers(2)}
    with connect(daemon.address()) as blocking:
        blocking.sendall(b"GET /block/1500 HTTP/1.1\r\nHost: test\r\n\r\n")
        busy = daemon.wait_for(lambda _: next((each["pid"] for each in daemon.workers()
                                               if each["pass_seconds"] > PASSED_OVER), None), "busy")
        begin = time.monotonic()
        with Burst(daemon.address(), 16) as burst:
            assert burst.spread() == {(pids - {busy}).pop(): 16}
            assert time.monotonic() - begin < 1.2
