"""A stranger's uid may neither bind, adopt, register nor drain; holding the listener is enough to
register, also after dropping privileges and changing root."""
import os
import socket

import pytest

from support.daemon import ask
from support.users import NOBODY, run_as
from support.worker import Worker

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")


def asked(path, request, descriptors=()):
    """The answer and how many descriptors came with it; works in any process."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(path)
        answer, received = ask(connection, request, descriptors)
        for each in received:
            os.close(each)
        return answer, len(received)


def owned_address(daemon):
    return "%s:%d" % daemon.address()


def test_a_stranger_is_not_answered_with_the_listener(daemon):
    request = {"op": "bind", "version": 1, "address": owned_address(daemon)}
    assert asked(daemon.control, request)[1] == 2, "root is"
    answer, descriptors = run_as(NOBODY, asked, daemon.control, request)
    assert descriptors == 0, answer


def test_a_stranger_gets_no_door(daemon):
    request = {"op": "bind", "version": 1, "address": "127.0.0.1:1"}
    assert asked(daemon.control, request)[1] == 1, "root does"
    assert run_as(NOBODY, asked, daemon.control, request)[1] == 0


@pytest.mark.parametrize("by", ["listener", "address"])
def test_a_stranger_may_not_register(daemon, by):
    value = "web" if by == "listener" else owned_address(daemon)
    request = {"op": "register", "version": 1, by: value}
    answer, descriptors = run_as(NOBODY, asked, daemon.control, request)
    assert (answer.get("code"), descriptors) == ("not-allowed", 0)
    assert daemon.workers() == []


def offer_own_listener(path, claimed=None):
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        own.listen()
        request = {"op": "register", "version": 1, "passes_listener": True}
        if claimed:
            request["address"] = claimed
        return asked(path, request, [own.fileno()])


def test_a_strangers_listener_is_not_adopted(daemon):
    answer, descriptors = run_as(NOBODY, offer_own_listener, daemon.control)
    assert (answer.get("code"), descriptors) == ("not-allowed", 0)
    assert len(daemon.status()["listeners"]) == 1


def test_a_listener_of_ones_own_proves_nothing_about_another(daemon):
    answer, descriptors = run_as(NOBODY, offer_own_listener, daemon.control,
                                 owned_address(daemon))
    assert (answer.get("code"), descriptors) == ("not-allowed", 0)


@pytest.mark.parametrize("op", ["drain", "undrain"])
def test_a_stranger_may_not_drain(daemon, join, op):
    worker = join().become()
    answer, _ = run_as(NOBODY, asked, daemon.control,
                       {"op": op, "listener": "web", "slot": worker.slot})
    assert answer["code"] == "not-allowed"
    assert daemon.workers()[0]["state"] == "worker"


def test_a_stranger_may_look(daemon):
    answer, descriptors = run_as(NOBODY, asked, daemon.control, {"op": "status"})
    assert answer["ok"] and descriptors == 1


def test_who_is_allowed_may(start_daemon, closing):
    daemon = start_daemon(f"name: web, bind: 127.0.0.1:0, allow: [{NOBODY}]",
                          more=f"adopt: [{NOBODY}]")
    request = {"op": "register", "version": 1, "listener": "web"}
    assert run_as(NOBODY, asked, daemon.control, request)[1] == 3
    assert run_as(NOBODY, asked, daemon.control,
                  {"op": "bind", "version": 1, "address": owned_address(daemon)})[1] == 2
    assert run_as(NOBODY, offer_own_listener, daemon.control)[1] == 3


def test_root_is_not_adopted_where_only_others_are_listed(start_daemon):
    daemon = start_daemon(more=f"adopt: [{NOBODY}]")
    assert offer_own_listener(daemon.control)[0]["code"] == "not-allowed"


def register_with(path, descriptor):
    return asked(path, {"op": "register", "version": 1, "passes_listener": True}, [descriptor])


def test_who_holds_the_listener_may_register_over_the_path(daemon, closing):
    holder = Worker(daemon)
    closing.add(holder, holder.close)
    assert run_as(NOBODY, register_with, daemon.control, holder.listener.fileno())[1] == 3


def test_who_holds_the_listener_may_register_from_a_chroot(daemon, closing, tmp_path):
    holder = Worker(daemon)
    closing.add(holder, holder.close)
    answer, descriptors = run_as(NOBODY, register_with, "\0" + daemon.control,
                                 holder.listener.fileno(), root=str(tmp_path))
    assert descriptors == 3, answer


def register_through(door, descriptor):
    """What a forked child does: a fresh pair, one end through the door."""
    here, there = socket.socketpair()
    with here:
        socket.send_fds(socket.socket(fileno=os.dup(door)), [b"d"], [there.fileno()])
        there.close()
        here.settimeout(10)
        answer, received = ask(here, {"op": "register", "version": 1, "passes_listener": True},
                               [descriptor])
        return answer, len(received)


def test_a_child_that_dropped_everything_joins_through_the_door(start_daemon, tmp_path):
    daemon = start_daemon()
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        own.listen()
        address = "%s:%d" % own.getsockname()
        with daemon.connect() as control:
            answer, doors = ask(control, {"op": "bind", "version": 1, "address": address})
        assert answer["ok"] and len(doors) == 1
        for _ in range(3):
            answer, descriptors = run_as(NOBODY, register_through, doors[0], own.fileno(),
                                         root=str(tmp_path))
            assert descriptors == 3, answer
            assert daemon.listener()["address"] == address
        os.close(doors[0])
    daemon.wait_for(lambda status: status["listeners"] == [], "let go")
