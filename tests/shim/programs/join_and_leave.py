"""Joins and leaves by the C API, LIBRARY CONTROL, and says whether anything stayed open."""
import ctypes
import os
import socket
import struct
import sys

library = ctypes.CDLL(sys.argv[1])
library.ringdeal_join.restype = ctypes.c_void_p
library.ringdeal_leave.argtypes = [ctypes.c_void_p]
listener = socket.create_server(("127.0.0.1", 0))
control = ctypes.create_string_buffer(sys.argv[2].encode())
name = ctypes.create_string_buffer(b"web")
options = struct.pack("nPPPi", 64, ctypes.addressof(control), ctypes.addressof(name), 0,
                      listener.fileno()).ljust(64, b"\0")


def held():
    return sorted(os.listdir("/proc/self/fd")), open("/proc/self/maps").read().count("ringdeal-page")


before = held()
for _ in range(10):
    handle = library.ringdeal_join(options)
    assert handle
    assert held() != before
    library.ringdeal_leave(handle)
    assert held() == before
print("ok", flush=True)
