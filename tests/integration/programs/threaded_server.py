#!/usr/bin/python3
"""ADDRESS: answers every request with its process number. Connections are served and closed by
threads of their own, while the first one waits for the next."""
import os
import select
import socket
import sys
import threading


def serve(connection):
    body = str(os.getpid()).encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    with connection:
        while connection.recv(65536):
            connection.sendall(answer)


def main(address):
    host, _, port = address.rpartition(":")
    listener = socket.create_server((host, int(port)))
    listener.setblocking(False)
    print(listener.getsockname()[1], flush=True)
    while True:
        select.select([listener], [], [])
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            continue
        connection.setblocking(True)
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


main(sys.argv[1])
