#!/usr/bin/env python3
"""Each command where one piece of memory, or all from one on, are not to be had: it works all the
same, or ends with exit code 1 and a message; it leaves no file behind, and the database as it was.

    failing_allocations_test.py --program P --shim S [--steps N] [--seed N] [--all] [command...]

A piece is named by its number, or as the first one that some functions ask for: --all goes through
all such places of a command, some thousands.

A limit of the address space (out_of_memory_test.py) makes large pieces fail, and gives back what is
freed; here the smallest fail as well, also while what was begun is undone.
"""
import argparse
import hashlib
import os
import random
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "fixtures", "parallel")
sys.path.insert(0, HERE)
import many_source_rows  # noqa: E402

TIMEOUT_S = 600
# Pieces that are asked for before main(), by the libraries and for constants.
START_PIECES = 100
SAYS_WHY = re.compile("tracedb: .*(out of memory|a thread cannot be started)")


def below(folder):
    """Files, and folders with nothing in them."""
    return sorted(os.path.relpath(os.path.join(place, name), folder)
                  for place, folders, files in os.walk(folder)
                  for name in files + [name for name in folders
                                       if not os.listdir(os.path.join(place, name))])


def text_of(path, folder):
    """Without the moment at which it was written, and the folder in which the command ran."""
    with open(path, "rb") as file:
        text = file.read().replace(folder.encode(), b"")
    text = re.sub(rb"\d{4}-\d\d-\d\d.\d\d:\d\d(:\d\d)?", b"", text)
    # A manifest has the hash of the table that says when its trace was read.
    return re.sub(rb'("trace\.parquet","bytes":\d+),"xxh3":"[0-9a-f]+"', rb"\1", text)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def rows_of(database):
    """How many rows each table has, and whether the database is whole."""
    db = sqlite3.connect(database)
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' "
                                             "ORDER BY name")]
    rows = [(name, db.execute(f"SELECT count(*) FROM {name}").fetchone()) for name in tables]
    rows.append(db.execute("PRAGMA integrity_check").fetchall())
    db.close()
    return rows


class Inputs:
    """What the commands read. They run in folders beside it, with names that lead here."""

    def __init__(self, program, folder):
        self.folder = folder
        for name in ("fsdp2", "fsdp2_again"):
            self.run(program, f"{name}.db", "ingest", os.path.join(FIXTURES, name))
        for rank in (0, 1):
            self.run(program, f"own{rank}.db", "ingest", "--shard", "shards",
                     os.path.join(FIXTURES, "fsdp2", f"rank{rank}.pt.trace.json.gz"))
        self.run(program, "gathered.db", "gather", "shards", "-o", "gathered.db")
        self.sources = []
        for kind in ("log_iterations", "gpu_samples", "ncu_metrics", "inspector_operations",
                     "memory_snapshot", "flight_recorder"):
            self.sources.append(os.path.join(folder, many_source_rows.file_name(kind)))
            with open(self.sources[-1], "w", encoding="utf-8") as out:
                many_source_rows.write(out, kind, 200)
        self.digests = {name: digest(os.path.join(folder, name))
                        for name in os.listdir(folder) if name.endswith(".db")}
        self.files = below(folder)

    def run(self, program, database, *arguments):
        subprocess.run([program, "-q", "--db", database, *arguments], cwd=self.folder, check=True)

    def problems(self):
        changed = [name for name, was in self.digests.items()
                   if digest(os.path.join(self.folder, name)) != was]
        files = set(below(self.folder)) ^ set(self.files)
        return ([f"changed {changed}"] if changed else []) + (
            [f"beside the inputs: {sorted(files)}"] if files else [])


def commands(inputs):
    """name: (arguments, what it may make)"""
    def place(name):
        return os.path.join(inputs.folder, name)
    both = (place("fsdp2.db"), place("fsdp2_again.db"))
    one = ("--db", place("fsdp2.db"))
    gathered = ("--db", place("gathered.db"))
    traces = (os.path.join(FIXTURES, "fsdp2"), os.path.join(FIXTURES, "fsdp2_again"))
    return {
        "compare": (("compare", *both), ()),
        "compare_traces": (("compare", *traces), ()),
        "what_if": (("what-if", *one, "--without", "rank-late=1", "--network", "2"), ()),
        "gather": (("gather", place("shards"), "-o", "made.db"), ("made.db",)),
        "report": (("report", *one, "-o", "o.html"), ("o.html",)),
        "report_gathered": (("report", *gathered, "-o", "o.html"), ("o.html",)),
        "cut": (("cut", *one, "-o", "o.json.gz", "--critical-path"), ("o.json.gz",)),
        "cut_detail": (("cut", *gathered, "--detail", "--rank", "1", "-o", "o.json"),
                       ("o.json",)),
        "parquet": (("export", *one, "--format", "parquet", "-o", "made"), ("made",)),
        "doctor": (("doctor", place("fsdp2.db")), ()),
        "doctor_traces": (("doctor", traces[0]), ()),
        "recommendations": (("query", *one, "recommendations"), ()),
        "detail": (("query", *gathered, "kernels_top", "--detail", "-p", "rank=1"), ()),
        "sources": (("ingest", "-q", "--db", "made.db", *inputs.sources), ("made.db",)),
        "folder": (("ingest", "-q", "--db", "made.db", traces[0]), ("made.db",)),
        "shard": (("ingest", "-q", "--db", "made.db", "--shard", "made",
                   os.path.join(traces[0], "rank0.pt.trace.json.gz")), ("made.db", "made")),
        "watch": (("watch", "--once", "-q", "--keep", "1M", "--db", "made.db", FIXTURES),
                  ("made.db",)),
    }


class Case:
    def __init__(self, options, inputs, name, arguments, makes):
        self.options, self.inputs, self.name = options, inputs, name
        self.arguments, self.makes = arguments, makes
        self.done = self.answer = self.pieces = None

    def run(self, **told):
        """(exit code, answer, standard error, what was left)"""
        with tempfile.TemporaryDirectory(dir=self.options.folder) as place:
            folder, scratch = os.path.join(place, "here"), os.path.join(place, "scratch")
            os.mkdir(folder)
            os.mkdir(scratch)
            told = {"LD_PRELOAD": self.options.shim, "TMPDIR": scratch, **told}
            done = subprocess.run([self.options.program, *self.arguments], cwd=folder,
                                  capture_output=True, stdin=subprocess.DEVNULL, check=False,
                                  env={**os.environ, **told}, timeout=TIMEOUT_S, preexec_fn=lambda:
                                  resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
            if told.get("ALLOC_HOW") == "always":
                # Without any memory SQLite cannot take back what it had begun: whoever opens the
                # database next does, by its journal.
                for name in below(folder):
                    if name.endswith(".db"):
                        rows_of(os.path.join(folder, name))
            files = below(folder)
            left = below(scratch) + [name for name in files
                                     if name.split("/")[0] not in self.makes or
                                     any(part.startswith(".") for part in name.split("/"))]
            answer = [re.sub(rb"in [0-9.]+ s|\d{4}-\d\d-\d\d.\d\d:\d\d(:\d\d)?", b"", done.stdout),
                      files]
            for name in files:
                if name.endswith(".db"):
                    answer.append(rows_of(os.path.join(folder, name)))
                if name.endswith((".html", ".json")):
                    answer.append(text_of(os.path.join(folder, name), folder))
        return done.returncode, answer, done.stderr.decode(errors="replace"), left

    def check(self, how, **piece):
        code, answer, said, left = self.run(ALLOC_HOW=how, **piece)
        problems = self.inputs.problems()
        if code not in (self.done, 1):
            problems.append(f"exit {code}")
        if code == 1 and not SAYS_WHY.search(said):
            problems.append("no message, or another")
        if any(rows[-1] != [("ok",)] for rows in answer[2:] if isinstance(rows, list)):
            problems.append("a damaged database")
        if left:
            problems.append(f"left {left}")
        if code == self.done and answer != self.answer:
            problems.append("another answer")
        # The folder of a run may stay, for its other ranks.
        half = [name for name in answer[1]
                if not any(whole == name or whole.startswith(name + "/")
                           for whole in self.answer[1])]
        parquet = code == 1 and self.name == "parquet" and 0 < len(answer[1]) < len(self.answer[1])
        if half or parquet:
            problems.append(f"made {answer[1]}")
        return [f"{self.name}, {how} {piece} of {self.pieces}: {text}; {said[-300:]!r}"
                for text in problems]

    def sweep(self):
        count, sites = (os.path.join(self.options.folder, name) for name in ("count", "sites"))
        self.done, self.answer, said, left = self.run(ALLOC_COUNT=count, ALLOC_SITES=sites)
        if self.done not in (0, 4, 5) or left:
            return [f"{self.name}: exit {self.done}, left {left}: {said}"]
        with open(count, encoding="utf-8") as file:
            self.pieces = int(file.read())
        with open(sites, encoding="utf-8") as file:
            places = sorted(file.read().split())
        chance = random.Random(f"{self.options.seed} {self.name}")
        faults = self.check(chance.choice(("once", "always")),
                            ALLOC_AT=str(chance.randrange(1, START_PIECES)))
        for step in range(self.options.steps):
            how = "once" if step % 4 < 2 else "always"
            # Every other one near the end, where files get their names and folders go.
            back = (int(self.pieces ** chance.random()) if step % 2 else
                    chance.randrange(self.pieces))
            faults += self.check(how, ALLOC_AT=str(self.pieces - back))
        # What is asked for a thousand times has one place, and so has what is asked for once.
        chosen = places if self.options.all else chance.sample(places, self.options.steps)
        for site in chosen:
            faults += self.check("once", ALLOC_SITE=site)
        print(f"{self.name:16s} {self.options.steps} of {self.pieces} pieces, {len(chosen)} of "
              f"{len(places)} places: {len(faults)} faults", flush=True)
        return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("commands", nargs="*")
    options = parser.parse_args()
    options.program, options.shim = map(os.path.abspath, (options.program, options.shim))
    if "TRACEDB_SANITIZED" in os.environ:
        print("nothing goes in front of a sanitizer")
        return 77
    faults = []
    with tempfile.TemporaryDirectory(prefix="tracedb-pieces-") as options.folder:
        folder = os.path.join(options.folder, "inputs")
        os.mkdir(folder)
        inputs = Inputs(options.program, folder)
        for name, (arguments, makes) in commands(inputs).items():
            if not options.commands or name in options.commands:
                faults += Case(options, inputs, name, arguments, makes).sweep()
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
