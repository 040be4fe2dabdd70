"""Brings itself into the state that its first argument names, says so and waits to be ended."""
import ctypes
import os
import signal
import socket
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)


def must(result):
    if result < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    return result


def listen(address="127.0.0.1:0"):
    """Without watching it or accepting."""
    host, port = address.split(":")
    listener = socket.create_server((host, int(port)))
    print("port", listener.getsockname()[1], flush=True)
    return listener


def overwrite_environment():
    """As programs do to show a title."""
    first = ctypes.POINTER(ctypes.c_void_p).in_dll(libc, "environ")[0]
    ctypes.memset(first, ord("x"), len(ctypes.string_at(first)))


def io_uring():
    parameters = ctypes.create_string_buffer(120)
    return must(libc.syscall(425, 1, parameters))


def seccomp():
    """A filter that allows everything."""
    allow = struct.pack("HBBI", 6, 0, 0, 0x7fff0000)
    code = ctypes.create_string_buffer(allow)
    program = struct.pack("HxxxxxxP", 1, ctypes.addressof(code))
    must(libc.prctl(38, 1, 0, 0, 0))
    must(libc.prctl(22, 2, ctypes.create_string_buffer(program), 0, 0))


STATES = {
    "none": lambda: None,
    "listen": listen,
    "environment": overwrite_environment,
    "io-uring": io_uring,
    "seccomp": seccomp,
    "root": lambda: os.chroot("/tmp"),
    "network": lambda: must(libc.unshare(0x40000000)),
}
kept = STATES[sys.argv[1]](*sys.argv[2:])
print("ready", flush=True)
signal.sigwait({signal.SIGTERM})
