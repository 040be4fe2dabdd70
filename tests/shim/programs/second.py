"""Listens on a port of the kernel's choice; after SIGUSR1 on the one that it is told, and serves
there: answers with its pid."""
import os
import signal
import socket
import sys

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
first = socket.create_server(("127.0.0.1", 0))
print("first", flush=True)
signal.sigwait({signal.SIGUSR1})
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("port", listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    connection.sendall(b"%d\n" % os.getpid())
    connection.close()
