import signal

from support.waiting import wait_until

from harness.cell import Cell, titled, write

APPLICATION = 'run ->(environment) { [200, {"Content-Length" => Process.pid.to_s.size.to_s}, [Process.pid.to_s]] }\n'
CONFIGURATION = """
worker_processes 2
listen "%s:%d"
"""


class Default(Cell):
    """A worker accepts first and waits when there is nothing."""
    server = "unicorn"
    program = "/usr/bin/unicorn"
    version_arguments = ("--version",)
    slow = True
    one_at_a_time = True
    keep_alive = False
    reload_signal = signal.SIGHUP
    stop_signal = signal.SIGQUIT

    def command(self, directory, address):
        configuration = write(directory, "unicorn.rb", CONFIGURATION % address)
        return [self.program, "-c", configuration, write(directory, "config.ru", APPLICATION)]

    def worker_pids(self, server):
        return titled(server, r"unicorn worker\[")


class Upgrade(Default):
    """The master starts a new one, which inherits the listener."""
    variant = "SIGUSR2"
    checks = ("start", "reload_under_load")

    def reload(self, server):
        old = set(self.worker_pids(server))
        server.signal(signal.SIGUSR2)
        wait_until(lambda: len(self.worker_pids(server)) == 2 * self.workers,
                   lambda: "new workers\n" + server.output(), 20)
        server.signal(signal.SIGQUIT)
        wait_until(lambda: old.isdisjoint(self.worker_pids(server)), "the old workers end", 20)
