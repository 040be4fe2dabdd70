#!/usr/bin/python3
"""The client of tests/chaos, a process of its own that shares nothing with the product. Opens
connections at a bounded rate until its standard input ends, then waits for those under way. Tells of
each that went wrong in a line of JSON: where, from when to when (CLOCK_MONOTONIC), who had said to have
it (0: nobody yet), and how it ended. The last line is the counts.

Usage: client.py SEED RATE LISTENERS, the last in JSON: [{"name", "address", "kind"}], kind "greeting"
or "http".
"""
import collections
import errno
import json
import random
import selectors
import socket
import sys
import time

PATIENCE = 30.0  # for any next step; nothing is held up for longer than a few seconds
MOST_OPEN = 60  # of one listener: one that holds is not to be flooded
LONGEST_KEPT = 0.4
REQUEST = b"GET / HTTP/1.1\r\nHost: chaos\r\nConnection: close\r\n\r\n"


class Connection:
    """One of a greeting server is greeted, kept for a while, asks once more and closes."""

    def __init__(self, listener, keep):
        self.name, self.kind = listener["name"], listener["kind"]
        self.keep = keep
        self.holder = 0
        self.received = b""
        self.state = "connecting"
        self.begun = time.monotonic()
        where = listener["address"]
        unix = where.startswith("/")
        host, _, port = where.rpartition(":")
        self.socket = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
        self.socket.setblocking(False)
        self.error = self.socket.connect_ex(where if unix else (host, int(port)))
        self.moved()

    def moved(self):
        self.deadline = time.monotonic() + PATIENCE

    def greeted(self):
        """True once the answer that is awaited is whole; who sent it is noted."""
        if self.kind == "http":
            head, found, body = self.received.partition(b"\r\n\r\n")
            if not found or not body.strip():
                return False
            self.holder = int(body)
            return b" 200 " in head
        if not self.received.endswith(b"\n"):
            return False
        said, self.received = int(self.received), b""
        if self.holder and said != self.holder:
            raise ValueError(f"greeted by {self.holder}, answered by {said}")
        self.holder = said
        return True


class Client:
    def __init__(self, seed, rate, listeners):
        self.random = random.Random(seed)
        self.rate = rate
        self.listeners = listeners
        self.open = {}
        self.kept = []
        self.counts = collections.Counter()
        self.open_of = collections.Counter()
        self.events = selectors.DefaultSelector()
        self.ending = False

    def run(self):
        self.events.register(sys.stdin, selectors.EVENT_READ)
        due = time.monotonic()
        while not self.ending or self.open:
            now = time.monotonic()
            while not self.ending and due <= now:
                self.begin()
                # What a busy machine kept it from is not made up for all at once.
                due = max(due, now - 0.2) + self.random.expovariate(self.rate)
            self.ask_again(now)
            for key, events in self.events.select(0.005):
                if key.fileobj is sys.stdin:
                    self.ending = True
                    self.events.unregister(sys.stdin)
                else:
                    self.step(key.data, events)
            self.expire()
        print(json.dumps({"counts": self.counts}), flush=True)

    def begin(self):
        listener = self.random.choice(self.listeners)
        keep = self.random.random() ** 3 * LONGEST_KEPT
        if self.open_of[listener["name"]] >= MOST_OPEN:
            self.counts["not begun"] += 1
            return
        connection = Connection(listener, keep)
        if connection.error == errno.EAGAIN:  # a UNIX socket's accept queue is full
            connection.socket.close()
            self.counts["queue full"] += 1
            return
        self.counts["begun"] += 1
        self.open[connection.socket] = connection
        self.open_of[connection.name] += 1
        self.events.register(connection.socket, selectors.EVENT_WRITE, connection)
        if connection.error not in (0, errno.EINPROGRESS):
            self.fail(connection, errno.errorcode[connection.error])

    def step(self, connection, events):
        if connection.socket not in self.open:
            return
        try:
            if events & selectors.EVENT_WRITE:
                self.connected(connection)
                return
            data = connection.socket.recv(4096)
            if not data:
                self.fail(connection, "closed")
                return
            connection.received += data
            if connection.greeted():
                self.answered(connection)
        except OSError as error:
            self.fail(connection, errno.errorcode.get(error.errno, str(error)))
        except ValueError as error:
            self.fail(connection, f"nonsense: {error}")

    def connected(self, connection):
        error = connection.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            self.fail(connection, errno.errorcode[error])
            return
        if connection.kind == "http":
            connection.socket.send(REQUEST)
        connection.state = "connected"
        connection.moved()
        self.events.modify(connection.socket, selectors.EVENT_READ, connection)

    def answered(self, connection):
        connection.moved()
        if connection.kind == "http" or connection.state == "asked":
            self.counts["answered"] += 1
            self.counts[connection.name] += 1
            self.end(connection)
            return
        connection.state = "kept"
        self.kept.append((time.monotonic() + connection.keep, connection))

    def ask_again(self, now):
        due = [each for until, each in self.kept if until <= now or self.ending]
        self.kept = [each for each in self.kept if each[1] not in due]
        for connection in due:
            if connection.socket not in self.open:
                continue
            connection.state = "asked"
            try:
                connection.socket.send(b"\n")
            except OSError as error:
                self.fail(connection, errno.errorcode[error.errno])

    def expire(self):
        now = time.monotonic()
        for connection in [each for each in self.open.values() if each.deadline < now]:
            self.fail(connection, "no answer")

    def fail(self, connection, how):
        self.counts["failed"] += 1
        local = connection.socket.getsockname() if connection.socket.family == socket.AF_INET else ""
        print(json.dumps({"listener": connection.name, "begun": connection.begun,
                          "ended": time.monotonic(), "holder": connection.holder,
                          "state": connection.state, "how": how, "from": local}), flush=True)
        self.end(connection)

    def end(self, connection):
        self.events.unregister(connection.socket)
        self.open_of[connection.name] -= 1
        del self.open[connection.socket]
        connection.socket.close()


if __name__ == "__main__":
    Client(int(sys.argv[1]), float(sys.argv[2]), json.loads(sys.argv[3])).run()
