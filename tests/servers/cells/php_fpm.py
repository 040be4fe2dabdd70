import glob
import signal

from harness.cell import Cell, as_root, write
from harness.fastcgi import FastCgi

CONFIGURATION = """
[global]
daemonize = no
pid = {directory}/pid
error_log = /proc/self/fd/2
process_control_timeout = 10s
[www]
{user}
listen = {address}
listen.mode = 0666
chdir = {directory}
catch_workers_output = yes
{processes}
"""
SCRIPT = "<?php echo getmypid();"


class PhpFpm(Cell):
    server = "php-fpm"
    program = next(iter(sorted(glob.glob("/usr/sbin/php-fpm*"))), "/usr/sbin/php-fpm")
    reload_signal = signal.SIGUSR2
    stop_signal = signal.SIGQUIT
    one_at_a_time = True
    protocol = FastCgi("/proc/self/cwd/pid.php")
    processes = ""

    def command(self, directory, address):
        write(directory, "pid.php", SCRIPT)
        where = address if self.unix else "%s:%d" % address
        configuration = write(directory, "php-fpm.conf", CONFIGURATION.format(
            directory=directory, user=as_root("user = www-data\ngroup = www-data"), address=where,
            processes=self.processes))
        return [self.program, "-F", "-n", "-y", configuration, *(["-R"] if as_root("-R") else [])]


class Static(PhpFpm):
    """A child blocks in accept, on a duplicate of the listener."""
    variant = "static"
    workers = 4
    processes = "pm = static\npm.max_children = 4"


class StaticUnix(Static):
    variant = "static, UNIX socket"
    slow = True
    unix = True


class Dynamic(PhpFpm):
    """The master starts children ahead of what comes."""
    variant = "dynamic"
    slow = True
    elastic = True
    processes = """pm = dynamic
pm.max_children = 4
pm.start_servers = 2
pm.min_spare_servers = 1
pm.max_spare_servers = 4"""


class DynamicUnix(Dynamic):
    variant = "dynamic, UNIX socket"
    unix = True


class OnDemand(PhpFpm):
    """The master watches the listener, and starts a child when a connection comes."""
    variant = "ondemand"
    slow = True
    elastic = True
    workers = 1
    burst = 4
    own = {"burst": "the master starts one child for an event, however many connections came",
           "worker_killed": "the master starts no other child for what waits while one is stopped"}
    processes = "pm = ondemand\npm.max_children = 4\npm.process_idle_timeout = 60s"


class OnDemandUnix(OnDemand):
    variant = "ondemand, UNIX socket"
    unix = True
