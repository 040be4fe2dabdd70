"""A server that waits with poll and accepts without blocking, and blocks in accept from SIGUSR1 on.
Answers with its pid and closes."""
import os
import select
import signal
import socket

turned = []


def main():
    signal.signal(signal.SIGUSR1, lambda *_: turned.append(True))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        print("port", listener.getsockname()[1], flush=True)
        while not turned:
            select.select([listener], [], [], 0.02)
            try:
                serve(listener)
            except BlockingIOError:
                pass
        listener.setblocking(True)
        print("blocks", flush=True)
        while True:
            serve(listener)


def serve(listener):
    with listener.accept()[0] as connection:
        connection.sendall(b"%d" % os.getpid())


main()
