"""Two workers that wait for connections by turns, under one lock, as uWSGI does with its thunder lock
and Apache with several listeners. Prints "port N"; each answers with its number."""
import fcntl
import os
import select
import socket
import sys

listener = socket.create_server(("127.0.0.1", 0))
listener.setblocking(False)
lock_file = sys.argv[1]
for _ in range(2):
    if os.fork() == 0:
        lock = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        poller = select.epoll()
        poller.register(listener, select.EPOLLIN)
        while True:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                poller.poll()
                connection, _ = listener.accept()
            except BlockingIOError:
                continue
            finally:
                fcntl.flock(lock, fcntl.LOCK_UN)
            connection.sendall(b"%d\n" % os.getpid())
            connection.close()
print("port", listener.getsockname()[1], flush=True)
os.wait()
