import signal

from harness.cell import Cell, write

APPLICATION = """
import os

def application(environment, start_response):
    body = str(os.getpid()).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


class Plain(Cell):
    """A worker waits in epoll, serves one request and closes the connection."""
    server = "uWSGI"
    variant = "plain"
    program = "/usr/bin/uwsgi-core"
    version_arguments = ("--version",)
    slow = True
    one_at_a_time = True
    own = {"idle_stop": "its graceful stop hangs at times"}
    keep_alive = False
    reload_signal = signal.SIGHUP  # executes itself
    more = ()

    def command(self, directory, address):
        self.fifo = directory / "fifo"
        return [self.program, "--plugins-dir", "/usr/lib/uwsgi/plugins", "--plugin", "python3",
                "--http-socket", "%s:%d" % address, "--master", "--processes", self.workers,
                "--need-app", "--disable-logging", "--master-fifo", self.fifo,
                "--wsgi-file", write(directory, "application.py", APPLICATION), *self.more]

    def stop(self, server):
        self.fifo.write_text("q")


class ThunderLock(Plain):
    """A worker holds a lock of all while it waits and accepts."""
    variant = "thunder-lock"
    more = ("--thunder-lock",)
    own = Plain.own | {check: "a worker does not come by the lock at times"
                       for check in ("burst", "stop_under_load")}
    fails = {check: "only the worker that has the lock watches the listener: connections are dealt "
                    "to one that waits for the lock"
             for check in (
                 "first_request", "burst", "connection_per_request", "close_seen",
                 "reload_under_load", "stop_under_load", "worker_killed", "daemon_killed",
                 "descriptor_limit")}
    at_times = tuple(fails)


class Cheap(Plain):
    """The master watches the listener and starts the workers when a connection comes."""
    variant = "cheap"
    more = ("--cheap",)
