"""Overwrites its environment where the kernel put it, as programs do that change their name, before it
listens."""
import ctypes
import select
import socket

libc = ctypes.CDLL(None)
environment = ctypes.c_void_p.in_dll(libc, "environ").value
strings = ctypes.cast(environment, ctypes.POINTER(ctypes.c_void_p))
place = 0
while strings[place]:
    ctypes.memset(strings[place], ord("x"), len(ctypes.string_at(strings[place])))
    place += 1

listener = socket.create_server(("127.0.0.1", 0))
listener.setblocking(False)
select.select([listener], [], [])
