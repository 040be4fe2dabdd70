"""Each cell of the matrix: a check of a real server, bare and dealt."""
import shutil

import pytest


def test_cell(trial, cell, check):
    if shutil.which(cell.program, path="/usr/sbin:/usr/bin") is None:
        pytest.skip(f"{cell.program} is not installed")
    trial.make(cell, check)
