"""ringdeald's CPU time for each connection over that of the system calls it needs."""

from bench.measuring import program, show


def measure(build, quick):
    rounds, connections = (9, 1000) if quick else (15, 4000)
    shapes = program(build, "handoff", build / "daemon/ringdeald", rounds, connections, "json")
    for shape, value in shapes.items():
        show(f"handoff, {shape}: CPU over the floor",
             {**value["cpu_over_floor"], "conclusive": value["conclusive"]})
    # The floor's arrivals one by one are the plain case: its ratio is the suite's.
    return {"cpu_over_floor": shapes["one_by_one"]["cpu_over_floor"], **shapes}
