import signal

from harness.cell import Cell, as_root, write

CONFIGURATION = """
server.document-root = "{directory}"
server.bind = "{host}"
server.port = {port}
server.max-worker = 2
server.max-keep-alive-requests = 100000
server.modules = ("mod_magnet")
{user}
magnet.attract-raw-url-to = ("{directory}/pid.lua")
"""
PID = """
lighty.content = { io.open("/proc/self/stat"):read("*n") }
return 200
"""


class MaxWorker(Cell):
    """Workers accept until there is nothing more, a hundred at most."""
    server = "lighttpd"
    variant = "server.max-worker 2"
    program = "/usr/sbin/lighttpd"
    slow = True
    stop_signal = signal.SIGINT

    def command(self, directory, address):
        write(directory, "pid.lua", PID)
        user = as_root('server.username = "www-data"\nserver.groupname = "www-data"')
        configuration = write(directory, "lighttpd.conf", CONFIGURATION.format(
            directory=directory, host=address[0], port=address[1], user=user))
        return [self.program, "-D", "-f", configuration]
