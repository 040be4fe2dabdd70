"""What the matrix has to know about a server. One class is one row of the table."""
import os
import pathlib
import re
import signal
import subprocess

from support.clients import Http
from support.waiting import wait_until


class Cell:
    server = ""
    variant = "default"
    program = ""  # its executable, without which the cell fails
    version_arguments = ("-v",)
    slow = False  # only in the long run
    checks = None  # the names of those that are made, None: all that apply
    owned = False  # ringdeald has the listener in its configuration; else it adopts it
    workers = 2
    elastic = False  # starts more when there is more to do; `workers` are always there
    all_join = True  # each worker is registered before it is needed
    one_at_a_time = False  # a worker serves one connection and then takes the next
    keep_alive = True
    protocol = Http
    unix = False  # listens on a path
    reload_signal = None  # None: it has no graceful reload
    dealt_after_reload = True  # the new processes have the shim too
    stop_signal = signal.SIGTERM  # the graceful one; None: there is none
    stop_status = 0
    descriptor_limit = 64  # enough to start with, reached by the clients of the check
    environment = {}
    # The checks that fail without the shim as well, and those that fail because of ringdeal: the
    # reason of each, which the document shows.
    own = {}
    fails = {}
    at_times = ()  # those of `fails` that go well at other times

    @property
    def burst(self):
        """Connections of which each worker gets its part at once."""
        return self.workers if self.one_at_a_time else 32

    @property
    def name(self):
        return f"{self.server}, {self.variant}"

    def has(self, check):
        """Whether the check of this name is made."""
        if check == "special" and type(self).special is Cell.special:
            return False
        return self.checks is None or check in self.checks

    @property
    def mode(self):
        return "owned" if self.owned else "adopted"

    @property
    def key(self):
        return self.name, self.mode

    def version(self):
        """The first word of what it says of itself that begins with a digit, behind any slash."""
        said = subprocess.run([self.program, *self.version_arguments], capture_output=True,
                              text=True, check=False)
        words = (said.stdout + said.stderr).replace("/", " ").replace("(", " ").replace("=", " ").split()
        return next((word.lstrip("v").rstrip("),") for word in words
                     if word.lstrip("v")[:1].isdigit()), "?")

    def command(self, directory, address):
        """Writes what it needs into `directory`; the command that starts it in the foreground."""
        raise NotImplementedError

    def worker_pids(self, server):
        """The processes that accept. `server`: the support.process.Process that was started."""
        return server.children()

    def reload(self, server):
        """Begins it, and waits until it has come to an end: the old workers are gone."""
        old = set(self.worker_pids(server))
        server.signal(self.reload_signal)
        wait_until(lambda: old.isdisjoint(self.worker_pids(server)),
                   lambda: f"{old} end\n{server.output()}", 20)

    def stop(self, server):
        server.signal(self.stop_signal)

    def special(self, lab):
        """What only this server does, if there is such a thing. `lab`: the harness.lab.Lab."""
        raise NotImplementedError


class SingleProcess(Cell):
    """There is nobody to deal among: ringdeald lets it accept for itself."""
    slow = True
    workers = 1

    def worker_pids(self, server):
        return [server.pid]


def write(directory, name, text):
    path = pathlib.Path(directory) / name
    path.write_text(text)
    return path


def bind_text(address):
    """An address as most configurations spell it."""
    return f"unix:{address}" if isinstance(address, str) else "%s:%d" % address


def titled(server, pattern):
    """Processes of the server's group with a command line in which `pattern` is found."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            pid = int(path.name)
            line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if os.getpgid(pid) == server.pid and re.search(pattern, line):
                found.append(pid)
        except OSError:
            pass  # gone
    return found


def as_root(text):
    """What only root's configuration may say."""
    return text if os.geteuid() == 0 else ""
