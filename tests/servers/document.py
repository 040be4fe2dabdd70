#!/usr/bin/python3
"""Shows what the last run of the matrix measured; with --write, writes it into docs/servers.md."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import cells  # noqa: E402
from harness import table  # noqa: E402
from harness.results import Results  # noqa: E402
from support import build  # noqa: E402

DOCUMENT = build.SOURCE / "docs" / "servers.md"
BEGIN, END = "<!-- matrix:begin -->\n", "<!-- matrix:end -->\n"


def parts():
    """Of the document: before, between and behind the marks."""
    before, _, rest = DOCUMENT.read_text().partition(BEGIN)
    between, _, behind = rest.partition(END)
    return before, between, behind


def documented_marks():
    """By name and mode of a row: its marks in the order of the checks."""
    _, *rows = (line.strip("| ").split(" | ") for line in parts()[1].splitlines()
                if line.startswith("| "))
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
    before, _, behind = parts()
    text = "\n".join(["", *table.markdown([as_known(row) for row in rows]), ""])
    DOCUMENT.write_text(before + BEGIN + text + "\n" + END + behind)


if __name__ == "__main__":
    main()
