"""What the checks showed: kept as JSON for the document, and printed as a table."""
import json

import cells
from support import build

FILE = build.SOURCE / "build" / "test-results" / "servers.json"


class Results:
    """Rows by cell and mode. A session adds to what others left in the file."""

    def __init__(self, file=FILE):
        self.file = file
        self.rows = self._read()
        self.added = set()

    def _read(self):
        return json.loads(self.file.read_text()) if self.file.exists() else {}

    def add(self, cell, check, mark, reason=None, bare=None, dealt=None):
        """`bare` and `dealt`: the notes of a check that has one, such as the spread of a burst."""
        name = f"{cell.name}, {cell.mode}"
        self.added.add(name)
        row = self.rows.setdefault(name, {
            "server": cell.server, "variant": cell.variant, "mode": cell.mode,
            "version": cell.version(), "checks": {}})
        found = {"mark": mark, "reason": reason, "bare": bare, "dealt": dealt}
        row["checks"][check.name] = {key: value for key, value in found.items() if value}

    def in_order(self):
        """The rows in the order of the cells; those of cells that are no more are left out."""
        names = [f"{name}, {mode}" for name, mode in (cell().key for cell in cells.ALL)]
        return [self.rows[name] for name in names if name in self.rows]

    def save(self):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        rows = self._read()
        for name in self.added:
            before = rows.get(name, {}).get("checks", {})
            rows[name] = self.rows[name] | {"checks": before | self.rows[name]["checks"]}
        self.file.write_text(json.dumps(rows, indent=1) + "\n")
