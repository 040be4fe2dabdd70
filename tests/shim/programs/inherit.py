"""Listens and execs a server that is given the number, as service managers and re-executing servers
do: inherit.py [--serve NUMBER] [--blocking]"""
import os
import select
import socket
import sys

if "--serve" in sys.argv:
    listener = socket.socket(fileno=int(sys.argv[sys.argv.index("--serve") + 1]))
    if "--blocking" not in sys.argv:
        listener.setblocking(False)
    while True:
        if "--blocking" not in sys.argv:
            select.select([listener], [], [])
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            if "--blocking" in sys.argv:
                raise
            continue
        connection.sendall(b"%d\n" % os.getpid())
        connection.close()

listener = socket.create_server(("127.0.0.1", 0))
os.set_inheritable(listener.fileno(), True)
print("port", listener.getsockname()[1], flush=True)
os.execv(sys.executable, [sys.executable, __file__, "--serve", str(listener.fileno()),
                          *sys.argv[1:]])
