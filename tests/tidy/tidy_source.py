"""The source text as the checks of tidy_test.py see it."""
import os
import re

from tidy_rooms import ROOMS

FOLDERS = ("src", "include", "tests", "bench", "queries")
SKIPPED_FOLDERS = {"__pycache__", "corpus"}


class Source:
    def __init__(self, root, path):
        self.path = path
        with open(os.path.join(root, path), encoding="utf-8") as file:
            self.text = file.read()
        self.lines = self.text.split("\n")[:-1] if self.text.endswith("\n") else \
            self.text.split("\n")

    @property
    def kind(self):
        name = os.path.basename(self.path)
        return "cmake" if name == "CMakeLists.txt" else os.path.splitext(name)[1][1:]

    @property
    def room(self):
        """The room that it belongs to; None when it is above them."""
        match = re.match(r"(?:src|include/tracedb)/(.+)/[^/]+$", self.path)
        return match[1] if match and match[1] in ROOMS else None

    def is_cpp(self):
        return self.kind in ("cc", "h")

    def includes(self):
        for number, line in enumerate(self.lines, 1):
            match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            if match:
                yield number, match[1]

    def code(self):
        """The text with comments and literals blanked out, line for line."""
        blank = lambda match: re.sub(r"[^\n]", " ", match[0])
        pattern = (r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                   r"|(?<!\w)'(?:\\.|[^'\\\n])+'")
        return re.sub(pattern, blank, self.text, flags=re.S)


def read_tree(root):
    sources = []
    top = [name for name in os.listdir(root) if name == "CMakeLists.txt"]
    paths = sorted(top)
    for folder in FOLDERS:
        for at, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
            paths += [os.path.relpath(os.path.join(at, name), root) for name in sorted(names)]
    for path in paths:
        if path.endswith((".cc", ".h", ".py", ".sql", ".cmake", "CMakeLists.txt")):
            sources.append(Source(root, path))
    return sources
