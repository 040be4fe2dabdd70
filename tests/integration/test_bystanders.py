"""Whatever a worker does wrong, another worker of its listener and another listener are served
exactly meanwhile, what it was handed and did not take is served once it is gone, and nothing is left
of it."""
import ctypes
import os
import random
import socket

import pytest

from support import build
from support.clients import Burst
from support.daemon import ask
from support.waiting import wait_until
from support.worker import Worker

COUNT = 32
LIBC = ctypes.CDLL(None, use_errno=True)
PUNCH_HOLE_KEEP_SIZE = 3
TOO_LONG = b"x" * 70_000


class Company:
    """A ringdeald with two listeners. Of "web" there are an honest worker and a hostile one."""

    def __init__(self, daemon, target, closing):
        self.daemon = daemon
        self.closing = closing
        self.honest, self.other = (self.start(target, name) for name in ("web", "other"))
        self.worker = None
        daemon.wait_for_workers(1, name="web")
        daemon.wait_for_workers(1, name="other")

    def start(self, target, listener):
        return target([build.PYTHON, build.SOURCE / "tests/integration/raw_worker.py",
                       self.daemon.control, listener]).pid

    def hostile(self):
        """The hostile worker, registered anew if it was cut off."""
        if self.worker is None:
            self.worker = Worker(self.daemon).become()
        return self.worker

    def wait_until_cut_off(self):
        """The hostile one has done what ends its control connection."""
        self.daemon.wait_for(lambda _: len(self.daemon.workers("web")) == 1, "it is cut off")
        self.vanish()

    def vanish(self):
        if self.worker is not None:
            self.worker.close()
        self.worker = None

    def assert_undisturbed(self):
        with Burst(self.daemon.address("other"), 8) as burst:
            assert burst.spread() == {self.other: 8}
        def has_all(_):
            honest = self.daemon.worker(self.honest, "web")
            return honest["taken"] == honest["handed"] - honest["recalled"]
        self.daemon.wait_for(has_all, "the honest one has all that it was handed")


@pytest.fixture
def company(start_daemon, target, closing):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0", "name: other, bind: 127.0.0.1:0")
    made = Company(daemon, target, closing)
    return closing.add(made, made.vanish)


def counts_that_run_backwards(company):
    page = company.hostile().page
    for word in ("taken", "closed", "direct", "rung", "passes"):
        setattr(page, word, 2**40)
        setattr(page, word, 0)


def counts_past_the_end(company):
    page = company.hostile().page
    for word in ("taken", "closed", "direct", "pass_start", "rung", "passes"):
        setattr(page, word, 2**64 - 1 - random.randrange(2))
    for word in ("state", "waiting", "queued", "style", "mode_seen", "cpu"):
        setattr(page, word, 2**32 - 1 - random.randrange(2))


def a_page_that_is_taken_away(company):
    """It cannot be cut. A hole reads as zeros."""
    memory = company.hostile().memory
    with pytest.raises(PermissionError):
        os.ftruncate(memory, 0)
    assert LIBC.fallocate(memory, PUNCH_HOLE_KEEP_SIZE, ctypes.c_long(0), ctypes.c_long(4096)) == 0


def a_flood_of_control_messages(company):
    hostile = company.hostile()
    hostile.control.settimeout(10)
    for _ in range(50):
        hostile.control.sendall(
            b'{"op":"ready"}\n{"op":"report","active":3,"pending":0,"taken":1}\n' * 50)


def a_flood_of_questions_whose_answers_it_does_not_read(company):
    hostile = company.hostile()
    try:
        while True:
            hostile.control.sendall(b'{"op":"status"}\n' * 100)
    except (BrokenPipeError, ConnectionResetError):
        company.wait_until_cut_off()


def lines_that_are_no_requests(company):
    hostile = company.hostile()
    for line in (b"\n", b"[]\n", b"{\n", b"\0\xff\n", b'{"op":7}\n', b"[" * 500 + b"\n",
                 b'{"op":"report","active":-1,"pending":0,"taken":1e99}\n'):
        hostile.control.sendall(line)
        assert b'"code"' in hostile.control.recv(65536)


def a_line_that_is_too_long(company):
    try:
        company.hostile().control.sendall(TOO_LONG)
    except (BrokenPipeError, ConnectionResetError):
        pass
    company.wait_until_cut_off()


def descriptors_where_none_belong(company):
    hostile = company.hostile()
    with socket.socket() as stray:
        for line in (b'{"op":"ready"}\n', b'{"op":"status"}\n', b'{"op":"dance"}\n', b"[]\n"):
            socket.send_fds(hostile.control, [line], [stray.fileno()] * 4)
            assert b'"code"' in hostile.control.recv(65536)
        socket.send_fds(hostile.control, [b'{"op":'], [stray.fileno()] * 4)
        socket.send_fds(hostile.control, [b'"ready"}\n'], [stray.fileno()] * 4)
    company.wait_until_cut_off()


def nothing_at_all(company):
    """It never reads."""
    company.hostile()


def a_closed_channel(company):
    company.hostile().channel.close()
    company.worker.channel = None


def a_channel_that_is_shut_down(company):
    company.hostile().channel.shutdown(random.choice([socket.SHUT_RD, socket.SHUT_RDWR]))


def a_channel_with_other_flags(company):
    channel = company.hostile().channel
    channel.setblocking(random.choice([False, True]))
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)


def registering_and_vanishing(company):
    company.vanish()
    for way in range(30):
        register_and_vanish(company.daemon, way)


def register_and_vanish(daemon, way):
    """With or without having seen the answer, or as one that leaves well."""
    if way % 3 == 0:
        with daemon.connect() as control:
            control.sendall(b'{"op":"register","version":1,"listener":"web"}\n')
        return
    worker = Worker(daemon).become()
    if way % 3 == 1:
        worker.say(b'{"op":"leave"}\n')
    worker.close()


def anonymous_kib(daemon):
    """What the process has in memory of its own."""
    with open(f"/proc/{daemon.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


class Leftovers:
    """What ringdeald holds more than when this was made."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.descriptors, self.kib = daemon.process.descriptors(), anonymous_kib(daemon)

    def assert_no_descriptors(self):
        wait_until(lambda: self.daemon.process.descriptors() <= self.descriptors,
                   "no more descriptors than before")

    def assert_less_than(self, size):
        grown = (anonymous_kib(self.daemon) - self.kib) * 1024
        assert grown < size, f"{grown} bytes"


@pytest.mark.parametrize("times", [3, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("misdeed", [
    counts_that_run_backwards, counts_past_the_end, a_page_that_is_taken_away,
    a_flood_of_control_messages, a_flood_of_questions_whose_answers_it_does_not_read,
    lines_that_are_no_requests, a_line_that_is_too_long, descriptors_where_none_belong,
    nothing_at_all, a_closed_channel, a_channel_that_is_shut_down, a_channel_with_other_flags,
    registering_and_vanishing])
def test_others_are_undisturbed_by(misdeed, times, company):
    web = company.daemon.address("web")

    def once():
        company.hostile()
        with Burst(web, COUNT) as before:
            misdeed(company)
            with Burst(web, COUNT) as after:
                company.assert_undisturbed()
                company.vanish()
                assert before.spread() == after.spread() == {company.honest: COUNT}
    for _ in range(1 + times // 5):  # what is kept for the next ones is there then
        once()
    leftovers = Leftovers(company.daemon)
    for _ in range(times):
        once()
    leftovers.assert_no_descriptors()
    if times == 100:
        leftovers.assert_less_than(times * 2500)


@pytest.mark.parametrize("times", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_nothing_is_left_of_workers_that_register_and_vanish(times, company):
    def register_and_vanish_often(count):
        for way in range(count):
            register_and_vanish(company.daemon, way)
        company.daemon.wait_for(lambda _: len(company.daemon.workers("web")) == 1, "all are gone")
        company.assert_undisturbed()
    register_and_vanish_often(times // 10)
    leftovers = Leftovers(company.daemon)
    register_and_vanish_often(times)
    leftovers.assert_no_descriptors()
    if times == 10_000:
        leftovers.assert_less_than(times * 50)


@pytest.mark.parametrize("how", [socket.SHUT_RD, socket.SHUT_WR, socket.SHUT_RDWR])
def test_others_are_undisturbed_by_a_child_that_shuts_the_door(how, company, closing):
    daemon = company.daemon
    leftovers = Leftovers(daemon)
    with socket.create_server(("127.0.0.1", 0)) as own, daemon.connect() as control:
        _, (door,) = ask(control, {"op": "bind", "version": 1, "address": "127.0.0.1:1"})
        door = closing.add(socket.socket(fileno=door), lambda: door.close())

        def join(connection=None):
            worker = Worker(daemon, listener=None, connection=connection, descriptors=[own.fileno()],
                            passes_listener=True)
            return closing.add(worker, worker.close)
        here, there = socket.socketpair()
        socket.send_fds(door, [b"k"], [there.fileno()])
        there.close()
        hostile = join(here)
        sibling = join().become()
        door.shutdown(how)
        later = join().become()
        with Burst(own.getsockname(), 8):
            def all_taken(_):
                sibling.take_all()
                later.take_all()
                return sibling.page.taken + later.page.taken == 8
            daemon.wait_for(all_taken)
        company.assert_undisturbed()
        for each in (hostile, sibling, later, door):
            each.close()
    daemon.wait_for(lambda status: len(status["listeners"]) == 2, "it is let go")
    leftovers.assert_no_descriptors()
