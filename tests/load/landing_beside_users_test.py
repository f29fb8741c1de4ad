#!/usr/bin/env python3
"""A trace lands in a database in which a user has things of their own on our tables: indexes,
columns, triggers, views, tables that refer to ours. Both ways of landing, by rows and by pages.

    landing_beside_users_test.py --program P

One line for each check; exit 1 if any fails.
"""
import argparse
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "text"))
from test_check import temporary_folder  # noqa: E402

FEW, MANY = 20, 45_000  # activities: by rows, by pages

# name: what the user made; what must hold once a trace of N activities came behind one of FEW.
USERS = {
    "index on a large table": (
        "CREATE INDEX mine ON _gpu_slice (dur, ts)",
        "SELECT count(*) = {all} FROM _gpu_slice INDEXED BY mine WHERE dur >= 0"),
    "partial index on an expression": (
        "CREATE INDEX mine ON _gpu_slice (ts + dur) WHERE dur > 0",
        "SELECT count(*) = {all} FROM _gpu_slice INDEXED BY mine WHERE dur > 0 AND ts + dur > -1"),
    "unique index on a small table": (
        "CREATE UNIQUE INDEX mine ON _trace (text_hash)",
        "SELECT count(*) = 2 FROM _trace INDEXED BY mine WHERE text_hash > ''"),
    "column with a default": (
        "ALTER TABLE _gpu_slice ADD COLUMN note TEXT NOT NULL DEFAULT 'new';"
        "UPDATE _gpu_slice SET note = 'old'",
        "SELECT sum(note = 'old') = {few} AND sum(note = 'new') = {more} FROM _gpu_slice"),
    "generated columns and an index on one": (
        "ALTER TABLE _gpu_slice ADD COLUMN until INTEGER GENERATED ALWAYS AS (ts + dur) VIRTUAL;"
        "CREATE INDEX mine ON _gpu_slice (until)",
        "SELECT count(*) = {all} FROM _gpu_slice INDEXED BY mine WHERE until > -1"),
    "columns of runs, captures and groups": (
        "ALTER TABLE _run ADD COLUMN note TEXT; ALTER TABLE _capture ADD COLUMN note TEXT;"
        "ALTER TABLE _collective_part ADD COLUMN note TEXT;"
        "ALTER TABLE _trace_group ADD COLUMN note TEXT;"
        "ALTER TABLE _collective_cause ADD COLUMN note TEXT;"
        "ALTER TABLE _clock ADD COLUMN note TEXT;"
        "ALTER TABLE _explained_trace ADD COLUMN note TEXT;"
        "UPDATE _run SET note = 'kept'; UPDATE _capture SET note = 'kept'",
        "SELECT (SELECT max(note) FROM _run) || (SELECT max(note) FROM _capture) = 'keptkept'"),
    "trigger on a large table": (
        "CREATE TABLE seen (id INTEGER);"
        "CREATE TRIGGER mine AFTER INSERT ON _gpu_slice "
        "BEGIN INSERT INTO seen VALUES (new.id); END",
        "SELECT count(*) = {more} FROM seen"),
    "trigger on a small table": (
        "CREATE TABLE seen (path TEXT) STRICT;"
        "CREATE TRIGGER mine AFTER INSERT ON _trace BEGIN INSERT INTO seen VALUES (new.path); END",
        "SELECT count(*) = 1 FROM seen"),
    "foreign key with a cascade, of a table without rowid": (
        "CREATE TABLE remark (trace_id INTEGER REFERENCES _trace (trace_id) ON DELETE CASCADE, "
        "text TEXT, run_id INTEGER REFERENCES _run (run_id) ON DELETE CASCADE, "
        "PRIMARY KEY (trace_id)) WITHOUT ROWID; INSERT INTO remark VALUES (1, 'kept', 1)",
        "SELECT count(*) = 1 FROM remark"),
    "view on ours": (
        "CREATE VIEW mine AS SELECT name, sum(dur_ns) AS dur_ns, count(*) AS n FROM kernels "
        "GROUP BY name",
        "SELECT sum(n) = {all} FROM mine"),
    "other page settings": (
        "PRAGMA journal_mode = WAL", "SELECT count(*) = {all} FROM kernels"),
    "auto_vacuum": (
        "PRAGMA auto_vacuum = FULL; VACUUM", "SELECT count(*) = {all} FROM kernels"),
    "analysed": ("ANALYZE", "SELECT count(*) = {all} FROM kernels"),
}


def trace(path, rank, activities):
    events = [{"ph": "X", "cat": "kernel",
               "name": f"k{i % 7}" if i % 9 else "ncclDevKernel_AllReduce", "pid": 0,
               "tid": 7, "ts": 100 + 2 * i + 7 * rank, "dur": 1,
               "args": {"device": 0, "stream": 7, "correlation": i, "Collective name": "allreduce",
                        "In msg nelems": 4, "Out msg nelems": 4, "Group size": 2, "dtype": "Float",
                        "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}
               if i % 9 == 0 else {"device": 0, "stream": 7, "correlation": i}}
              for i in range(activities)]
    path.write_text(json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": events}))


class Database:
    def __init__(self, program, folder):
        self.program = program
        self.path = pathlib.Path(folder) / "trace.db"

    def run(self, *arguments):
        done = subprocess.run([self.program, "-q", "--db", self.path, *arguments], text=True,
                              capture_output=True, timeout=600, check=False)
        return "" if done.returncode == 0 else f"exit {done.returncode}: {done.stderr.strip()}"

    def change(self, text):
        db = sqlite3.connect(self.path, isolation_level=None)
        db.executescript(text)
        db.close()

    def rows(self, text):
        db = sqlite3.connect(self.path)
        found = db.execute(text).fetchall()
        db.close()
        return found

    def whole(self):
        found = self.rows("PRAGMA integrity_check")
        return "" if found == [("ok",)] else f"integrity: {found[:3]}"


def one_of_two(program, folder, name, traces, more):
    """FEW, then what the user makes, then `more` activities of another rank, then --replace."""
    made, holds = USERS[name]
    place = pathlib.Path(folder) / f"{name} {more}"
    place.mkdir()
    database = Database(program, place)
    numbers = {"few": FEW, "more": more, "all": FEW + more}
    problems = [database.run("ingest", traces[FEW])]
    database.change(made)
    problems.append(database.run("ingest", traces[more]))
    problems.append(database.whole())
    if not any(problems):
        rows = database.rows(holds.format(**numbers))
        problems.append("" if rows == [(1,)] else f"{holds.format(**numbers)}: {rows}")
    problems.append(database.run("align", "--format", "csv"))
    problems.append(database.run("ingest", "--replace", traces[more]))
    problems.append(database.whole())
    if not any(problems):
        rows = database.rows("SELECT count(*) FROM kernels")
        problems.append("" if rows == [(FEW + more,)] else f"{rows} kernels after --replace")
    return "; ".join(p for p in problems if p)


def refused_trigger(program, folder, traces):
    """A trigger that refuses rows keeps the trace out, says so, and leaves the database."""
    database = Database(program, folder)
    problems = [database.run("ingest", traces[FEW])]
    database.change("CREATE TRIGGER mine BEFORE INSERT ON _gpu_slice BEGIN "
                 "SELECT RAISE(ABORT, 'not on a Sunday'); END")
    for more in (FEW + 1, MANY):
        said = database.run("ingest", traces[more])
        wanted = "table _gpu_slice, which has a trigger of your own: "
        problems.append("" if "not on a Sunday" in said and wanted in said else f"said: {said}")
        rows = database.rows("SELECT count(*) FROM _gpu_slice")
        problems.append("" if rows == [(FEW,)] else f"{rows} rows")
    problems.append(database.whole())
    return "; ".join(p for p in problems if p)


def leaving_out_trigger(program, folder, traces):
    """A trigger that leaves rows out: said, with how many."""
    database = Database(program, folder)
    problems = [database.run("ingest", traces[FEW])]
    database.change("CREATE TRIGGER mine BEFORE INSERT ON _gpu_slice WHEN NEW.dur IS NOT NULL "
                    "BEGIN SELECT RAISE(IGNORE); END")
    for more in (FEW + 1, MANY):
        done = subprocess.run([program, "--db", database.path, "ingest", traces[more]],
                              capture_output=True, text=True, check=False)
        wanted = f"a trigger of your own left out {more} rows of table _gpu_slice"
        if done.returncode != 0 or wanted not in done.stderr:
            problems.append(f"exit {done.returncode}: {done.stderr}")
    problems.append(database.whole())
    return "; ".join(p for p in problems if p)


def cascade_on_replace(program, folder, traces):
    database = Database(program, folder)
    problems = [database.run("ingest", traces[FEW]), database.run("ingest", traces[FEW + 1])]
    database.change(USERS["foreign key with a cascade, of a table without rowid"][0])
    problems.append(database.run("ingest", "--replace", traces[FEW]))
    rows = database.rows("SELECT count(*) FROM remark")
    problems.append("" if rows == [(0,)] else f"{rows} remarks on a trace that is gone")
    problems.append(database.whole())
    return "; ".join(p for p in problems if p)


def cascade_on_expiry(program, folder, traces):
    """`watch --keep` takes a capture out: what refers to it goes with it, if it says so."""
    return "; ".join(problem for action, left in (("ON DELETE CASCADE", 1), ("", 2))
                     if (problem := expiry(program, folder / str(left), action, left)))


def expiry(program, folder, action, remarks_left):
    folder.mkdir()
    database = Database(program, folder)
    for name in ("a", "b"):
        (folder / "in" / name).mkdir(parents=True)
        trace(folder / "in" / name / "rank0.json", 0, FEW + len(name) + (name == "b"))
    problems = [database.run("watch", "--once", folder / "in")]
    database.change("CREATE TABLE remark (trace_id INTEGER REFERENCES _trace (trace_id) "
                    f"{action}); INSERT INTO remark SELECT trace_id FROM _trace")
    problems.append(database.run("watch", "--once", "--keep", "1K", folder / "in"))
    rows = database.rows("SELECT (SELECT count(*) FROM _trace), (SELECT count(*) FROM remark)")
    problems.append("" if rows == [(1, remarks_left)] else f"{rows} traces and remarks {action}")
    problems.append(database.whole())
    return "; ".join(p for p in problems if p)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    failed = 0

    def check(name, problem):
        nonlocal failed
        failed += 1 if problem else 0
        print(f"{'FAIL' if problem else 'ok  '} {name}{': ' + problem if problem else ''}")

    with temporary_folder() as folder:
        traces = {}
        for rank, activities in enumerate((FEW, FEW + 1, MANY)):
            traces[activities] = pathlib.Path(folder) / f"rank{rank}.json"
            trace(traces[activities], min(rank, 1), activities)
        for name in USERS:
            for more in (FEW + 1, MANY):
                check(f"{name}, {more} activities", one_of_two(program, folder, name, traces, more))
        for name, function in (("refused", refused_trigger), ("left out", leaving_out_trigger),
                               ("cascade", cascade_on_replace),
                               ("cascade of what expires", cascade_on_expiry)):
            place = pathlib.Path(folder) / name
            place.mkdir()
            check(name, function(program, place, traces))
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
