"""Reads and rewrites .test files: a description, then sections that begin with `=== NAME`."""
import re

OUTPUTS = ("csv", "output", "issues", "stdout", "stderr", "exit")
COMMANDS = ("sql", "query", "command", "options", "ways", "skip", "memory", *OUTPUTS)


class Section:
    """One section. head: the words behind `===`; text: the lines below, each with its end."""

    def __init__(self, head, text=""):
        self.head, self.text = head, text

    @property
    def name(self):
        return self.head.split()[0]

    @property
    def rest(self):
        return self.head[len(self.name):].strip()

    @property
    def is_input(self):
        return self.name in ("raw", "python") or (self.name not in COMMANDS)


class BadTest(Exception):
    """The test file itself is wrong."""


class TestFile:
    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8", newline="") as handle:
            lines = handle.read().splitlines(keepends=True)
        self.description = ""
        self.sections = []
        for line in lines:
            if line.startswith("=== "):
                self.sections.append(Section(line[4:].strip()))
            elif self.sections:
                self.sections[-1].text += line
            else:
                self.description += line
        if not self.description.strip():
            raise BadTest("the first line must say what is tested")
        if not self.sections:
            raise BadTest("there is no section")
        for section in self.inputs():
            if section.name == "file" and section.rest:
                raise BadTest(f"=== {section.head}: a file's section is its name alone")

    def all(self, name):
        return [section for section in self.sections if section.name == name]

    def one(self, name):
        found = self.all(name)
        if len(found) > 1:
            raise BadTest(f"two sections '{name}'")
        return found[0] if found else None

    def inputs(self):
        return [section for section in self.sections if section.is_input]

    def asked(self):
        """(question, expectation) for each sql and query section; the expectation may be None."""
        pairs = []
        for at, section in enumerate(self.sections):
            if section.name in ("sql", "query"):
                after = self.sections[at + 1] if at + 1 < len(self.sections) else None
                expected = after if after and after.name in ("csv", "output") else None
                pairs.append((section, expected))
        return pairs

    def expect(self, head, text, after=None):
        """The section that holds an expectation, made where there is none (for TRACEDB_UPDATE)."""
        section = Section(head, text)
        at = self.sections.index(after) + 1 if after else len(self.sections)
        self.sections.insert(at, section)
        return section

    def write(self):
        text = self.description
        for section in self.sections:
            if text and not text.endswith("\n"):
                text += "\n"
            text += f"=== {section.head}\n{section.text}"
        with open(self.path, "w", encoding="utf-8", newline="") as handle:
            handle.write(text if text.endswith("\n") else text + "\n")


def raw_bytes(text):
    """The bytes of a `raw` section: \\xNN, \\n, \\r, \\t and \\\\; a \\ at a line's end joins
    lines; the last line end is not part of it."""
    text = text[:-1] if text.endswith("\n") else text
    text = re.sub(r"\\\n", "", text)
    plain = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\", '"': b'\\"'}
    out, at = bytearray(), 0
    while at < len(text):
        if text[at] != "\\":
            out += text[at].encode()
            at += 1
        elif text[at + 1] == "x":
            out.append(int(text[at + 2:at + 4], 16))
            at += 4
        elif text[at + 1] in plain:
            out += plain[text[at + 1]]
            at += 2
        else:
            raise BadTest(f"\\{text[at + 1]} in a raw section")
    return bytes(out)
