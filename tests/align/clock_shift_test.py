#!/usr/bin/env python3
"""Shifts the clocks of real traces by known offsets and drifts: `tracedb` must find them.

    clock_shift_test.py --program P [--fixtures DIR]

A fixture's ranks are given hosts whose clocks are wrong. After the ingest the aligned times must
be those of the fixture within 20 us, at both ends of the capture and in between, and the waits what
they are in the fixture as it stands. One line a case; exit 1 if any failed.
"""
import argparse
import gzip
import hashlib
import json
import os
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "text"))
from test_check import temporary_folder  # noqa: E402

TOLERANCE_NS = 20_000
SECOND = 1_000_000_000
HOUR = 3600 * SECOND
COMMUNICATION = "Collective name"


class Clock:
    """What a rank's clock shows: the true time, `offset_ns` off and drifting from `since_ns` on."""

    def __init__(self, offset_ns=0, drift_ppm=0, since_ns=0):
        self.offset_ns, self.drift_ppb, self.since_ns = offset_ns, round(drift_ppm * 1e3), since_ns

    def shows(self, true_ns):
        return true_ns + self.offset_ns + (true_ns - self.since_ns) * self.drift_ppb // SECOND


class Job:
    """The traces of a fixture, by rank."""

    def __init__(self, folder):
        self.traces = {}
        for name in sorted(os.listdir(folder)):
            with gzip.open(os.path.join(folder, name), "rt", encoding="utf-8") as file:
                trace = json.load(file)
            self.traces[trace["distributedInfo"]["rank"]] = trace
        self.start_ns = min(trace["baseTimeNanoseconds"] + ns_of(event["ts"])
                            for trace in self.traces.values() for event in trace["traceEvents"]
                            if event.get("ph") == "X")

    def write(self, folder, hosts, clocks):
        """Each rank as `clocks` has it (missing: right), with the host's name if it has one."""
        os.makedirs(folder)
        for rank, trace in self.traces.items():
            clock = clocks.get(rank, Clock())
            header = {key: value for key, value in trace.items() if key != "traceEvents"}
            base_ns = header["baseTimeNanoseconds"]
            header["baseTimeNanoseconds"] = base_ns + clock.offset_ns
            if rank in hosts:
                header["hostname"] = hosts[rank]
            header["traceEvents"] = [shifted(event, base_ns, clock)
                                     for event in trace["traceEvents"]]
            with open(os.path.join(folder, f"rank{rank}.json"), "w", encoding="utf-8") as file:
                json.dump(header, file)

    def repeated(self, times, every_ns):
        """Only its communication kernels, many times over: a long capture."""
        longer = Job.__new__(Job)
        longer.start_ns = self.start_ns
        longer.traces = {}
        for rank, trace in self.traces.items():
            kernels = [event for event in trace["traceEvents"]
                       if COMMUNICATION in event.get("args", {})]
            events = [dict(event, ts=(ns_of(event["ts"]) + at * every_ns) / 1e3)
                      for at in range(times) for event in kernels]
            longer.traces[rank] = dict(trace, traceEvents=events)
        return longer


def ns_of(us):
    return round(us * 1000)


def shifted(event, base_ns, clock):
    if "ts" not in event or event.get("ph") == "M":
        return event
    start_ns = ns_of(event["ts"])
    shown_ns = clock.shows(base_ns + start_ns) - clock.offset_ns - base_ns
    moved = dict(event, ts=shown_ns / 1e3)
    if "dur" in event:
        end_ns = start_ns + ns_of(event["dur"])
        moved["dur"] = (clock.shows(base_ns + end_ns) - clock.offset_ns - base_ns - shown_ns) / 1e3
    return moved


class Database:
    def __init__(self, program, path):
        self.program, self.path = program, path

    def run(self, *arguments):
        done = subprocess.run([self.program, "--db", self.path, *arguments], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=1200, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{arguments}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def query(self, name):
        return json.loads(self.run("query", name, "--format", "json"))

    def ask(self, sql):
        db = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        rows = db.execute(sql).fetchall()
        db.close()
        return rows

    def bytes_mark(self):
        with open(self.path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def causes(self):
        return self.ask("SELECT * FROM _collective_cause ORDER BY id")

    def aligned(self):
        """(rank, n-th of the rank, its time, its aligned time) of every collective."""
        return self.ask("SELECT rank, row_number() OVER (PARTITION BY rank ORDER BY ts_ns, "
                        "slice_id), ts_ns, aligned_ts_ns FROM collectives")


def time_problems(right, found):
    """Aligned times that are not those of the fixture; all may be off by the same."""
    true_ns = {(rank, number): ts for rank, number, ts, _ in right.aligned()}
    errors = {}
    for rank, number, _, aligned in found.aligned():
        errors.setdefault(rank, []).append(aligned - true_ns[rank, number])
    every = sorted(error for of_rank in errors.values() for error in of_rank)
    middle = every[len(every) // 2]
    worst = max(abs(error - middle) for error in every)
    if len(every) == len(true_ns) and worst <= TOLERANCE_NS:
        return [], worst
    return [f"{len(every)} of {len(true_ns)} aligned; off by {min(e) - middle} to "
            f"{max(e) - middle} ns: rank {rank}" for rank, e in sorted(errors.items())], worst


def wait_problems(right, found):
    """Waits in collectives and of ranks against those of the fixture."""
    limit_ms = TOLERANCE_NS / 1e6
    waits = [sorted(row["max_wait_ms"] for row in database.query("nccl_stalls"))
             for database in (right, found)]
    problems = [f"the {at}-th longest wait is {b} ms, not {a}"
                for at, (a, b) in enumerate(zip(*waits)) if abs(a - b) > limit_ms]
    ranks = [{row["rank"]: row for row in database.query("nccl_stall_ranks")}
             for database in (right, found)]
    for rank, row in ranks[0].items():
        other = ranks[1][rank]
        mean_ms = abs(row["suffered_wait_ms"] - other["suffered_wait_ms"]) / row["collectives"]
        if row["collectives"] != other["collectives"] or mean_ms > limit_ms:
            problems.append(f"rank {rank} suffers {other['suffered_wait_ms']} ms in "
                            f"{other['collectives']}, not {row['suffered_wait_ms']}")
    roots = [database.query("nccl_stall_roots")[:1] for database in (right, found)]
    names = [[(row["root_rank"], row["root_cause"], row["root_name"]) for row in rows]
             for rows in roots]
    if names[0] != names[1]:
        problems.append(f"the root of most waits is {names[1]}, not {names[0]}")
    return problems


def drift_problems(found, clocks):
    rows = {row["rank"]: row for row in found.query("clocks")}
    problems = []
    for rank, clock in clocks.items():
        if abs(rows[rank]["drift_ppm"] + clock.drift_ppb / 1e3) > 1:
            problems.append(f"rank {rank} drifts by {clock.drift_ppb / 1e3} ppm, "
                            f"its correction is {rows[rank]['drift_ppm']}")
    return problems


class Tester:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.failed = 0

    def database(self, name, inputs):
        database = Database(self.program, os.path.join(self.folder, f"{name}.db"))
        for some in inputs:
            database.run("-q", "ingest", some)
        return database

    def say(self, name, problems, figures=""):
        print(f"{'FAIL' if problems else 'ok  '} {name}{figures and ': ' + figures}")
        for problem in problems[:8]:
            print(f"     {problem}")
        sys.stdout.flush()
        self.failed += bool(problems)

    def check_shift(self, name, job, right, hosts, clocks, drifts_show=False):
        traces = os.path.join(self.folder, name)
        job.write(traces, hosts, clocks)
        found = self.database(name, [traces])
        problems, worst_ns = time_problems(right, found)
        problems += wait_problems(right, found)
        if drifts_show:
            problems += drift_problems(found, clocks)
        self.say(name.replace("_", " "), problems, f"off by at most {worst_ns / 1e3:.1f} us")
        return found

    def check_beyond_the_capture(self, name, job, hosts, clocks):
        """Clocks that are off by more than the capture is long cannot be told from another capture:
        nothing is corrected, nothing matched with it, and doctor says so."""
        traces = os.path.join(self.folder, name)
        job.write(traces, hosts, clocks)
        found = self.database(name, [traces])
        problems = [f"rank {rank} is moved" for rank, _, ts, aligned in found.aligned()
                    if ts != aligned]
        captures = found.ask("SELECT capture, group_concat(rank) FROM (SELECT capture, rank FROM "
                             "traces ORDER BY capture, rank) GROUP BY capture ORDER BY capture")
        other = sorted(set(hosts) - set(clocks))
        if captures != [(1, ",".join(map(str, other))), (2, ",".join(map(str, sorted(clocks))))]:
            problems.append(f"captures {captures}")
        met = {frozenset(json.loads(row["group_ranks"])) for row in found.query("nccl_stalls")
               if row["ranks_met"] > 1}
        if not met or any(ranks & set(clocks) and ranks - set(clocks) for ranks in met):
            problems.append(f"matched across captures: {sorted(map(sorted, met))}")
        said = subprocess.run([self.program, "--db", found.path, "doctor"], text=True,
                              capture_output=True, check=False).stdout
        if "clock" not in said:
            problems.append("doctor does not think of clocks")
        self.say(name.replace("_", " "), problems)

    def check_untouched(self, name, database):
        """Ranks of one host whose clocks are right: nothing is corrected."""
        rows = database.query("clocks")
        problems = [f"is corrected: {row}" for row in rows if row["is_corrected"]]
        problems += [f"was not compared: {row}" for row in rows if row["clock"] is None]
        different = [row for row in database.aligned() if row[2] != row[3]]
        if different:
            problems.append(f"{len(different)} aligned times are others")
        self.say(f"{name} as it stands has no corrections", problems)

    def check_commands(self, database):
        """show, align and reset of a database with corrections."""
        problems = []
        mark, causes, clocks = database.bytes_mark(), database.causes(), database.query("clocks")
        shown = json.loads(database.run("align", "--show", "--format", "json"))
        if shown != clocks or database.bytes_mark() != mark:
            problems.append("--show shows something else, or changes the database")
        database.run("align")
        if database.bytes_mark() != mark:
            problems.append("align changes a database that is aligned")
        database.run("align", "--reset")
        if database.ask("SELECT count(*) FROM _clock, _clock_pair") != [(0,)]:
            problems.append("--reset leaves clocks")
        if any(ts != aligned for _, _, ts, aligned in database.aligned()):
            problems.append("--reset leaves aligned times")
        if not database.causes() or database.causes() == causes:
            problems.append("--reset leaves the causes as they were by the aligned clocks")
        database.run("align")
        if database.query("clocks") != clocks or database.causes() != causes:
            problems.append("align after --reset gives something else")
        self.say("show, reset and align again", problems)


def check_megatron(tester, fixtures):
    job = Job(os.path.join(fixtures, "megatron"))
    right = tester.database("megatron", [os.path.join(fixtures, "megatron")])
    tester.check_untouched("megatron", right)
    two = {rank: f"node{rank // 4}" for rank in range(8)}
    half = range(4, 8)
    tester.check_shift("half_by_300_us", job, right, two,
                       {rank: Clock(300_000) for rank in half})
    tester.check_shift("half_by_minus_45_ms_and_50_ppm", job, right, two,
                       {rank: Clock(-45_000_000, 50, job.start_ns) for rank in half})
    tester.check_beyond_the_capture("half_by_3_hours", job, two,
                                    {rank: Clock(3 * HOUR) for rank in half})
    four = {rank: f"node{rank // 2}" for rank in range(8)}
    wrong = [Clock(), Clock(-412_345, 20, job.start_ns), Clock(61_234_567, -50, job.start_ns),
             Clock(-47_777_777, 35, job.start_ns)]
    clocks = {rank: wrong[rank // 2] for rank in range(8)}
    found = tester.check_shift("four_hosts", job, right, four, clocks)
    tester.check_commands(found)
    one_by_one = tester.database("one_by_one", [
        os.path.join(tester.folder, "four_hosts", f"rank{rank}.json") for rank in (3, 7, 0, 1, 6, 2,
                                                                                   5, 4)])
    same = one_by_one.query("clocks") == found.query("clocks")
    tester.say("rank by rank, in any order", [] if same else ["the clocks are others"])
    alone = {rank: Clock((-1) ** rank * 111_111 * (rank + 1)) for rank in (1, 3, 4, 6)}
    tester.check_shift("ranks_without_hosts", job, right, {}, alone)
    tester.check_shift("ranks_of_one_host_that_disagree", job, right,
                       {rank: "node" for rank in range(8)}, alone)


def check_seqpar(tester, fixtures):
    job = Job(os.path.join(fixtures, "seqpar"))
    right = tester.database("seqpar", [os.path.join(fixtures, "seqpar")])
    tester.check_untouched("seqpar", right)
    hosts = {0: "a", 1: "a", 2: "b", 3: "b"}
    tester.check_shift("seqpar_by_1_ms", job, right, hosts,
                       {rank: Clock(1_000_000) for rank in (2, 3)})
    long = job.repeated(60, SECOND)
    long.write(os.path.join(tester.folder, "minute"), {}, {})
    right = tester.database("minute", [os.path.join(tester.folder, "minute")])
    tester.check_untouched("a minute of seqpar", right)
    drifting = {2: Clock(40_000_000, 35, job.start_ns), 3: Clock(-20 * SECOND, -50, job.start_ns)}
    tester.check_shift("a_minute_that_drifts", long, right, {0: "a", 1: "a", 2: "b", 3: "c"},
                       drifting, drifts_show=True)


def main():
    parser = argparse.ArgumentParser(description="Shift clocks; they must be found.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--fixtures", default=os.path.join(HERE, "..", "..", "fixtures"))
    options = parser.parse_args()
    with temporary_folder() as folder:
        tester = Tester(os.path.abspath(options.program), folder)
        check_megatron(tester, options.fixtures)
        check_seqpar(tester, options.fixtures)
        ddp = tester.database("ddp", [os.path.join(options.fixtures, "ddp")])
        tester.check_untouched("ddp", ddp)
    return 1 if tester.failed else 0


if __name__ == "__main__":
    sys.exit(main())
