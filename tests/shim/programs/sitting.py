"""Joins, puts files of its own on every high number, and serves: answers with how often it was woken
since the last answer."""
import os
import resource
import select
import socket

listener = socket.create_server(("127.0.0.1", 0))
listener.setblocking(False)
poller = select.epoll()
poller.register(listener, select.EPOLLIN)
null = os.open("/dev/null", os.O_RDWR)
keep = {listener.fileno(), poller.fileno(), null}
limit = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 8192)
for number in range(limit - 64, limit):
    if number not in keep:
        os.dup2(null, number)
print("port", listener.getsockname()[1], flush=True)
wakes = 0
while True:
    poller.poll()
    wakes += 1
    try:
        connection, _ = listener.accept()
    except BlockingIOError:
        continue
    connection.sendall(b"%d\n" % wakes)
    connection.close()
    wakes = 0
