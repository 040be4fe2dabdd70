"""The listeners of tests/chaos and the servers on them, and how their processes are found."""
import contextlib
import itertools
import os
import pathlib
import resource
import shutil
import signal

from support import build, nginx
from support.clients import free_port
from support.process import Process
from support.target import Target
from support.waiting import wait_until

HERE = pathlib.Path(__file__).resolve().parent
SERVER = HERE / "server.py"
RAW_WORKER = HERE / "raw.py"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin")
MANY = 10 ** 6  # of a server that greets nobody


def is_alive(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


class Server:
    """One listener and who serves it. `ungreeted`: what a process of it may have taken and not greeted."""
    kind = "greeting"
    ungreeted = 1

    def __init__(self, fleet, name, bind):
        self.fleet = fleet
        self.name = name
        self.bind = bind
        self.address = bind.removeprefix("unix:")
        self.programs = []

    def start(self):
        raise NotImplementedError

    def run(self, *command, **options):
        program = Target([build.PYTHON, *command], self.fleet.daemon, **options)
        self.programs.append(program)
        return program

    def forget_ended(self):
        for program in [each for each in self.programs if not each.process.running()]:
            self.fleet.logs.append((self.name, program.process.output()))
            program.close()
            self.programs.remove(program)

    def close(self):
        for program in self.programs:
            program.close()
        self.programs = []


class Family(Server):
    """A master that replaces its workers: reloaded, not joined or left."""
    joins = False

    def __init__(self, fleet, name, bind, style, ungreeted=1):
        super().__init__(fleet, name, bind)
        self.style = style
        self.ungreeted = ungreeted

    def start(self):
        program = self.run(SERVER, self.bind, self.style, 3)
        program.process.wait_for_line("^ready$", 30)

    def workers(self):
        return sorted(filter(is_alive, self.programs[0].workers()))

    def reload(self):
        self.programs[0].process.signal(signal.SIGHUP)


class Nginx(Family):
    kind = "http"

    def __init__(self, fleet, name, bind):
        super().__init__(fleet, name, bind, "nginx", MANY)

    def start(self):
        directory = self.fleet.directory / "nginx"
        directory.mkdir()
        directory.chmod(0o755)
        file = directory / "nginx.conf"
        file.write_text(nginx.configuration(directory, self.bind, workers=2,
                                            main="error_log stderr warn; worker_shutdown_timeout 60s;"))
        command = [NGINX, "-c", file, "-p", directory, "-e", "stderr"]
        self.programs.append(Target(command, self.fleet.daemon))
        self.fleet.await_workers(self.name, 2)


class Copies(Server):
    """Single processes, each of which may be killed, join and leave: all but the first, which keeps the
    listener."""
    joins = True

    def start(self):
        for _ in range(3):
            self.join()
        self.fleet.await_workers(self.name, 3)

    def join(self):
        if len(self.programs) < 6:
            self.run(SERVER, self.bind, "events", 0)

    def workers(self):
        self.forget_ended()
        return [each.pid for each in self.programs if is_alive(each.pid)]

    def leave(self, pid):
        os.kill(pid, signal.SIGTERM)


class RawCopies(Copies):
    """Workers that have nothing of ringdeal but its protocol."""
    kind = "http"
    ungreeted = MANY

    def join(self):
        if len(self.programs) < 6:
            self.programs.append(Raw(self.fleet.daemon, self.name))


class Raw:
    def __init__(self, daemon, name):
        self.process = Process([build.PYTHON, RAW_WORKER, daemon.control, name])
        self.pid = self.process.pid

    def close(self):
        self.process.kill()


class Fleet:
    def __init__(self, directory, daemon):
        self.directory = directory
        self.daemon = daemon
        self.logs = []
        path = directory / "adopted.sock"
        self.servers = [
            Copies(self, "owned", self.address_of("owned")),
            Family(self, "blocking", f"127.0.0.1:{free_port()}", "blocking"),
            Family(self, "asyncio", f"unix:{path}", "asyncio", ungreeted=4),
            RawCopies(self, "raw", f"unix:{directory}/raw.sock"),
        ]
        if NGINX is not None:
            self.servers.append(Nginx(self, "nginx", f"127.0.0.1:{free_port()}"))

    def address_of(self, name):
        return "%s:%d" % self.daemon.address(name)

    def start(self):
        for server in self.servers:
            server.start()
        self.await_workers("blocking", 3)
        self.await_workers("asyncio", 3)

    def await_workers(self, name, count):
        """Dealt to, or watching: blocking ones are observers until a client has come."""
        bind = next(each.bind for each in self.servers if each.name == name)

        def joined(status):
            for listener in status["listeners"]:
                if listener["address"] == bind:
                    return len(listener["workers"]) >= count
            return False
        self.daemon.wait_for(joined, f"{count} workers of {name}", 30)

    def targets(self):
        return [{"name": each.name, "address": each.address, "kind": each.kind} for each in self.servers]

    def everybody(self):
        return list(itertools.chain.from_iterable(each.workers() for each in self.servers))

    def close(self):
        for server in self.servers:
            server.close()


starved = set()


def starve(pid, spare):
    """Leaves a process so many descriptor numbers; returns what gives it back what it had, None if it
    is starved already."""
    if pid in starved:
        return None
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    used = set(map(int, os.listdir(f"/proc/{pid}/fd")))
    if not used:
        raise ProcessLookupError(f"{pid} has ended")
    starved.add(pid)
    highest = max(used)
    # The limit is one of numbers: the free ones below the highest are left, too.
    limit = next(number for number in range(highest + spare + 2)
                 if number - len([each for each in used if each < number]) >= spare)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (max(limit, 4), before[1]))

    def feed():
        starved.discard(pid)
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    return feed


def wait_gone(pids, patience=20):
    wait_until(lambda: not any(map(is_alive, pids)), lambda: f"{pids} ended", patience)
