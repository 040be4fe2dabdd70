import signal

from support.waiting import wait_until

from harness.cell import Cell, write

APPLICATION = 'run ->(environment) { [200, {}, [Process.pid.to_s]] }\n'
CONFIGURATION = """
bind "tcp://%s:%d"
environment "production"
threads 4, 4
"""


class Puma(Cell):
    server = "puma"
    program = "/usr/bin/puma"
    version_arguments = ("--version",)
    configuration = ""
    stop_status = -signal.SIGTERM  # raised again after its work is done
    own = {check: "a worker that ends closes connections that it has accepted and not read from"
           for check in ("reload_under_load", "stop_under_load")}

    def command(self, directory, address):
        rackup = write(directory, "config.ru", APPLICATION)
        configuration = write(directory, "puma.rb", CONFIGURATION % address + self.configuration)
        return [self.program, "--config", configuration, "--dir", directory, rackup]


class Cluster(Puma):
    variant = "cluster"
    configuration = "workers 2\n"
    reload_signal = signal.SIGUSR1  # a phased restart


class Single(Puma):
    """One process, which executes itself to restart."""
    variant = "single"
    slow = True
    workers = 1
    own = Puma.own | {
        "keep_alive": "closes kept connections when it has more of them than threads"}
    reload_signal = signal.SIGUSR2
    stop_status = -signal.SIGTERM

    def worker_pids(self, server):
        return [server.pid]

    def reload(self, server):
        starts = server.output().count("Use Ctrl-C to stop")
        server.signal(self.reload_signal)
        wait_until(lambda: server.output().count("Use Ctrl-C to stop") > starts,
                   lambda: "restarted\n" + server.output(), 20)
