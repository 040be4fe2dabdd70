"""What the checks showed: kept as JSON for the document, and printed as a table."""
import json

from support import build

FILE = build.SOURCE / "build" / "test-results" / "servers.json"


class Results:
    """Rows by cell and mode. A session adds to what an earlier one left in the file."""

    def __init__(self, file=FILE):
        self.file = file
        self.rows = json.loads(file.read_text()) if file.exists() else {}

    def add(self, cell, check, mark, reason=None, bare=None, dealt=None):
        """`bare` and `dealt`: the notes of a check that has one, such as the spread of a burst."""
        row = self.rows.setdefault(f"{cell.name}, {cell.mode}", {
            "server": cell.server, "variant": cell.variant, "mode": cell.mode,
            "version": cell.version(), "checks": {}})
        found = {"mark": mark, "reason": reason, "bare": bare, "dealt": dealt}
        row["checks"][check.name] = {key: value for key, value in found.items() if value}

    def save(self):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(self.rows, indent=1) + "\n")
