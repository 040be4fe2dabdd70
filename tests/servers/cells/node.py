from harness.cell import Cell, write

SERVER = """
require("http")
  .createServer((request, response) => response.end(String(process.pid)))
  .listen(%d, "%s");
process.on("SIGTERM", () => process.exit(0));
"""


class Single(Cell):
    """One process: ringdeald lets it accept for itself."""
    server = "node"
    variant = "one process"
    program = "/usr/bin/node"
    version_arguments = ("--version",)
    workers = 1
    own = {"descriptor_limit": "libuv accepts and closes what it has no descriptor for"}

    def command(self, directory, address):
        return [self.program, write(directory, "server.js", SERVER % (address[1], address[0]))]

    def worker_pids(self, server):
        return [server.pid]
