"""A target program: an unmodified server under the shim, or bare."""
import os
import signal

from support import build
from support.process import Process


class Target:
    """`daemon`: whose shim it runs under; None: bare. `cpus`: where it may run."""

    def __init__(self, command, daemon=None, environment=None, cpus=None, preexec=None,
                 shim=None):
        variables = {**os.environ, **(environment or {})}
        if daemon is not None or shim:
            variables["LD_PRELOAD"] = str(build.SHIM)
        if daemon is not None:
            variables.setdefault("RINGDEAL_CONTROL", daemon.control)

        def prepare():
            if cpus is not None:
                os.sched_setaffinity(0, cpus)
            if preexec is not None:
                preexec()
        self.process = Process(command, variables, prepare)
        self.pid = self.process.pid

    def address(self):
        """Where it listens on loopback: the program prints its port once it does."""
        return "127.0.0.1", int(self.process.wait_for_line(r"^(\d+)$").group(1))

    def workers(self):
        return self.process.children()

    def stop(self, number=signal.SIGTERM, timeout=10.0):
        if self.process.running():
            self.process.signal(number)
            self.process.wait(timeout)

    def close(self):
        self.process.kill()
