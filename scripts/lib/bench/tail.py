"""How long the slowest requests take where some hold a worker up: requests that compute for 10 ms, a long
one among short ones, workers that wait for a device, and node's cluster module. p99 of each setup over
the best of the others and over the shared listener."""

import statistics
import subprocess
import time

from bench.measuring import figures, show
from bench.setups import Node, Setup, WebServer, available, program, setups, take_turns
from servers import Failure, Lab

KINDS = ("shared", "reuseport", "dealt", "haproxy")


def beside_long(setup, milliseconds, seconds):
    """Short requests, while one of `milliseconds` computes in one worker."""
    long = subprocess.Popen(
        [setup.lab.build / "bench/load", setup.address, "1", "each", f"/spin/{milliseconds * 1000}",
         "1", "1"], stdout=subprocess.DEVNULL)
    try:
        return setup.load(16, "each", seconds=seconds)
    finally:
        if long.wait() != 0:
            raise Failure(f"the long request to {setup.name} failed")


def compare(name, seen, result):
    """p50, p99, max and their deviation of each setup, and the ratios of the p99."""
    others = [kind for kind in seen if kind != "dealt"]
    shown = result[name] = {kind: {
        key: round(statistics.median(each[f"{key}_us"] for each in rounds) / 1000, 2)
        for key in ("p50", "p99", "max")} for kind, rounds in seen.items()}
    print(f"tail, {name}")
    for kind, rounds in seen.items():
        shown[kind]["p99_deviation"] = round(statistics.stdev(each["p99_us"] for each in rounds) / 1000, 2)
        print(f"  {kind}:".ljust(16) + "p50 {p50} ms   p99 {p99} ms (deviation {p99_deviation})   "
              "max {max} ms".format(**shown[kind]))
    dealt = [each["p99_us"] for each in seen["dealt"]]
    best = min(others, key=lambda kind: shown[kind]["p99"])
    for kind in dict.fromkeys([best, "shared"]):
        ratios = [one / each["p99_us"] for one, each in zip(dealt, seen[kind])]
        shown[f"p99_over_{kind}"] = figures(ratios)
        show(f"  dealt over {kind}, p99" + (" (best other)" if kind == best else ""),
             shown[f"p99_over_{kind}"])


def devices(build, rounds, seconds, kinds, result):
    """Two threads a worker, which sleep 1.2 ms for each request."""
    with Lab(build) as lab:
        up = {f"{kind} {workers}": Setup(lab, kind, WebServer(lab, threads=2), workers)
              for workers in (1, 2) for kind in (("dealt",) if workers == 1 else kinds)}
        time.sleep(0.3)  # nobody tells when a bare worker has come to its event loop
        for clients in (8, 32):
            seen = take_turns(up, rounds, lambda s: s.load(clients, "kept", "/nap/1200", seconds))
            compare(f"device, 2 workers, c = {clients}", {kind: seen[f"{kind} 2"] for kind in kinds}, result)
            rates = [two["rate"] / one["rate"] for one, two in zip(seen["dealt 1"], seen["dealt 2"])]
            value = result[f"device, c = {clients}: two workers over one"] = figures(rates)
            show(f"  dealt, c = {clients}: rate of two workers over one", value)


def measure(build, quick):
    rounds = 9
    seconds, long_ms, requests = (0.08, 80, 16) if quick else (1.5, 1500, 200)
    kinds = available(KINDS)
    result = {}

    def spin(setup):
        return setup.load(200, "each", "/spin/10000", requests=requests)

    def beside(setup):
        return beside_long(setup, long_ms, seconds)

    with setups(build, kinds, WebServer) as up:
        compare("10 ms each, c = 200", take_turns(up, rounds, spin), result)
        compare(f"one of {long_ms} ms among short ones", take_turns(up, rounds, beside), result)
    devices(build, rounds, seconds / 2, kinds, result)
    if program("node") is None:
        print("left out: node, which is not installed")
        return result
    with setups(build, ("shared", "dealt"), Node) as up:
        compare("node (shared: its cluster module), 10 ms each, c = 200", take_turns(up, rounds, spin), result)
        compare(f"node, one of {long_ms} ms among short ones", take_turns(up, rounds, beside), result)
    return result
