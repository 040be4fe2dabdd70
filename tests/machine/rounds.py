"""What happened in the machine, round by round, and its figures. Where CPUs lie is taken from
machine.py, never from ringdeald."""
import collections

import machine


class Round:
    """Connections in the order of their beginning; the status document at the end."""

    def __init__(self, name):
        self.name = name
        self.connections = []
        self.status = None

    @property
    def listener(self):
        return self.status["listeners"][0]

    @property
    def workers(self):
        return self.listener["workers"]

    @property
    def answered(self):
        return [each for each in self.connections if "worker" in each]

    def settled(self, since):
        """The round without its beginning."""
        part = Round(f"{self.name}, after {since}")
        part.connections, part.status = self.connections[since:], self.status
        return part

    def accepts(self):
        """The CPUs on which each worker took its connections, by its pid."""
        cpus = {worker["pid"]: [] for worker in self.workers}
        for each in self.answered:
            cpus[each["worker"]].append(each["cpu"])
        return cpus

    def shares(self):
        """Connections of each worker."""
        return [len(cpus) for cpus in self.accepts().values()]

    def received(self):
        return collections.Counter(each["receiving"] for each in self.answered)

    def rings(self):
        """Connections by the ring between the receiving CPU and the one where the worker took it."""
        return collections.Counter(machine.ring(each["receiving"], each["cpu"])
                                   for each in self.answered)

    def near(self):
        """The part of the connections that stayed in the socket which received them."""
        rings = self.rings()
        return 1 - rings[machine.RINGS[-1]] / rings.total()

    def near_at_most(self):
        """The same if all workers get alike and no connection leaves its socket without need. A
        worker counts where it was most."""
        received = collections.Counter(machine.socket(each["receiving"]) for each in self.answered)
        homes = collections.Counter(
            collections.Counter(map(machine.socket, cpus)).most_common(1)[0][0]
            for cpus in self.accepts().values() if cpus)
        return sum(min(received[socket] / received.total(), homes[socket] / homes.total())
                   for socket in homes)

    def figures(self):
        rings = self.rings()
        count = len(self.answered) or 1
        parts = "  ".join(f"{ring}: {100 * rings[ring] / count:.1f} %" for ring in machine.RINGS)
        shares = self.shares()
        return (f"{self.name}: {len(self.answered)} connections; by ring  {parts}; "
                f"a worker {min(shares)} to {max(shares)}")


class Run:
    def __init__(self, lines):
        self.tree = {}  # what hwloc said of each CPU
        self.rounds = {}
        for line in lines:
            if "round" in line:
                current = self.rounds[line["round"]] = Round(line["round"])
            elif "pu" in line:
                self.tree[line["pu"]] = line
            elif "client" in line:
                current.connections.append(line)
            else:
                current.status = line
