"""Each fuzz target for a while, from the corpus that is kept. What it comes upon is left in
build/fuzz/corpus; an input that broke something is printed, and kept beside it:
`build/fuzz/tests/fuzz/fuzz_TARGET FILE` runs it again. To keep more inputs:
`build/fuzz/tests/fuzz/fuzz_TARGET -merge=1 tests/fuzz/corpus/TARGET build/fuzz/corpus/TARGET`."""
import base64
import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("RINGDEAL_BUILD", HERE.parents[1] / "build" / "fuzz")).resolve()
TARGETS = sorted(each.stem for each in HERE.glob("*.cc"))
OPTIONS = ["-max_len=4096", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_breaks(name, request):
    seconds = request.config.getoption("--seconds")
    found = BUILD / "corpus" / name
    found.mkdir(parents=True, exist_ok=True)
    broken = BUILD / "broken" / f"{name}-"
    broken.parent.mkdir(exist_ok=True)
    run = subprocess.run(
        [BUILD / "tests" / "fuzz" / f"fuzz_{name}", *OPTIONS, f"-max_total_time={seconds}",
         f"-artifact_prefix={broken}", found, HERE / "corpus" / name],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds + 120, check=False)
    said = run.stdout.decode(errors="replace")
    assert run.returncode == 0, said[-8000:] + inputs_in(said)
    print(said[-1500:])


def inputs_in(said):
    """The files that a target says it wrote, whatever their size."""
    paths = [line.rpartition(" ")[2] for line in said.splitlines() if "Test unit written to" in line]
    return "".join(f"\n{path}, in base64:\n{base64.b64encode(pathlib.Path(path).read_bytes()).decode()}"
                   for path in paths)
