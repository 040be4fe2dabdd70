import os
import signal

from support import nginx
from support.waiting import wait_until

from harness.cell import Cell, as_root, bind_text, titled, write

class Default(Cell):
    """Workers run as www-data and add the listener with EPOLLEXCLUSIVE."""
    server = "nginx"
    program = "/usr/sbin/nginx"
    reload_signal = signal.SIGHUP
    stop_signal = signal.SIGQUIT
    main = ""
    events = ""
    listen = ""

    def command(self, directory, address):
        text = nginx.configuration(
            directory, f"{bind_text(address)} {self.listen}", main=f"{as_root('user www-data;')} "
            f"error_log stderr notice; {self.main}", events=self.events,
            http="keepalive_requests 100000;")
        configuration = write(directory, "nginx.conf", text)
        return [self.program, "-c", configuration, "-p", directory, "-e", "stderr"]


class Owned(Default):
    owned = True


class AcceptMutex(Default):
    """A worker watches the listener only while it holds a lock."""
    variant = "accept_mutex on"
    slow = True
    events = "accept_mutex on;"
    all_join = False
    fails = {check: "only the worker that has the lock watches the listener: it is dealt all"
             for check in ("burst", "descriptor_limit")}
    at_times = ("descriptor_limit",)


class MultiAccept(Default):
    """A worker accepts until there is nothing more."""
    variant = "multi_accept on"
    slow = True
    events = "multi_accept on;"


class ReusePort(Default):
    """Each worker has a socket of its own for the one address."""
    variant = "reuseport"
    slow = True
    listen = "reuseport"


class Deferred(Default):
    """The kernel shows a connection when it has data."""
    variant = "deferred"
    slow = True
    listen = "deferred"


class Upgrade(Default):
    """The master starts a new one, which inherits the listener, but not LD_PRELOAD."""
    variant = "SIGUSR2"
    slow = True
    checks = ("start", "reload_under_load")
    dealt_after_reload = False
    fails = {"reload_under_load": "what the last of the old workers had not taken as they left can be "
                                  "given to nobody: the new ones are not dealt to"}
    at_times = tuple(fails)

    def command(self, directory, address):
        """A master whose parent is still there ignores the signal: a shell starts it, and ends."""
        self.pid_file = directory / "nginx.pid"
        return ["/bin/sh", "-c", '"$@" & wait', "sh", *super().command(directory, address)]

    def worker_pids(self, server):
        return titled(server, "^nginx: worker process *$")

    def reload(self, server):
        server.signal(signal.SIGKILL)
        server.wait()
        master = int(self.pid_file.read_text())
        old = set(self.worker_pids(server))
        os.kill(master, signal.SIGUSR2)
        wait_until(lambda: len(self.worker_pids(server)) == 2 * self.workers,
                   lambda: "new workers\n" + server.output(), 20)
        os.kill(master, signal.SIGQUIT)
        wait_until(lambda: old.isdisjoint(self.worker_pids(server)), "the old workers end", 20)


class UpgradeWithShim(Upgrade):
    """LD_PRELOAD is passed on: the new workers are dealt to."""
    variant = "SIGUSR2, env LD_PRELOAD"
    main = "env LD_PRELOAD; env RINGDEAL_CONTROL;"
    dealt_after_reload = True
    fails = {}
    at_times = ()
