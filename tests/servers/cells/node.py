from harness import built
from harness.cell import Cell, SingleProcess, write

SERVER = """
require("http")
  .createServer((request, response) => response.end(String(process.pid)))
  .listen(%d, "%s");
process.on("SIGTERM", () => process.exit(0));
"""


CLUSTER = """
const cluster = require("cluster");
if (cluster.isPrimary) {
  for (let count = 0; count < %d; ++count) cluster.fork();
  process.on("SIGTERM", () => cluster.disconnect(() => process.exit(0)));
} else {
  process.on("SIGTERM", () => {});
  require("http")
    .createServer((request, response) => response.end(String(process.pid)))
    .listen(%d, "%s");
}
"""


class Single(SingleProcess):
    """One process: ringdeald lets it accept for itself."""
    server = "node"
    variant = "one process"
    program = "/usr/bin/node"
    version_arguments = ("--version",)
    slow = False
    own = {"descriptor_limit": "libuv accepts and closes what it has no descriptor for"}

    def command(self, directory, address):
        return [self.program, write(directory, "server.js", SERVER % (address[1], address[0]))]


class Current(Single):
    """Its libuv would add the listener by io_uring, which the shim refuses it."""
    variant = "24, one process"
    slow = True

    @property
    def program(self):
        return str(built.npm_package("node@24", "bin/node"))


class Cluster(Cell):
    """The primary only binds; each worker is passed the socket and listens."""
    server = "node"
    variant = "cluster, SCHED_NONE"
    program = Single.program
    version_arguments = Single.version_arguments
    slow = True
    own = Single.own
    environment = {"NODE_CLUSTER_SCHED_POLICY": "none"}

    def command(self, directory, address):
        return [self.program, write(directory, "cluster.js",
                                    CLUSTER % (self.workers, address[1], address[0]))]


class ClusterRoundRobin(Cluster):
    """The primary accepts, and passes connections on by turns."""
    variant = "cluster, SCHED_RR"
    environment = {"NODE_CLUSTER_SCHED_POLICY": "rr"}
    own = Single.own | {
        "burst": "the primary passes connections on to whichever worker is free",
        "worker_killed": "what was passed on to a worker is lost with it"}
    all_join = False
