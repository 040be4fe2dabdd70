"""Manual pages in the man macros, and what of Markdown the documents use."""
import pathlib
import re

VERSION = re.search(r"project\(ringdeal VERSION (\S+)",
                    (pathlib.Path(__file__).resolve().parents[2] / "CMakeLists.txt").read_text()).group(1)


def escape(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("…", "...")


def inline(text):
    """Links are their words; what is code or strong is bold."""
    text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r"\1", text.replace("\\|", "|"))
    text = text.replace("configuration.md", "ringdeal.yaml(5)")
    parts = re.split(r"(``.+?``|`[^`]+`|\*\*.+?\*\*)", text)
    parts = [part.replace("`", "") if part.startswith("**") else part for part in parts]
    done = "".join(f"\\fB{escape(part[1:-1] if part[1] not in '`*' or part[0] != part[1] else part[2:-2])}\\fR" if i % 2 else escape(part) for i, part in enumerate(parts))
    return guard(done)


def guard(line):
    """What begins a line must not be taken for a macro."""
    return "\\&" + line if line.startswith((".", "'")) else line


class Page:
    def __init__(self, name, number, summary):
        self.name, self.number = name, number
        self.lines = [f'.TH "{name.upper()}" "{number}" "" "ringdeal {VERSION}" "ringdeal"']
        self.section("NAME")
        self.lines.append(f"{escape(name)} \\- {escape(summary)}")

    def file_name(self):
        return f"{self.name.removesuffix('.h')}.{self.number}"

    def text(self):
        return "\n".join(self.lines) + "\n"

    def section(self, title):
        self.lines.append(f".SH {title}")
        self.after_heading = True

    def subsection(self, title):
        self.lines.append(f".SS {inline(title)}")
        self.after_heading = True

    def break_paragraph(self):
        if not self.after_heading:
            self.lines.append(".PP")
        self.after_heading = False

    def paragraph(self, text):
        self.break_paragraph()
        sentences = re.sub(r"([a-z)][.:;]) (?=[A-Za-z])", r"\1\n", inline(" ".join(text.split())))
        self.lines += [guard(line) for line in sentences.splitlines()]

    def synopsis(self, command, arguments):
        if self.after_heading:
            self.after_heading = False
        else:
            self.lines.append(".br")
        self.lines.append(f".B {escape(command)}")
        if arguments:
            self.lines.append(escape(arguments))

    def item(self, term, text):
        self.lines += [".TP", f".B {escape(term)}" if "`" not in term else inline(term), inline(" ".join(text.split())) or "\\&"]
        self.after_heading = False

    def bullet(self, text):
        self.lines += [".IP \\(bu 2", inline(" ".join(text.split()))]
        self.after_heading = False

    def code(self, text):
        self.break_paragraph()
        shown = [escape(line) for line in text.rstrip("\n").split("\n")]
        self.lines += [".nf", *["\\&" + line if line.startswith(".") or not line else line for line in shown], ".fi"]

    def table(self, rows):
        head, rows = rows[0], rows[2:]
        for cells in rows:
            if head[:2] == ["key", "default"]:
                key, default, unit, limits, meaning = cells
                more = ", ".join(each for each in (unit, limits) if each)
                said = "Required" if default == "required" else f"Default: {default}"
                self.item(key.strip("`"), f"{meaning}. {more[:1].upper()}{more[1:]}. {said}.")
            else:
                self.item(cells[0], "; ".join(each for each in cells[1:] if each))

    def markdown(self, text):
        for block in re.split(r"\n\n+", re.sub(r"```\w*\n(.*?)```", self.hide_code, text, flags=re.S).strip()):
            lines = block.splitlines()
            if block.startswith("\x00"):
                self.code(bytes.fromhex(block[1:]).decode())
            elif lines[0].startswith("#"):
                title = lines[0].lstrip("# ")
                if lines[0].startswith("### "):
                    self.subsection(title)
                else:
                    self.section(re.sub("`", "", title).upper())
                if lines[1:]:
                    self.markdown("\n".join(lines[1:]))
            elif lines[0].startswith("|"):
                self.table([[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines])
            elif lines[0].startswith("- "):
                for each in re.split(r"^- ", block, flags=re.M)[1:]:
                    self.bullet(each)
            elif not block.startswith(("<!--", "!")):
                self.paragraph(block)

    @staticmethod
    def hide_code(match):
        return "\n\n\x00" + match.group(1).encode().hex() + "\n\n"
