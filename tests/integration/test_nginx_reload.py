"""nginx, unmodified: shared evenly, and reloaded under load without a failed request."""
import os
import shutil
import signal

import pytest

from support.clients import Burst, Load, free_port
from support.nginx import configuration

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin")
pytestmark = [pytest.mark.skipif(NGINX is None, reason="nginx is not installed"),
              pytest.mark.skipif(os.geteuid() != 0, reason="nginx drops root's privileges here")]


@pytest.fixture(params=["owned", "adopted"])
def nginx(request, start_daemon, target, tmp_path):
    owned = request.param == "owned"
    where = ("127.0.0.1", free_port())
    daemon = start_daemon(*(["name: web, bind: '%s:%d'" % where] if owned else []))
    file = tmp_path / "nginx.conf"
    file.write_text(configuration(tmp_path, "%s:%d" % where,
                                  main="user nobody nogroup; error_log stderr notice;"))
    program = target([NGINX, "-c", file, "-p", tmp_path, "-e", "stderr"], daemon)
    return daemon, where, program, wait_for_generation(daemon, set())


def wait_for_generation(daemon, old):
    """The pids of two workers that are none of `old`, once all of those have left."""
    def found(status):
        # An adopted listener is gone while nobody who has it is joined.
        now = {each["pid"] for listener in status["listeners"] for each in listener["workers"]
               if each["state"] == "worker"}
        return now if len(now) == 2 and not now & old else None
    return daemon.wait_for(found, "two new workers", 20)


def test_shares_are_even(nginx):
    daemon, where, _, pids = nginx
    for _ in range(10):
        with Burst(where, 32) as burst:
            assert burst.spread() == {pid: 16 for pid in pids}
        daemon.wait_for(lambda _: all(each["active"] == 0 for each in daemon.workers()))


def test_ten_reloads_under_load_without_a_failed_request(nginx):
    daemon, where, program, pids = nginx
    load = Load(where, concurrency=8)
    try:
        for _ in range(10):
            finished = load.finished
            program.process.signal(signal.SIGHUP)
            pids = wait_for_generation(daemon, pids)
            daemon.wait_for(lambda _: load.finished > finished + 50, "requests go on")
    finally:
        load.stop()
    assert not load.failures, load.failures
    assert len(load.answered) > 10, "workers of several generations answered"


def test_a_graceful_end_answers_all_that_was_asked(nginx):
    _, where, program, _ = nginx
    with Burst(where, 32) as burst:
        burst.spread()
        program.process.signal(signal.SIGQUIT)
        assert program.process.wait(20) == 0


def test_workers_that_dropped_root_come_back_and_so_do_those_of_the_next_reload(nginx):
    """The master never speaks to ringdeald, and its door leads to the one that was killed."""
    daemon, where, program, pids = nginx
    load = Load(where, concurrency=4)
    try:
        daemon.kill()
        daemon.start()
        assert wait_for_generation(daemon, set()) == pids
        program.process.signal(signal.SIGHUP)
        pids = wait_for_generation(daemon, pids)
    finally:
        load.stop()
    # One connection may have been in ringdeald's hand.
    assert sum(load.failures.values()) <= 1, load.failures
    daemon.wait_for(lambda _: all(each["active"] == 0 for each in daemon.workers()))
    with Burst(where, 32) as burst:
        assert burst.spread() == {pid: 16 for pid in pids}


def test_workers_that_all_died_at_once_are_followed_by_others(nginx):
    daemon, where, _, pids = nginx
    daemon.kill()
    daemon.start()
    assert wait_for_generation(daemon, set()) == pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    pids = wait_for_generation(daemon, pids)
    with Burst(where, 32) as burst:
        assert burst.spread() == {pid: 16 for pid in pids}
