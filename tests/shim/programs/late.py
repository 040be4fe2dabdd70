"""Listens, prints its port, and shows its first interest when SIGUSR1 comes."""
import os
import signal
import socket

listener = socket.create_server(("127.0.0.1", 0))
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
print("port", listener.getsockname()[1], flush=True)
signal.sigwait([signal.SIGUSR1])
while True:
    connection, _ = listener.accept()
    connection.sendall(b"%d\n" % os.getpid())
    connection.close()
