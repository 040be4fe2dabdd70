import signal

from support.clients import free_port

from harness.cell import Cell, as_root, write

CONFIGURATION = """
ServerRoot {directory}
ServerName localhost
PidFile {directory}/pid
ErrorLog /dev/stderr
Mutex file:{directory}
{user}
LoadModule mpm_{mpm}_module {modules}/mod_mpm_{mpm}.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule lua_module {modules}/mod_lua.so
{listen}
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 30
{processes}
<Location />
  SetHandler lua-script
</Location>
DocumentRoot {directory}/htdocs
LuaMapHandler ^/ {directory}/pid.lua
"""
PID = """
function handle(r)
  r.content_type = "text/plain"
  r:write(io.open("/proc/self/stat"):read("n"))
  return 0
end
"""


class Apache(Cell):
    server = "Apache"
    program = "/usr/sbin/apache2"
    reload_signal = signal.SIGUSR1
    stop_signal = signal.SIGWINCH
    mpm = ""
    processes = ""

    def listen(self, address):
        return "Listen %s:%d" % address

    def command(self, directory, address):
        write(directory, "pid.lua", PID)
        (directory / "htdocs").mkdir()
        configuration = write(directory, "apache.conf", CONFIGURATION.format(
            directory=directory, user=as_root("User www-data\nGroup www-data"), mpm=self.mpm,
            modules="/usr/lib/apache2/modules", listen=self.listen(address),
            processes=self.processes))
        return [self.program, "-f", configuration, "-D", "FOREGROUND"]


class Prefork(Apache):
    """A child blocks in accept and serves one connection."""
    variant = "prefork"
    mpm = "prefork"
    workers = 4
    one_at_a_time = True
    processes = "StartServers 4\nMinSpareServers 1\nMaxSpareServers 4\nMaxRequestWorkers 4"


NOT_ASKED = ("a child that has not accepted yet is not asked as long as another one has, even if that "
             "one takes nothing more")
LOCK = ("a child watches its listeners only while it holds a lock: connections are dealt to one "
        "that waits for the lock, and not taken back while the one that watches has not accepted")


def behind_the_lock():
    """All that needs a connection to be taken."""
    return {check: LOCK for check in (
        "first_request", "burst", "connection_per_request", "keep_alive", "close_seen",
        "reload_under_load", "stop_under_load", "worker_killed", "daemon_killed",
        "descriptor_limit")}


class PreforkTwo(Prefork):
    """With two sockets a child waits in a poll, and only while it holds a lock."""
    variant = "prefork, two Listen"
    slow = True
    fails = behind_the_lock()
    at_times = tuple(fails)

    def listen(self, address):
        return super().listen(address) + "\nListen 127.0.0.1:%d" % free_port()


class Event(Apache):
    """One thread of a child accepts, another one has added the listener to its epoll set."""
    variant = "event"
    mpm = "event"
    slow = True
    own = {"descriptor_limit": "a child that has no descriptor left ends"}
    processes = """
StartServers 2
ServerLimit 6
ThreadsPerChild 25
MinSpareThreads 26
MaxSpareThreads 75
MaxRequestWorkers 50
"""


class EventTwo(Event):
    variant = "event, two Listen"
    fails = {"burst": NOT_ASKED}
    at_times = tuple(fails)

    def listen(self, address):
        return super().listen(address) + "\nListen 127.0.0.1:%d" % free_port()


class Worker(Event):
    """A thread keeps its connection; as many connections as threads are served."""
    variant = "worker"
    mpm = "worker"
    fails = {"burst": NOT_ASKED}
    at_times = tuple(fails)


class WorkerTwo(EventTwo):
    variant = "worker, two Listen"
    mpm = "worker"
    fails = behind_the_lock()
    at_times = tuple(fails)
