import signal

from support.clients import connect, get

from harness.cell import Cell, SingleProcess, bind_text, write

CONFIGURATION = """
global
  nbthread 2
  stats socket {directory}/admin level admin expose-fd listeners
defaults
  mode http
  timeout client 60s
  timeout http-request 60s
  timeout http-keep-alive 60s
frontend web
  bind {address}
  http-request return status 200 content-type text/plain lf-string %pid
"""


class Haproxy(Cell):
    server = "haproxy"
    program = "/usr/sbin/haproxy"
    slow = True
    stop_signal = signal.SIGUSR1
    descriptor_limit = 256
    more = ()

    def command(self, directory, address):
        configuration = write(directory, "haproxy.cfg", CONFIGURATION.format(
            directory=directory, address=bind_text(address)))
        return [self.program, "-f", configuration, *self.more]


class Threads(Haproxy, SingleProcess):
    """Each thread has the listener in an epoll set of its own."""
    variant = "nbthread 2"
    more = ("-db",)
    own = {"descriptor_limit": "what is more than its maxconn waits in a queue that the kernel "
                               "ends by a time-out"}

    def special(self, lab):
        """SIGTTOU takes the listener out of listening, SIGTTIN listens anew."""
        lab.server.signal(signal.SIGTTOU)
        lab.server.wait_for_line("Paused frontend web")
        lab.server.signal(signal.SIGTTIN)
        lab.server.wait_for_line("Resumed frontend web")
        for _ in range(10):
            with connect(lab.address) as connection:
                assert int(get(connection)) == lab.server.pid


class Reload(Haproxy):
    """The master executes itself; the new worker is given the listener by the old one (-x)."""
    variant = "master and worker"
    workers = 1
    more = ("-W",)
    checks = ("start", "first_request", "reload_under_load", "daemon_killed", "without_daemon")
    reload_signal = signal.SIGUSR2
    own = {"reload_under_load": "a master that is just executing itself loses the signal at times"}
