import glob
import os
import shutil
import signal
import struct
import subprocess

from harness import clients
from harness.cell import Cell

QUERY = rb"SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)"
VERSION_3 = 3 << 16


def message(kind, content):
    return kind + struct.pack(">I", len(content) + 4) + content


class Protocol:
    """Everything of a session at once: the pid of the process that accepts is asked for."""

    @staticmethod
    def request(keep=True):
        start = struct.pack(">I", VERSION_3) + b"user\0postgres\0database\0postgres\0\0"
        return (message(b"", start) + message(b"Q", QUERY + b"\0")
                + (b"" if keep else message(b"X", b"")))

    @staticmethod
    def body(data):
        """Of the one row, once the server is ready for another query."""
        row = None
        while len(data) >= 5:
            kind, length = data[:1], struct.unpack_from(">I", data, 1)[0]
            content, whole = data[5:1 + length], 1 + length
            if len(data) < whole:
                return None
            if kind == b"D":
                row = content[6:]  # behind the number of columns and the length of the first
            elif kind == b"Z" and row is not None:
                return row
            data = data[whole:]
        return None


class Default(Cell):
    """One process accepts and forks another for each connection: nothing is dealt."""
    server = "PostgreSQL"
    program = next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))),
                   "/usr/lib/postgresql/bin/postgres")
    version_arguments = ("--version",)
    slow = True
    workers = 1
    all_join = False
    keep_alive = False
    protocol = Protocol
    own = {"stop_under_load": "it tells new clients that it is shutting down, and closes"}
    checks = ("start", "first_request", "connection_per_request", "close_seen", "stop_under_load",
              "idle_stop", "daemon_killed", "without_daemon", "special")

    def command(self, directory, address):
        """It refuses to run as root."""
        data = directory / "data"
        data.mkdir()
        as_user = []
        if os.geteuid() == 0:
            shutil.chown(data, "postgres", "postgres")
            as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        subprocess.run([*as_user, os.path.dirname(self.program) + "/initdb", "-D", data, "-A",
                        "trust", "-U", "postgres", "-N"], check=True, capture_output=True,
                       cwd=directory)
        return [*as_user, self.program, "-D", data, "-h", address[0], "-p", address[1], "-k", "",
                "-c", "max_connections=150", "-c", "fsync=off"]

    def worker_pids(self, server):
        return [server.pid]

    def special(self, lab):
        """A hundred sessions at once."""
        with clients.Held(lab, 100) as held:
            assert set(held.answers()) == {str(lab.server.pid)}
