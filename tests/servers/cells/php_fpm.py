import glob
import pathlib
import signal
import tempfile

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
catch_workers_output = yes
{processes}
"""
SCRIPT = "<?php echo getmypid();"
# One for all: what FastCGI asks for names it.
PAGE = pathlib.Path(tempfile.gettempdir()) / "ringdeal-pid.php"


class PhpFpm(Cell):
    server = "php-fpm"
    program = next(iter(sorted(glob.glob("/usr/sbin/php-fpm*"))), "/usr/sbin/php-fpm")
    reload_signal = signal.SIGUSR2
    stop_signal = signal.SIGQUIT
    one_at_a_time = True
    protocol = FastCgi(PAGE)
    processes = ""

    def command(self, directory, address):
        PAGE.write_text(SCRIPT)
        where = address if self.unix else "%s:%d" % address
        configuration = write(directory, "php-fpm.conf", CONFIGURATION.format(
            directory=directory, user=as_root("user = www-data\ngroup = www-data"), address=where,
            processes=self.processes))
        return [self.program, "-F", "-n", "-y", configuration, *(["-R"] if as_root("-R") else [])]


class Static(PhpFpm):
    """A child blocks in accept, on a duplicate of the listener."""
    variant = "static"
    fails = {"reload_under_load": "the master executes itself: ringdeald sees its last process leave "
                                  "and does not adopt from the children, which are of another user"}
    at_times = ("reload_under_load",)
    workers = 4
    processes = "pm = static\npm.max_children = 4"
