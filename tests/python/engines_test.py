#!/usr/bin/env python3
"""Canned queries on DuckDB, ClickHouse and Spark over summaries: cell by cell what SQLite says of
the database that was gathered of them. `./dev test-scale` has what this needs."""
import argparse
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import pyarrow.parquet as parquet

import engine_jobs
from engine_connections import CONNECTIONS

# A cell that is a fraction may differ in its last digit: sums of integers do not.
LAST_DIGIT = 2.3e-16


def ask(program, database, name, params):
    command = [program, "query", name, "--db", database, "--format", "json"]
    for param in params:
        command += ["-p", param]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr
    return json.loads(done.stdout), done.stderr


# Columns that engines have not: their patterns of names are others.
LEFT_OUT = {"ops_top": ("tc_eligible", "uses_tc")}


def documented(program, name):
    told = subprocess.run([program, "query", name, "--explain", "--format", "json"], check=True,
                          capture_output=True, text=True)
    return [(column["name"], column["type"]) for column in json.loads(told.stdout)["columns"]
            if column["name"] not in LEFT_OUT.get(name, ())]


def cell(value, kind):
    if value is None:
        return None
    if kind == "text":
        return str(value)
    return float(value) if kind == "real" else int(value)


def alike(a, b, kind):
    if isinstance(b, float) and math.isnan(b):
        return False  # SQLite has none
    if kind != "real" or a is None or b is None:
        return a == b
    return abs(a - b) <= LAST_DIGIT * max(abs(a), abs(b))


def differences(columns, wanted, got):
    if len(wanted) != len(got):
        yield f"{len(got)} rows, and SQLite has {len(wanted)}"
        return
    for number, (a, b) in enumerate(zip(wanted, got)):
        for (name, kind), given in zip(columns, b):
            has, here = cell(a[name], kind), cell(given, kind)
            if not alike(has, here, kind):
                yield f"row {number}, {name}: {here!r}, and SQLite has {has!r}"


def engine_sql(program, engine, name, shards, params):
    command = [program, "export", "--sql", engine, name, "--shards", shards]
    for param in params:
        command += ["-p", param]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def compare(program, job, engine, connection, name, params):
    """The number of rows, or None where it differs."""
    wanted, _ = ask(program, job.database, name, params)
    columns = documented(program, name)
    begun = time.monotonic()
    names, rows = connection.rows(engine_sql(program, engine, name, job.shards, params))
    took = time.monotonic() - begun
    if list(names) != [column for column, _ in columns]:
        print(f"  {name}: its columns are {names}")
        return None
    found = list(differences(columns, wanted, rows))
    if found:
        print(f"  {name} {' '.join(params)}: {len(found)} cells differ: {'; '.join(found[:3])}")
        return None
    print(f"  {name} {' '.join(params)}: {len(rows)} rows, {took:.2f} s", flush=True)
    return len(rows)


def engine_queries(program):
    listed = subprocess.run([program, "export", "--sql", "duckdb"], check=True,
                            capture_output=True, text=True).stdout
    return [line.split()[0] for line in listed.splitlines()]


# Parameters too: lists, a text with a quote, numbers.
ASKED = (("overlap", ("rank=0,3..5",)), ("nccl_stalls", ("limit=7", "rank=1")),
         ("nccl_stall_roots", ("run=it's \\ none",)), ("time_partition", ("step=3",)),
         ("ops_top", ("limit=-1",)), ("kernels_by_op", ("limit=3", "capture=1")))


def every_query(program, job, engine, connection):
    names = engine_queries(program)
    failed = []
    for name, params in [(name, ()) for name in names] + list(ASKED):
        try:
            rows = compare(program, job, engine, connection, name, params)
        except Exception as error:  # an engine's own, of whatever kind
            print(f"  {name}: {type(error).__name__}: {str(error)[:400]}")
            rows = None
        if rows is None:
            failed.append(name)
    return failed


def refusal(program, job, engine, connection, name):
    """What the engine says where it does not answer; None: it answers."""
    try:
        connection.rows(engine_sql(program, engine, name, job.shards, ()))
    except Exception as error:  # an engine's own, of whatever kind
        return str(error)
    return None


def every_guard(program, job, engine, connection):
    """Where the files do not tell the truth, there is no answer."""
    failed = []

    def expect(what, name, wanted):
        said = refusal(program, copy, engine, connection, name)
        is_as_wanted = said is None if wanted is None else wanted in (said or "")
        print(f"  {what}: {name}: {'as it should be' if is_as_wanted else said}", flush=True)
        if not is_as_wanted:
            failed.append(f"{name} ({what})")

    with tempfile.TemporaryDirectory(prefix="tracedb-guards-") as scratch:
        folder = pathlib.Path(scratch)
        copy = job._replace(shards=folder / "shards")
        shutil.copytree(job.shards, copy.shards)
        run = next(copy.shards.glob("run=*"))
        whole = (run / "rank=1" / "manifest.json").read_text()
        (run / "rank=1" / "manifest.json").write_text(
            re.sub(r'"left_out":\s*\[', '"left_out":["_host_use",', whole))
        subprocess.run([program, "-q", "gather", copy.shards, "-o", folder / "job.db"], check=True)
        expect("a rank with too many calls", "ops_top", "has not all of its calls")
        expect("a rank with too many calls", "overlap", None)
        uses = run / "rank=2" / "step_use.parquet"
        parquet.write_table(parquet.read_table(uses).slice(0, 0), uses)
        expect("a rank whose time is not cut", "overlap_by_step", "is not cut into steps")
        shutil.rmtree(run / "rank=2")
        shutil.copytree(run / "rank=3", run / "rank=2")
        expect("another summary than was gathered", "overlap", "run tracedb gather again")
        shutil.rmtree(run / "rank=2")
        expect("a summary that has gone", "nccl_stalls", "run tracedb gather again")
        expect("what reads no rank's files", "clocks", None)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--engines", default=",".join(CONNECTIONS))
    parser.add_argument("--jobs", default="megatron,moe,experts,ranks8,ranks64")
    parser.add_argument("--folder", required=True, help="where the jobs are made, and kept")
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    os.environ["TRACEDB_PROGRAM"] = program  # which tracedb_profiler runs
    failed = []
    for engine in arguments.engines.split(","):
        with CONNECTIONS[engine]() as connection:
            for name in arguments.jobs.split(","):
                job = engine_jobs.make(program, pathlib.Path(arguments.folder).resolve(), name)
                print(f"{engine}, {name}:", flush=True)
                failed += [f"{engine} {name} {query}"
                           for query in every_query(program, job, engine, connection)]
                # Of a real job: where an answer has no rows whatever a rank's file says, an engine
                # need not read that file.
                if name == "megatron":
                    failed += [f"{engine} {query}"
                               for query in every_guard(program, job, engine, connection)]
    if failed:
        sys.exit("differ: " + ", ".join(failed))


if __name__ == "__main__":
    main()
