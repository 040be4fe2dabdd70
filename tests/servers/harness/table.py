"""The matrix as text: for the terminal, and for docs/servers.md."""
from harness import checks


def row_name(row):
    return f"{row['server']}, {row['variant']}"


def mark_of(row, check):
    """What was not made is not in the row."""
    return row["checks"].get(check.name, {}).get("mark", "-")


def spread(row, which):
    return row["checks"].get("burst", {}).get(which, "-")


def table(rows):
    yield ["server", "version", "mode", *(check.title for check in checks.ALL),
           "burst, bare", "burst, dealt"]
    for row in rows:
        yield [row_name(row), row["version"], row["mode"],
               *(mark_of(row, check) for check in checks.ALL),
               spread(row, "bare"), spread(row, "dealt")]


def lines(rows):
    """In columns."""
    cells = list(table(rows))
    widths = [max(map(len, column)) for column in zip(*cells)]
    for row in cells:
        yield "  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip()


def markdown(rows):
    head, *body = ("| " + " | ".join(row) + " |" for row in table(rows))
    return [head, "|" + "---|" * head.count(" |"), *body, "", *reasons(rows)]


def reasons(rows):
    """One line for each reason of a server, with the checks that it is of."""
    for row in rows:
        found = {}
        for check in checks.ALL:
            result = row["checks"].get(check.name, {})
            if result.get("mark") in ("own", "FAILS", "at times"):
                key = result["mark"], result.get("reason", "not known")
                found.setdefault(key, []).append(check.title)
        for (mark, reason), titles in found.items():
            yield f"- {row_name(row)} ({row['mode']}): {', '.join(titles)}: {mark}: {reason}."
