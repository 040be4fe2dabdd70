"""The matrix as text: for the terminal, and for docs/servers.md."""
from harness import checks


def spread(row):
    """Of the burst, bare and dealt."""
    found = row["checks"].get("burst", {})
    return f"{found.get('bare', '-')} -> {found.get('dealt', '-')}"


def rows_of(rows):
    yield ["server", "version", "mode", *(check.title for check in checks.ALL), "burst: bare -> dealt"]
    for row in rows.values():
        marks = (row["checks"].get(check.name, {}).get("mark", "-") for check in checks.ALL)
        yield [f"{row['server']}, {row['variant']}", row["version"], row["mode"], *marks, spread(row)]


def lines(rows):
    cells = list(rows_of(rows))
    widths = [max(map(len, column)) for column in zip(*cells)]
    for row in cells:
        yield "  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip()
