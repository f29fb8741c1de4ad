#!/usr/bin/env python3
"""Every command on damaged databases: a right answer, or an error that says so.

    damaged_databases.py --program P [--count N] [--seed N] [--kind KIND] [--jobs N] [GROUP...]

Each of N databases is damaged in one way or two (damage_kinds.py), and the commands of each group
run on a copy of it, bounded in processor time. What a command must not do: crash, hang, fail
without a message, leave broken JSON, CSV or HTML with exit 0, or, where it writes and fails, change
the database. One line a fault, with the seed that makes it again (--seed S --count 1), and figures.
"""
import argparse
import concurrent.futures
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time

import damage_checks as checks
import damage_kinds as kinds
from damage_base import Base
from damage_serve import serve

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")


def canned_queries():
    return sorted(name[:-4] for name in os.listdir(os.path.join(ROOT, "queries"))
                  if name.endswith(".sql"))


class Damaged:
    """A damaged database in a folder of its own, and the way to run commands on it."""

    def __init__(self, told, base, seed):
        self.told = told
        self.base = base
        self.random = random.Random(f"damage {seed}")
        self.data = bytearray(base.bytes)
        self.said = kinds.damage(self.random, self.data, told.kind)
        self.folder = tempfile.mkdtemp(dir=os.path.dirname(base.database))
        self.path = os.path.join(self.folder, "x.db")
        self.fresh()

    def fresh(self):
        with open(self.path, "wb") as file:
            file.write(self.data)

    def place(self, name):
        path = os.path.join(self.folder, name)
        if os.path.exists(path):
            os.remove(path)
        return path

    def run(self, *arguments):
        return checks.Run(self.told.program, ["--db", self.path, *arguments], self.told.cpu_s)


def query(damaged):
    for name in damaged.random.sample(canned_queries(), damaged.told.queries):
        as_json = damaged.random.random() < 0.7
        run = damaged.run("query", name, "--format", "json" if as_json else "csv")
        if run.ok:
            (checks.check_json if as_json else checks.check_csv)(run)
        yield run
    view = damaged.random.choice(("slices", "kernels", "traces", "collectives", "flows",
                                  "instants", "counters", "metadata", "memory_events"))
    run = damaged.run("query", "--format", "json", "-c", f"SELECT * FROM {view} LIMIT 500")
    if run.ok:
        checks.check_json(run)
    yield run


def doctor(damaged):
    run = damaged.run("doctor", "--format", "json")
    if run.ok:
        checks.check_json(run)
    yield run
    yield damaged.run("doctor")
    run = damaged.run("info", "--format", "json")
    if run.ok:
        checks.check_json(run)
    yield run


def report(damaged):
    path = damaged.place("x.html")
    run = damaged.run("report", "-o", path)
    if run.ok:
        with open(path, "rb") as file:
            checks.check_html(run, file.read())
    yield run


def cut(damaged):
    ways = [(), ("--rank", "5"), ("--rank", "0", "--max-events", "300"), ("--step", "1..3"),
            ("--start", "1ms", "--end", "60ms", "--clip"), ("--category", "kernel,ac2g"),
            ("--slowest-collective",)]
    for options in [()] + damaged.random.sample(ways, 2):
        path = damaged.place("x.json")
        run = damaged.run("cut", "-o", path, "--run", "job", *options)
        checks.check_cut(run, path, damaged.path, not options)
        yield run


def ingest(damaged):
    before = bytes(damaged.data)
    for path in (damaged.base.large, damaged.base.small):
        damaged.fresh()
        run = damaged.run("ingest", path)
        # Two tables that have changed places are sound by all that a database says of itself.
        known = None if "roots: swap" in damaged.said else damaged.base.events[path]
        checks.check_ingest(run, damaged.path, before, path, known)
        yield run
    left = [name for name in os.listdir(damaged.folder) if ".partial" in name]
    if left:
        raise checks.Fault(f"left behind: {left}")
    damaged.fresh()


def align(damaged):
    for options in (("align",), ("align", "--reset")):
        damaged.fresh()
        run = damaged.run(*options)
        yield run
    damaged.fresh()


GROUPS = {"query": query, "doctor": doctor, "report": report, "cut": cut, "ingest": ingest,
          "align": align, "serve": serve}


def one_database(told, base, seed):
    damaged = Damaged(told, base, seed)
    faults = []
    runs = {0: 0, 1: 0}
    try:
        for name in told.groups or GROUPS:
            try:
                for run in GROUPS[name](damaged):
                    runs[0 if run.ok else 1] += 1
            except checks.Fault as fault:
                faults.append(f"{name}: seed {seed}: {damaged.said}: {fault}")
    finally:
        shutil.rmtree(damaged.folder, ignore_errors=True)
    return faults, runs


def main():
    parser = argparse.ArgumentParser(description="Every command on damaged databases.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--fixtures", default=os.path.join(ROOT, "fixtures"))
    parser.add_argument("--count", type=int, default=60, help="how many databases")
    parser.add_argument("--seed", type=int, default=1, help="of the first; the others follow")
    parser.add_argument("--kind", choices=list(kinds.KINDS), help="only this kind of damage")
    parser.add_argument("--queries", type=int, default=3, help="canned queries on each")
    parser.add_argument("--cpu-s", type=int, default=10, help="for one command")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    told = parser.parse_args()
    unknown = [name for name in told.groups if name not in GROUPS]
    if unknown:
        parser.error(f"there is no group {unknown[0]}")
    told.program = os.path.abspath(told.program)
    if os.environ.get("TRACEDB_SANITIZED"):
        told.cpu_s *= 10
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="tracedb-damage-", dir=memory)
    begun = time.monotonic()
    faults = []
    runs = {0: 0, 1: 0}
    tried = 0
    try:
        base = Base(told.program, told.fixtures, folder)
        kinds.by_sql.place = base.database
        context = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(told.jobs, mp_context=context) as pool:
            work = [pool.submit(one_database, told, base, told.seed + i)
                    for i in range(told.count)]
            for done in concurrent.futures.as_completed(work):
                new, ended = done.result()
                tried += 1
                if tried % 100 == 0:
                    print(f"{tried} databases, {len(faults)} faults", flush=True)
                for key, count in ended.items():
                    runs[key] += count
                for fault in new:
                    print(f"FAULT {fault}", flush=True)
                faults += new
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{told.count} databases, {runs[0]} answers, {runs[1]} errors that say so, "
          f"{len(faults)} faults, {time.monotonic() - begun:.1f} s")
    print(f"{told.count - len(faults)} passed, {len(faults)} failed" if len(faults) < told.count
          else f"0 passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
