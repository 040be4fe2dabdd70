"""A worker inside the test's own process, which does nothing unless told to: every step of the
protocol can be made, left out or done wrong."""
import mmap
import os
import socket
import struct
import time

from support.daemon import ask

STARTING, OBSERVER, WORKER, PAUSED, LEFT = range(5)
CONNECTION, DOORBELL, NON_BLOCKING = 1, 2, 3
WORDS = {  # docs/protocol.md: offset and size
    "magic": (0, 4), "version": (4, 4), "size": (8, 4), "slot": (12, 4),
    "listener_cookie": (16, 8), "worker_id": (24, 8), "listener_flags": (32, 4),
    "mode": (64, 4), "wants_ready": (68, 4),
    "taken": (128, 8), "closed": (136, 8), "direct": (144, 8), "pass_start": (152, 8),
    "state": (160, 4), "waiting": (164, 4), "queued": (168, 4), "style": (172, 4), "nonblocking": (176, 4),
    "rung": (192, 8), "passes": (200, 8), "mode_seen": (208, 4), "cpu": (212, 4),
}


class Page:
    """The words of a page as attributes. Each is one aligned load or store."""

    def __init__(self, descriptor):
        memory = mmap.mmap(descriptor, 4096)
        views = {4: memoryview(memory).cast("I"), 8: memoryview(memory).cast("Q")}
        object.__setattr__(self, "_views", views)

    def __getattr__(self, name):
        offset, size = WORDS[name]
        return self._views[size][offset // size]

    def __setattr__(self, name, value):
        offset, size = WORDS[name]
        self._views[size][offset // size] = value


class Refused(Exception):
    def __init__(self, answer):
        super().__init__(answer)
        self.code = answer.get("code")


class Worker:
    """Registers on a control connection; `become` makes it one that is dealt to."""

    def __init__(self, daemon, listener="web", descriptors=(), connection=None, **fields):
        self.control = connection or daemon.connect()
        request = {"op": "register", "version": 1, **fields}
        if listener:
            request["listener"] = listener
        self.answer, received = ask(self.control, request, descriptors)
        if "error" in self.answer:
            assert not received, "an error answer carries no descriptor"
            self.control.close()
            raise Refused(self.answer)
        assert len(received) in (2, 3)
        self.channel = socket.socket(fileno=received[0])
        self.page = Page(received[1])
        self.memory = received[1]
        self.listener = socket.socket(fileno=received[2]) if len(received) == 3 else None
        self.slot = self.answer["slot"]
        self.connections = []

    def become(self, state=WORKER):
        self.page.state = state
        self.poke()
        return self

    def poke(self):
        """What follows each store that makes a worker eligible."""
        if self.page.wants_ready:
            self.say(b'{"op":"ready"}\n')

    def say(self, line):
        self.control.send(line, socket.MSG_DONTWAIT)

    def begin_pass(self):
        self.page.waiting = 0
        self.page.pass_start = time.monotonic_ns()

    def end_pass(self):
        self.page.waiting = 1
        self.page.pass_start = 0
        self.page.passes += 1
        self.poke()

    def frame(self, flags=socket.MSG_DONTWAIT):
        """The next frame: kind, sequence, peer and descriptors; None if there is none."""
        try:
            data, ancillary, _, _ = self.channel.recvmsg(144, socket.CMSG_SPACE(16), flags)
        except BlockingIOError:
            return None
        descriptors = [number for _, _, numbers in ancillary
                       for number in memoryview(numbers).cast("i")]
        if not data:
            raise EOFError("the channel ended")
        kind, length, sequence = struct.unpack_from("=IIQ", data)
        assert len(data) == 16 + length
        return kind, sequence, data[16:], descriptors

    def take(self, flags=socket.MSG_DONTWAIT):
        """The next connection, counted as taken; None if there is none. Bells on the way, which a
        worker that was suspected is sent, are counted."""
        while (frame := self.frame(flags)) is not None and frame[0] == DOORBELL:
            self.page.rung += 1
        if frame is None:
            return None
        kind, _, _, descriptors = frame
        assert kind == CONNECTION and len(descriptors) == 1
        self.page.taken += 1
        connection = socket.socket(fileno=descriptors[0])
        self.connections.append(connection)
        return connection

    def take_all(self):
        """All that wait, counted and said: a channel that was full has room again."""
        taken = []
        while connection := self.take():
            taken.append(connection)
        self.poke()
        return taken

    def close_connection(self, connection):
        self.connections.remove(connection)
        connection.close()
        self.page.closed += 1
        self.poke()

    def readable(self, timeout):
        import select
        return bool(select.select([self.channel], [], [], timeout)[0])

    def close(self):
        if self.memory is not None:
            os.close(self.memory)
            self.memory = None
        for thing in [*self.connections, self.channel, self.control, self.listener]:
            if thing is not None:
                thing.close()
