"""`handed` is raised before the datagram can be seen: forced interleavings leave no count wrong."""
import concurrent.futures

from support.clients import Burst
from support.worker import Worker


def start(start_daemon, closing, point):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", environment=point.environment)
    worker = Worker(daemon).become()
    closing.add(worker, worker.close)
    return daemon, worker


def assert_all_counted(daemon, connections):
    shown = daemon.workers()[0]
    assert [shown[key] for key in ("handed", "taken", "closed", "active", "pending")] == [
        connections, connections, connections, 0, 0]
    assert daemon.listener()["counters_clamped"] == 0


def test_nothing_can_be_seen_before_it_is_counted(start_daemon, failpoint, closing):
    point = failpoint("handed-not-sent")
    daemon, worker = start(start_daemon, closing, point)
    with Burst(daemon.address(), 1):
        _, release = point.wait()
        assert worker.frame() is None
        point.close()
        release()
        assert worker.readable(10)
        worker.close_connection(worker.take())
        assert_all_counted(daemon, 1)


def test_taken_and_closed_before_the_sender_goes_on(start_daemon, failpoint, closing):
    point = failpoint("sent")
    daemon, worker = start(start_daemon, closing, point)
    address = daemon.address()
    for number in range(1, 6):
        with Burst(address, 1):
            _, release = point.wait()
            worker.close_connection(worker.take())
            # Whoever looks now waits for the sender, or finds the connection counted already.
            with concurrent.futures.ThreadPoolExecutor() as pool:
                look = pool.submit(daemon.workers)
                release()
                assert look.result()[0]["handed"] >= number
    point.close()
    assert_all_counted(daemon, 5)
