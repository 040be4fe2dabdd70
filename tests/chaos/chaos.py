#!/usr/bin/python3
"""Chaos: a ringdeald, several listeners, real servers, and a client that wants every connection
answered, while at random (but by the seed alone) processes are killed, stopped, drained, starved of
descriptors, joined, reloaded and restarted. What may fail is said in judge.py. At the end everything
goes on, the load ends, and nothing may be left: no connection, no count, no descriptor, no memory.

    RINGDEAL_BUILD=build/dev tests/chaos/chaos.py --seconds 3600 [--seed 7]

The same seed does the same acts at the same moments; what the machine makes of them is its own."""
import argparse
import collections
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import fleet as fleets  # noqa: E402
from acts import acts_of  # noqa: E402
from deeds import Deeds  # noqa: E402
from judge import Judge  # noqa: E402
from support import build  # noqa: E402
from support.daemon import Daemon  # noqa: E402

CLIENT = HERE / "client.py"
REST = 30.0  # until everything is as it was
MOST_BESIDE = 200  # seconds for the beginning and the end
MOST_GROWN_KIB = 32 * 1024


class Client:
    """The client's process, and what it says."""

    def __init__(self, seed, rate, targets):
        self.process = subprocess.Popen(
            [build.PYTHON, CLIENT, str(seed), str(rate), json.dumps(targets)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.said = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.said.append(json.loads(line))

    def end(self):
        """Waits for what is under way; the failures and the counts."""
        self.process.stdin.close()
        try:
            assert self.process.wait(90) == 0, "the client failed"
        finally:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        return self.said[:-1], self.said[-1]["counts"]


class Chaos:
    def __init__(self, options, directory):
        self.seed = options.seed
        self.seconds = options.seconds
        self.rate = options.rate
        self.judge = Judge()
        self.acceptors = 1 + self.seed % 2
        self.daemon = Daemon(
            directory,
            ["name: owned, bind: 127.0.0.1:0", f'name: raw, bind: "unix:{directory}/raw.sock"'],
            # Longer than anybody is stopped: what is in hand at a restart has a taker by then.
            more=f"acceptors: {self.acceptors}\ndrain_timeout: 20s")
        # After a restart it must have the same address.
        self.daemon.config.write_text(self.daemon.config.read_text().replace(
            "127.0.0.1:0}", "%s:%d}" % self.daemon.address("owned")))
        self.fleet = fleets.Fleet(directory, self.daemon)
        self.deeds = Deeds(self.daemon, self.fleet, self.judge, self.acceptors)

    # --- the run

    def run(self):
        self.fleet.start()
        client = Client(self.seed, self.rate, self.fleet.targets())
        begun = time.monotonic()
        try:
            for act in acts_of(self.seed, self.seconds):
                self.until(begun + act.at)
                self.deeds.do(act)
            self.until(begun + self.seconds)
            self.deeds.calm()
        finally:
            failures, counts = client.end()
        self.check_connections(failures, counts)
        self.check_counts()
        self.check_leaks()

    def until(self, when):
        while (left := when - time.monotonic()) > 0:
            self.deeds.look_after_daemon()
            time.sleep(max(0.0, min(left, 0.02)))  # acts come at their times

    # --- the end

    def check_connections(self, failures, counts):
        faults = self.judge.faults(failures)
        excused = [kill for kill in self.judge.kills if kill.had]
        known = len(failures) - len(faults) - sum(kill.had for kill in excused)
        print(f"connections: {counts}\nexcused: {known} greeted by who was killed, "
              f"others by kills of {'; '.join(map(str, excused)) or 'nobody'}\nacts: {dict(self.deeds.done)}")
        assert not faults, "lost without an excuse:\n" + "\n".join(map(json.dumps, faults))
        quiet = [each["name"] for each in self.fleet.targets() if not counts.get(each["name"])]
        assert not quiet, f"nobody was answered by {quiet}"

    def check_counts(self):
        def nothing_open(status):
            return all(worker["active"] == worker["pending"] == 0
                       for listener in status["listeners"] for worker in listener["workers"])

        def nothing_kept(status):
            return all(each["kept"] == 0 for each in status["listeners"])
        self.daemon.wait_for(lambda status: nothing_open(status) and nothing_kept(status),
                             "all counts are zero", REST)
        clamped = {each["name"] or each["address"]: each["counters_clamped"]
                   for each in self.daemon.status()["listeners"] if each["counters_clamped"]}
        assert not clamped, f"counts of honest workers were corrected: {clamped}"

    def check_leaks(self):
        """With its servers gone ringdeald is what it was at its start."""
        started = rss_of(self.daemon.pid)
        masters = [program.pid for server in self.fleet.servers for program in server.programs]
        everybody = [*self.fleet.everybody(), *masters]
        for server in self.fleet.servers:
            server.close()
        fleets.wait_gone(everybody)
        self.daemon.assert_nothing_leaked()
        self.daemon.process.signal(signal.SIGTERM)
        assert self.daemon.process.wait(30) == 0, self.daemon.log()
        self.daemon.start()
        fresh = rss_of(self.daemon.pid)
        print(f"resident: {started} KiB, fresh {fresh} KiB")
        if not is_sanitized():  # which keeps what was freed
            assert started <= fresh + MOST_GROWN_KIB, f"ringdeald has {started} KiB, a fresh one {fresh}"

    def close(self):
        self.fleet.close()
        self.daemon.process.kill()

    def story(self):
        parts = ["--- acts", *self.deeds.log, "--- ringdeald", *self.deeds.daemon_logs[-3:], self.daemon.log()]
        for server in self.fleet.servers:
            for program in server.programs:
                parts += [f"--- {server.name} {program.pid}", program.process.output()[-2000:]]
        parts += [f"--- {name}, ended\n{text[-2000:]}" for name, text in self.fleet.logs if text.strip() != "ready"]
        return "\n".join(parts)


def is_sanitized():
    cache = build.BUILD / "CMakeCache.txt"
    return cache.exists() and bool(re.search("^RINGDEAL_SANITIZE:.*=.", cache.read_text(), re.M))


def rss_of(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def give_up(number, _frame):
    """What hangs fails, and its processes are ended."""
    raise AssertionError(f"given up: {signal.Signals(number).name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="default: another one each time")
    parser.add_argument("--rate", type=float, default=150, help="connections a second")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(10 ** 6)
    print(f"seed {options.seed}, {options.seconds:g} s, {build.BUILD}", flush=True)
    signal.signal(signal.SIGTERM, give_up)
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(int(options.seconds) + MOST_BESIDE)
    with tempfile.TemporaryDirectory(prefix="chaos-") as directory:
        pathlib.Path(directory).chmod(0o755)
        chaos = Chaos(options, pathlib.Path(directory))
        try:
            chaos.run()
        except BaseException:
            print(chaos.story())
            print(f"again: tests/chaos/chaos.py --seed {options.seed} --seconds {options.seconds:g}")
            raise
        finally:
            chaos.close()
    print("nothing lost, nothing left")


if __name__ == "__main__":
    main()
