"""ringdeal spread on an unmodified nginx."""

import shutil
import socket
import subprocess

import pytest

from conftest import PATIENCE, children_of, counts, pids, spread
from support.nginx import configuration

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/opt/homebrew/bin:/usr/local/bin")
LOCATIONS = """
    location / { return 200 "hello"; }
    location /close { keepalive_timeout 0; return 200 "hello"; }
"""


@pytest.fixture
def nginx(processes, tmp_path):
    """Starts nginx, which cannot say what port it was given: one that is taken meanwhile is retried."""
    if NGINX is None:
        pytest.skip("nginx is not installed")
    for _ in range(10):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        file = tmp_path / "nginx.conf"
        file.write_text(configuration(
            tmp_path, f"unix:{tmp_path}/socket", f"127.0.0.1:{port}",
            main=f"error_log {tmp_path}/error.log;", locations=LOCATIONS))
        command = [NGINX, "-c", str(file), "-p", str(tmp_path), "-e", str(tmp_path / "error.log")]
        process = processes(command, stderr=subprocess.PIPE)
        if wait_until_it_serves(process, port):
            return process, f"127.0.0.1:{port}", f"unix:{tmp_path}/socket"
    pytest.fail(process.stderr.read().decode())


def wait_until_it_serves(process, port):
    while process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
                connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
                if not connection.recv(4096).startswith(b"HTTP/1.1 200"):
                    return False  # somebody else took the port
            if len(children_of(process.pid)) == 2:
                return True
        except ConnectionRefusedError:
            continue
    return False


@pytest.mark.parametrize("shape", ["burst", "ramp", "one-by-one"])
def test_finds_the_workers(nginx, shape):
    master, *addresses = nginx
    for address in addresses:
        report = spread(address, "--shape", shape)
        assert sum(counts(report)) == 32
        assert pids(report) == children_of(master.pid)
