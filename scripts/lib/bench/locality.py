"""The time of a request to a worker in another cache group or node than the receiving CPU over that
to one in the same cache group."""

import json
import statistics

from bench.measuring import figures, program, show
from servers import Lab, Ringdeald


def ring_between(topology, one, other):
    """The ring of the smallest object that has both; an object comes after what it is in."""
    while one != other:
        one, other = min(one, other), topology[max(one, other)]["parent"]
    return topology[one]["ring"]


def near_and_far(topology):
    """A receiving CPU, one of another core in its cache group, and one of the farthest. None if
    the machine has no such three."""
    cpus = [place for place, each in enumerate(topology) if each["ring"] == 0]
    for receiving in cpus:
        rings = {place: ring_between(topology, receiving, place) for place in cpus}
        near = [place for place in cpus if rings[place] == 2]
        far = max(cpus, key=rings.get)
        if near and rings[far] > 2:
            return [topology[place]["cpus"] for place in (receiving, near[0], far)], rings[far]
    return None


def measure(build, quick):
    with Lab(build) as lab:
        daemon = Ringdeald(lab, "ringdeald", {})
        shown = lab.ringdeal("topology", "--control", daemon.control, "--json")
    chosen = near_and_far(json.loads(shown)["topology"])
    if chosen is None:
        print("locality: skipped, this machine has no second cache group or node to compare with")
        return {"skipped": True}
    cpus, ring = chosen
    rounds, requests = (9, 5000) if quick else (15, 50000)
    measured = program(build, "locality", *cpus, rounds, requests)
    ratio = figures([far / near for far, near in zip(measured["far"], measured["near"])])
    show(f"locality, CPUs {' '.join(cpus)}: far, ring {ring}, over near", ratio)
    return {"far_over_near": ratio, "far_ring": ring, "cpus": cpus,
            "near_ns": round(statistics.median(measured["near"])),
            "far_ns": round(statistics.median(measured["far"]))}
