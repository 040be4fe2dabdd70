"""How evenly connections are spread over 2, 4 and 16 workers, max over the even share: a burst, a ramp
and one by one, kept open; short and long ones mixed; and one-shot connections in their hundreds of
thousands on 4."""

import contextlib
import socket
import statistics

from bench.setups import WebServer, setups, take_turns

REQUEST = b"GET / HTTP/1.1\r\nHost: bench\r\n\r\n"
KINDS = ("shared", "reuseport", "dealt")


def connect(setup, opened):
    host, _, port = setup.address.rpartition(":")
    return opened.enter_context(socket.create_connection((host, int(port)), 20))


def worker_of(connection):
    connection.sendall(REQUEST)
    answer = b""
    while b"\r\n\r\n" not in answer or not answer.endswith(b"\n"):
        answer += connection.recv(1024)
    return int(answer.rpartition(b"\r\n\r\n")[2])


def shares(setup, workers):
    counts = {}
    for worker in workers:
        counts[worker] = counts.get(worker, 0) + 1
    return sorted(counts.values(), reverse=True) + [0] * (setup.workers - len(counts))


def burst(setup, count):
    with contextlib.ExitStack() as opened:
        connections = [connect(setup, opened) for _ in range(count)]
        return shares(setup, [worker_of(each) for each in connections])


def ramp(setup, count):
    with contextlib.ExitStack() as opened:
        return shares(setup, [worker_of(connect(setup, opened)) for _ in range(count)])


def one_by_one(setup, count):
    served = []
    for _ in range(count):
        with contextlib.ExitStack() as opened:
            served.append(worker_of(connect(setup, opened)))
    return shares(setup, served)


def mixed(setup, count):
    """Every fourth one stays: how the ones that stay are spread counts."""
    with contextlib.ExitStack() as kept:
        stay = []
        for number in range(4 * count):
            with contextlib.ExitStack() as opened:
                if number % 4 == 0:
                    stay.append(worker_of(connect(setup, kept)))
                else:
                    worker_of(connect(setup, opened))
        return shares(setup, stay)


SHAPES = {"burst": burst, "ramp": ramp, "one_by_one": one_by_one, "mixed": mixed}


def one_shots(setup, count):
    return sorted(setup.load(32, "each", requests=count)["workers"].values(), reverse=True)


def row(name, counts_by_kind, result):
    """The most uneven round and the median one of each setup."""
    shown = result[name] = {}
    cells = []
    for kind, rounds in counts_by_kind.items():
        over = [counts[0] * len(counts) / sum(counts) for counts in rounds]
        apart = max(counts[0] - counts[-1] for counts in rounds)
        shown[kind] = {"max_over_even": round(max(over), 3),
                       "median_over_even": round(statistics.median(over), 3), "most_apart": apart}
        cells.append(f"{kind} {max(over):.3f} ({apart} apart)")
    print(f"spread, {name}: ".ljust(36) + "   ".join(cells))


def measure(build, quick):
    rounds = 9
    result = {}
    for workers in (2, 4, 16):
        with setups(build, KINDS, WebServer, workers) as up:
            count = 16 * workers
            for shape, open_all in SHAPES.items():
                row(f"{workers} workers, {shape}",
                    take_turns(up, rounds, lambda s: open_all(s, count)), result)
            if workers == 4:
                row("4 workers, one-shot", take_turns(
                    up, 1, lambda s: one_shots(s, 20_000 if quick else 400_000)), result)
    return result
