"""With nobody to give a connection to, it waits in the kernel's queue, and the wake-up is not
lost."""
from support.clients import Burst


def test_connections_wait_for_the_first_worker(daemon, join):
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding")
        assert daemon.listener()["accepted"] == 0, "accepted without a worker to give it to"
        worker = join().become()
        daemon.wait_for(lambda _: daemon.workers()[0]["handed"] == 8)
        assert len(worker.take_all()) == 8
    assert daemon.listener()["holds"] >= 1


def test_a_paused_worker_that_goes_on_is_seen_at_once(daemon, join):
    worker = join().become(state=3)
    for count in range(1, 6):
        with Burst(daemon.address(), 1):
            daemon.wait_for(lambda _: worker.page.wants_ready == 1)
            assert worker.frame() is None
            worker.become()
            assert worker.readable(10), "the poke was lost"
            worker.take()
            worker.page.state = 3
    assert daemon.workers()[0]["handed"] == count


def test_a_worker_that_becomes_ready_between_the_two_looks_is_seen(start_daemon, failpoint,
                                                                   closing):
    from support.worker import Worker
    point = failpoint("hold-asked")
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", environment=point.environment)
    worker = Worker(daemon)
    closing.add(worker, worker.close)
    worker.page.state = 3
    address = daemon.address()
    with Burst(address, 1):
        name, release = point.wait()
        assert name == "hold-asked"
        # It is asked to poke and becomes ready, yet its poke is never sent: the second look must see.
        assert worker.page.wants_ready == 1
        worker.page.state = 2
        point.close()
        release()
        assert worker.readable(10), "the wake-up was lost"
        assert worker.take() is not None
