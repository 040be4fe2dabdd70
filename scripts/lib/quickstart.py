"""The spread of connections over two workers of real servers, bare and dealt. Run by
scripts/quickstart, which installs and builds first."""

import argparse
import json
import signal
import sys

from servers import Failure, Lab, Ringdeald, Server, free_address, run

SERVERS = {"python": "Python asyncio, prefork", "nginx": "nginx"}
MODES = {"bare": "bare", "owned": "dealt, owned listener", "adopted": "dealt, adopted"}
SHAPES = [("burst", 32), ("ramp", 32), ("burst", 8)]


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/quickstart")
    parser.add_argument("--stay", action="store_true", help="keep all up until Ctrl-C")
    parser.add_argument("--repeat", type=int, default=1, metavar="N",
                        help="show the most uneven of N rounds")
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def measure(lab, server, shape, connections):
    """The connections of each worker, most first."""
    server.await_idle()
    spread = json.loads(lab.ringdeal(
        "spread", server.address, "-n", connections, "--shape", shape,
        "--workers-of", server.process.pid, "--json"))
    counts = sorted((worker["connections"] for worker in spread["workers"]), reverse=True)
    if sum(counts) != connections:
        raise Failure(f"{server.address}: {sum(counts)} of {connections} connections have a worker")
    return counts + [0] * (2 - len(counts))


def worst_of(lab, server, repeat, shape, connections):
    rounds = [measure(lab, server, shape, connections) for _ in range(repeat)]
    return max(rounds, key=lambda counts: counts[0] - counts[-1])


def show_table(rows):
    heads = [f"{shape} of {connections}" for shape, connections in SHAPES]
    print(f"\n{'connections of each worker':34}" + "".join(f"{head:>14}" for head in heads))
    for kind, title in SERVERS.items():
        print(title)
        for mode, label in MODES.items():
            cells = (" : ".join(map(str, counts)) for counts in rows[kind, mode])
            print(f"  {label:32}" + "".join(f"{cell:>14}" for cell in cells))
    print()


def stay(servers, http):
    for (kind, mode), server in servers.items():
        print(f"{SERVERS[kind]:24} {MODES[mode]:24} http://{server.address}/")
    print(f"metrics: http://{http}/metrics    end with Ctrl-C")
    sys.stdout.flush()
    signal.sigwait({signal.SIGINT, signal.SIGTERM})


def demonstrate(lab, options):
    http = free_address()
    owned_addresses = {kind: free_address() for kind in SERVERS}
    daemons = {
        "bare": None,
        "owned": Ringdeald(lab, "ringdeald-owned", owned_addresses, http),
        "adopted": Ringdeald(lab, "ringdeald-adopted", {}),
    }
    servers, rows = {}, {}
    for kind in SERVERS:
        for mode in MODES:
            address = owned_addresses[kind] if mode == "owned" else free_address()
            server = Server(lab, kind, f"{kind}-{mode}", address, daemons[mode])
            servers[kind, mode] = server
            rows[kind, mode] = [worst_of(lab, server, options.repeat, *shape) for shape in SHAPES]
            if not options.stay:
                lab.end(server.process)
    show_table(rows)
    if options.repeat > 1:
        print(f"Each cell is the most uneven of {options.repeat} rounds.")
    if options.stay:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        stay(servers, http)
    uneven = [f"{SERVERS[kind]}, {MODES[mode]}" for (kind, mode), cells in rows.items()
              if mode != "bare" and any(counts[0] - counts[-1] > 1 for counts in cells)]
    if uneven:
        raise Failure("not even to one connection: " + "; ".join(uneven))
    return 0


def main():
    options = parse_arguments()
    with Lab(options.build) as lab:
        try:
            return demonstrate(lab, options)
        except Failure:
            print(lab.logs(), file=sys.stderr)
            raise


if __name__ == "__main__":
    run(main)
