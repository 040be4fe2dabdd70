"""Real servers on loopback for scripts/quickstart and scripts/bench: two workers each, bare or behind
a ringdeald of their own. Everything lives in one temporary directory, on ports that the kernel chose,
and is ended by process group when the Lab closes."""

import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from support import nginx  # noqa: E402

PYTHON = "/usr/bin/python3"
WORKERS = 2
PATIENCE_SECONDS = 20


class Failure(Exception):
    """What went wrong, in words for the terminal."""


def free_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % probe.getsockname()[1]


def is_listening(address):
    """Looks without connecting: a connection would be dealt."""
    port = ":%04X" % int(address.rpartition(":")[2])
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    return any(fields[1].endswith(port) and fields[3] == "0A" for fields in map(str.split, lines))


def children_of(pid):
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def await_true(what, condition, process=None):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if process is not None and process.poll() is not None:
            raise Failure(f"{what}: the process ended with {process.returncode}")
        if time.monotonic() > deadline:
            raise Failure(f"{what}: not so after {PATIENCE_SECONDS} s")
        time.sleep(0.01)


class Lab:
    def __init__(self, build):
        self.build = pathlib.Path(build)
        self.directory = None
        self.processes = []

    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="ringdeal-"))
        self.directory.chmod(0o755)  # nginx's workers may be another user
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            self.end(process)
        shutil.rmtree(self.directory, ignore_errors=True)

    def start(self, name, command):
        log = (self.directory / f"{name}.log").open("wb")
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            # No session of its own: the scheduler shares a busy machine evenly between sessions, and
            # a server of several would have more of it.
            process_group=0,
        )
        log.close()
        self.processes.append(process)
        return process

    def end(self, process):
        """The leader first: a prefork server ends its workers itself. Then what is left of the group."""
        if process in self.processes:
            self.processes.remove(process)
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    def logs(self):
        return "".join(
            f"--- {path.name}\n{path.read_text(errors='replace')}"
            for path in sorted(self.directory.glob("*.log"))
        )

    def ringdeal(self, *arguments, check=True):
        run = subprocess.run(
            [self.build / "cli/ringdeal", *map(str, arguments)], capture_output=True, text=True
        )
        if check and run.returncode != 0:
            raise Failure(f"ringdeal {' '.join(map(str, arguments))}: {run.stdout}{run.stderr}")
        return run.stdout


class Ringdeald:
    """A daemon with a control socket of its own. `listeners`: name to address, all of them owned.
    `more`: further keys of its configuration."""

    def __init__(self, lab, name, listeners, http="", **more):
        self.lab = lab
        self.control = lab.directory / f"{name}.sock"
        config = {
            "control": {"path": str(self.control)},
            "http": {"bind": http},
            "listeners": [{"name": key, "bind": value} for key, value in listeners.items()],
            **more,
        }
        path = lab.directory / f"{name}.yaml"
        path.write_text(json.dumps(config, indent=2))  # JSON is YAML
        self.process = lab.start(name, [lab.build / "daemon/ringdeald", "--config", path])
        await_true(f"ringdeald ({name}) answers", self.answers, self.process)

    def answers(self):
        return bool(self.lab.ringdeal("status", "--control", self.control, "--json", check=False))

    def workers(self, address):
        document = json.loads(self.lab.ringdeal("status", "--control", self.control, "--json"))
        for listener in document["listeners"]:
            if listener["address"] == address:
                return listener["workers"]
        return []

    def await_workers(self, address):
        def ready():
            joined = [worker["state"] in ("worker", "observer") for worker in self.workers(address)]
            return joined.count(True) == WORKERS

        await_true(f"{WORKERS} workers at {address}", ready, self.process)

    def await_idle(self, address):
        """Until every worker has told that the last round's connections are closed."""

        def idle():
            return all(w["active"] == 0 and w["pending"] == 0 for w in self.workers(address))

        try:
            await_true(f"idle workers at {address}", idle, self.process)
        except Failure as failure:
            raise Failure(f"{failure}\n{self.status()}") from None

    def status(self):
        return self.lab.ringdeal("status", "--control", self.control)


class Server:
    """A server with two workers; `ringdeald`: whose worker it becomes, None for a bare one."""

    def __init__(self, lab, kind, name, address, ringdeald=None):
        self.address, self.ringdeald = address, ringdeald
        command = {"python": self.python_command, "nginx": self.nginx_command}[kind](lab, name)
        if ringdeald is not None:
            command = [lab.build / "cli/ringdeal", "run", "--require",
                       "--control", ringdeald.control, "--", *command]
        self.process = lab.start(name, command)
        self.await_ready()

    def python_command(self, _lab, _name):
        return [PYTHON, ROOT / "tests/programs/prefork_server.py", self.address, WORKERS]

    def nginx_command(self, lab, name):
        directory = lab.directory / name
        directory.mkdir()
        directory.chmod(0o755)
        user = ""
        if os.getuid() == 0:
            users = {entry.pw_name for entry in pwd.getpwall()}
            user = "user %s;" % ("www-data" if "www-data" in users else "nobody")
        config = directory / "nginx.conf"
        config.write_text(nginx.configuration(
            directory, self.address, workers=WORKERS, connections=1024,
            main=f"error_log {directory}/nginx.log; {user}",
            http="keepalive_timeout 300; keepalive_requests 1000000;",
            locations='location / { return 200 "$pid\\n"; }'))
        program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
        if program is None:
            raise Failure("there is no nginx; run scripts/install-dependencies --demo")
        return [program, "-p", directory, "-c", config]

    def await_ready(self):
        await_true(f"a listener at {self.address}", lambda: is_listening(self.address), self.process)
        await_true(f"{WORKERS} workers of {self.process.args[0]}",
                   lambda: len(children_of(self.process.pid)) == WORKERS, self.process)
        if self.ringdeald is not None:
            self.ringdeald.await_workers(self.address)
        else:
            time.sleep(0.3)  # nobody tells when a bare worker has come to its event loop

    def await_idle(self):
        if self.ringdeald is not None:
            self.ringdeald.await_idle(self.address)
        else:
            time.sleep(0.1)

    def pids(self):
        return [self.process.pid, *children_of(self.process.pid)]


def run(main):
    """Runs main() and turns a Failure, Ctrl-C and SIGTERM into an exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"{pathlib.Path(sys.argv[0]).name}: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
