"""The acceptor thread does not interrupt a worker to accept one connection more."""
import os
import pathlib

import pytest

LISTENER = "name: web, bind: 127.0.0.1:0"


def policies(daemon):
    threads = pathlib.Path(f"/proc/{daemon.process.pid}/task").iterdir()
    return [os.sched_getscheduler(int(thread.name)) for thread in threads]


def test_the_acceptor_lets_workers_finish_their_turn(start_daemon):
    daemon = start_daemon(LISTENER)
    daemon.address()
    assert policies(daemon).count(os.SCHED_BATCH) == 1


@pytest.mark.parametrize("chosen", [os.SCHED_IDLE, os.SCHED_BATCH])
def test_what_an_operator_chose_stays(chosen, start_daemon):
    daemon = start_daemon(LISTENER, preexec=lambda: os.sched_setscheduler(
        0, chosen, os.sched_param(0)))
    daemon.address()
    assert set(policies(daemon)) == {chosen}
