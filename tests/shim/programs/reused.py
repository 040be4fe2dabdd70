"""Takes a connection, closes it where no hook sees it, and binds a socket that is given its number to
the port that it is told."""
import ctypes
import socket
import sys

libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
listener = socket.create_server(("127.0.0.1", 0))
print("port", listener.getsockname()[1], flush=True)
connection = libc.accept(listener.fileno(), None, None)
libc.fclose(ctypes.c_void_p(libc.fdopen(connection, b"r")))
second = socket.socket()
assert second.fileno() == connection
second.bind(("127.0.0.1", int(sys.argv[1])))
second.listen()
print("ok", flush=True)
