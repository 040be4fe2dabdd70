from harness.cell import Cell, write

SERVER = """
import os, signal
from tornado import httpserver, ioloop, netutil, process, web

class Pid(web.RequestHandler):
    def get(self):
        self.write(str(os.getpid()))

sockets = netutil.bind_sockets({port}, "{host}")
process.fork_processes({workers})
server = httpserver.HTTPServer(web.Application([("/", Pid)]))
server.add_sockets(sockets)
ioloop.IOLoop.current().start()
"""
VERSION = "import tornado; print(tornado.version)"


class Forked(Cell):
    """Forks after it listens; each worker is an asyncio loop."""
    server = "tornado"
    variant = "2 processes"
    program = "/usr/bin/python3"
    version_arguments = ("-c", VERSION)
    module = "tornado"
    slow = True
    stop_signal = None  # SIGTERM ends the parent alone

    def command(self, directory, address):
        return [self.program, write(directory, "server.py", SERVER.format(
            host=address[0], port=address[1], workers=self.workers))]
