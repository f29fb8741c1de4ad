#!/usr/bin/env python3
"""Ingests traces, and has SQLite write the same rows once more: our pages must be as its own.

    pages_by_sqlite_test.py --program P [--fixtures DIR]

The program writes most tables and indexes as pages. A copy is made of each database by SQLite
alone: its schema is run, and every row inserted with its rowid. Then both must be sound, every
column's value and type must have stayed what it was (SQLite would have converted what does not suit
a column's type, and refused what breaks a constraint), and each index must give the same entries in
the same order. One line for each database; exit 1 if they differ.
"""
import argparse
import itertools
import json
import lzma
import os
import random
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "text"))
from test_check import temporary_folder  # noqa: E402

SHOWN = 4  # differences of a table
TRACES = (".json", ".json.gz", ".json.zst")


def ingest(program, database, arguments):
    done = subprocess.run([program, "--db", database, "-q", "ingest", *arguments],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, check=False)
    return f"exit {done.returncode}: {done.stderr!r}" if done.returncode != 0 else ""


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def copy_by_sqlite(db):
    """Attaches, as `copy`, what SQLite makes of the schema and the rows; [(kind, name)] of it."""
    db.execute("ATTACH '' AS copy")
    made = db.execute("SELECT type, name, sql FROM main.sqlite_schema WHERE type IN "
                      "('table', 'index') AND sql IS NOT NULL ORDER BY type DESC, rowid").fetchall()
    for kind, name, sql in made:
        head, _, rest = sql.partition(quoted(name) if quoted(name) in sql else name)
        db.execute(f"{head}copy.{quoted(name)}{rest}")
    for kind, name, _ in made:
        if kind == "table":
            db.execute(f"INSERT INTO copy.{quoted(name)}({columns_of(db, name)}) "
                       f"SELECT {columns_of(db, name)} FROM main.{quoted(name)}")
    return [(kind, name) for kind, name, _ in made]


def columns_of(db, table):
    """With the rowid, unless the table has none."""
    columns = db.execute("SELECT name FROM pragma_table_info(?)", [table]).fetchall()
    is_rowid = db.execute("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?",
                          [table]).fetchone() == (0,)
    return ", ".join(["rowid"] * is_rowid + [quoted(name) for name, in columns])


def index_query(db, schema, index):
    """The entries of an index, in its order, and from nothing but it."""
    table, = db.execute("SELECT tbl_name FROM main.sqlite_schema WHERE name = ?",
                        [index]).fetchone()
    sql, = db.execute("SELECT sql FROM main.sqlite_schema WHERE name = ?", [index]).fetchone()
    _, where, condition = sql.partition(" WHERE ")
    columns = ", ".join(quoted(name) for name, in db.execute(
        "SELECT name FROM pragma_index_info(?) ORDER BY seqno", [index]))
    return (f"SELECT {columns}, rowid FROM {schema}.{quoted(table)} INDEXED BY {quoted(index)} "
            f"{where}{condition} ORDER BY {columns}, rowid")


def is_same(left, right):
    # 1 == 1.0 in Python, but not in a database.
    return left == right and list(map(type, left)) == list(map(type, right))


def query_differences(db, name, queries):
    """([the first differences], how many rows)"""
    count = 0
    wrong = []
    cursors = [db.cursor().execute(query) for query in queries]
    for ours, theirs in itertools.zip_longest(*cursors, fillvalue=()):
        count += 1
        if not is_same(ours, theirs) and len(wrong) < SHOWN:
            wrong.append(f"{name}: pages {ours}, sqlite {theirs}")
    return wrong, count


def differences(path):
    """(what differs, how many rows and entries of indexes were looked at)"""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
    # Names need be no UTF-8.
    db.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    wrong, count = [], 0
    made = copy_by_sqlite(db)
    for schema in ("main", "copy"):
        wrong += [f"{schema}: {answer}" for answer, in
                  db.execute(f"PRAGMA {schema}.integrity_check") if answer != "ok"]
    for kind, name in made:
        if kind == "table":
            order = columns_of(db, name).split(", ", maxsplit=1)[0]
            queries = [f"SELECT {columns_of(db, name)} FROM {schema}.{quoted(name)} ORDER BY "
                       f"{order}" for schema in ("main", "copy")]
        else:
            queries = [index_query(db, schema, name) for schema in ("main", "copy")]
        found, rows = query_differences(db, name, queries)
        wrong += found
        count += rows
    db.close()
    return wrong, count


def check(program, name, ingests):
    """True when the database is as SQLite's own; `ingests` are arguments, one after the other."""
    with temporary_folder() as folder:
        path = os.path.join(folder, "pages.db")
        wrong = [said for said in (ingest(program, path, arguments) for arguments in ingests)
                 if said]
        found, count = differences(path)
    wrong += found
    wrong += ["no rows at all"] if count == 0 else []
    print(f"{'FAIL' if wrong else 'ok  '} {name}: {count:,} rows, {len(wrong)} differences")
    for line in wrong:
        print("     " + line[:500])
    sys.stdout.flush()
    return not wrong


def fixtures(folder):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder)
                  for name in names if name.endswith(TRACES))


def unpacked(path, folder):
    """The fixture that is kept as xz, which the program does not read."""
    plain = os.path.join(folder, os.path.basename(path)[:-len(".xz")])
    with lzma.open(path) as packed, open(plain, "wb") as file:
        while block := packed.read(1 << 20):
            file.write(block)
    return plain


def event_of_every_size(chance, number):
    """Of any table; ids, addresses and texts of every length."""
    size = chance.choice((0, 1, 30, 300, chance.randrange(20_000), chance.randrange(60_000)))
    category = chance.choice(("cpu_op", "kernel", "cuda_runtime", "python_function", "gpu_memcpy"))
    width = chance.choice((1, 7, 8, 15, 16, 23, 24, 31, 32, 47, 48, 62))
    args = {"External id": chance.getrandbits(width), "correlation": number % 97,
            "Addr": str(chance.getrandbits(64)), "Bytes": -chance.getrandbits(width),
            "occupancy": chance.random(), "text": "x" * size, "device": number % 3,
            "stream": number % 5, "value": None}
    args = {key: args[key] for key in args if chance.random() < 0.7}
    return {"ph": chance.choice("XXXXXXisfCM"), "cat": category, "name": "n" * (size % 700),
            "pid": number % 3, "tid": number % 5, "ts": number * 1.25 + chance.random(),
            "dur": chance.choice((0, 3, 0.5, 1e6)), "id": chance.getrandbits(width), "args": args}


def made_trace(folder, seed, events):
    chance = random.Random(seed)
    path = os.path.join(folder, f"made{seed}.json")
    with open(path, "w", encoding="ascii") as file:
        json.dump({"distributedInfo": {"rank": seed}, "traceEvents": [
            event_of_every_size(chance, number) for number in range(events)]}, file)
    return path


def main():
    parser = argparse.ArgumentParser(description="Hold our pages against those of SQLite.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--fixtures", default=os.path.join(HERE, "..", "..", "fixtures"))
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    folder = os.path.abspath(options.fixtures)
    passed = [check(program, os.path.relpath(path, folder), [[path]])
              for path in fixtures(folder)]
    for job in ("megatron", "seqpar"):
        place = os.path.join(folder, job)
        passed.append(check(program, f"all of {job}, again, replaced",
                            [[place], [place], ["--replace", place]]))
    with temporary_folder() as own:
        large = unpacked(os.path.join(folder, "megatron32-stack.pt.trace.json.xz"), own)
        passed.append(check(program, "megatron32-stack", [[large]]))
        small = [made_trace(own, seed, 2000) for seed in range(2)]
        passed.append(check(program, "texts of every size", [[small[0]], [small[1]]]))
        passed.append(check(program, "little memory, no args",
                            [["--memory", "32M", "--args", "none", small[0]],
                             ["--memory", "32M", large]]))
    return 0 if passed and all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
