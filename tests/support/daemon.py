"""A ringdeald of a test's own: its configuration, its life, what it says of itself."""
import json
import os
import pathlib
import signal
import socket
import urllib.request

from support import build
from support.process import Process, all_threads_stopped
from support.waiting import wait_until


class Daemon:
    """`listeners`: texts of YAML mappings, "name: web, bind: 127.0.0.1:0". `more`: further YAML."""

    def __init__(self, directory, listeners=(), more="", environment=None, preexec=None,
                 http=False, leaks_allowed=False):
        self.directory = pathlib.Path(directory)
        self.control = str(self.directory / "control.sock")
        self.config = self.directory / "ringdeal.yaml"
        self.environment = {**os.environ, **(environment or {})}
        self.preexec = preexec
        self.leaks_allowed = leaks_allowed
        bind = "127.0.0.1:0" if http else ""
        text = f'control: {{path: "{self.control}"}}\nhttp: {{bind: "{bind}"}}\n{more}\n'
        if "drain_timeout" not in more:
            text += "drain_timeout: 1s\n"  # what no worker is left for need not wait long
        if listeners:
            text += "listeners:\n" + "".join(f"  - {{{each}}}\n" for each in listeners)
        self.config.write_text(text)
        self.start()

    def start(self):
        self.process = Process(self.command(), **self.process_options())
        self.pid = self.process.pid
        wait_until(self._answers, lambda: "ringdeald answers\n" + self.log())
        status, self.descriptors_at_start = self._status_and_descriptors()
        self.owned_at_start = owned(status)

    def command(self):
        return [build.DAEMON, "--config", self.config]

    def process_options(self):
        return {"environment": self.environment, "preexec": self.preexec}

    def _answers(self):
        if not self.process.running():
            raise AssertionError(f"ringdeald ended at start:\n{self.log()}")
        try:
            return self.status()
        except (ConnectionError, FileNotFoundError):
            return None

    def log(self):
        return self.process.output()

    # --- the control socket

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(10)
        connection.connect(self.control)
        return connection

    def ask(self, request):
        """One request on a connection of its own: the answer and its descriptors."""
        with self.connect() as connection:
            return ask(connection, request)

    def status(self):
        return document_of(self.ask({"op": "status"}))

    def _status_and_descriptors(self):
        """Both as they are while the connection that asks is there and has its answer."""
        with self.connect() as connection:
            status = document_of(ask(connection, {"op": "status"}))
            ask(connection, {"op": "none"})  # once it answers, it has closed the document
            return status, self.process.descriptors()

    def listener(self, name=None):
        """The part of the status document about one listener, the first one by default."""
        listeners = self.status()["listeners"]
        return next(each for each in listeners if name in (None, each["name"]))

    def workers(self, name=None):
        return self.listener(name)["workers"]

    def worker(self, pid, name=None):
        return next(each for each in self.workers(name) if each["pid"] == pid)

    def address(self, name=None):
        """Host and port of a TCP listener."""
        host, port = self.listener(name)["address"].rsplit(":", 1)
        return host.strip("[]"), int(port)

    def wait_for(self, predicate, what="", timeout=10.0):
        """Waits until `predicate` of the status document is true; returns its value."""
        return wait_until(lambda: predicate(self.status()),
                          lambda: f"{what}\n{json.dumps(self.status(), indent=1)}\n{self.log()}",
                          timeout)

    def wait_for_workers(self, count, state="worker", name=None, timeout=10.0):
        def found(_):
            try:
                workers = [each for each in self.workers(name) if each["state"] == state]
            except StopIteration:
                return None
            return workers if len(workers) == count else None
        return self.wait_for(found, f"{count} workers in state {state}", timeout)

    # --- HTTP

    def http(self):
        address = self.process.wait_for_line(r'event=http .*address="?([^ "]+)').group(1)
        return f"http://{address}"

    def fetch(self, path):
        with urllib.request.urlopen(self.http() + path, timeout=10) as answer:
            return answer.read().decode()

    # --- its life

    def freeze(self):
        self.process.signal(signal.SIGSTOP)
        wait_until(lambda: all_threads_stopped(self.pid), "ringdeald is frozen")

    def thaw(self):
        self.process.signal(signal.SIGCONT)

    def kill(self):
        self.process.signal(signal.SIGKILL)
        self.process.wait()

    def assert_nothing_leaked(self):
        """With all workers gone it holds what it held at the start, and what waits for a worker."""
        def at_rest():
            status, held = self._status_and_descriptors()
            if status["control_connections"] > 1:
                return False  # an earlier one, whose end it has not yet seen
            kept = sum(each["kept"] for each in status["listeners"])
            came_back = owned(status) - self.owned_at_start
            return held <= self.descriptors_at_start + kept + came_back
        def listing():
            names = pathlib.Path(f"/proc/{self.pid}/fd").iterdir()
            held = "\n".join(sorted(f"{n.name} {os.readlink(n)}" for n in names))
            return (f"descriptors back to {self.descriptors_at_start}\n{held}\n"
                    f"{json.dumps(self.status(), indent=1)}\n{self.log()}")
        wait_until(at_rest, listing, 5)

    def stop(self):
        """Ends it as a service manager would and checks how it went."""
        if not self.process.running():
            self.process.kill()
            return
        try:
            self.thaw()
            if not self.leaks_allowed:
                self.assert_nothing_leaked()
            self.process.signal(signal.SIGTERM)
            assert self.process.wait(10) == 0, self.log()
        finally:
            self.process.kill()


def owned(status):
    """How many listeners are ringdeald's own."""
    return sum(each["owned"] for each in status["listeners"])


def document_of(answered):
    """The status document that an answer carries."""
    answer, descriptors = answered
    assert answer.get("ok"), answer
    with os.fdopen(descriptors[0], "rb") as document:
        document.seek(0)
        return json.load(document)


def ask(connection, request, descriptors=()):
    """Sends one request on a control connection; the answer and its descriptors."""
    line = json.dumps(request).encode() + b"\n"
    if descriptors:
        socket.send_fds(connection, [line], list(descriptors))
    else:
        connection.sendall(line)
    return receive_answer(connection)


def receive_answer(connection):
    line, descriptors, _, _ = socket.recv_fds(connection, 65536, 4)
    while not line.endswith(b"\n"):
        more = connection.recv(65536)
        if not more:
            raise ConnectionError(f"no whole answer: {line!r}")
        line += more
    return json.loads(line), list(descriptors)
