#!/usr/bin/env python3
"""The examples of src/FORMATS.md are those of the database that the program makes today."""
import argparse
import os
import pathlib
import re
import sqlite3
import struct
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = ROOT / "fixtures/megatron/rank0.pt.trace.json.gz"
FORMATS = (ROOT / "src/FORMATS.md").read_text()
PAGE_BYTES = 16384
HEX = re.compile(r"(?:[0-9a-f]{2}(?: \| | |$))+")
KINDS = {"has_dur": 4, "has_correlation": 8, "has_external_id": 16}


def hex_of(line: str) -> bytes:
    """The bytes that a line begins with; `|` is for whoever reads."""
    found = HEX.match(line.strip())
    return bytes.fromhex(found[0].replace("|", "")) if found else b""


def between(begin: str, end: str) -> str:
    after = FORMATS[FORMATS.index(begin):]
    return after[:after.index(end, 1)]


def bytes_after(begin: str, end: str):
    """The bytes of the lines of code of a part of the document."""
    lines = [line for line in between(begin, end).splitlines() if line.startswith("    ")]
    return [found for found in map(hex_of, lines) if len(found) > 2]


def packed(row, before) -> bytes:
    """A row of gathered integers, as the document describes it."""
    numbers = [2 * d if d >= 0 else -2 * d - 1 for d in map(int.__sub__, row, before)]
    lengths = [(n.bit_length() + 7) // 8 for n in numbers]
    control = sum(length << 4 * i for i, length in enumerate(lengths))
    return (control.to_bytes((len(row) + 1) // 2, "little")
            + b"".join(n.to_bytes(length, "little") for n, length in zip(numbers, lengths)))


class FormatExamples(unittest.TestCase):
    program = ""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        path = os.path.join(folder.name, "one.db")
        subprocess.run([cls.program, "--db", path, "ingest", TRACE, "-q"], check=True, timeout=300)
        cls.database = pathlib.Path(path).read_bytes()
        cls.sql = sqlite3.connect(path)
        cls.addClassCleanup(cls.sql.close)

    def page(self, number: int) -> bytes:
        return self.database[(number - 1) * PAGE_BYTES:number * PAGE_BYTES]

    def root(self, name: str) -> int:
        return self.sql.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?",
                                (name,)).fetchone()[0]

    def named_page(self, words: str) -> int:
        return int(re.search(r"[Pp]age (\d+)" + words, FORMATS)[1])

    def test_packed_rows(self):
        rows = self.sql.execute(
            "SELECT id, ts, dur, track, correlation, kind, event_name, external_id FROM _gpu_slice "
            "ORDER BY id LIMIT 3").fetchall()
        before, shown = (0,) * 10, between("GPU activities have ten", "Check one")
        for row in rows:
            flags = row[5] + sum(KINDS.values())
            row = (*row[:5], flags, *row[6:], 0, 0)
            self.assertIn(" ".join(map(str, row)), re.sub(" +", " ", shown))
            self.assertIn(packed(row, before), bytes_after("GPU activities have ten", "Check one"))
            before = row

    def test_words(self):
        name, = self.sql.execute("SELECT event_name FROM _runtime_slice WHERE id = 8419").fetchone()
        self.assertIn(f"{name} * 64 + 3 = {name * 64 + 3}", FORMATS)
        self.assertIn(hex((21697 + 2**46 - 1) * 2**17 + 4 * 2**14 + 2**13 + 1), FORMATS)

    def test_leaf_of_a_table(self):
        leaf = self.page(self.named_page(", the first leaf"))
        begin, cell = bytes_after("**Leaf of a table**", "**Interior page of a table**")
        self.assertEqual(leaf[:len(begin)], begin)
        third, = struct.unpack(">H", leaf[12:14])
        self.assertEqual(leaf[third:third + len(cell)], cell)

    def test_interior_page_of_a_table(self):
        number = self.named_page(", the root")
        self.assertEqual(number, self.root("_gpu_slice"))
        begin, cell = bytes_after("**Interior page of a table**", "The root keeps")
        page = self.page(number)
        self.assertEqual(page[:len(begin)], begin)
        at, = struct.unpack(">H", page[12:14])
        self.assertEqual(page[at:at + len(cell)], cell)

    def test_index(self):
        shown = between("**Leaf and interior page of an index**", "**Overflow pages**")
        page = int(re.search(r"rowid; page (\d+)", shown)[1])
        self.assertEqual(page, self.root("_gpu_slice_by_correlation"))
        self.assertIn(hex_of(re.search(r"`(0a \|[^`]*)`", shown)[1]), self.page(page))

    def test_page_one(self):
        fields = re.findall(r"^\| (\d+) \| ([^|]*) \| ((?:[0-9a-f]{2} ?){4})\|",
                            between("**Page 1**", "New pages"), re.M)
        self.assertEqual([int(offset) for offset, _, _ in fields], [24, 28, 92])
        for offset, _, before in fields:
            self.assertEqual(self.database[int(offset):int(offset) + 4], hex_of(before), offset)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    options, rest = parser.parse_known_args()
    FormatExamples.program = os.path.abspath(options.program)
    unittest.main(argv=["test_format_examples", *rest])
