"""What the suites of scripts/bench share: CPU time, ratios with their spread, programs of bench/."""

import json
import statistics
import subprocess
import time

from servers import Failure


def cpu_seconds(pids):
    """CPU time of whole processes, to the nanosecond: the clock of clock_getcpuclockid(3)."""
    return sum(time.clock_gettime((~pid << 3) | 2) for pid in pids)


def figures(ratios):
    quartiles = statistics.quantiles(ratios, n=4)
    median = statistics.median(ratios)
    return {
        "median": round(median, 3),
        "min": round(min(ratios), 3),
        "max": round(max(ratios), 3),
        "conclusive": quartiles[2] - quartiles[0] < abs(median - 1),
    }


def show(name, value):
    note = "" if value["conclusive"] else "   no conclusion"
    print(f"{name:48} {value['median']:.2f}  ({value['min']:.2f} to {value['max']:.2f}){note}")


def program(build, name, *arguments):
    """What a program of bench/ prints, read as JSON."""
    output = subprocess.run([build / "bench" / name, *map(str, arguments)],
                            stdout=subprocess.PIPE, text=True, check=False)
    if output.returncode != 0:
        raise Failure(f"bench/{name} failed")
    return json.loads(output.stdout)
