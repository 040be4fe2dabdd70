"""Connections that stay open: until asked, or until nobody else is answered."""
import selectors

from support.clients import connect, receive


class Held:
    """Opened first and asked later, so that each is with a worker at that time."""

    def __init__(self, lab, count):
        self.lab = lab
        self.protocol = lab.cell.protocol
        self.request = self.protocol.request()
        self.connections = [connect(lab.address) for _ in range(count)]
        # The first half: a listener with TCP_DEFER_ACCEPT says nothing of a connection without data.
        self.half = len(self.request) // 2
        for connection in self.connections:
            connection.sendall(self.request[:self.half])

    def answers(self):
        """Asks all, then reads: the body that each answers."""
        for connection in self.connections:
            connection.sendall(self.request[self.half:])
        return [receive(connection, self.protocol) for connection in self.connections]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for connection in self.connections:
            connection.close()


class Crowd:
    """Connections that ask at once, and keep what they were answered on."""

    QUIET = 0.3  # seconds without an answer: nobody is going to be served before somebody leaves

    def __init__(self, lab, count, keep):
        self.protocol = lab.cell.protocol
        self.waiting = {}  # what each has received
        self.answered = []
        self.selector = selectors.DefaultSelector()
        for _ in range(count):
            connection = connect(lab.address)
            connection.sendall(self.protocol.request(keep=keep))
            self.waiting[connection] = b""
            self.selector.register(connection, selectors.EVENT_READ)

    def receive_until_quiet(self, patience=QUIET):
        """How many more were answered."""
        before = len(self.answered)
        while self.waiting and (ready := self.selector.select(patience)):
            for key, _ in ready:
                self._receive(key.fileobj)
            patience = self.QUIET
        return len(self.answered) - before

    def _receive(self, connection):
        data = connection.recv(65536)
        assert data, f"closed after {self.waiting[connection]!r}"
        self.waiting[connection] += data
        if self.protocol.body(self.waiting[connection]) is not None:
            del self.waiting[connection]
            self.selector.unregister(connection)
            self.answered.append(connection)

    def leave(self):
        for connection in self.answered:
            connection.close()
        self.answered.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for connection in [*self.waiting, *self.answered]:
            connection.close()
        self.selector.close()
