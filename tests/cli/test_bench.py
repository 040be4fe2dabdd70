"""scripts/bench runs and keeps its promise about what it writes; no time is judged here."""

import json
import subprocess

from support import build


def test_a_suite_writes_the_machine_and_its_figures(tmp_path):
    figures = tmp_path / "figures.json"
    run = subprocess.run(
        [build.PYTHON, build.SOURCE / "scripts/bench", "shim", "--quick", "--json", figures,
         "--build", build.BUILD], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    document = json.loads(figures.read_text())
    assert {"cpu", "cpus", "kernel", "build", "ringdeald"} <= document["machine"].keys()
    shim = document["suites"]["shim"]
    assert shim["clock_ns"] > 0
    for call in ("accept", "close_connection", "dup_and_close", "epoll_wait", "poll", "read", "write"):
        assert shim[call]["bare_ns"] > 0
        for figure in ("added_ns", "over_bare"):
            assert shim[call][figure].keys() == {"median", "min", "max", "conclusive"}
            assert shim[call][figure]["min"] <= shim[call][figure]["median"] <= shim[call][figure]["max"]
    assert all(f"shim, {call}" in run.stdout for call in ("accept", "read"))


def test_an_unknown_suite_is_refused():
    run = subprocess.run([build.PYTHON, build.SOURCE / "scripts/bench", "nonsense"],
                         capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert "nonsense" in run.stderr
