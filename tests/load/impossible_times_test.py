#!/usr/bin/env python3
"""Events with times and values that cannot be, in a real trace: every command answers, and what is
answered of the other events stays what it was without them.

    impossible_times_test.py --program P [--fixtures DIR]

One line for each check; exit 1 if any fails.
"""
import argparse
import csv
import gzip
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "text"))
sys.path.insert(0, os.path.join(HERE, "..", "serve"))
from serve_server import Server  # noqa: E402
from test_check import temporary_folder  # noqa: E402

FINDINGS = 4  # doctor's exit status
MOST_US = 9223372036854775  # what still fits 64 bits of nanoseconds
FAR_US = 2_000_000_000_000_000  # 63 years
# What counts events, files or troubles, and so has more of them.
COUNTS_EVENTS = {"info_issues", "info_traces", "info_runs", "metrics", "doctor/impossible_times",
                 "doctor/events_skipped"}


def gpu(name, ts, dur, cat="kernel", stream=7, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": ts, "dur": dur,
            "args": {"device": 0, "stream": stream, **args}}


def collective(ts, dur, elements):
    return gpu("ncclDevKernel_AllReduce_Sum_f32", ts, dur, stream=20,
               **{"Collective name": "allreduce", "dtype": "Float", "In msg nelems": elements,
                  "Out msg nelems": elements, "Group size": 2, "Process Group Name": "0",
                  "Process Group Ranks": "[0, 1]", "Process Group Description": "default_pg"})


def host(cat, name, ts, dur, tid, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 77, "tid": tid, "ts": ts, "dur": dur,
            "args": args}


def memory(ts, value, address):
    return {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 77,
            "tid": 77, "ts": ts,
            "args": {"Addr": address, "Bytes": value, "Total Allocated": value,
                     "Total Reserved": value, "Device Type": 1, "Device Id": 0, "Ev Idx": 9}}


def impossible(at, tid):
    """Events with times that cannot be; `at` is a time of the trace, `tid` a thread of it."""
    events = [gpu("at zero", 0, MOST_US) for _ in range(6)]
    events += [gpu("long ago", at - FAR_US * sign, 5) for sign in (1, 0.7, -0.7)]
    events += [gpu("at zero", 0, dur, correlation=7) for dur in (1, 5000, at - 1000)]
    events += [gpu("Memcpy HtoD", 0, MOST_US, cat="gpu_memcpy", bytes=2**62) for _ in range(3)]
    events += [collective(ts, dur, 2**62) for ts, dur in ((0, MOST_US), (-FAR_US, 9), (0, 7))]
    for ts, dur in ((0, MOST_US), (-FAR_US, 3), (at, MOST_US - 2 * at), (at, 9_000_000_000_000)):
        events += [host("cuda_runtime", "cudaDeviceSynchronize", ts, dur, tid, correlation=8),
                   host("cpu_op", "aten::mm", ts, dur, tid, **{"External id": 5}),
                   host("python_function", "nn.Module: Far", ts, dur, tid, **{"Python id": 1}),
                   host("user_annotation", "forward-compute", ts, dur, tid),
                   host("user_annotation", "ProfilerStep#9999", ts, dur, tid)]
    for ts in (-FAR_US, FAR_US):
        events += [memory(ts, 2**62, 1) for _ in range(4)]
        events += [{"ph": "C", "name": "count", "pid": 0, "tid": 0, "ts": ts, "args": {"v": 2**62}},
                   *({"ph": phase, "cat": "ac2g", "name": "ac2g", "id": 1, "pid": 0, "tid": 7,
                      "ts": ts} for phase in "sf"),
                   {"ph": "B", "cat": "cpu_op", "name": "far", "pid": 77, "tid": "odd", "ts": ts}]
    events += [{"ph": "E", "pid": 77, "tid": "odd", "ts": FAR_US}] * 2
    # No time at all: counted, and in no table.
    events += [gpu("no time", -MOST_US, 5), gpu("no time", at, MOST_US)]
    return events


def huge_values(at, tid):
    """Times that can be, with values that overflow any sum."""
    events = [gpu("Memcpy HtoD", at + i, 0.5, cat="gpu_memcpy", bytes=2**62) for i in range(8)]
    events += [collective(at + 100 + i, 0.5, 2**61) for i in range(8)]
    events += [memory(at + i, 2**62 + i, i) for i in range(8)]
    events += [gpu("100 days", at, 8_639_999_000_000) for _ in range(1100)]
    events += [host("cpu_op", "aten::mm", at, 8_639_999_000_000, tid) for _ in range(1100)]
    events += [{"ph": "C", "name": "count", "pid": 0, "tid": 0, "ts": at, "args": {"v": 2**63 - 1}}
               for _ in range(4)]
    return events


class Job:
    """The fixture's two ranks, rank 0 with more events in front."""

    def __init__(self, options, folder, more):
        self.program = options.program
        self.folder = pathlib.Path(folder) / "job"  # the run's name
        self.folder.mkdir(parents=True)
        traces = []
        for rank in range(2):
            name = f"rank{rank}.pt.trace.json.gz"
            with gzip.open(os.path.join(options.fixtures, "ddp", name)) as file:
                trace = json.load(file)
            if rank == 0:
                kernel = next(e for e in trace["traceEvents"] if e.get("cat") == "cuda_runtime")
                trace["traceEvents"][1:1] = more(kernel["ts"], kernel["tid"])
            traces.append(self.folder / f"rank{rank}.json")
            traces[-1].write_text(json.dumps(trace), encoding="utf-8")
        self.database = self.folder / "trace.db"
        self.said = self.run("ingest", "--format", "json", *traces)

    def run(self, *arguments):
        return subprocess.run([self.program, "--db", self.database, *arguments], text=True,
                              capture_output=True, timeout=600, check=False)

    def rows(self, sql):
        db = sqlite3.connect(self.database)
        found = db.execute(sql).fetchall()
        db.close()
        return found


def names_of(job):
    listed = job.run("query", "--format", "csv").stdout
    names = [row["query"] for row in csv.DictReader(io.StringIO(listed))]
    checks = pathlib.Path(HERE).parent.parent / "queries"
    return names + [f"{folder}/{path.stem}" for folder in ("doctor", "report")
                    for path in sorted((checks / folder).glob("*.sql"))]


class Checks:
    def __init__(self):
        self.failed = 0

    def check(self, name, problem):
        if problem:
            self.failed += 1
        print(f"{'FAIL' if problem else 'ok  '} {name}{': ' + problem if problem else ''}")


def failure(done, *allowed):
    if done.returncode in (0, *allowed):
        return ""
    return f"exit {done.returncode}: {done.stderr.strip()[-300:]}"


def every_command_answers(checks, job, name):
    checks.check(f"{name}: ingest", failure(job.said))
    for query in names_of(job):
        checks.check(f"{name}: query {query}",
                     failure(job.run("query", query, "--format", "csv")))
    doctor = job.run("doctor", "--format", "json")
    checks.check(f"{name}: doctor", failure(doctor, FINDINGS))
    page = job.folder / "report.html"
    checks.check(f"{name}: report", failure(job.run("report", "-o", page)))
    checks.check(f"{name}: info", failure(job.run("info")))
    checks.check(f"{name}: align", failure(job.run("align", "--format", "csv")))
    whole = job.folder / "cut.json"
    cut = job.run("cut", "-o", whole)
    checks.check(f"{name}: cut", failure(cut))
    if cut.returncode == 0:
        json.loads(whole.read_text(encoding="utf-8"))
    checks.check(f"{name}: integrity", "".join(
        text for text, in job.rows("PRAGMA integrity_check") if text != "ok"))


def serve_answers(checks, job, name):
    with Server(job.program, str(job.database)) as server:
        for path in ("/overlap.csv", "/kernels_top.csv", "/tables/kernels.csv",
                     "/tables/slices.csv", "/tables/impossible_times.csv", "/report", "/"):
            status, _, body = server.get(path)
            checks.check(f"{name}: serve {path}", "" if status == 200 and body else f"{status}")


def answers_stay(checks, plain, hostile):
    for query in names_of(plain):
        if query in COUNTS_EVENTS:
            continue
        shown = [query, "--format", "ndjson"]
        # A run has its folder's path, a command that a row names the database's.
        one, other = (job.run("query", *shown).stdout.replace(str(job.folder), "job")
                      for job in (plain, hostile))
        # Row numbers are those of other rows.
        keys = ("slice_id", "first_id", "id", "path_id", "last_slice_id", "lane", "collective")
        one, other = ([{k: v for k, v in json.loads(line).items()
                        if k not in keys and not k.endswith(("_id", "_offset"))}
                       for line in text.splitlines()] for text in (one, other))
        if query == "report/lanes":  # threads of these events alone have lines, without a slice
            other = [row for row in other if row in one]
        if query in ("report/lanes", "report/slices"):  # in the order of the tracks' numbers
            one, other = (sorted(rows, key=json.dumps) for rows in (one, other))
        different = next((f"{a} became {b}" for a, b in zip(one, other) if a != b), "")
        if len(one) != len(other):
            different = f"{len(one)} rows became {len(other)} {different}"
        checks.check(f"same answer: {query}", different[:600])


def events_are_kept(checks, hostile):
    """Each is a row as it was read, or counted."""
    events = impossible(1e12, 1)
    rows = hostile.rows("SELECT count(*) FROM slices WHERE name = 'at zero'")
    wanted = [(sum(e["name"] == "at zero" for e in events if "name" in e),)]
    checks.check("slices at ts 0 are rows", "" if rows == wanted else f"{rows}, not {wanted}")
    rows = hostile.rows("SELECT DISTINCT dur_ns FROM kernels "
                        "WHERE name = 'at zero' AND dur_ns > 1e18")
    checks.check("with the duration that was read",
                 "" if rows == [(MOST_US * 1000,)] else f"{rows}")
    for kind in ("impossible_time", "bad_time"):
        found = hostile.rows(f"SELECT count FROM issues WHERE kind = '{kind}' AND first_offset > 0")
        checks.check(f"issue {kind}", "" if found else "is not there")
    doctor = json.loads(hostile.run("doctor", "--format", "json").stdout)
    named = [f for f in doctor["findings"] if f["check"] == "impossible_times"]
    checks.check("doctor names them", "" if named else "it does not")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--fixtures", default=os.path.join(HERE, "..", "..", "fixtures"))
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    checks = Checks()
    with temporary_folder() as folder:
        plain = Job(options, os.path.join(folder, "plain"), lambda at, tid: [])
        hostile = Job(options, os.path.join(folder, "hostile"), impossible)
        every_command_answers(checks, hostile, "times")
        serve_answers(checks, hostile, "times")
        events_are_kept(checks, hostile)
        answers_stay(checks, plain, hostile)
        huge = Job(options, os.path.join(folder, "huge"), huge_values)
        every_command_answers(checks, huge, "values")
    print(f"{checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
