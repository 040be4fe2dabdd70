"""ringdeald's CPU time for each connection with many workers over that with 2, and with many connections
open over that with 10, and the memory that it has. The two ringdealds of a comparison take turns."""

import json
import pathlib
import re
import statistics
import subprocess

from bench.measuring import figures, show
from servers import Failure, Lab, Ringdeald, await_true, free_address

PROCESSES = 6  # workers and clients are spread over so many: one may have 20,000 descriptors
FEW_OPEN = 10


class Crowd:
    """One bench/crowd, which answers each order when it has followed it."""

    def __init__(self, lab, *arguments):
        self.process = subprocess.Popen(
            [str(word) for word in (lab.build / "bench/crowd", *arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        lab.processes.append(self.process)

    def order(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def await_done(self):
        if self.process.stdout.readline() != "done\n":
            raise Failure(f"{' '.join(self.process.args)}: ended early")


def parts(count):
    return [count // PROCESSES + (place < count % PROCESSES) for place in range(PROCESSES)]


class Dealt:
    """A ringdeald with `workers` workers and `kept` open connections."""

    def __init__(self, lab, name, workers, kept=0):
        self.daemon = Ringdeald(lab, name, {"bench": free_address()})
        listener = self.document()["listeners"][0]
        self.crowds = [Crowd(lab, "workers", self.daemon.control, "bench", count)
                       for count in parts(workers) if count]
        for crowd in self.crowds:
            crowd.await_done()
        address = listener["address"]
        self.visitor = Crowd(lab, "clients", address, "127.0.0.1")
        holders = [(Crowd(lab, "clients", address, f"127.9.{place}.1"), count)
                   for place, count in enumerate(parts(kept)) if count]
        for crowd, count in holders:
            crowd.order(f"hold {count}")
        for crowd, _ in holders:
            crowd.await_done()
        await_true(f"{kept} connections open", lambda: self.open() == kept, self.daemon.process)

    def document(self):
        return json.loads(self.daemon.lab.ringdeal("status", "--control", self.daemon.control, "--json"))

    def open(self):
        return sum(each["active"] for each in self.document()["listeners"][0]["workers"])

    def thread_ns(self):
        """CPU time of each thread, the control thread first."""
        tasks = sorted(pathlib.Path(f"/proc/{self.daemon.process.pid}/task").iterdir(),
                       key=lambda task: int(task.name))
        return [int((task / "schedstat").read_text().split()[0]) for task in tasks]

    def cost(self, connections):
        """Nanoseconds for each connection: of all threads, and of the acceptor, the busiest of those that
        are not the control thread."""
        before = self.thread_ns()
        self.visitor.order(f"visit {connections}")
        self.visitor.await_done()
        used = [after - earlier for after, earlier in zip(self.thread_ns(), before)]
        return {"all": sum(used) / connections, "acceptor": max(used[1:]) / connections}

    def resident_mib(self):
        status = pathlib.Path(f"/proc/{self.daemon.process.pid}/status").read_text()
        return round(int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.M).group(1)) / 1024, 1)


def compare(name, few, many, quick):
    rounds, connections = (9, 1000) if quick else (21, 4000)
    for each in (few, many):
        each.cost(connections // 4)  # warm up
    costs = [(few.cost(connections), many.cost(connections)) for _ in range(rounds)]
    shown = {"few_resident_mib": few.resident_mib(), "many_resident_mib": many.resident_mib()}
    for threads in ("all", "acceptor"):
        shown[f"{threads}_over_few"] = figures([more[threads] / less[threads] for less, more in costs])
        for side, name_of in enumerate(("few", "many")):
            shown[f"{threads}_{name_of}_ns"] = round(statistics.median(each[side][threads]
                                                                       for each in costs))
        show(f"scale, {name}: CPU, {threads}", shown[f"{threads}_over_few"])
    print(f"  {shown['all_few_ns']} and {shown['all_many_ns']} ns a connection, "
          f"{shown['few_resident_mib']} and {shown['many_resident_mib']} MiB resident")
    return shown


def measure(build, quick):
    result = {}
    for workers in (16, 128, 1024):
        with Lab(build) as lab:
            few, many = Dealt(lab, "few", 2), Dealt(lab, "many", workers)
            result[f"workers_{workers}"] = compare(f"{workers} workers over 2", few, many, quick)
    for kept in (1000, 20_000) if quick else (1000, 10_000, 100_000):
        with Lab(build) as lab:
            few, many = Dealt(lab, "few", 6, FEW_OPEN), Dealt(lab, "many", 6, kept)
            result[f"open_{kept}"] = compare(f"{kept} open over {FEW_OPEN}", few, many, quick)
    return result
