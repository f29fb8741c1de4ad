#!/usr/bin/env python3
"""`tracedb query --format arrow` against a second reader of the format and Python's sqlite3.

    arrow_test.py --program P
"""
import argparse
import os
import pty
import random
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrow_stream import BINARY, INT, REAL, TEXT, read_stream  # noqa: E402

TRACE = '{"traceEvents":[{"ph":"X","name":"k","cat":"kernel","ts":1,"dur":2,"pid":0,"tid":7}]}'


class Setting:
    def __init__(self, program, folder):
        self.program = os.path.abspath(program)
        self.folder = folder
        self.database = os.path.join(folder, "trace.db")
        trace = os.path.join(folder, "rank0.json")
        with open(trace, "w", encoding="utf-8") as file:
            file.write(TRACE)
        self.run("-q", "--db", self.database, "ingest", trace)

    def run(self, *arguments, code=0):
        done = subprocess.run([self.program, *arguments], capture_output=True, check=False)
        assert done.returncode == code, (arguments, done.returncode, done.stderr.decode())
        return done

    def arrow(self, sql):
        done = self.run("--db", self.database, "query", "-c", sql, "--format", "arrow")
        return read_stream(done.stdout)

    def refused(self, sql):
        return self.run("--db", self.database, "query", "-c", sql, "--format", "arrow",
                        code=1).stderr.decode()


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def values_as_they_are(setting):
    """Random columns, each of one type and NULLs, to the last bit."""
    chance = random.Random(22)
    makers = {
        INT: lambda: chance.choice([0, -1, 2**63 - 1, -2**63 + 1, chance.getrandbits(40)]),
        REAL: lambda: chance.choice([0.1, -1e300, 5e-324, 1 / 3, float(chance.getrandbits(30))]),
        TEXT: lambda: chance.choice(["", "a", "ä€😀", "x" * 100, "'\"\n\\", str(chance.random())]),
        BINARY: lambda: chance.choice([b"", b"\x00\xff", bytes(chance.randrange(20))])}
    for case in range(60):
        kinds = [chance.choice(list(makers)) for _ in range(chance.randint(1, 6))]
        rows = [[None if chance.random() < 0.3 else makers[kind]() for kind in kinds]
                for _ in range(chance.randint(1, 40))]
        for column, kind in enumerate(kinds):
            rows[chance.randrange(len(rows))][column] = makers[kind]()  # not all NULL
        sql = "VALUES " + ", ".join(
            "(" + ", ".join(map(literal, row)) + ")" for row in rows)
        fields, columns, _ = setting.arrow(sql)
        assert [kind for _, kind in fields] == kinds, (case, fields, kinds)
        assert [list(row) for row in zip(*columns)] == rows, case
        want = sqlite3.connect(":memory:").execute(sql).fetchall()
        assert list(zip(*columns)) == want, case


def types_widen(setting):
    cases = [("VALUES (NULL), (1), (2.5)", REAL, [None, 1.0, 2.5]),
             ("VALUES (2.5), (NULL), (1)", REAL, [2.5, None, 1.0]),
             ("VALUES (9007199254740993), (0.5)", TEXT, ["9007199254740993", "0.5"]),
             ("VALUES (0.5), (9007199254740993)", TEXT, ["0.5", "9007199254740993"]),
             ("VALUES (1), (NULL), ('x'), (2.5)", TEXT, ["1", None, "x", "2.5"]),
             ("VALUES (x'00ff'), ('x')", TEXT, ["00ff", "x"]),
             ("VALUES ('x'), (x'00ff')", TEXT, ["x", "00ff"]),
             ("VALUES (NULL), (x'01')", BINARY, [None, b"\x01"]),
             ("VALUES (NULL), (NULL)", TEXT, [None, None])]
    for sql, kind, values in cases:
        fields, columns, _ = setting.arrow(sql)
        assert (fields[0][1], columns[0]) == (kind, values), (sql, fields, columns)


def counted(rows, value):
    return (f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) "
            f"SELECT {value} AS v FROM n")


def many_rows_are_several_batches(setting):
    fields, columns, batches = setting.arrow(counted(200_000, "i"))
    assert fields == [("v", INT)] and columns[0] == list(range(1, 200_001))
    assert batches == [65_536, 65_536, 65_536, 3_392], batches
    # Long texts make a batch of fewer rows: the memory for them is bounded.
    fields, columns, batches = setting.arrow(
        counted(40, "i || replace(hex(zeroblob(500000)), '0', 'y')"))
    assert len(batches) > 3 and [len(text) for text in columns[0]] == [
        1_000_000 + len(str(i)) for i in range(1, 41)]


def a_type_that_comes_too_late(setting):
    for value, shown in (("iif(i < 70000, i, 'x')", "'x'"), ("iif(i < 70000, i, 0.5)", "'0.5'"),
                         ("iif(i < 70000, NULL, 5)", "'5'"), ("iif(i < 70000, 0.5, 'x')", "'x'")):
        text = setting.refused(counted(70_000, value))
        assert f"column 'v' has another type in row 70000 ({shown})" in text, text
        assert "--format ndjson" in text, text
    # Of text everything is one; NULLs may become text.
    fields, columns, _ = setting.arrow(counted(70_000, "iif(i < 70000, 'x', 5)"))
    assert fields[0][1] == TEXT and columns[0][-1] == "5"
    fields, columns, _ = setting.arrow(counted(70_000, "iif(i < 70000, NULL, 'x')"))
    assert fields[0][1] == TEXT and columns[0][-2:] == [None, "x"]


def names_and_texts_that_are_no_utf8(setting):
    fields, columns, _ = setting.arrow(
        "SELECT CAST(x'61ff62' AS TEXT) AS a, 2 AS a, CAST(x'eda080' AS TEXT) AS \"ä b\"")
    assert [name for name, _ in fields] == ["a", "a_2", "ä b"], fields
    assert columns == [["a\ufffdb"], [2], ["\ufffd\ufffd\ufffd"]], columns


def no_rows_have_the_headers_types(setting):
    done = setting.run("--db", setting.database, "query", "overlap", "-p", "rank=7", "--format",
                       "arrow")
    fields, columns, batches = read_stream(done.stdout)
    kinds = dict(fields)
    assert (kinds["run"], kinds["rank"], kinds["span_ms"]) == (TEXT, INT, REAL), fields
    assert batches == [0] and not any(columns)


def what_is_refused(setting):
    text = setting.run("--db", setting.database, "query", "-c", "SELECT 1; SELECT 2", "--format",
                       "arrow", code=2).stderr.decode()
    assert "takes one result" in text, text
    for ending in ("arrow", "feather"):
        path = os.path.join(setting.folder, "x." + ending)
        text = setting.run("query", "-c", "SELECT 1", "--format", "arrow", "-o", path,
                           code=2).stderr.decode()
        assert "--format arrow -o x.arrows" in text and not os.path.exists(path), text
    far, near = pty.openpty()
    done = subprocess.run([setting.program, "--db", setting.database, "query", "overlap",
                           "--format", "arrow"], stdout=near, stderr=subprocess.PIPE, check=False)
    os.close(near)
    os.close(far)
    assert done.returncode == 2 and b"this is a terminal" in done.stderr, done
    for command in ("info", "align", "what-if"):
        setting.run(command, "--format", "arrow", code=2)


CHECKS = (values_as_they_are, types_widen, many_rows_are_several_batches,
          a_type_that_comes_too_late, names_and_texts_that_are_no_utf8,
          no_rows_have_the_headers_types, what_is_refused)


def main():
    parser = argparse.ArgumentParser(description="Test Arrow streams.")
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tracedb-arrow-") as folder:
        setting = Setting(options.program, folder)
        for check in CHECKS:
            check(setting)
            print(f"ok   {check.__name__}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
