"""Takes its listener out of its epoll set, waits, and goes on in the way it is told: a server that
answers with its pid. Prints "paused" when it waits without the listener."""
import os
import select
import signal
import socket
import sys
import time

how = sys.argv[1]
listener = socket.create_server(("127.0.0.1", 0))
listener.setblocking(False)
poller = select.epoll()
poller.register(listener, select.EPOLLIN)
print("port", listener.getsockname()[1], flush=True)
poller.poll(0)
poller.unregister(listener)
poller.poll(0)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
print("paused", flush=True)
signal.sigwait({signal.SIGUSR1})
listener.setblocking(how == "accept")
while True:
    if how == "poll":
        waiter = select.poll()
        waiter.register(listener, select.POLLIN)
        waiter.poll()
    elif how == "select":
        select.select([listener], [], [])
    elif how == "tries":
        time.sleep(0.01)  # how such a program paces its tries
    try:
        connection, _ = listener.accept()
    except BlockingIOError:
        continue
    connection.sendall(b"%d\n" % os.getpid())
    connection.close()
