"""Each cell of the matrix: a check of a real server, bare and dealt."""
import shutil

import pytest

import cells
import document
from harness import checks, table


def test_cell(trial, cell, check):
    assert shutil.which(cell.program), \
        f"{cell.program} is not installed: scripts/install-dependencies --test --servers"
    trial.make(cell, check)


def test_the_document_has_every_cell():
    assert document.documented_marks().keys() == {cell().key for cell in cells.ALL}


@pytest.mark.slow  # and in the quick run, as all that is no cell
def test_the_document_says_what_was_measured(pytestconfig):
    """What is known to fail at times may have gone well."""
    for row in pytestconfig.results.in_order():
        marks = document.documented_marks()[table.row_name(row), row["mode"]]
        for check, documented in zip(checks.ALL, marks):
            measured = table.mark_of(row, check)
            known = {documented} | ({"ok"} if documented in ("own", "FAILS", "at times") else set())
            assert measured in known | {"-", "at times"}, \
                f"{row}: {check.title}: tests/servers/document.py --write puts it right"
