"""What the shim adds to the calls of a program that listens: bench/shim bare, and as a worker of a
ringdeald, in turn. Its calls of the clock show what reading it costs here."""

import json
import statistics
import subprocess

from bench.measuring import figures
from servers import Failure, Lab, Ringdeald

CALLS = ("accept", "close_connection", "dup_and_close", "epoll_wait", "poll", "read", "write")


def one_round(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: {done.stderr}")
    return json.loads(done.stdout)


def added(bare, shimmed):
    """Nanoseconds; conclusive where the middle half of the rounds differs less than the median."""
    differences = [one - other for one, other in zip(shimmed, bare)]
    quartiles = statistics.quantiles(differences, n=4)
    median = statistics.median(differences)
    return {"median": round(median, 1), "min": round(min(differences), 1),
            "max": round(max(differences), 1),
            "conclusive": quartiles[2] - quartiles[0] < abs(median)}


def measure(build, quick):
    rounds, batches = (9, 15) if quick else (31, 100)
    bare, shimmed = [], []
    with Lab(build) as lab:
        # With a limit, a lone worker is dealt to: else it would soon accept by itself.
        daemon = Ringdeald(lab, "ringdeald", {}, adopted={"max_active": 1_000_000})
        program = [build / "bench/shim", batches]
        under = [build / "cli/ringdeal", "run", "--require", "--control", daemon.control, "--"]
        for _ in range(rounds):
            bare.append(one_round(program))
            shimmed.append(one_round([*under, *program]))
    clock = round(statistics.median(each["clock"] for each in bare), 1)
    result = {"clock_ns": clock}
    print(f"shim: reading the clock takes {clock:.0f} ns")
    for call in CALLS:
        before = [each[call] for each in bare]
        after = [each[call] for each in shimmed]
        value = result[call] = {
            "bare_ns": round(statistics.median(before), 1), "added_ns": added(before, after),
            "over_bare": figures([one / other for one, other in zip(after, before)])}
        extra = value["added_ns"]
        note = "" if extra["conclusive"] else "   no conclusion"
        print(f"shim, {call}: {value['bare_ns']:.0f} ns, added".ljust(48) +
              f" {extra['median']:+.0f} ns  ({extra['min']:+.0f} to {extra['max']:+.0f}){note}")
    return result
