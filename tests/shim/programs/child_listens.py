"""Binds to the port that it is told; a child listens on the socket and ends; the parent serves. Answers with its pid."""
import os
import socket
import sys

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
if os.fork() == 0:
    listener.listen()
    os._exit(0)
os.wait()
print("port", listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    connection.sendall(b"%d\n" % os.getpid())
    connection.close()
