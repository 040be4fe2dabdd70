"""Prints the table of the last run."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from harness import table  # noqa: E402
from harness.results import Results  # noqa: E402

print("\n".join(table.lines(Results().rows)))
