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
    # Taken one after the other: a handler that was noted just before a wait would run after it only.
    awaited = {signal.SIGTERM, signal.SIGINT, signal.SIGTTIN, signal.SIGCHLD}
    children = set()

    def fork():
        number = len(children)
        pid = os.fork()
        if pid == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
            worker(number)
            os._exit(0)
        children.add(pid)

    def reap():
        with contextlib.suppress(ChildProcessError):
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                children.discard(pid)

    def end():
        for pid in children:
            os.kill(pid, signal.SIGTERM)

    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    for _ in range(count):
        fork()
    print(ready, flush=True)
    acts = {signal.SIGTTIN: fork, signal.SIGCHLD: reap}
    while children:
        acts.get(signal.sigwait(awaited), end)()
    sys.exit(0)
