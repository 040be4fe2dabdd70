"""A program that blocks in accept is given one connection at a time, never two."""
from support import build
from support.clients import Burst, connect, get


def test_a_worker_gets_no_second_one_before_it_waits_again(daemon, join):
    worker = join(one_at_a_time=True)
    worker.page.style = 1
    worker.page.waiting = 1
    worker.become()
    with Burst(daemon.address(), 8):
        for expected in range(1, 9):
            assert worker.readable(10)
            daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding" or expected == 8)
            assert daemon.workers()[0]["handed"] == expected
            worker.page.waiting = 0
            assert worker.take() is not None
            assert worker.take() is None, "two at once"
            worker.page.waiting = 1
            worker.poke()


def test_two_threads_of_a_worker_get_two(daemon, join):
    worker = join(one_at_a_time=True)
    worker.page.style = 1
    worker.page.waiting = 2
    worker.become()
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding")
        assert len(worker.take_all()) == 2


def test_a_blocking_server_never_has_one_behind_another(daemon, target):
    server = target([build.PYTHON, build.SERVERS / "blocking_server.py",
                     "%s:%d" % daemon.address(), "3"], daemon)
    server.address()
    with connect(daemon.address()) as first:
        get(first)  # promotes one; the others show themselves when they are needed
        # Each of the others is behind nobody: kept-alive connections occupy a worker each, and the
        # next waits in the kernel's queue, not behind one of them.
        with connect(daemon.address()) as second, connect(daemon.address()) as third:
            assert len({get(first), get(second), get(third)}) == 3
            with connect(daemon.address()) as fourth:
                fourth.sendall(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")
                daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding")
                assert all(each["pending"] == 0 for each in daemon.workers())
                assert all(each["active"] <= 1 for each in daemon.workers())
                freed = get(second)
                second.close()
                fourth.settimeout(10)
                assert fourth.recv(65536).endswith(freed.encode())
