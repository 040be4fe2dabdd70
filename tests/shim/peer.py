"""A ringdeald that a test drives by hand: it speaks the control protocol for one listener, and hands
over what the test says when the test says it. For interleavings that a real one cannot be told to
make."""
import json
import mmap
import os
import socket
import struct
import threading

from support.waiting import wait_until

PAGE_BYTES = 4096
MAGIC, VERSION = 0x52444C50, 1
MODE, WANTS_READY, TAKEN, CLOSED, DIRECT, PASS_START, STATE = 64, 68, 128, 136, 144, 152, 160
WAITING, STYLE, RUNG, PASSES, MODE_SEEN = 164, 172, 192, 200, 208
STATES = ["starting", "observer", "worker", "paused", "left"]
CONNECTION, BELL, NON_BLOCKING = 1, 2, 3


class Worker:
    """One registration, seen from ringdeald's side."""

    def __init__(self, slot, control, request, listener_flags=0):
        self.control = control
        self.request = request
        self.pid = struct.unpack("3i", control.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        self.sequence = 0
        memory = os.memfd_create("page")
        os.ftruncate(memory, PAGE_BYTES)
        self.page = mmap.mmap(memory, PAGE_BYTES)
        struct.pack_into("4I2QI", self.page, 0, MAGIC, VERSION, PAGE_BYTES, slot, 0, slot + 1,
                         listener_flags)
        self.sender, receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sender.setblocking(False)
        self.kept = receiver  # as ringdeald keeps a duplicate
        self.memory = memory

    def word(self, offset, size=4):
        return int.from_bytes(self.page[offset:offset + size], "little")

    def count(self, offset):
        return self.word(offset, 8)

    @property
    def state(self):
        return STATES[self.word(STATE)]

    @property
    def waiting(self):
        return self.word(WAITING)

    def hand(self, connection, nonblocking=False):
        """Hands over a connection that the test accepted, and closes it here."""
        connection.setblocking(not nonblocking)
        self.sequence += 1
        host, port = connection.getpeername()[:2]
        peer = struct.pack("=H", socket.AF_INET) + struct.pack(">H", port) + socket.inet_aton(
            host) + bytes(8)
        kind = NON_BLOCKING if nonblocking else CONNECTION
        frame = struct.pack("=IIQ", kind, len(peer), self.sequence) + peer
        socket.send_fds(self.sender, [frame], [connection.fileno()])
        connection.close()

    def take_back(self):
        """A connection that was handed over and not taken, as ringdeald recalls it."""
        _, descriptors, _, _ = socket.recv_fds(self.kept, 256, 1, socket.MSG_DONTWAIT)
        return socket.socket(fileno=descriptors[0])

    def order(self, mode):
        struct.pack_into("I", self.page, MODE, mode)

    def ring(self):
        self.sequence += 1
        self.sender.send(struct.pack("=IIQ", BELL, 0, self.sequence))

    def leave_alone(self):
        """As a ringdeald that dies, for this worker."""
        for thing in (self.sender, self.kept, self.control):
            thing.close()


class Peer:
    """`owned`: a listening socket that bind is answered with. `doors`: whether binds get one.
    `answers`: whether it answers at all (False: as if frozen) until `thaw`."""

    def __init__(self, path, owned=None, doors=True, refuses=False, code="not-allowed",
                 listener=None):
        self.path = path
        self.owned = owned
        self.doors = doors
        self.refuses = refuses
        self.code = code
        self.refusals = 0
        self.workers = []
        self.binds = []
        self.listener = listener  # by default the worker's, as it was sent along
        self.lines = []
        self.listener_flags = 0
        self._thawed = threading.Event()
        self._thawed.set()
        self._changed = threading.Condition()
        self._open = []
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(path)
        os.chmod(path, 0o666)
        self._server.listen(64)
        self._start(self._serve)

    def _start(self, function, *arguments):
        threading.Thread(target=function, args=arguments, daemon=True).start()

    def _serve(self):
        while True:
            try:
                control = self._server.accept()[0]
            except OSError:
                return
            self._start(self._converse, control)

    def _door(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._open.append(ours)
        self._start(self._watch_door, ours)
        return theirs

    def _watch_door(self, door):
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(door, 16, 1)
            except OSError:
                return
            if not data:
                return
            self._start(self._converse, socket.socket(fileno=descriptors[0]))

    def _converse(self, control):
        self._open.append(control)
        while True:
            try:
                line, descriptors, _, _ = socket.recv_fds(control, 65536, 4)
            except OSError:
                return
            if not line:
                return
            self._thawed.wait()
            for each in line.decode().splitlines():
                try:
                    self._answer(control, json.loads(each), descriptors)
                except BrokenPipeError:
                    return  # nobody waits for the answer any more

    def _answer(self, control, request, descriptors):
        if request["op"] == "bind":
            self.binds.append(request["address"])
            given = [self.owned.fileno()] if self.owned else []
            if self.doors:
                given.append(self._door().detach())
            socket.send_fds(control, [b'{"ok":true}\n'], given)
        elif request["op"] == "register" and self.refuses:
            with socket.socket(fileno=descriptors[0]) as listener:
                listener.setblocking(False)  # as ringdeald has, for another worker
            # In the order in which ringdeald writes them.
            control.sendall(b'{"code":"%s","error":"not this one"}\n' % self.code.encode())
            self.refusals += 1
        elif request["op"] == "register":
            self._register(control, request, descriptors)
        else:
            with self._changed:
                self.lines.append(request["op"])
                self._changed.notify_all()

    def _register(self, control, request, descriptors):
        if self.listener is None:
            self.listener = socket.socket(fileno=os.dup(descriptors[0]))
            self.listener.setblocking(False)
        for descriptor in descriptors:
            os.close(descriptor)
        worker = Worker(len(self.workers), control, request, self.listener_flags)
        socket.send_fds(control, [b'{"ok":true,"slot":0,"listener":"web"}\n'],
                        [worker.kept.fileno(), worker.memory, self.listener.fileno()])
        with self._changed:
            self.workers.append(worker)
            self._changed.notify_all()

    # --- what tests wait for

    def wait_for_worker(self, count=1, timeout=10):
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.workers) >= count, timeout), \
                f"{len(self.workers)} of {count} workers"
            return self.workers[count - 1]

    def wait_for_state(self, worker, state):
        return wait_until(lambda: worker.state == state, lambda: f"{state}, is {worker.state}")

    def wait_for_line(self, name, timeout=10):
        with self._changed:
            assert self._changed.wait_for(lambda: name in self.lines, timeout), self.lines

    def accept(self, timeout=10):
        """Accepts one connection from the listener, as ringdeald would."""
        def attempt():
            try:
                return self.listener.accept()[0]
            except BlockingIOError:
                return None
        return wait_until(attempt, "a connection in the accept queue", timeout)

    # --- its life

    def freeze(self):
        self._thawed.clear()

    def thaw(self):
        self._thawed.set()

    def die(self):
        self._server.close()
        os.unlink(self.path)
        for worker in self.workers:
            worker.leave_alone()
        for connection in self._open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()
