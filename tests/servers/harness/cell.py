"""What the matrix has to know about a server. One class is one row of the table."""
import os
import pathlib
import signal
import subprocess

from support.clients import Http


class Cell:
    server = ""
    variant = "default"
    program = ""  # its executable, whose absence skips the cell
    version_arguments = ("-v",)
    slow = False  # only in the long run
    owned = False  # ringdeald has the listener in its configuration; else it adopts it
    workers = 2
    one_at_a_time = False  # a worker serves one connection, and blocks in accept for the next
    keep_alive = True
    protocol = Http
    unix = False  # listens on a path
    reload_signal = None  # None: it has no graceful reload
    reload_replaces = True  # with new processes
    stop_signal = signal.SIGTERM  # the graceful one
    stop_status = 0
    descriptor_limit = 64  # enough to start with, reached by the clients of the check
    environment = {}
    # The checks that fail without the shim as well, and those that fail because of ringdeal: the
    # reason of each, which the document shows.
    own = {}
    fails = {}
    at_times = ()  # those of `fails` that go well at other times

    @property
    def name(self):
        return f"{self.server}, {self.variant}"

    @property
    def mode(self):
        return "owned" if self.owned else "adopted"

    def version(self):
        """The first word of what it says of itself that begins with a digit, behind any slash."""
        said = subprocess.run([self.program, *self.version_arguments], capture_output=True,
                              text=True, check=False)
        words = (said.stdout + said.stderr).replace("/", " ").replace("(", " ").split()
        return next((word.lstrip("v").rstrip("),") for word in words
                     if word.lstrip("v")[:1].isdigit()), "?")

    def command(self, directory, address):
        """Writes what it needs into `directory`; the command that starts it in the foreground."""
        raise NotImplementedError

    def worker_pids(self, server):
        """The processes that accept. `server`: the support.process.Process that was started."""
        return server.children()

    def reload(self, server):
        server.signal(self.reload_signal)

    def stop(self, server):
        server.signal(self.stop_signal)


def write(directory, name, text):
    path = pathlib.Path(directory) / name
    path.write_text(text)
    return path


def bind_text(address):
    """An address as most configurations spell it."""
    return f"unix:{address}" if isinstance(address, str) else "%s:%d" % address


def as_root(text):
    """What only root's configuration may say."""
    return text if os.geteuid() == 0 else ""
