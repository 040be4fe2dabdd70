"""The time of a pick by each policy over that of a plain scan of all workers' lines."""

import statistics

from bench.measuring import figures, program, show


def measure(build, quick):
    result = {}
    for setting, rounds in program(build, "pick", 5 if quick else 15).items():
        base = "scan" if "scan" in rounds else "calibration"
        result[setting] = {f"{base}_ns": round(statistics.median(rounds[base]), 1)}
        for name in rounds.keys() - {base}:
            ratios = [ns / floor for ns, floor in zip(rounds[name], rounds[base])]
            # Against the calibration nothing is claimed: the ratio is for comparing runs.
            claim = {} if base == "scan" else {"conclusive": True}
            result[setting][f"{name}_over_{base}"] = {**figures(ratios), **claim}
            result[setting][f"{name}_ns"] = round(statistics.median(rounds[name]), 1)
        print(f"{setting}: {base} {result[setting][f'{base}_ns']:.0f} ns")
        for name in sorted(rounds.keys() - {base}):
            show(f"  {name}, {result[setting][f'{name}_ns']:.0f} ns",
                 result[setting][f"{name}_over_{base}"])
    return result
