import signal

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
