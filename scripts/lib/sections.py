"""The sections of a document that are made of data, each between two markers that name it."""


def split(text, name):
    """What stands before the section's text, the text, and what stands behind."""
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->\n"
    before, rest = text.split(begin)
    between, behind = rest.split(end)
    return before + begin, between, end + behind


def replaced(text, name, section):
    before, _, behind = split(text, name)
    return before + section + behind
