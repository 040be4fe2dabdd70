#!/usr/bin/python3
"""raw_worker.py CONTROL LISTENER: answers every request with its process id."""
import json
import os
import selectors
import socket
import struct
import sys

CONNECTION, DOORBELL = 1, 2


class Worker:
    def __init__(self, path, listener):
        self.events = selectors.DefaultSelector()
        self.active = self.taken = 0
        self.control = socket.socket(socket.AF_UNIX)
        self.control.connect(path)
        self.say({"op": "register", "version": 1, "listener": listener})
        answer, descriptors, _, _ = socket.recv_fds(self.control, 65536, 4)
        while not answer.endswith(b"\n"):
            answer += self.control.recv(65536) or b'{"error": "no answer"}\n'
        if "error" in json.loads(answer):
            sys.exit(json.loads(answer)["error"])
        self.channel = socket.socket(fileno=descriptors[0])
        os.close(descriptors[1])  # the page: this worker reports instead
        self.listener = socket.socket(fileno=descriptors[2])
        self.report()
        self.watch(self.channel, self.receive)

    def say(self, message):
        # Never waits for ringdeald: the next report says what this one would have said.
        try:
            self.control.send(json.dumps(message).encode() + b"\n", socket.MSG_DONTWAIT)
        except OSError:
            pass

    def report(self):
        self.say({"op": "report", "active": self.active, "pending": 0, "taken": self.taken})

    def watch(self, thing, callback):
        self.events.register(thing, selectors.EVENT_READ, callback)

    def receive(self, channel):
        # Not recv_fds: it leaves the flags out, and ringdeald may have been here first.
        try:
            frame, ancillary, _, _ = channel.recvmsg(144, socket.CMSG_SPACE(4), socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        if not frame:  # ringdeald is gone: accept from the listener itself
            self.events.unregister(channel)
            self.watch(self.listener, self.accept)
            return
        kind, _, _ = struct.unpack_from("=IIQ", frame)
        if kind == CONNECTION:
            self.serve(socket.socket(fileno=struct.unpack("=i", ancillary[0][2])[0]))

    def accept(self, listener):
        try:
            self.serve(listener.accept()[0])
        except BlockingIOError:
            pass  # another worker was faster

    def serve(self, connection):
        self.active += 1
        self.taken += 1
        self.watch(connection, self.answer)
        self.report()

    def answer(self, connection):
        try:
            request = connection.recv(65536)
            body = str(os.getpid()).encode()
            head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
            if request:
                connection.sendall(head + body)
                return
        except ConnectionError:
            pass
        self.events.unregister(connection)
        connection.close()
        self.active -= 1
        self.report()

    def run(self):
        while True:
            for key, _ in self.events.select():
                key.data(key.fileobj)


if __name__ == "__main__":
    Worker(sys.argv[1], sys.argv[2]).run()
