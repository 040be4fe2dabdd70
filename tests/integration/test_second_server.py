"""A second server on an owned address fails to bind, as it would beside any other server."""
import errno
import socket

import pytest

from support import build


def test_a_bind_without_the_shim_is_refused(daemon):
    with socket.socket() as second, pytest.raises(OSError) as refused:
        second.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        second.bind(daemon.address())
        second.listen()
    assert refused.value.errno == errno.EADDRINUSE


def test_reuseport_does_not_let_it_in(daemon):
    with socket.socket() as second, pytest.raises(OSError):
        second.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        second.bind(daemon.address())


def test_a_whole_server_says_so_and_ends(daemon, target):
    server = target([build.PYTHON, build.SERVERS / "prefork_server.py",
                     "%s:%d" % daemon.address(), "2"])
    assert server.process.wait() != 0
    assert "Address already in use" in server.process.output()


def test_a_second_server_on_an_adopted_address_is_refused(start_daemon, target):
    daemon = start_daemon()
    where = target([build.PYTHON, build.SERVERS / "prefork_server.py", "127.0.0.1:0", "2"],
                   daemon).address()
    daemon.wait_for_workers(2)
    second = target([build.PYTHON, build.SERVERS / "prefork_server.py", "%s:%d" % where, "2"])
    assert second.process.wait() != 0
