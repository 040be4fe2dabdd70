#!/usr/bin/python3
"""unlinking_server.py PATH: removes the path, binds it, answers every connection with its pid."""
import os
import socket
import sys

if os.path.exists(sys.argv[1]):
    os.unlink(sys.argv[1])
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(8)
print("ready", flush=True)
while True:
    connection, _ = listener.accept()
    connection.recv(4096)
    body = str(os.getpid()).encode()
    connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    connection.close()
