"""What programs do with a listening descriptor, one thing a scenario, checked from inside: the same
assertions hold with and without the shim. Prints "port N" where a test is to talk to it, and "ok"."""
import array
import ctypes
import errno
import fcntl
import itertools
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
AF_UNSPEC = struct.pack("=H14x", 0)


def listen(blocking=True):
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(blocking)
    return listener


def tell(listener):
    print("port", listener.getsockname()[1], flush=True)


def watch(listener):
    poller = select.epoll()
    poller.register(listener, select.EPOLLIN)
    return poller


def accept_patiently(poller, listener):
    while True:
        poller.poll()
        try:
            return listener.accept()
        except BlockingIOError:
            continue


def answer(connection):
    connection.sendall(b"%d\n" % os.getpid())
    connection.close()


def expect(number, function, *arguments):
    try:
        function(*arguments)
    except OSError as error:
        assert error.errno == number, errno.errorcode[error.errno]
    else:
        raise AssertionError("no error")


def looks_like_a_listener(listener):
    assert listener.getsockname()[0] == "127.0.0.1"
    assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
    assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == socket.SOCK_STREAM
    assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN) == socket.AF_INET
    assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL) == socket.IPPROTO_TCP
    assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    info = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)
    assert info[0] == 10  # LISTEN
    assert struct.unpack_from("II", info, 24) == (0, 128)  # its queue and its backlog
    expect(errno.ENOTCONN, listener.getpeername)


def asked_about():
    listener = listen(blocking=False)
    looks_like_a_listener(listener)
    watch(listener)
    looks_like_a_listener(listener)
    expect(errno.EAGAIN, listener.accept)
    looks_like_a_listener(listener)


def given_to_subprocess():
    """subprocess closes everything else in a vfork child."""
    listener = listen(blocking=False)
    watch(listener)
    check = ("import socket, sys; given = socket.socket(fileno=int(sys.argv[1]));"
             "assert given.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)")
    for _ in range(2):
        subprocess.run([sys.executable, "-c", check, str(listener.fileno())], check=True,
                       pass_fds=[listener.fileno()])
    expect(errno.EAGAIN, listener.accept)


def flags():
    listener = listen()
    watch(listener)
    for set_to in (True, False, True):
        fcntl.fcntl(listener, fcntl.F_SETFL, os.O_NONBLOCK if set_to else 0)
        flags = fcntl.fcntl(listener, fcntl.F_GETFL)
        assert bool(flags & os.O_NONBLOCK) == set_to and flags & os.O_ACCMODE == os.O_RDWR
    fcntl.ioctl(listener, 0x5421, array.array("i", [0]))  # FIONBIO
    assert not fcntl.fcntl(listener, fcntl.F_GETFL) & os.O_NONBLOCK
    fcntl.ioctl(listener, 0x5421, array.array("i", [1]))
    expect(errno.EAGAIN, listener.accept)
    assert os.get_inheritable(listener.fileno()) is False
    os.set_inheritable(listener.fileno(), True)
    assert os.get_inheritable(listener.fileno()) is True


def close_on_exec_survives():
    listener = listen(blocking=False)
    other = listen(blocking=False)
    os.set_inheritable(other.fileno(), True)
    poller = watch(listener)
    poller.register(other, select.EPOLLIN)
    assert not os.get_inheritable(listener.fileno()) and os.get_inheritable(other.fileno())


def options():
    listener = listen()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    watch(listener)
    expect(errno.ENOPROTOOPT, listener.setsockopt, socket.SOL_SOCKET, 9999, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    tell(listener)
    connection, _ = listener.accept()
    assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    linger = connection.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)
    assert struct.unpack("ii", linger) == (1, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
    answer(connection)


INHERITED = [
    (socket.SOL_SOCKET, 36, 7),  # SO_MARK
    (socket.SOL_SOCKET, socket.SO_RCVLOWAT, 2),
    (socket.SOL_SOCKET, 47, 1000000),  # SO_MAX_PACING_RATE
    (socket.IPPROTO_TCP, 13, b"reno".ljust(16, b"\0")),  # TCP_CONGESTION
    (socket.IPPROTO_TCP, 25, 12345),  # TCP_NOTSENT_LOWAT
    (socket.IPPROTO_TCP, socket.TCP_LINGER2, 5),
    (socket.IPPROTO_TCP, socket.TCP_CORK, 1),
    (socket.IPPROTO_IP, socket.IP_TTL, 77),
    (socket.IPPROTO_IPV6, socket.IPV6_TCLASS, 0x20),
    (socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 33),
]


def inherited():
    """Each option reaches what is accepted, wherever the listener has it."""
    listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    watch(listener)
    for level, name, value in INHERITED:
        if name != 36 or os.geteuid() == 0:
            listener.setsockopt(level, name, value)
    client = socket.create_connection(listener.getsockname()[:2])
    connection, _ = listener.accept()
    for level, name, value in INHERITED:
        size = len(value) if isinstance(value, bytes) else 4
        got = connection.getsockopt(level, name, size)
        assert got == listener.getsockopt(level, name, size), (level, name, got)
        assert client.getsockopt(level, name, size) != got, (level, name, got)
    client.close()


def unix_listener():
    directory = tempfile.TemporaryDirectory()
    path, named = f"{directory.name}/listener", f"{directory.name}/client"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(7)
    listener.setblocking(False)
    poller = watch(listener)
    for client_name in ("", named):
        with socket.socket(socket.AF_UNIX) as client:
            if client_name:
                client.bind(client_name)
            client.connect(path)
            connection, address = accept_patiently(poller, listener)
            assert address == client_name, address
            assert connection.getsockname() == path
            answer(connection)
            assert int(client.recv(100)) == os.getpid()
    assert listener.getsockname() == path


def time_out():
    listener = listen()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 50000))
    expect(errno.EAGAIN, listener.accept)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 20000))
    expect(errno.EAGAIN, listener.accept)


def short_address():
    listener = listen()
    tell(listener)
    address = ctypes.create_string_buffer(16)
    length = ctypes.c_uint32(4)
    connection = libc.accept(listener.fileno(), address, ctypes.byref(length))
    assert connection >= 0 and length.value == 16 and address.raw[4:] == bytes(12)
    os.write(connection, b"x")
    os.close(connection)
    connection = libc.accept4(listener.fileno(), None, None, socket.SOCK_NONBLOCK)
    assert fcntl.fcntl(connection, fcntl.F_GETFL) & os.O_NONBLOCK
    assert not fcntl.fcntl(connection, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
    os.write(connection, b"x")
    os.close(connection)


def accept_flags():
    """Each kind of connection after each: the last one's is what ringdeald takes the next one for."""
    listener = listen()
    tell(listener)
    kinds = [0, socket.SOCK_NONBLOCK, socket.SOCK_CLOEXEC, socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC]
    for kind in [each for pair in itertools.product(kinds, kinds) for each in pair]:
        connection = libc.accept4(listener.fileno(), None, None, kind)
        assert connection >= 0
        status = fcntl.fcntl(connection, fcntl.F_GETFL)
        assert status & (os.O_NONBLOCK | os.O_ACCMODE) == (kind & socket.SOCK_NONBLOCK) | os.O_RDWR
        kept_closed = fcntl.fcntl(connection, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
        assert bool(kept_closed) == bool(kind & socket.SOCK_CLOEXEC)
        os.write(connection, b"x")
        os.close(connection)


def shut_down():
    listener = listen(blocking=False)
    poller = watch(listener)
    listener.shutdown(socket.SHUT_WR)
    expect(errno.EAGAIN, listener.accept)
    listener.shutdown(socket.SHUT_RD)
    assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 0
    expect(errno.EINVAL, listener.accept)
    listener.listen(5)
    assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
    poller.unregister(listener)
    poller.register(listener, select.EPOLLIN)
    tell(listener)
    poller.poll()
    answer_one(listener)


def unconnect():
    listener = listen(blocking=False)
    poller = watch(listener)
    assert libc.connect(listener.fileno(), AF_UNSPEC, 16) == 0
    expect(errno.EINVAL, listener.accept)
    listener.listen(5)
    poller.unregister(listener)
    poller.register(listener, select.EPOLLIN)
    tell(listener)
    poller.poll()
    answer_one(listener)


def listens_anew_while_watched():
    """As haproxy does when it is paused and resumed: its epoll set watches all the time."""
    listener = listen(blocking=False)
    poller = watch(listener)
    assert libc.connect(listener.fileno(), AF_UNSPEC, 16) == 0
    listener.listen(5)
    tell(listener)
    while True:
        poller.poll()
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            continue
        return answer(connection)


def duplicates():
    listener = listen(blocking=False)
    other = listener.dup()
    listener.close()
    poller = watch(other)
    third = socket.socket(fileno=fcntl.fcntl(other, fcntl.F_DUPFD_CLOEXEC, 50))
    os.dup2(other.fileno(), 60)
    fourth = socket.socket(fileno=60)
    poller.register(third, select.EPOLLIN)
    tell(third)
    assert poller.poll()[0][0] in (other.fileno(), third.fileno())
    answer_one(third)
    third.close()
    answer_one(fourth)


def answer_one(listener):
    while True:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            select.select([listener], [], [])
            continue
        return answer(connection)


def closed_number_is_free():
    listener = listen(blocking=False)
    number = listener.fileno()
    watch(listener)
    listener.close()
    expect(errno.EBADF, os.fstat, number)
    fresh = listen(blocking=False)
    assert fresh.fileno() == number
    watch(fresh)
    tell(fresh)
    answer_one(fresh)


def close_ranges():
    """Afterwards no descriptor of the program is open, and a new listener works."""
    for close in (lambda: os.closerange(3, 100000), lambda: libc.closefrom(3),
                  lambda: libc.close_range(3, 0xffffffff, 0),
                  lambda: libc.syscall(436, 3, 0xffffffff, 0),
                  lambda: [libc.close(number) for number in range(3, 20000)]):
        listener = listen(blocking=False)
        number = listener.detach()
        poller = libc.epoll_create1(0)  # no object that would close the number once more
        event = struct.pack("=IQ", select.EPOLLIN, 0)
        assert libc.epoll_ctl(poller, 1, number, event) == 0
        close()
        expect(errno.EBADF, os.fstat, number)
        expect(errno.EBADF, os.fstat, poller)
        listener = listen(blocking=False)
        watch(listener)
        expect(errno.EAGAIN, listener.accept)
        listener.close()


def sits_on_every_number():
    """A program that puts its own files wherever it likes loses none of its connections."""
    listener = listen(blocking=False)
    poller = watch(listener)
    null = os.open("/dev/null", os.O_RDWR)
    keep = {0, 1, 2, listener.fileno(), poller.fileno(), null}
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    for number in range(limit - 200, limit - 1):
        if number not in keep:
            os.dup2(null, number)
    tell(listener)
    answer_one(listener)
    for number in range(limit - 200, limit - 1):
        os.close(number)


def interrupted():
    """A handler interrupts accept, as it does without the shim; one with SA_RESTART does not."""
    listener = listen()
    hits = []
    signal.signal(signal.SIGALRM, lambda *_: hits.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    ctypes.set_errno(0)
    assert libc.accept(listener.fileno(), None, None) == -1
    assert ctypes.get_errno() == errno.EINTR
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    tell(listener)
    connection = libc.accept(listener.fileno(), None, None)
    assert connection >= 0
    signal.setitimer(signal.ITIMER_REAL, 0)  # it would end an interpreter that is on its way out
    os.write(connection, b"x")


def closed_by_thread():
    for way in (lambda number: os.close(number), lambda number: os.dup2(0, number)):
        listener = listen()
        number = listener.detach()
        results = []

        def accept():
            ctypes.set_errno(0)
            results.append((libc.accept(number, None, None), ctypes.get_errno()))
        thread = threading.Thread(target=accept)
        thread.start()
        time.sleep(0.1)  # nothing tells when a thread has come to block in accept
        way(number)
        thread.join(5)
        assert not thread.is_alive()
        assert results[0][0] == -1 and results[0][1] in (errno.EBADF, errno.ENOTSOCK), results


def shut_by_thread():
    listener = listen()
    results = []

    def accept():
        results.append((libc.accept(listener.fileno(), None, None), ctypes.get_errno()))
    thread = threading.Thread(target=accept)
    thread.start()
    time.sleep(0.1)  # nothing tells when a thread has come to block in accept
    listener.shutdown(socket.SHUT_RDWR)
    thread.join(5)
    assert not thread.is_alive() and results == [(-1, errno.EINVAL)], results


def two_threads():
    """One thread adds, another accepts; both in the same process are one worker."""
    listener = listen(blocking=False)
    poller = watch(listener)
    tell(listener)

    def accept():
        for _ in range(5):
            answer(accept_patiently(poller, listener)[0])
    thread = threading.Thread(target=accept)
    thread.start()
    thread.join()


def added_before_bind():
    """What an epoll set watches already is not replaced: the shim stays out of it."""
    listener = socket.socket()
    poller = select.epoll()
    poller.register(listener, select.EPOLLIN)
    listener.bind(("127.0.0.1", 0))
    listener.listen(5)
    listener.setblocking(False)
    tell(listener)
    answer(accept_patiently(poller, listener)[0])


def closed_stdio():
    for number in (0, 2):
        os.close(number)
    listener = listen(blocking=False)
    poller = watch(listener)
    assert listener.fileno() in (0, 2) and poller.fileno() in (0, 2, 3)
    tell(listener)
    answer_one(listener)


def called_by_number():
    """As libuv calls what its C library may not have."""
    numbers = {"x86_64": (233, 288, 3), "aarch64": (21, 242, 57)}[os.uname().machine]
    epoll_ctl, accept4, close = numbers
    listener = listen(blocking=False)
    poller = select.epoll()
    event = struct.pack("=IQ" if numbers[2] == 3 else "=IxxxxQ", select.EPOLLIN, 0)
    assert libc.syscall(epoll_ctl, poller.fileno(), 1, listener.fileno(), event) == 0
    tell(listener)
    connection = -1
    while connection < 0:
        poller.poll()
        connection = libc.syscall(accept4, listener.fileno(), None, None, socket.SOCK_CLOEXEC)
    assert fcntl.fcntl(connection, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
    os.write(connection, b"x")
    assert libc.syscall(close, connection) == 0
    number = listener.detach()
    assert libc.syscall(close, number) == 0
    expect(errno.EBADF, os.fstat, number)


def leaves_nothing_to_another_image():
    """What the program did not open it does not hand on: only the three and what ls itself opens."""
    listener = listen(blocking=False)
    watch(listener)
    expect(errno.EAGAIN, listener.accept)
    seen = subprocess.run(["ls", "/proc/self/fd"], close_fds=False, stdout=subprocess.PIPE, text=True,
                          check=True)
    assert seen.stdout.split() == ["0", "1", "2", "3"], seen.stdout


def listens_again():
    """With any backlog, also one below 0, before it is watched and after."""
    listener = listen(blocking=False)
    assert libc.listen(listener.fileno(), -1) == 0
    poller = watch(listener)
    assert libc.listen(listener.fileno(), 5) == 0
    assert libc.listen(listener.fileno(), -1) == 0
    tell(listener)
    poller.poll()
    answer_one(listener)


def closed_twice():
    listener = listen(blocking=False)
    number = listener.detach()
    watch(number)
    assert libc.close(number) == 0
    ctypes.set_errno(0)
    assert libc.close(number) == -1 and ctypes.get_errno() == errno.EBADF
    expect(errno.EBADF, os.fstat, number)
    fresh = listen(blocking=False)
    assert fresh.fileno() == number


def closed_while_watched():
    """Nothing more is heard of it, whoever else may still hold the socket."""
    listener = listen(blocking=False)
    address = listener.getsockname()
    poller = watch(listener)
    expect(errno.EAGAIN, listener.accept)
    listener.close()
    with socket.socket() as client:
        client.setblocking(False)
        client.connect_ex(address)
        assert poller.poll(0.2) == []


def two_of_the_kernels_choice():
    listeners = [listen(blocking=False) for _ in range(2)]
    poller = select.epoll()
    for listener in listeners:
        poller.register(listener, select.EPOLLIN)
    addresses = [listener.getsockname() for listener in listeners]
    assert addresses[0] != addresses[1]
    for listener, address in zip(listeners, addresses):
        with socket.create_connection(address) as client:
            answer_one(listener)
            assert client.recv(100) == b"%d\n" % os.getpid()


def becomes_a_daemon():
    """It listens, and then goes on in another process."""
    listener = listen(blocking=False)
    poller = watch(listener)
    tell(listener)
    listened_as = os.getpid()
    assert libc.daemon(1, 1) == 0
    assert os.getpid() != listened_as
    # An epoll set that was filled before belongs to the parent's time: make one's own, as they do.
    poller.close()
    poller = watch(listener)
    poller.poll()
    answer_one(listener)


def replaced_by_its_duplicate():
    """Bookkeeping by number survives what leaves the number as it is."""
    listener = listen(blocking=False)
    poller = watch(listener)
    number = listener.fileno()
    assert os.dup2(number, number) == number
    copy = socket.socket(fileno=os.dup(listener.detach()))
    os.dup2(copy.fileno(), number)
    copy.close()
    listener = socket.socket(fileno=number)
    poller.close()
    poller = watch(listener)
    tell(listener)
    poller.poll()
    answer_one(listener)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("ok", flush=True)
