"""Four threads that wait in an epoll set each, of which all are woken, and accept at once. Answers
with its pid and closes."""
import os
import select
import socket
import threading


def serve(listener):
    watched = select.epoll()
    watched.register(listener, select.EPOLLIN)
    while True:
        watched.poll()
        while True:
            try:
                connection = listener.accept()[0]
            except BlockingIOError:
                break
            with connection:
                connection.sendall(b"%d" % os.getpid())


with socket.create_server(("127.0.0.1", 0), backlog=128) as own:
    own.setblocking(False)
    threads = [threading.Thread(target=serve, args=(own,), daemon=True) for _ in range(4)]
    for each in threads:
        each.start()
    print("port", own.getsockname()[1], flush=True)
    threads[0].join()
