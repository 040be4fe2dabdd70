#!/usr/bin/python3
"""A server for tests/chaos: each connection is greeted at once with the number of the process that
took it, so that the client knows who has it, and each line is answered with it again.

Usage: server.py ADDRESS events|asyncio|blocking WORKERS. With 0 workers the process serves itself.
A master replaces a worker that ends, forks new ones on SIGHUP and lets the old ones finish. A worker
that is told to end (SIGTERM) takes no more connections, and ends with its last one.
"""
import asyncio
import errno
import os
import selectors
import signal
import socket
import sys
import time

REST = 0.1  # without a free descriptor
GREETING = b"%d\n"


def listen(address):
    unix = address.startswith("unix:")
    where = address[5:]
    if not unix:
        host, _, port = address.rpartition(":")
        where = (host, int(port))
    deadline = time.monotonic() + 20
    while True:
        listener = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(where)
            listener.listen(1024)
            return listener
        except OSError as error:
            # An owned one that a restarted ringdeald has not got back yet.
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise
            listener.close()
            time.sleep(0.05)  # nobody says when it is free: it can only be asked again


class Events:
    """A loop of its own over non-blocking sockets."""

    def __init__(self, listener):
        self.listener = listener
        self.greeting = GREETING % os.getpid()
        self.leaving = False
        self.resting_until = None
        self.open = 0
        self.events = selectors.DefaultSelector()
        self.wake, told = socket.socketpair()
        self.wake.setblocking(False)
        told.setblocking(False)
        self.told = told
        signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self.leave)

    def leave(self, *_):
        self.leaving = True

    def run(self):
        self.listener.setblocking(False)
        self.events.register(self.wake, selectors.EVENT_READ)
        self.events.register(self.listener, selectors.EVENT_READ)
        while not self.leaving or self.open:
            for key, _ in self.events.select(self.patience()):
                if key.fileobj is self.wake:
                    self.wake.recv(64)
                elif key.fileobj is self.listener:
                    self.accept()
                else:
                    self.answer(key.fileobj)
            self.settle()

    def patience(self):
        return None if self.resting_until is None else max(0, self.resting_until - time.monotonic())

    def settle(self):
        if self.leaving and self.listener is not None:
            if self.resting_until is None:
                self.events.unregister(self.listener)
            self.listener.close()
            self.listener = self.resting_until = None
        if self.resting_until is not None and time.monotonic() >= self.resting_until:
            self.resting_until = None
            self.events.register(self.listener, selectors.EVENT_READ)

    def accept(self):
        try:
            connection, _ = self.listener.accept()
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            self.events.unregister(self.listener)
            self.resting_until = time.monotonic() + REST
            return
        self.open += 1
        connection.setblocking(False)
        self.events.register(connection, selectors.EVENT_READ)
        self.say(connection)

    def say(self, connection):
        try:
            connection.sendall(self.greeting)
        except OSError:
            self.end(connection)

    def answer(self, connection):
        try:
            asked = connection.recv(1024)
        except BlockingIOError:
            return
        except OSError:
            asked = b""
        if asked:
            self.say(connection)
        else:
            self.end(connection)

    def end(self, connection):
        self.events.unregister(connection)
        connection.close()
        self.open -= 1


class Blocking:
    """Blocks in accept and serves one at a time. One that is to leave does so after its next."""

    def __init__(self, listener):
        self.listener = listener
        self.greeting = GREETING % os.getpid()
        self.leaving = False
        signal.signal(signal.SIGTERM, self.leave)

    def leave(self, *_):
        self.leaving = True

    def run(self):
        while not self.leaving:
            try:
                connection, _ = self.listener.accept()
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE):
                    raise
                time.sleep(REST)  # nobody says when there is a descriptor again
                continue
            with connection:
                try:
                    connection.sendall(self.greeting)
                    while connection.recv(1024):
                        connection.sendall(self.greeting)
                except OSError:
                    pass


class Greeter(asyncio.Protocol):
    open = 0
    none_is_open = asyncio.Event()

    def connection_made(self, transport):
        Greeter.open += 1
        Greeter.none_is_open.clear()
        self.transport = transport
        self.data_received(b"")

    def data_received(self, _):
        self.transport.write(GREETING % os.getpid())

    def connection_lost(self, _):
        Greeter.open -= 1
        if Greeter.open == 0:
            Greeter.none_is_open.set()


class Listening(socket.socket):
    def listen(self, *_):
        """The queue stays as long as it is: asyncio makes it as short as what it accepts in a turn."""


class Asyncio:
    def __init__(self, listener):
        self.listener = Listening(fileno=listener.detach())

    def run(self):
        asyncio.run(self.serve())

    async def serve(self):
        loop = asyncio.get_running_loop()
        told = asyncio.Event()
        loop.add_signal_handler(signal.SIGTERM, told.set)
        # One accept a turn: a process that is killed takes few with it that it has not greeted.
        server = await loop.create_server(Greeter, sock=self.listener, backlog=1)
        await told.wait()
        # asyncio loses what it has accepted, and not yet made a connection of, as the server is closed:
        # each of these is a task.
        loop.remove_reader(self.listener.fileno())
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
        server.close()
        if Greeter.open:
            await Greeter.none_is_open.wait()


STYLES = {"events": Events, "blocking": Blocking, "asyncio": Asyncio}
MASTERS = {signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD}


class Master:
    def __init__(self, listener, style, count):
        self.listener = listener
        self.style = style
        self.count = count
        self.workers = set()

    def run(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, MASTERS)
        self.fill()
        while True:
            number = signal.sigwait(MASTERS)
            if number == signal.SIGCHLD:
                self.reap()
            else:
                self.let_go()
            if number == signal.SIGTERM:
                return
            self.fill()

    def fill(self):
        while len(self.workers) < self.count:
            pid = os.fork()
            if pid == 0:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, MASTERS)
                for number in MASTERS:
                    signal.signal(number, signal.SIG_DFL)
                STYLES[self.style](self.listener).run()
                os._exit(0)
            self.workers.add(pid)

    def let_go(self):
        old, self.workers = self.workers, set()
        for pid in old:
            os.kill(pid, signal.SIGTERM)

    def reap(self):
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.workers.discard(pid)


def main(address, style, count):
    listener = listen(address)
    print("ready", flush=True)
    if count == "0":
        STYLES[style](listener).run()
    else:
        Master(listener, style, int(count)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
