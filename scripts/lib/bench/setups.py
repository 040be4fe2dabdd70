"""The same two workers behind what one would use: a shared listener, SO_REUSEPORT, ringdeald, and the
proxies HAProxy and nginx in TCP mode. All of a suite's setups are up at once and take turns."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time

from bench.measuring import cpu_seconds
from servers import (
    ROOT, Failure, Lab, Ringdeald, await_true, children_of, free_address, is_listening)
from support import nginx

PROXIES = ("haproxy", "nginx_stream")
KINDS = ("shared", "reuseport", "dealt", *PROXIES)

HAPROXY = """
defaults
  mode tcp
  timeout connect 30s
  timeout client 300s
  timeout server 300s
listen bench
  bind {address}
  balance leastconn
"""
STREAM = """
load_module /usr/lib/nginx/modules/ngx_stream_module.so;
daemon off;
pid {directory}/nginx.pid;
error_log {directory}/nginx.log;
worker_processes 2;
events {{ worker_connections 4096; }}
stream {{
  upstream workers {{ least_conn; {servers} }}
  server {{ listen {address}; proxy_pass workers; proxy_timeout 300s; }}
}}
"""
STREAM_MODULE = pathlib.Path("/usr/lib/nginx/modules/ngx_stream_module.so")


def program(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")


def available(kinds):
    """Those of `kinds` for which the programs are there; says which are left out."""
    missing = {"haproxy": program("haproxy") is None,
               "nginx_stream": program("nginx") is None or not STREAM_MODULE.exists()}
    for kind in kinds:
        if missing.get(kind):
            print(f"left out: {kind}, which is not installed (scripts/install-dependencies --servers)")
    return [kind for kind in kinds if not missing.get(kind)]


def family(pid):
    return [pid, *(each for child in children_of(pid) for each in family(child))]


class WebServer:
    """How bench/web_server is started. `threads`: of each worker."""

    def __init__(self, lab, threads=0):
        self.path, self.threads = lab.build / "bench/web_server", threads

    def command(self, _directory, address, workers, reuseport):
        return [self.path, address, workers, "reuseport" if reuseport else "shared", self.threads]


class Nginx:
    """How an nginx that serves its worker's number is started."""

    def __init__(self, _lab):
        self.path = program("nginx")
        if self.path is None:
            raise Failure("there is no nginx; run scripts/install-dependencies --demo")

    def command(self, directory, address, workers, reuseport):
        config = directory / "nginx.conf"
        config.write_text(nginx.configuration(
            directory, address + (" reuseport" if reuseport else "") + " backlog=4096",
            workers=workers, connections=4096,
            main=f"error_log {directory}/nginx.log; user {'root' if os.getuid() == 0 else 'nobody'};",
            http="keepalive_timeout 300; keepalive_requests 100000000;",
            locations='location / { return 200 "$pid\\n"; }'))
        return [self.path, "-p", directory, "-c", config]


class Node:
    """How bench/node_server.js is started: as a cluster, or, behind ringdeald, as so many copies."""

    copies = True

    def __init__(self, _lab):
        self.path = program("node")

    def command(self, _directory, address, workers, _reuseport):
        return [self.path, ROOT / "bench/node_server.js", address, workers]


class Setup:
    """One way for clients to come to `workers` workers of `server`."""

    def __init__(self, lab, kind, server, workers=2):
        self.lab, self.kind, self.workers = lab, kind, workers
        self.address, self.processes = free_address(), []
        self.name = f"{kind}-{len(lab.processes)}"
        if kind in PROXIES:
            backends = [free_address() for _ in range(workers)]
            for backend in backends:
                self.start(f"{self.name}-{backend[-5:]}", server, backend, 1, False)
            self.start_proxy(backends)
            await_true(f"{kind} listens", lambda: is_listening(self.address))
        elif kind == "dealt":
            self.start_dealt(server)
        else:
            self.start(f"{self.name}-server", server, self.address, workers, kind == "reuseport")

    def start_dealt(self, server):
        copies = getattr(server, "copies", False)
        daemon = Ringdeald(self.lab, self.name, {"bench": self.address} if copies else {})
        self.processes.append(daemon.process)
        under = [self.lab.build / "cli/ringdeal", "run", "--require", "--control", daemon.control,
                 *(["--workers", self.workers] if copies else []), "--"]
        self.start(f"{self.name}-server", server, self.address, 0 if copies else self.workers, False, under)
        await_true("workers of ringdeald", lambda: self.joined(daemon) == self.workers)

    def joined(self, daemon):
        return sum(each["state"] in ("worker", "observer") for each in daemon.workers(self.address))

    def start(self, name, server, address, workers, reuseport, under=()):
        directory = self.lab.directory / name
        directory.mkdir()
        directory.chmod(0o755)
        command = [*under, *server.command(directory, address, workers, reuseport)]
        process = self.lab.start(name, command)
        self.processes.append(process)
        await_true(f"{name} listens", lambda: is_listening(address), process)
        await_true(f"{name} has workers", lambda: len(children_of(process.pid)) >= workers, process)

    def start_proxy(self, backends):
        path = self.lab.directory / f"{self.name}.conf"
        if self.kind == "haproxy":
            lines = [f"  server w{i} {backend}" for i, backend in enumerate(backends)]
            path.write_text(HAPROXY.format(address=self.address) + "\n".join(lines) + "\n")
            command = [program("haproxy"), "-db", "-f", path]
        else:
            directory = self.lab.directory / self.name
            directory.mkdir()
            path.write_text(STREAM.format(
                directory=directory, address=self.address,
                servers=" ".join(f"server {backend};" for backend in backends)))
            command = [program("nginx"), "-p", directory, "-c", path]
        self.processes.append(self.lab.start(self.name, command))

    def pids(self):
        return [pid for process in self.processes for pid in family(process.pid)]

    def load(self, clients, shape, path="/", seconds=1.0, requests=0):
        """What bench/load saw, with the CPU microseconds a request of all server-side processes."""
        pids = self.pids()
        before = cpu_seconds(pids)
        done = subprocess.run(
            [self.lab.build / "bench/load", self.address, str(clients), shape, path, str(seconds),
             *([str(requests)] if requests else [])], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"load on {self.name}: {done.stderr}\n{self.lab.logs()}")
        seen = json.loads(done.stdout)
        seen["cpu_us"] = (cpu_seconds(pids) - before) * 1e6 / max(1, seen["requests"])
        seen["rate"] = seen["requests"] / seen["seconds"]
        return seen


@contextlib.contextmanager
def setups(build, kinds, make_server, workers=2):
    with Lab(build) as lab:
        server = make_server(lab)
        up = {kind: Setup(lab, kind, server, workers) for kind in kinds}
        time.sleep(0.3)  # nobody tells when a bare worker has come to its event loop
        for setup in up.values():
            setup.load(8, "each", requests=200)
        yield up


def take_turns(up, rounds, measure):
    """kind -> what each round gave; A B C A B C."""
    results = {kind: [] for kind in up}
    for _ in range(rounds):
        for kind, setup in up.items():
            results[kind].append(measure(setup))
    return results
