"""The status page in a real browser: at the width of a phone and of a desk, light and dark, with few
workers and with many, while connections come and go and a worker is killed."""
import json
import os
import signal
import threading

import pytest

import needs
from support import build
from support.clients import Burst
from support.process import Process
from support.target import Target

MARKUP = "<img src=x onerror=console.error(1)>"


class Traffic:
    """Played workers take what they are given, and close it when the next comes."""

    def __init__(self, daemon, workers):
        self.daemon, self.workers = daemon, workers
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.go_on, daemon=True)

    def go_on(self):
        while not self.ends.is_set():
            with Burst(self.daemon.address("web"), 24):
                self.ends.wait(0.3)  # what the page is to show, not what the test waits for
                for worker in self.workers:
                    for connection in list(worker.connections):
                        worker.close_connection(connection)
                    worker.take_all()

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


@pytest.mark.parametrize("workers", [2, 16, 300])
def test_the_page_is_as_it_should_be(workers, start_daemon, join, directory):
    place = directory / MARKUP
    daemon = start_daemon("name: web, bind: 127.0.0.1:0, recall_after: 10s",
                          f'name: path, bind: "unix:{place}"', http=True)
    server = Target([build.PYTHON, build.SERVERS / "prefork_server.py",
                     "%s:%d" % daemon.address("web"), "2"], daemon)
    try:
        server.address()
        mortal = daemon.wait_for_workers(2, name="web")[0]["pid"]
        played = [join(daemon, cpus=str(slot % 2)) for slot in range(workers - 2)]
        with Traffic(daemon, played):
            look = Process(["node", build.SOURCE / "tests/page/look.mjs", daemon.http(), str(workers),
                            needs.PACKAGES], os.environ)
            look.wait_for_line("^ready$", timeout=60)
            os.kill(mortal, signal.SIGKILL)
            assert look.wait(60) == 0, look.output()
        complaints = json.loads(look.output().splitlines()[-1])
        assert not complaints, "\n".join(complaints)
    finally:
        server.close()
