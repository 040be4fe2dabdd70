"""A ringdeald that is started as a service manager starts one: it is given sockets, and may have some kept."""
import fcntl
import os
import socket
import threading

from support import build
from support.daemon import Daemon

# The process number is known to the process alone, and the numbers are free in it alone.
GIVE = """import os, sys
count = int(sys.argv[1])
for number, given in enumerate(sys.argv[2:2 + count], 3):
    os.dup2(int(given), number)
    os.set_inheritable(int(given), False)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.argv[2 + count], sys.argv[2 + count:])"""
HIGH = 10  # beyond what is given


def out_of_the_way(given):
    """The same socket under a number that none is given under."""
    return socket.socket(fileno=fcntl.fcntl(given, fcntl.F_DUPFD_CLOEXEC, HIGH))


class Activated(Daemon):
    """A ringdeald that is given these sockets under these names. `manager`: who keeps some for it."""

    def __init__(self, directory, sockets, names, *arguments, manager=None, **options):
        self.sockets, self.names, self.manager = sockets, names, manager
        super().__init__(directory, *arguments, **options)

    def start(self):
        if self.manager is not None:
            self.sockets, self.names = self.manager.stored()
        super().start()

    def command(self):
        return [build.PYTHON, "-c", GIVE, str(len(self.sockets)),
                *(str(each.fileno()) for each in self.sockets), *super().command()]

    def process_options(self):
        environment = {**self.environment, "LISTEN_FDS": str(len(self.sockets)),
                       "LISTEN_FDNAMES": ":".join(self.names)}
        if self.manager is not None:
            environment["NOTIFY_SOCKET"] = self.manager.path
        return {"environment": environment, "pass_fds": [each.fileno() for each in self.sockets]}


class Manager:
    """Listens to what a service says of itself, and keeps the descriptors that it stores."""

    def __init__(self, directory):
        self.path = str(directory / "notify")
        self._told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._told.bind(self.path)
        self._changed = threading.Condition()
        self._kept = []  # pairs of name and socket
        self._said = []
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self):
        while True:
            data, numbers, _, _ = socket.recv_fds(self._told, 4096, 4)
            if not data:
                return
            said = dict(line.split("=", 1) for line in data.decode().splitlines())
            with self._changed:
                if "FDSTOREREMOVE" in said:
                    self._forget(said["FDNAME"])
                for number in numbers:
                    with socket.socket(fileno=number) as given:
                        self._kept.append((said["FDNAME"], out_of_the_way(given)))
                self._said.append(said)
                self._changed.notify_all()

    def _forget(self, name):
        for each in [each for each in self._kept if each[0] == name]:
            self._kept.remove(each)
            each[1].close()

    def wait_until_ready(self, times):
        """Until a service has said so often that it is ready; what it stored before is kept."""
        self.wait_until_said("READY", lambda said: said == times)

    def wait_until_said(self, what, enough):
        """Until a service has said it as often as is `enough`."""
        with self._changed:
            assert self._changed.wait_for(
                lambda: enough(sum(what in said for said in self._said)), 10), self._said

    def stored(self):
        """The sockets and their names."""
        with self._changed:
            return [each for _, each in self._kept], [name for name, _ in self._kept]

    def close(self):
        self._told.shutdown(socket.SHUT_RD)
        self._thread.join()
        self._told.close()
        for _, each in self._kept:
            each.close()
