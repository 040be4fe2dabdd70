import signal

from harness.cell import Cell, bind_text, write

APPLICATION = """
import os

def application(environment, start_response):
    body = str(os.getpid()).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


class Gunicorn(Cell):
    server = "gunicorn"
    program = "/usr/bin/gunicorn"
    version_arguments = ("--version",)
    reload_signal = signal.SIGHUP
    worker_class = ""
    more = ()

    def command(self, directory, address):
        write(directory, "application.py", APPLICATION)
        return [self.program, "--chdir", directory, "--bind", bind_text(address), "--workers",
                self.workers, "--worker-class", self.worker_class, "--worker-tmp-dir", directory,
                *self.more,
                "application:application"]


class Sync(Gunicorn):
    """A worker accepts until there is nothing more, serves one connection and closes it."""
    variant = "sync"
    worker_class = "sync"
    one_at_a_time = True
    keep_alive = False


class Threads(Gunicorn):
    """The main thread accepts, others serve; the listener is in and out of its epoll set."""
    variant = "gthread"
    slow = True
    worker_class = "gthread"
    more = ("--threads", "16", "--keep-alive", "60")
