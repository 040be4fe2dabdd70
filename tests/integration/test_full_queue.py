"""However many connections wait in the kernel's accept queue, ringdeald's work for one of them and its memory
are the same."""
import json
import os
import shutil
import subprocess

import pytest

from support import build

PROGRAM = build.SOURCE / "tests/integration/programs/full_queue.py"
ROUNDS = 3
DEPTHS = (10, 1000, 50_000)
# The kernel itself is slower with sockets that no cache has any more; work that grew with the queue
# would show as a thousandfold.
MOST = 2
MOST_MEMORY_KIB = 256


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a network namespace of its own")
@pytest.mark.skipif(shutil.which("ip") is None, reason="needs ip(8), for a network namespace of its own")
def test_work_and_memory_do_not_grow_with_what_waits(directory, record_property):
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no network namespace can be made here")
    run = subprocess.run(
        ["unshare", "-n", build.PYTHON, PROGRAM, directory, str(ROUNDS), *map(str, DEPTHS)],
        stdout=subprocess.PIPE, text=True, check=False, timeout=140)
    assert run.returncode == 0
    rounds = json.loads(run.stdout)
    # The cheapest round is the one that other work on the machine has disturbed least.
    cost = {depth: min(each[str(depth)]["cpu_ns"] for each in rounds) for depth in DEPTHS}
    memory = {depth: min(each[str(depth)]["memory_kib"] for each in rounds) for depth in DEPTHS}
    for depth in DEPTHS:
        record_property("figure", f"{depth} waiting: {cost[depth] / 1000:.1f} us of CPU for each "
                        f"connection, {memory[depth]} KiB")
    for depth in DEPTHS[1:]:
        assert cost[depth] < MOST * cost[DEPTHS[0]], cost
        assert memory[depth] < memory[DEPTHS[0]] + MOST_MEMORY_KIB, memory
