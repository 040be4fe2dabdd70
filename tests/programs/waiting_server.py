#!/usr/bin/python3
"""A prefork HTTP/1.1 server whose workers wait in the way that --wait names: edge (an edge-triggered
epoll set), poll or select.

It binds and listens, forks the workers, and prints its port. Every path is answered with the
worker's process number.
"""

import os
import select

import prefork


class Edge:
    """Ready once for each arrival; connections are few and short, so they may be level-triggered."""

    def __init__(self, listener):
        self.set = select.epoll()
        self.set.register(listener, select.EPOLLIN | select.EPOLLET)

    def add(self, number):
        self.set.register(number, select.EPOLLIN)

    def remove(self, number):
        self.set.unregister(number)

    def wait(self):
        return [number for number, _ in self.set.poll()]


class Poll(Edge):
    def __init__(self, listener):
        self.set = select.poll()
        self.add(listener.fileno())

    def add(self, number):
        self.set.register(number, select.POLLIN)


class Select:
    def __init__(self, listener):
        self.numbers = {listener.fileno()}
        self.add, self.remove = self.numbers.add, self.numbers.remove

    def wait(self):
        return select.select(self.numbers, [], [])[0]


LOOPS = {"edge": Edge, "poll": Poll, "select": Select}


class Worker:
    def __init__(self, listener, loop):
        self.listener = listener
        self.loop = loop
        self.connections = {}
        self.received = {}

    def run(self):
        while True:
            for number in self.loop.wait():
                if number == self.listener.fileno():
                    self.accept_all()
                else:
                    self.read(number)

    def accept_all(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except BlockingIOError:
                return
            self.connections[connection.fileno()] = connection
            self.received[connection.fileno()] = b""
            self.loop.add(connection.fileno())

    def read(self, number):
        connection = self.connections[number]
        try:
            data = connection.recv(65536)
        except ConnectionError:
            data = b""
        self.received[number] += data
        head, whole, rest = self.received[number].partition(b"\r\n\r\n")
        if whole:
            self.received[number] = rest
            body = b"%d" % os.getpid()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        if not data or (whole and b"connection: close" in head.lower()):
            self.loop.remove(number)
            del self.received[number]
            self.connections.pop(number).close()


def main():
    parser = prefork.arguments(__doc__.partition("\n")[0])
    parser.add_argument("--wait", choices=LOOPS, required=True)
    options = parser.parse_args()
    listener, ready = prefork.listen(options.address, options.backlog)
    listener.setblocking(False)
    prefork.serve(options.workers,
                  lambda _number: Worker(listener, LOOPS[options.wait](listener)).run(), ready)


if __name__ == "__main__":
    main()
