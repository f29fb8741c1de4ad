"""What a test found, and the folder it runs in."""
import contextlib
import difflib
import os
import subprocess
import sys
import tempfile

from program_run import clean_environment
from test_file import BadTest, raw_bytes


class Check:
    """Differences found; in update mode expectations are rewritten instead."""

    def __init__(self, test, update):
        self.test, self.update = test, update
        self.differences, self.measured, self.changed = [], "", False

    def fail(self, text):
        self.differences.append(text)

    def text(self, what, wanted, got):
        """Compares two texts line by line."""
        if wanted != got:
            lines = difflib.unified_diff(wanted.splitlines(), got.splitlines(), "wanted", "got",
                                         n=2, lineterm="")
            shown = [line if len(line) < 500 else line[:500] + " ..." for line in
                     (line.rstrip("\n") for line in lines)]
            self.fail(f"{what} differs\n" + "\n".join(shown[:40]))

    def section(self, what, section, got, head, after=None):
        """Compares with a section that holds an expectation."""
        if self.update:
            self.changed = True
            if section is None:
                self.test.expect(head, got, after)
            else:
                section.text = got
        else:
            self.text(what, section.text if section else "", got)


def write_inputs(test, folder):
    """The names of the files written, in the test's order. A name of `-` is standard input: its
    generator is returned as a script's path."""
    names, stream = [], None
    for number, section in enumerate(test.inputs()):
        name = section.rest if section.name in ("raw", "python") else section.head
        if not name:
            raise BadTest(f"'=== {section.head}' names no file")
        path = os.path.join(folder, name)
        if name != "-":
            os.makedirs(os.path.dirname(path), exist_ok=True)
        if section.name == "python":
            script = os.path.join(folder, f".generate{number}.py")
            with open(script, "w", encoding="utf-8") as handle:
                handle.write(section.text)
            if name == "-":
                stream = script
                continue
            with open(path, "wb") as handle:
                subprocess.run([sys.executable, "-S", script], stdout=handle, check=True,
                               cwd=folder, env=clean_environment())
        else:
            data = raw_bytes(section.text) if section.name == "raw" else section.text.encode()
            with open(path, "wb") as handle:
                handle.write(data)
        names.append(name)
    return names, stream


def scratch_place():
    """Where folders of tests are made: in memory if there is room, since thousands of small
    databases are written and synced."""
    if "TMPDIR" in os.environ or not os.access("/dev/shm", os.W_OK):
        return None
    place = os.statvfs("/dev/shm")
    return "/dev/shm" if place.f_bavail * place.f_frsize > 4 << 30 else None


@contextlib.contextmanager
def temporary_folder():
    """Its name is always the same: a run is called as the folder is."""
    with tempfile.TemporaryDirectory(prefix="tracedb-test-", dir=scratch_place()) as above:
        folder = os.path.join(above, "job")
        os.mkdir(folder)
        yield folder
