"""Faults that were reported of other libraries of this kind: each has a test here, or a reason why it
has none."""
import json
import pathlib
import re

import pytest

from support import build

ENTRIES = json.loads((pathlib.Path(__file__).parent / "reports.json").read_text())
TESTS = sorted({test for entry in ENTRIES for test in entry.get("tests", [])})


@pytest.mark.parametrize("test", TESTS)
def test_what_is_named_exists(test):
    file, name, choice = re.fullmatch(r"(tests/[\w/]+\.py)::(\w+)(?:\[(.+)\])?", test).groups()
    source = (build.SOURCE / file).read_text()
    assert re.search(rf"^(def|class) {name}\b", source, re.MULTILINE), f"{file} has no {name}"
    assert choice is None or f'"{choice}"' in source, f"{file} has no case {choice}"


def test_each_report_has_a_test_or_a_reason():
    for entry in ENTRIES:
        assert set(entry) <= {"reports", "scenario", "tests", "open", "not_applicable"}
        assert entry["reports"]
        assert ("tests" in entry or "open" in entry) != ("not_applicable" in entry), entry
        assert ("scenario" in entry) >= ("tests" in entry), entry
