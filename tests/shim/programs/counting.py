"""Takes connections and closes them in roundabout ways, a step for each SIGUSR1."""
import ctypes
import os
import select
import signal
import socket
import sys

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
libc = ctypes.CDLL(None)
libc.fdopen.restype = libc.freopen.restype = ctypes.c_void_p
libc.freopen.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]
listener = socket.create_server(("127.0.0.1", 0))
print("port", listener.getsockname()[1], flush=True)


def take():
    return libc.accept(listener.fileno(), None, None)


def stream_of(connection):
    return ctypes.c_void_p(libc.fdopen(connection, b"r"))


def step(name):
    print(name, flush=True)
    signal.sigwait([signal.SIGUSR1])


def steps():
    first = take()
    second = os.dup(first)
    third = libc.dup2(second, 90)
    step("two duplicates")
    os.close(first)
    step("one closed")
    os.close(third)
    step("another closed")
    os.close(second)
    step("the last closed")
    connection = take()
    null = os.open("/dev/null", os.O_RDONLY)
    libc.dup2(null, connection)
    step("replaced by dup2")
    os.close(connection)
    os.close(null)
    libc.fclose(stream_of(take()))
    step("closed as a stream")
    libc.fclose(libc.freopen(b"/dev/null", b"r", stream_of(take())))
    step("reopened as a file")
    connection = take()
    libc.mq_close(connection)  # inside of the C library the system call of close
    step("closed unseen")
    assert take() == connection
    step("number given again")
    libc.close_range(connection, connection + 50, 0)
    step("all closed by range")


def fork():
    connection = take()
    if os.fork() == 0:
        os.close(connection)
        print("child closed its copy", flush=True)
        os._exit(0)
    os.wait()
    step("forked")
    os.close(connection)
    step("parent closed")


fork() if "fork" in sys.argv else steps()
