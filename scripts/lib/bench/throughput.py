"""CPU time for each request (all server-side processes) and requests a second, with kept connections and
with a connection for each request, of nginx and of a small event-loop server behind each setup, over
the shared listener in the same round."""

import statistics

from bench.measuring import figures, show
from bench.setups import KINDS, Nginx, WebServer, available, setups, take_turns

SERVERS = {"small": WebServer, "nginx": Nginx}
CLIENTS = 32


def compare(results, base, key):
    bare = [each[key] for each in results[base]]
    return {kind: figures([each[key] / floor for each, floor in zip(rounds, bare)])
            for kind, rounds in results.items() if kind != base}


def measure(build, quick):
    rounds, seconds = (9, 0.12) if quick else (9, 0.8)
    kinds = available(KINDS)
    result = {}
    for server, make in SERVERS.items():
        with setups(build, kinds, make) as up:
            for shape in ("each", "kept"):
                seen = take_turns(up, rounds, lambda s: s.load(CLIENTS, shape, seconds=seconds))
                shown = result[f"{server}_{shape}"] = {
                    "cpu_us": {kind: round(statistics.median(each["cpu_us"] for each in got), 1)
                               for kind, got in seen.items()},
                    "cpu_over_shared": compare(seen, "shared", "cpu_us"),
                    "rate_over_shared": compare(seen, "shared", "rate")}
                print(f"throughput, {server}, {shape}: shared {shown['cpu_us']['shared']:.1f} us a request")
                for kind in kinds[1:]:
                    show(f"  {kind}, CPU {shown['cpu_us'][kind]:.1f} us", shown["cpu_over_shared"][kind])
                    show(f"  {kind}, requests a second", shown["rate_over_shared"][kind])
                if "haproxy" in seen:
                    proxied = compare(seen, "dealt", "cpu_us")["haproxy"]
                    shown["haproxy_over_dealt"] = proxied
                    show("  haproxy over dealt, CPU", proxied)
    return result
