#!/usr/bin/python3
"""toggling_server.py ADDRESS WORKERS: sets and clears O_NONBLOCK on its listener around every accept,
by turns with fcntl and ioctl, and ends if it does not read back what it set. One request a connection
and then the next; answers its process id."""
import fcntl
import os
import select
import struct
import sys
import termios

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../programs"))

import prefork  # noqa: E402


def set_flag(listener, on, by_ioctl):
    if by_ioctl:
        fcntl.ioctl(listener, termios.FIONBIO, struct.pack("i", on))
    else:
        flags = fcntl.fcntl(listener, fcntl.F_GETFL)
        changed = flags | os.O_NONBLOCK if on else flags & ~os.O_NONBLOCK
        fcntl.fcntl(listener, fcntl.F_SETFL, changed)
    if bool(fcntl.fcntl(listener, fcntl.F_GETFL) & os.O_NONBLOCK) != bool(on):
        sys.exit("the flag is not what was set")


def accept_without_waiting(listener):
    try:
        return listener.accept()[0]
    except BlockingIOError:
        return None


def worker_on(listener):
    def worker(_number):
        turn = 0
        while True:
            turn += 1
            set_flag(listener, 0, turn % 2)
            select.select([listener], [], [])
            set_flag(listener, 1, turn % 3 == 0)
            connection = accept_without_waiting(listener)
            if connection is None:
                continue
            with connection:
                connection.setblocking(True)
                connection.recv(65536)
                body = str(os.getpid())
                connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n"
                                   f"Connection: close\r\n\r\n{body}".encode())
    return worker


def main():
    listener, ready = prefork.listen(sys.argv[1])
    prefork.serve(int(sys.argv[2]), worker_on(listener), ready)


if __name__ == "__main__":
    main()
