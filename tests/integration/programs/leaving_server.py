#!/usr/bin/python3
"""leaving_server.py ADDRESS WORKERS: a prefork server whose workers leave as servers should. On SIGTERM
a worker closes its listening descriptor, while another thread may be accepting on it, serves what it
has accepted until the clients close, and ends with exit code 0. Answers its process id."""
import os
import select
import signal
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../programs"))

import prefork  # noqa: E402


class Worker:
    def __init__(self, listener):
        self.listener = listener
        self.listener.setblocking(False)
        self.serving = []

    def run(self, _number):
        select.select([self.listener], [], [])  # until it has joined, SIGTERM kills it
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        self.woken, wake = socket.socketpair()
        accepting = threading.Thread(target=self.accept_all)
        accepting.start()
        signal.sigwait({signal.SIGTERM})
        self.listener.close()
        wake.close()
        accepting.join()
        for thread in self.serving:
            thread.join()

    def accept_all(self):
        try:
            self.accept_until_woken(self.listener.fileno())
        except OSError:
            pass  # the listener was closed

    def accept_until_woken(self, number):
        while True:
            try:
                connection, _ = self.listener.accept()
            except BlockingIOError:
                if self.woken in select.select([number, self.woken], [], [])[0]:
                    return
                continue
            thread = threading.Thread(target=self.serve, args=(connection,))
            thread.start()
            self.serving.append(thread)

    def serve(self, connection):
        body = b"%d" % os.getpid()
        with connection:
            connection.setblocking(True)
            while connection.recv(65536):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b"
                                   % (len(body), body))


def main():
    listener, ready = prefork.listen(sys.argv[1])
    prefork.serve(int(sys.argv[2]), Worker(listener).run, ready)


if __name__ == "__main__":
    main()
