"""ringdeal top: what a terminal shows of real ringdealds, read by an emulated one."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading

import pyte
import pytest

from conftest import BINARY, ringdeal
from support.clients import connect
from support.fixtures import directory, join, start_daemon  # noqa: F401
from support.waiting import wait_until

WEB = "name: web, bind: 127.0.0.1:0"
BACK = "name: back, bind: 127.0.0.1:0"


class Screen:
    """ringdeal top on a terminal of its own."""

    def __init__(self, columns, lines, *arguments):
        self.screen = pyte.Screen(columns, lines)
        self.lock = threading.Lock()
        self.raw = b""
        self.terminal, own = pty.openpty()
        self.resize_only(columns, lines)
        self.before = termios.tcgetattr(own)
        self.process = subprocess.Popen(
            [BINARY, "top", *map(str, arguments)], stdin=own, stdout=own, stderr=own,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**os.environ, "TERM": "xterm"})
        self.own = own
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        stream = pyte.ByteStream(self.screen)
        while True:
            try:
                data = os.read(self.terminal, 65536)
            except OSError:
                return
            if not data:
                return
            with self.lock:
                self.raw += data
                stream.feed(data)

    def resize_only(self, columns, lines):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns, lines):
        with self.lock:
            self.screen.resize(lines, columns)
        self.resize_only(columns, lines)  # the kernel tells who is on it

    def press(self, keys):
        os.write(self.terminal, keys)

    def text(self):
        with self.lock:
            return "\n".join(line.rstrip() for line in self.screen.display)

    def wait_for(self, predicate):
        return wait_until(lambda: predicate(self.text()), self.text, timeout=30)

    def end(self, keys=b"q"):
        if keys:
            self.press(keys)
        status = self.process.wait(30)
        with_us = termios.tcgetattr(self.own)
        os.close(self.own)
        self.reader.join(30)
        os.close(self.terminal)
        return status, with_us


@pytest.fixture
def top():
    screens = []

    def start(columns, lines, daemon, *arguments):
        screens.append(Screen(columns, lines, "--control", daemon.control, "--interval", 0.1,
                              *arguments))
        return screens[-1]
    yield start
    for screen in screens:
        if screen.process.poll() is None:
            screen.process.kill()
            screen.end(b"")


def rows(text):
    """The numbers of each worker's line, by slot."""
    found = re.findall(r"^ +(\d+) +(\d+) (\w+) +(\d+) +(\d+) +(\d+) ", text, re.MULTILINE)
    return {int(slot): {"pid": int(pid), "state": state, "active": int(active),
                        "pending": int(pending)}
            for slot, pid, state, active, pending, _ in found}


def order(text):
    return [int(slot) for slot in re.findall(r"^ +(\d+) +\d+ \w+ ", text, re.MULTILINE)]


def load(daemon, workers, counts, closing):
    """Open connections, all of them taken: each worker keeps the number that is given for it."""
    each = max(counts)
    closing.extend(connect(daemon.address()) for _ in range(each * len(workers)))
    for worker, count in zip(workers, counts, strict=True):
        while len(worker.connections) < each:
            assert worker.readable(30)
            worker.take()
        for connection in worker.connections[count:]:
            worker.close_connection(connection)


@pytest.fixture
def closing():
    connections = []
    yield connections
    for connection in connections:
        connection.close()


@pytest.mark.parametrize("columns, lines", [(80, 24), (200, 50)])
def test_it_fits_the_terminal(start_daemon, join, top, closing, columns, lines):
    daemon = start_daemon(WEB, BACK)
    workers = [join(daemon, "web") for _ in range(3)]
    load(daemon, workers, [5, 1, 3], closing)
    shown = top(columns, lines, daemon)
    text = shown.wait_for(lambda text: rows(text) and text)
    assert {slot: row["active"] for slot, row in rows(text).items()} == {0: 5, 1: 1, 2: 3}
    head = text.splitlines()[0]
    assert head.startswith("ringdeald ") and "2 listeners  3 workers" in head
    assert "back  127.0.0.1:" in text and "0 workers" in text
    assert ("RECALLED" in text) == (columns == 200)
    assert re.search(r"#{20,}$", text, re.MULTILINE)
    assert shown.end()[0] == 0


def test_keys_sort_and_scroll(start_daemon, join, top, closing):
    daemon = start_daemon(WEB)
    workers = [join(daemon, "web") for _ in range(4)]
    load(daemon, workers, [2, 4, 1, 3], closing)
    shown = top(80, 24, daemon)
    shown.wait_for(lambda text: order(text) == [0, 1, 2, 3])
    shown.press(b">>")
    shown.wait_for(lambda text: order(text) == [1, 3, 0, 2])
    shown.press(b"r")
    shown.wait_for(lambda text: order(text) == [2, 0, 3, 1])
    shown.press(b"\033[D\033[D")
    shown.wait_for(lambda text: order(text) == [3, 2, 1, 0])
    shown.resize(80, 6)
    shown.wait_for(lambda text: order(text) == [3])
    shown.press(b"\033[B\033[B")
    shown.wait_for(lambda text: order(text) == [3, 2, 1])
    shown.press(b"\033[6~")
    shown.wait_for(lambda text: order(text) == [3, 2, 1, 0])
    shown.press(b"\033[5~\033[5~")
    shown.wait_for(lambda text: order(text) == [3])


def test_a_resize_leaves_nothing_of_the_old_picture(start_daemon, join, top):
    daemon = start_daemon(WEB)
    for _ in range(3):
        join(daemon, "web")
    shown = top(200, 50, daemon)
    shown.wait_for(lambda text: "RECALLED" in text)
    shown.resize(70, 12)
    text = shown.wait_for(lambda text: "RECALLED" not in text and len(order(text)) == 3 and text)
    assert all(len(line) <= 70 for line in text.splitlines())


@pytest.mark.parametrize("end", [b"q", b"\003", signal.SIGTERM])
def test_the_terminal_is_as_it_was(start_daemon, top, end):
    daemon = start_daemon(WEB)
    shown = top(80, 24, daemon)
    shown.wait_for(lambda text: "no workers" in text or "0 workers" in text)
    if isinstance(end, bytes):
        status, with_us = shown.end(end)
    else:
        shown.process.send_signal(end)
        status, with_us = shown.end(b"")
    assert status == 0
    assert with_us == shown.before
    assert shown.raw.endswith(b"\033[?25h\033[?1049l")


def test_a_restart_is_seen_and_outlived(start_daemon, join, top):
    daemon = start_daemon(WEB)
    shown = top(100, 24, daemon)
    shown.wait_for(lambda text: "0 workers" in text)
    daemon.stop()
    shown.wait_for(lambda text: daemon.control in text.splitlines()[1])


def test_without_a_terminal_it_is_plain(start_daemon, join, closing):
    daemon = start_daemon(WEB)
    workers = [join(daemon, "web") for _ in range(2)]
    load(daemon, workers, [1, 2], closing)
    done = ringdeal("top", "--control", daemon.control, "--interval", 0.1, "--count", 2,
                    "--sort", "active")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\033" not in done.stdout
    assert order(done.stdout) == [1, 0, 1, 0]
    assert "RECALLED" in done.stdout


def test_nobody_there_is_an_error():
    done = ringdeal("top", "--control", "/nowhere/control.sock", "--count", 1)
    assert done.returncode == 111
    assert done.stderr.startswith("ringdeal top: ")


def test_an_unknown_listener_is_an_error(start_daemon):
    daemon = start_daemon(WEB)
    done = ringdeal("top", "--control", daemon.control, "--listener", "wbe", "--count", 1)
    assert (done.returncode, done.stderr) == (100, "ringdeal top: there is no listener wbe\n")
