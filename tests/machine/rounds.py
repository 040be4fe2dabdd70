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

    def shares(self):
        """Connections of each worker, in the order of the status document."""
        counts = collections.Counter(each["worker"] for each in self.answered)
        return [counts[worker["pid"]] for worker in self.workers]

    def received(self):
        return collections.Counter(each["receiving"] for each in self.answered)

    def rings(self):
        """Connections by the ring between the receiving CPU and the one where the worker took it."""
        return collections.Counter(machine.ring(each["receiving"], each["cpu"])
                                   for each in self.answered)

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

    def figures(self):
        return "".join(each.figures() + "\n" for each in self.rounds.values())
