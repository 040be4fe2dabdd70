"""One server in one mode: bare, or under the shim with a ringdeald of its own."""
import pathlib
import shutil
import tempfile

from support.clients import connect, free_port, receive
from support.daemon import Daemon
from support.target import Target
from support.waiting import wait_until

from harness.cell import bind_text


class Lab:
    """`dealt`: under the shim. `preexec`: what the server's first process does before it runs."""

    def __init__(self, cell, dealt, with_daemon=True, preexec=None):
        self.cell = cell
        self.dealt = dealt
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="ringdeal-"))
        self.directory.chmod(0o755)  # servers change their user
        self.daemon = self.server = None
        try:
            self._start(with_daemon, preexec)
        except BaseException:
            self.close()
            raise

    def _start(self, with_daemon, preexec):
        self.address = str(self.directory / "s") if self.cell.unix else ("127.0.0.1", free_port())
        if self.dealt and with_daemon:
            owned = [f"name: web, bind: {bind_text(self.address)}"] if self.cell.owned else []
            self.daemon = Daemon(self.directory, owned, leaks_allowed=True)
        self.start_server(preexec)

    def start_server(self, preexec=None):
        """Until it serves and its workers are there."""
        command = self.cell.command(self.directory, self.address)
        environment = {"RINGDEAL_CONTROL": str(self.directory / "control.sock"),
                       **self.cell.environment}
        self.server = Target(command, environment=environment, shim=self.dealt,
                             preexec=preexec).process
        wait_until(self._answers, lambda: "the server answers\n" + self.log(), 20)
        self.wait_for_workers()

    def _answers(self):
        assert self.server.running(), f"the server ended:\n{self.log()}"
        try:
            with connect(self.address) as connection:
                connection.sendall(self.cell.protocol.request(keep=False))
                return receive(connection, self.cell.protocol) is not None
        except OSError:
            return False

    def log(self):
        """The end of what the server and ringdeald said."""
        said = [process.output().splitlines()[-8:]
                for process in (self.server, self.daemon and self.daemon.process) if process]
        return "\n".join(line for lines in said for line in lines)

    # --- workers

    def pids(self):
        return set(self.cell.worker_pids(self.server))

    def registered(self):
        """The processes that ringdeald knows at the address, by pid."""
        where = bind_text(self.address)
        return {worker["pid"]: worker for listener in self.daemon.status()["listeners"]
                for worker in listener["workers"] if listener["address"] == where}

    def wait_for_workers(self, registered=True):
        """Until all are there, and each registered."""
        def complete():
            pids = self.pids()
            enough = (len(pids) >= self.cell.workers if self.cell.elastic
                      else len(pids) == self.cell.workers)
            known = (self.daemon is None or not registered or not self.cell.all_join
                     or pids <= self.registered().keys())
            return enough and known

        def found():
            known = self.daemon.status()["listeners"] if self.daemon else "bare"
            return f"workers: {self.pids()}\n{self.log()}\n{known}"
        wait_until(complete, found, 20)

    def wait_until_taken(self, count):
        """Until the workers have `count` connections open between them."""
        if self.daemon:
            self.daemon.wait_for(lambda _: sum(
                worker["active"] for worker in self.registered().values()) >= count, "taken")
        elif not self.cell.unix:
            wait_until(lambda: accepted(self.address[1]) >= count, "accepted")

    def wait_until_idle(self):
        if self.daemon:
            self.daemon.wait_for(lambda _: all(
                worker["active"] == 0 for worker in self.registered().values()), "all closed")

    def close(self):
        try:
            if self.server:
                self.server.kill()
            if self.daemon:
                self.daemon.stop()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)


def accepted(port):
    """Open connections of a TCP server that some process has. One in an accept queue has no inode."""
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    fields = (line.split() for line in lines)
    return sum(each[1].endswith(f":{port:04X}") and each[3] == "01" and each[9] != "0"
               for each in fields)
