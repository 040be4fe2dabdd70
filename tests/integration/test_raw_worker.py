"""A program with a JSON library and recvmsg is a worker: the one in docs/protocol.md."""
import re

from support import build
from support.clients import Burst, connect, get

PROGRAM = build.SOURCE / "tests" / "integration" / "raw_worker.py"


def start(target, daemon):
    return target([build.PYTHON, PROGRAM, daemon.control, "web"])


def test_the_manual_shows_the_program_that_is_tested():
    manual = (build.SOURCE / "docs" / "protocol.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", manual, re.DOTALL)
    assert blocks == [PROGRAM.read_text()]


def test_two_share_a_burst_evenly(daemon, target):
    workers = [start(target, daemon) for _ in range(2)]
    daemon.wait_for_workers(2)
    with Burst(daemon.address(), 32) as burst:
        assert burst.spread() == {worker.pid: 16 for worker in workers}
        daemon.wait_for(lambda _: all(each["active"] == 16 for each in daemon.workers()))
    daemon.wait_for(lambda _: all(each["active"] == 0 and each["closed"] == 16
                                  for each in daemon.workers()), "reports of the ends")


def test_goes_on_without_ringdeald(daemon, target):
    worker = start(target, daemon)
    daemon.wait_for_workers(1)
    address = daemon.address()
    with connect(address) as before:
        assert get(before) == str(worker.pid)
        daemon.kill()
        assert get(before) == str(worker.pid), "a connection that it has is its own"
    with connect(address) as after:
        assert get(after) == str(worker.pid)


def test_a_listener_that_does_not_exist_is_said(daemon, target):
    worker = target([build.PYTHON, PROGRAM, daemon.control, "nothing"])
    assert worker.process.wait() == 1
    assert "nothing" in worker.process.output()
