#!/usr/bin/env python3
"""Ingests several files side by side (--jobs N): the database must be that of files loaded one
after the other, row by row with all ids, whatever happens on the way.

    side_by_side_test.py --program P [--fixtures DIR] [--kills N]

One line for each; exit 1 if any fails.
"""
import argparse
import os
import random
import shutil
import signal
import sqlite3
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "text"))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))
from crash_check import Checks, Options  # noqa: E402
from crash_states import Database, ended, hash_rows, integrity, logical  # noqa: E402
from test_check import temporary_folder  # noqa: E402

JOBS = ["--jobs", "3", "--memory", "128M"]
THREADS = ["--jobs", "1", "--threads", "4"]  # so many that stages of deriving have threads as well
PROMPT_S = 600


def traces(path):
    """The traces' files in the order in which they landed."""
    db = sqlite3.connect(path)
    found = [name for name, in db.execute("SELECT path FROM _trace ORDER BY trace_id")]
    db.close()
    return found


def all_rows(path):
    """Every row of every table in its order, with its ids, but for when it was made; by table."""
    db = sqlite3.connect(path)
    tables = {}
    for name, sql in db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'"):
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({name})")
                   if row[1] != "ingested_at"]
        if not sql.rstrip().endswith("WITHOUT ROWID"):
            columns.insert(0, "rowid")
        tables[name] = hash_rows(db.execute(f"SELECT {', '.join(columns)} FROM {name}"))
    db.close()
    return tables


def other_rows(path, wanted):
    there, right = all_rows(path), all_rows(wanted)
    return [f"other rows in {table}" for table in sorted(right) if there.get(table) != right[table]]


def problems_of(database, wanted, status, said, expected_status=0):
    problems = [] if status == expected_status else [f"exit {status}: {said.strip()}"]
    if database.litter():
        problems.append(f"left {database.litter()}")
    if integrity(database.path):
        problems.append(integrity(database.path))
    elif wanted is not None and logical(database.path) != wanted:
        problems.append(f"other content; traces {traces(database.path)}")
    return problems


def same_as_in_turn(checks, options, name, inputs, arguments=(), expected_status=0, more=()):
    """`inputs` side by side, as many at a time as the program chooses, and each on more threads,
    against the same in turn; `more` is loaded before, by all."""
    wanted = Database(options.place(f"turn {name}"), options)
    if more:
        wanted.ingest([*more])
    status, said = wanted.ingest([*arguments, "--jobs", "1", *inputs])
    problems = [] if status == expected_status else [f"in turn: exit {status}: {said}"]
    for place, jobs in (("side", JOBS), ("chosen", []), ("threads", THREADS)):
        found = Database(options.place(f"{place} {name}"), options)
        if more:
            found.ingest([*more])
        status, said = found.ingest([*arguments, *jobs, *inputs])
        problems += problems_of(found, None, status, said, expected_status)
        if traces(found.path) != traces(wanted.path):
            problems.append(f"{place}: order {traces(found.path)}, not {traces(wanted.path)}")
        elif os.path.exists(found.path):
            problems += other_rows(found.path, wanted.path)
    checks.say(name, problems, f"{len(traces(found.path))} traces")


def plain_cases(checks, options):
    ranks = [options.fixture(f"megatron/{name}")
             for name in sorted(os.listdir(os.path.join(options.fixtures, "megatron")))
             if "trace.json" in name]
    many = [options.many(f"many{rank}.json", 20 + rank, events=15000) for rank in range(4)]
    same_as_in_turn(checks, options, "ranks of a job", ranks)
    same_as_in_turn(checks, options, "large files", many)
    same_as_in_turn(checks, options, "into a database", many, more=ranks[:3])
    same_as_in_turn(checks, options, "unchanged files among others", ranks, more=ranks[1:4:2])
    same_as_in_turn(checks, options, "replaced", ranks[:4], ["--replace"], more=ranks[1:3])
    twice = os.path.join(options.inputs, "twice.json")
    shutil.copyfile(many[1], twice)
    same_as_in_turn(checks, options, "the same content twice", [many[0], many[1], twice, many[2]])
    folder = options.place("folder")
    os.makedirs(folder, exist_ok=True)
    for number, path in enumerate(ranks[:4]):
        shutil.copyfile(path, os.path.join(folder, f"{number}.json.gz"))
    with open(os.path.join(folder, "1a.json"), "w", encoding="ascii") as file:
        file.write('{"no":"trace"}')
    same_as_in_turn(checks, options, "a folder with a file that is none", [folder])
    return ranks, many


def every_fixture(checks, options):
    """Between them they have rows in every table of a trace."""
    same_as_in_turn(checks, options, "every fixture", [os.path.abspath(options.fixtures)])
    there = all_rows(options.place("turn every fixture") + "/trace.db")
    wanted = {"_memory_piece", "_graph_capture", "_captured_launch", "_captured_call",
              "_graph_launch", "_collective_part", "_python_slice", "_sync_use", "_busy_segment"}
    missing = [f"no fixture has rows in {table}" for table in sorted(wanted)
               if there[table] == hash_rows([])]
    checks.say("fixtures with rows of every kind", missing, f"{len(wanted)} tables")


def failing_cases(checks, options, many):
    database = Database(options.place("missing"), options)
    inputs = [many[0], many[1], os.path.join(options.inputs, "absent.json"), many[2]]
    status, said = database.ingest([*JOBS, *inputs])
    problems = [] if status == 1 and "absent.json" in said else [f"exit {status}: {said}"]
    checks.say("a file that is not there", problems + [f"left {x}" for x in database.litter()],
               f"exit {status}")
    database = Database(options.place("memory"), options)
    status, said = database.ingest(["--jobs", "8", "--memory", "64M", *many])
    problems = [] if status == 2 and "--memory 256M" in said else [f"exit {status}: {said}"]
    checks.say("more jobs than memory", problems, f"exit {status}")


def state_problems(database, inputs, wanted_of):
    """After a kill the database holds the first so many of the files, whole."""
    if not os.path.exists(database.path):
        return []
    if integrity(database.path):
        return [integrity(database.path)]
    there = traces(database.path)
    if there != inputs[:len(there)]:
        return [f"traces {there}"]
    # Stalls are explained when all have landed.
    per_trace = logical(database.path)[0]
    return [] if per_trace == wanted_of[len(there)] else [f"other rows of {there}"]


def killed_cases(checks, options, many, kills):
    wanted_of = [[]]
    maker = Database(options.place("prefixes"), options)
    for path in many:
        maker.ingest(["--jobs", "1", path])
        wanted_of.append(logical(maker.path)[0])
    whole = logical(maker.path)
    database = Database(options.place("killed"), options)
    begun = time.monotonic()
    database.ingest([*JOBS, *many])
    seconds = time.monotonic() - begun
    chance = random.Random(7)
    for kind in (signal.SIGKILL, signal.SIGINT):
        problems, landed = [], []
        for _ in range(kills):
            database.reset(None)
            child = database.start([*JOBS, *many])
            time.sleep(chance.random() * seconds)
            child.send_signal(kind)
            status, said = ended(child, PROMPT_S)
            if status == "hangs":
                problems.append("it hangs")
            if kind == signal.SIGINT and database.litter():
                problems.append(f"left {database.litter()}: {said}")
            problems += state_problems(database, many, wanted_of)
            landed.append(len(traces(database.path)) if os.path.exists(database.path) else 0)
            status, said = database.ingest([*JOBS, *many])
            problems += problems_of(database, whole, status, said)
        checks.say(f"{kind.name} at random moments", problems,
                   f"{kills} times, landed before: {sorted(landed)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--fixtures", default=os.path.join(HERE, "..", "..", "fixtures"))
    parser.add_argument("--kills", type=int, default=5)
    told = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also as a background job
    told.shim, told.seed, told.all, told.jobs = "", 1, False, 1
    checks = Checks()
    with temporary_folder() as folder:
        options = Options(told, folder)
        _, many = plain_cases(checks, options)
        every_fixture(checks, options)
        failing_cases(checks, options, many)
        killed_cases(checks, options, many, told.kills)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
