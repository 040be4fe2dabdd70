import signal

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
