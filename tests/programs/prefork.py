"""What the prefork servers share: one listening socket, made before the forks, and its workers."""

import argparse
import contextlib
import os
import signal
import socket
import sys


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("address", help="127.0.0.1:8080, [::1]:8080, unix:/path or unix:@name; port 0: any")
    parser.add_argument("workers", type=int)
    parser.add_argument("--backlog", type=int, default=128)
    return parser


def listen(address, backlog=128, reuse_port=False):
    """Returns the listening socket and how it is found: its port, or its path."""
    if address.startswith("unix:"):
        path = address[len("unix:"):]
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("\0" + path[1:] if path.startswith("@") else path)
        listener.listen(backlog)
        return listener, path
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if reuse_port:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((host, int(port)))
    listener.listen(backlog)
    return listener, str(listener.getsockname()[1])


def serve(count, worker, ready):
    """Forks the workers, says that it is ready, and waits for them. SIGTERM ends all, SIGTTIN forks
    one more."""
    handled = {signal.SIGTERM, signal.SIGINT, signal.SIGTTIN}
    before = {number: signal.getsignal(number) for number in handled}
    children = []

    def fork(*_):
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, handled)
        number = len(children)
        pid = os.fork()
        if pid == 0:
            for each, handler in before.items():
                signal.signal(each, handler)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, handled)
            worker(number)
            os._exit(0)
        children.append(pid)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def end(*_):
        for pid in children:
            with contextlib.suppress(ProcessLookupError):  # reaped a moment ago
                os.kill(pid, signal.SIGTERM)

    signal.pthread_sigmask(signal.SIG_BLOCK, handled)
    for _ in range(count):
        fork()
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTTIN, fork)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, handled)
    print(ready, flush=True)
    while children:
        pid, _ = os.wait()
        children.remove(pid)
    sys.exit(0)
