"""Listens on as many ports as one process can have listeners, then on the one that it is told."""
import socket
import sys

kept = [socket.create_server(("127.0.0.1", 0)) for _ in range(32)]
try:
    socket.create_server(("127.0.0.1", int(sys.argv[1])))
except OSError as error:
    print("error", error.errno, flush=True)
kept.pop().close()
socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("ok", flush=True)
