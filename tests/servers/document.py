#!/usr/bin/python3
"""Shows what the last run of the matrix measured; with --write, writes it into docs/servers.md."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE), str(HERE.parents[1] / "scripts" / "lib")]

import cells  # noqa: E402
import sections  # noqa: E402
from harness import table  # noqa: E402
from harness.results import Results  # noqa: E402
from support import build  # noqa: E402

DOCUMENT = build.SOURCE / "docs" / "servers.md"
SECTION = "matrix"


def documented_marks():
    """By name and mode of a row: its marks in the order of the checks."""
    _, text, _ = sections.split(DOCUMENT.read_text(), SECTION)
    _, *rows = (line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| "))
    return {(row[0], row[2]): row[3:-2] for row in rows}


def as_known(row):
    """What fails at times only is written down as what fails."""
    cell = next(each() for each in cells.ALL if each().key == (table.row_name(row), row["mode"]))
    for mark, known in (("own", cell.own), ("FAILS", cell.fails)):
        for name, reason in known.items():
            result = row["checks"].get(name, {})
            if result.get("mark") in ("ok", mark):
                at_times = "at times, " if name in cell.at_times else ""
                result.update(mark=mark, reason=at_times + reason)
    return row


def main():
    rows = Results().in_order()
    if "--write" not in sys.argv[1:]:
        print("\n".join(table.lines(rows)))
        return
    text = "\n".join(["", *table.markdown([as_known(row) for row in rows]), "", ""])
    DOCUMENT.write_text(sections.replaced(DOCUMENT.read_text(), SECTION, text))


if __name__ == "__main__":
    main()
