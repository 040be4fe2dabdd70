"""Clients over loopback: bursts of keep-alive connections, and a steady load of one-shot ones that
counts every failure. All sockets are in non-blocking mode, on one selector."""
import collections
import errno
import selectors
import socket
import threading
import time


class Http:
    """What is asked and how an answer is recognised. Other protocols have the same two functions."""

    @staticmethod
    def request(keep=True, path=b"/"):
        return (b"GET %s HTTP/1.1\r\nHost: test\r\n%s\r\n"
                % (path, b"" if keep else b"Connection: close\r\n"))

    @staticmethod
    def body(data):
        """The body of a complete answer, None if more is to come."""
        head, found, body = data.partition(b"\r\n\r\n")
        if not found:
            return None
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                return body if len(body) >= int(value) else None
        return None


def free_port():
    """A port for what cannot be told to choose one; nobody else is likely to be given it next."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def family_of(address):
    if isinstance(address, str):
        return socket.AF_UNIX
    return socket.AF_INET6 if ":" in address[0] else socket.AF_INET


def connect(address, timeout=10.0):
    """One blocking connection. `address`: (host, port) or the path of a UNIX socket."""
    connection = socket.socket(family_of(address))
    connection.settimeout(timeout)
    connection.connect(address)
    return connection


def get(connection, path=b"/", protocol=Http):
    """One request on a kept connection; the body as text."""
    connection.sendall(protocol.request(path=path))
    return receive(connection, protocol)


def receive(connection, protocol=Http):
    """The body of one answer as text."""
    data = b""
    while (body := protocol.body(data)) is None:
        more = connection.recv(65536)
        if not more:
            raise ConnectionError(f"closed after {data!r}")
        data += more
    return body.decode()


class Burst:
    """`count` connections at once, all kept open. `spread()` asks each who serves it."""

    def __init__(self, address, count, gap=0.0):
        self.address = address
        self.connections = []
        for _ in range(count):
            self.connections.append(self._begin())
            if gap:
                time.sleep(gap)  # the shape of a ramp, not a wait

    def _begin(self):
        connection = socket.socket(family_of(self.address))
        connection.setblocking(False)
        connection.connect_ex(self.address)
        return connection

    def answers(self, timeout=10.0, path=b"/"):
        """The body that each connection answers; None where there was no answer in time."""
        bodies = [None] * len(self.connections)
        received = [b""] * len(self.connections)
        with selectors.DefaultSelector() as selector:
            for index, connection in enumerate(self.connections):
                selector.register(connection, selectors.EVENT_WRITE, index)
            deadline = time.monotonic() + timeout
            while selector.get_map() and time.monotonic() < deadline:
                for key, events in selector.select(deadline - time.monotonic()):
                    self._step(selector, key, events, received, bodies, path)
        return bodies

    def _step(self, selector, key, events, received, bodies, path):
        connection, index = key.fileobj, key.data
        try:
            if events & selectors.EVENT_WRITE:
                connection.send(Http.request(path=path))
                selector.modify(connection, selectors.EVENT_READ, index)
                return
            data = connection.recv(65536)
        except OSError:
            data = b""
        received[index] += data
        body = Http.body(received[index])
        if body is not None:
            bodies[index] = body.decode()
        if body is not None or not data:
            selector.unregister(connection)

    def spread(self, timeout=10.0):
        """Connections by the pid that answered. Fails if one had no answer."""
        bodies = self.answers(timeout)
        missing = sum(body is None for body in bodies)
        assert not missing, f"{missing} of {len(bodies)} had no answer in {timeout} s"
        return collections.Counter(int(body.split()[0]) for body in bodies)

    def close(self):
        for connection in self.connections:
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Load:
    """Requests, `concurrency` at a time and `each` on one connection, until stopped or `limit`
    connections were made."""

    def __init__(self, address, concurrency=8, limit=None, timeout=10.0, protocol=Http, each=1):
        self.address = address
        self.concurrency = concurrency
        self.limit = limit
        self.timeout = timeout
        self.protocol = protocol
        self.each = each
        self.answered = collections.Counter()  # by body
        self.failures = collections.Counter()  # by reason
        self.seconds = []  # of each connection from its begin to its first answer
        self.started = 0
        self._open = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    @property
    def finished(self):
        return sum(self.answered.values()) + sum(self.failures.values())

    def stop(self):
        """Begins no more, waits for those under way."""
        self._stop.set()
        self._thread.join()
        return self

    def wait(self):
        """Until `limit` were made."""
        self._thread.join()
        return self

    def _wants_more(self):
        return not self._stop.is_set() and (self.limit is None or self.started < self.limit)

    def _run(self):
        with selectors.DefaultSelector() as self._selector:
            while self._wants_more() or self._open:
                while self._wants_more() and len(self._open) < self.concurrency:
                    self._begin()
                for key, events in self._selector.select(0.1):
                    self._step(key.fileobj, events)
                self._expire()

    def _begin(self):
        connection = socket.socket(family_of(self.address))
        connection.setblocking(False)
        error = connection.connect_ex(self.address)
        self.started += 1
        if error not in (0, errno.EINPROGRESS):
            connection.close()
            self.failures[type(OSError(error, "")).__name__] += 1
            return
        self._open[connection] = Exchange(self.each, time.monotonic(), self.timeout)
        self._selector.register(connection, selectors.EVENT_WRITE)

    def _step(self, connection, events):
        exchange = self._open[connection]
        try:
            if events & selectors.EVENT_WRITE:
                self._ask(connection, exchange)
                self._selector.modify(connection, selectors.EVENT_READ)
                return
            data = connection.recv(65536)
        except OSError as error:
            self._end(connection, type(error).__name__)
            return
        exchange.received += data
        body = self.protocol.body(exchange.received)
        if body is not None:
            self._answered(connection, exchange, body)
        elif not data:
            self._end(connection, "cut short" if exchange.received else "closed early")

    def _ask(self, connection, exchange):
        exchange.to_come -= 1
        exchange.received = b""
        connection.send(self.protocol.request(keep=exchange.to_come > 0))

    def _answered(self, connection, exchange, body):
        self.answered[body.decode()] += 1
        if exchange.begun is not None:
            self.seconds.append(time.monotonic() - exchange.begun)
            exchange.begun = None
        if exchange.to_come == 0 or self._stop.is_set():
            self._end(connection)
            return
        exchange.deadline = time.monotonic() + self.timeout
        try:
            self._ask(connection, exchange)
        except OSError as error:
            self._end(connection, type(error).__name__)

    def _expire(self):
        now = time.monotonic()
        for connection in [c for c, exchange in self._open.items() if exchange.deadline < now]:
            self._end(connection, "no answer")

    def _end(self, connection, failure=None):
        self._selector.unregister(connection)
        del self._open[connection]
        connection.close()
        if failure:
            self.failures[failure] += 1


class Exchange:
    """Where one connection of a load stands."""

    def __init__(self, to_come, begun, patience):
        self.to_come = to_come  # requests that are not sent yet
        self.begun = begun  # None: answered
        self.deadline = begun + patience
        self.received = b""
