"""A worker that takes nothing keeps nobody waiting once its channel is full, even if nothing is ever
taken back from it."""
from support.clients import Burst
from support.worker import Worker


def test_the_next_worker_gets_what_one_has_no_room_for(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, policy: round-robin, recall_after: 1min",
                          more="limits: {channel_depth: 4}")
    full, other = (closing.add(worker, worker.close)
                   for worker in [Worker(daemon).become(), Worker(daemon).become()])
    taken = []
    with Burst(daemon.address(), 32):
        daemon.wait_for(lambda _: taken.extend(other.take_all()) or len(taken) == 28)
        assert daemon.workers()[full.slot]["pending"] == 4
        assert len(full.take_all()) == 4


def test_a_channel_that_the_kernel_finds_full_is_passed_over(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, policy: round-robin, recall_after: 1min",
                          more="limits: {channel_depth: 4096}")
    full, other = (closing.add(worker, worker.close)
                   for worker in [Worker(daemon).become(), Worker(daemon).become()])
    full.channel.setsockopt(1, 8, 1)  # SO_RCVBUF bounds nothing here: the sender's buffer does
    taken = []
    bursts = [Burst(daemon.address(), 100) for _ in range(8)]
    for burst in bursts:
        closing.add(burst, burst.close)
    daemon.wait_for(lambda _: taken.extend(other.take_all()) or
                    len(taken) + daemon.workers()[full.slot]["pending"] == 800)
    assert daemon.listener()["handoffs"]["full"] > 0
    assert len(full.take_all()) + len(taken) == 800


def test_with_all_channels_full_connections_wait_and_none_is_lost(start_daemon, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", more="limits: {channel_depth: 4}")
    worker = Worker(daemon).become()
    closing.add(worker, worker.close)
    with Burst(daemon.address(), 32) as burst:
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding")
        assert daemon.workers()[0]["pending"] == 4

        def drain(_):
            worker.take_all()
            return worker.page.taken == 32
        daemon.wait_for(drain, "all taken")
        assert len(burst.connections) == 32
