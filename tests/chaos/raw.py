#!/usr/bin/python3
"""raw.py CONTROL LISTENER: a worker with nothing of ringdeal but its protocol. Without ringdeald it
accepts for itself, and brings the listener back when there is one again. Told to end (SIGTERM), it first
shuts its channel down, so that what ringdeald sends it fails, and leaves a moment later."""
import json
import os
import pathlib
import signal
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

import raw_worker  # noqa: E402

PATIENCE = 0.2  # with a ringdeald that may be frozen
PAUSE = 0.3  # between two tries to register
MOMENT = 0.5  # in which sends fail, before a leaving one is gone


class Worker(raw_worker.Worker):
    leaves_at = None
    joined = True

    def leave(self, *_):
        if self.leaves_at is None:
            self.leaves_at = time.monotonic() + MOMENT
            if self.joined:
                self.channel.shutdown(socket.SHUT_RD)

    def receive(self, channel):
        if channel is not self.channel:
            return
        super().receive(channel)
        self.joined = channel.fileno() in self.events.get_map()
        if not self.joined and self.leaves_at is None:
            self.next_try = time.monotonic() + PAUSE
            channel.close()
            self.control.close()

    def accept(self, listener):
        if self.leaves_at is None:
            super().accept(listener)
        else:
            self.events.unregister(listener)

    def register_again(self):
        self.next_try = time.monotonic() + PAUSE
        control = socket.socket(socket.AF_UNIX)
        control.settimeout(PATIENCE)
        try:
            control.connect(sys.argv[1])
            request = {"op": "register", "version": 1, "passes_listener": True}
            socket.send_fds(control, [json.dumps(request).encode() + b"\n"], [self.listener.fileno()])
            answer, descriptors, _, _ = socket.recv_fds(control, 65536, 4)
        except OSError:
            control.close()
            return
        if len(descriptors) != 3:
            control.close()
            return
        os.close(descriptors[1])
        os.close(descriptors[2])
        self.events.unregister(self.listener)
        self.control, self.channel = control, socket.socket(fileno=descriptors[0])
        self.joined = True
        self.taken = 0  # since it registered
        self.report()
        self.watch(self.channel, self.receive)

    def run(self):
        signal.signal(signal.SIGTERM, self.leave)
        while self.leaves_at is None or self.active > 0 or time.monotonic() < self.leaves_at:
            for key, _ in self.events.select(0.05):
                key.data(key.fileobj)
            if not self.joined and self.leaves_at is None and time.monotonic() > self.next_try:
                self.register_again()


def main():
    # A ringdeald that starts, or has not got the listener back yet.
    for left in reversed(range(30)):
        try:
            worker = Worker(*sys.argv[1:])
            break
        except (OSError, SystemExit):
            if not left:
                raise
            time.sleep(PAUSE)  # nobody says when ringdeald is back
    worker.run()


if __name__ == "__main__":
    main()
