import signal

from harness.cell import Cell, titled, write

APPLICATION = 'sub { [200, ["Content-Length" => length $$], ["$$"]] }\n'


class Default(Cell):
    """A worker keeps a connection until it is closed."""
    server = "Starman"
    variant = "2 workers"
    program = "/usr/bin/starman"
    version_arguments = ("--version",)
    slow = True
    one_at_a_time = True
    reload_signal = signal.SIGHUP
    stop_signal = signal.SIGQUIT
    own = {check: "a worker that ends closes a connection that it has accepted and not read from"
           for check in ("reload_under_load", "stop_under_load")}

    def command(self, directory, address):
        return [self.program, "--listen", "%s:%d" % address, "--workers", self.workers,
                "--keepalive-timeout", 60, write(directory, "application.psgi", APPLICATION)]

    def worker_pids(self, server):
        return titled(server, "^starman worker")
