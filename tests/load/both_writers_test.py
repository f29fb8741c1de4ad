#!/usr/bin/env python3
"""Ingests traces by --writer pages and by --writer sqlite: both databases must hold the same rows.

    both_writers_test.py --program P [--fixtures DIR]

Every fixture by itself; those of one job together, twice over (skipped, then replaced); and traces
with texts of every size, which reach beyond a page. All tables are compared row by row with their
rowids, value and type, and both databases must be sound. One line for each; exit 1 if they differ.
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


def ingest(program, database, writer, arguments):
    done = subprocess.run(
        [program, "--db", database, "-q", "ingest", "--writer", writer, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1200,
        check=False)
    return done.returncode, done.stderr


def connect(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.text_factory = bytes  # names need be no UTF-8
    return db


def schema(db):
    """Everything but the numbers of the root pages."""
    return db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid"
                      ).fetchall()


def rows(db, table):
    """Every row with its rowid; the time of the ingest is left out."""
    columns = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
    wanted = ", ".join(name.decode() for name in columns if name != b"ingested_at")
    return db.execute(f"SELECT rowid, {wanted} FROM {table} ORDER BY rowid")


def is_same(left, right):
    # 1 == 1.0 in Python, but not in a database.
    return left == right and list(map(type, left)) == list(map(type, right))


def table_differences(pages, sqlite, table):
    pairs = itertools.zip_longest(rows(pages, table), rows(sqlite, table), fillvalue=())
    wrong = (f"{table}: pages {left}, sqlite {right}" for left, right in pairs
             if not is_same(left, right))
    return itertools.islice(wrong, SHOWN)


def differences(paths):
    """(what differs, how many rows both have)"""
    pages, sqlite = [connect(path) for path in paths]
    wrong = [f"{path}: {answer}" for path, db in zip(paths, (pages, sqlite))
             for answer, in db.execute("PRAGMA integrity_check") if answer != b"ok"]
    if schema(pages) != schema(sqlite):
        wrong.append("the schemas differ")
    count = 0
    for kind, name, *_ in schema(pages):
        if kind != b"table":
            continue
        count += pages.execute(f"SELECT count(*) FROM {name.decode()}").fetchone()[0]
        wrong += table_differences(pages, sqlite, name.decode())
    pages.close()
    sqlite.close()
    return wrong, count


def check(program, name, ingests):
    """True when both writers leave the same; `ingests` are the arguments of one after the other."""
    with temporary_folder() as folder:
        paths = [os.path.join(folder, f"{writer}.db") for writer in ("pages", "sqlite")]
        wrong = []
        for arguments in ingests:
            said = [ingest(program, path, os.path.basename(path)[:-3], arguments)
                    for path in paths]
            if said[0] != said[1] or said[0][0] != 0:
                wrong.append(f"pages says {said[0]}, sqlite {said[1]}")
        count = 0
        if not wrong:
            wrong, count = differences(paths)
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
    parser = argparse.ArgumentParser(description="Hold the two writers against each other.")
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
