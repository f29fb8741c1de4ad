#!/usr/bin/env python3
# long because: one check after the other of one database; apart, none makes sense.
"""Compare a tracedb database with what trace_oracle.py works out from the same trace files.

    python3 check_database.py [--queries DIR] [--only CHECK,...] [--show N] DB TRACE...

One line a check on stdout, and below it the first differences with both values.
Exit 0: all agree; 1: something differs; 2: wrong usage.
"""
import argparse
import collections
import io
import os
import re
import sqlite3
import sys
import urllib.parse
from decimal import Decimal

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import identity_oracle  # noqa: E402
import partition_oracle  # noqa: E402
import trace_oracle as oracle  # noqa: E402
from identity_oracle import Communicator  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
QUERIES = os.path.join(HERE, "..", "..", "queries")


class Missing(Exception):
    """A table, a column or a query that the contract names is not there."""


class Unbound(dict):
    """Every parameter that a query names is NULL."""

    def __missing__(self, key):
        return None


def text(value):
    return "" if value is None else str(value)


def number(value):
    """An integer where the value is one (also as text), else the value."""
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return int(value)
    return value


def shorten(value):
    shown = repr(value)
    return shown if len(shown) < 400 else shown[:400] + "..."


class Report:
    def __init__(self, show=10, out=None):
        self.show, self.out = show, out or sys.stdout
        self.failed = 0
        self.checks = 0

    def say(self, line):
        print(line, file=self.out)

    def check(self, name, compared, differences, notes=()):
        """differences: texts, or (what, database, oracle) triples."""
        self.checks += 1
        differences = list(differences)
        if differences:
            self.failed += 1
            self.say(f"DIFFERS {name}: {len(differences)} differences ({compared} compared)")
            for difference in differences[:self.show]:
                if isinstance(difference, tuple):
                    what, ours, theirs = difference
                    self.say(f"    {what}")
                    self.say(f"        database: {shorten(ours)}")
                    self.say(f"        oracle:   {shorten(theirs)}")
                else:
                    self.say(f"    {difference}")
            if len(differences) > self.show:
                self.say(f"    ... and {len(differences) - self.show} more")
        else:
            self.say(f"ok      {name} ({compared} compared)")
        for note in notes:
            self.say(f"    note: {note}")


class Database:
    def __init__(self, path, queries):
        if not os.path.isfile(path):
            raise Missing(f"no database at {path}")
        uri = "file:" + urllib.parse.quote(os.path.abspath(path)) + "?mode=ro"
        self.connection = sqlite3.connect(uri, uri=True)
        self.connection.text_factory = lambda data: data.decode("utf-8", "replace")
        self.queries = queries

    def columns(self, table):
        quoted = table.replace('"', '""')
        try:
            rows = self.connection.execute(f'SELECT * FROM "{quoted}" LIMIT 0')
        except sqlite3.Error as error:
            raise Missing(f"table {table}: {error}") from None
        return [column[0] for column in rows.description]

    def table(self, table, columns):
        have = set(self.columns(table))
        lacking = [column for column in columns if column not in have]
        if lacking:
            raise Missing(f"table {table} lacks the columns {', '.join(lacking)}")
        chosen = ", ".join(f'"{column}"' for column in columns)
        try:
            return self.connection.execute(f'SELECT {chosen} FROM "{table}"').fetchall()
        except sqlite3.Error as error:
            raise Missing(f"table {table}: {error}") from None

    def count(self, table):
        self.columns(table)
        try:
            return self.connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
        except sqlite3.Error as error:
            raise Missing(f"table {table}: {error}") from None

    def query(self, name, columns):
        path = os.path.join(self.queries, name + ".sql")
        try:
            with open(path, encoding="utf-8") as handle:
                sql = handle.read()
        except OSError as error:
            raise Missing(f"query {name}: {error}") from None
        try:
            cursor = self.connection.execute(sql, Unbound())
            rows = cursor.fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise Missing(f"query {name}: {error}") from None
        names = [column[0] for column in cursor.description or []]
        lacking = [column for column in columns if column not in names]
        if lacking:
            raise Missing(f"query {name} lacks the columns {', '.join(lacking)}")
        return [dict(zip(names, row)) for row in rows]

    def query_of_run(self, name, columns, jobs, job):
        """The rows of one run. A query that tells no runs apart is right where there is one."""
        rows = self.query(name, columns)
        told = bool(rows) and "run" in rows[0]
        if not told and rows and len(jobs) > 1:
            raise Missing(f"query {name} lacks the column run")
        strange = {row["run"] for row in rows if told} - {other.run for other in jobs}
        if strange:
            raise Missing(f"query {name} has rows of the runs {strange}")
        return [row for row in rows if not told or row["run"] == job.run]


class Whole:
    """All runs of a database together."""

    def __init__(self, jobs):
        self.jobs = jobs
        self.traces = [trace for job in jobs for trace in job.traces]
        self.activities = [a for job in jobs for a in job.activities]

    def numbered(self, db):
        """{trace_id: Trace}"""
        by_path = {os.path.abspath(trace.path): trace for trace in self.traces}
        found = {number: by_path.get(os.path.abspath(text(path)))
                 for number, path in db.table("traces", ["trace_id", "path"])}
        return {number: trace for number, trace in found.items() if trace is not None}


# ---------------------------------------------------------------------------------------------
# Comparing

def multisets(ours, theirs, alike=None, tolerated=None):
    """Differences of two multisets of tuples. alike(row): rows with the same value of it are shown
    as one difference; tolerated: rows that the database may have in addition."""
    extra = ours - theirs
    lacking = theirs - ours
    if tolerated:
        extra = extra - tolerated
    if not extra and not lacking:
        return []
    partner = collections.defaultdict(list)
    if alike:
        for row in lacking.elements():
            partner[alike(row)].append(row)
    differences = []
    for row in extra.elements():
        waiting = partner.get(alike(row)) if alike else None
        if waiting:
            other = waiting.pop()
            lacking[other] -= 1
            differences.append(("rows differ", row, other))
        else:
            differences.append(("only in the database", row, None))
    for row in (+lacking).elements():
        differences.append(("only in the oracle", None, row))
    return differences


def ms_differs(milliseconds, ns):
    """A _ms column must be the nanoseconds over 1e6, exactly to the nanosecond."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, (int, float)):
        return True
    exact = Decimal(milliseconds) * 1000000
    return abs(exact - ns) > max(Decimal("1e-9") * abs(ns), Decimal("1e-6")) or round(milliseconds * 1e6) != ns


def pct_differs(value, part, whole):
    if whole == 0:
        return not (value is None or value == 0)
    if not isinstance(value, (int, float)):
        return True
    return abs(value - 100.0 * part / whole) > 1e-6


def compare_rows(rows, expected, key_of, columns, kind):
    """rows: dicts; expected: {key: {column: test(value) -> None or the expected value}}."""
    differences = []
    seen = set()
    for row in rows:
        key = key_of(row)
        if key not in expected:
            differences.append((f"{kind} {key}: only in the database", row, None))
            continue
        if key in seen:
            differences.append((f"{kind} {key}: twice in the database", row, None))
            continue
        seen.add(key)
        for column in columns:
            wanted, test = expected[key][column]
            if test(row[column]):
                differences.append((f"{kind} {key}: {column}", row[column], wanted))
    for key in expected:
        if key not in seen:
            differences.append((f"{kind} {key}: only in the oracle", None,
                                {column: wanted for column, (wanted, _) in expected[key].items()}))
    return differences


def exact(wanted):
    return wanted, lambda value: number(value) != wanted


def as_ms(ns):
    return f"{ns} ns = {ns / 1e6!r} ms", lambda value: ms_differs(value, ns)


def as_pct(part, whole):
    return (100.0 * part / whole if whole else None), lambda value: pct_differs(value, part, whole)


# ---------------------------------------------------------------------------------------------
# The checks. Each gets the database, the job and the report.

def check_traces(db, job, report):
    rows = db.table("traces", ["trace_id", "path", "rank", "events", "skipped_events", "complete",
                               "base_time_ns", "header", "run", "capture"])
    differences = []
    left = list(rows)
    if len(rows) != len(job.traces):
        differences.append(("number of traces", len(rows), len(job.traces)))
    for trace in job.traces:
        name = os.path.basename(trace.path)
        fitting = [row for row in left if os.path.basename(text(row[1])) == name
                   and (trace.rank is None or number(row[2]) == trace.rank)]
        best = [row for row in fitting if os.path.abspath(text(row[1])) == os.path.abspath(trace.path)]
        if not fitting:
            differences.append((f"{name}: no such trace of rank {trace.rank}",
                                [(row[1], row[2]) for row in rows], trace.path))
            continue
        row = (best or fitting)[0]
        left.remove(row)
        events = trace.events - trace.empty
        skipped = row[4] or 0
        if number(row[3]) not in (trace.events, events, trace.events - skipped, events - skipped):
            differences.append((f"{name}: events", row[3], trace.events))
        if (row[8], number(row[9])) != (trace.run, trace.capture):
            differences.append((f"{name}: run and capture", row[8:], (trace.run, trace.capture)))
        if row[5] != 1:
            differences.append((f"{name}: complete", row[5], 1))
        if trace.base_ns is not None and number(row[6]) != trace.base_ns:
            differences.append((f"{name}: base_time_ns", row[6], trace.base_ns))
        try:
            header = oracle.parse_json(text(row[7]) or "{}")
        except ValueError as error:
            differences.append((f"{name}: header is no JSON: {error}", row[7], None))
            continue
        if not isinstance(header, dict):
            differences.append((f"{name}: header is no object", row[7], None))
            continue
        for key, value in trace.header.items():
            if key not in header:
                differences.append((f"{name}: header key {key!r}", "(absent)", value))
            elif oracle.canonical(header[key]) != oracle.canonical(value):
                differences.append((f"{name}: header key {key!r}", header[key], value))
        for key in header.keys() - trace.header.keys():
            differences.append((f"{name}: header key {key!r}", header[key], "(absent)"))
    report.check("traces", len(job.traces), differences)


def check_runs(db, job, report):
    expected = {}
    for one in job.jobs:
        times = [time for time in map(identity_oracle.time_of, one.traces) if time]
        sizes = {trace.world_size for trace in one.traces} - {None}
        expected[one.run] = {
            "world_size": (sizes or None, lambda v, s=sizes: number(v) not in (s or {None})),
            "ranks": exact(len({trace.rank for trace in one.traces})),
            "captures": exact(len({trace.capture for trace in one.traces})),
            "start_ns": exact(min((start for start, _ in times), default=None)),
            "end_ns": exact(max((end for _, end in times), default=None))}
    columns = ["run", "world_size", "ranks", "captures", "start_ns", "end_ns"]
    rows = [dict(zip(columns, row)) for row in db.table("runs", columns)]
    report.check("runs", len(expected), compare_rows(
        rows, expected, lambda row: row["run"], columns[1:], "run"))


def check_captures(db, job, report):
    expected = {}
    for trace in job.traces:
        expected.setdefault((trace.run, trace.capture), []).append(trace)
    for key, traces in expected.items():
        times = [time for time in map(identity_oracle.time_of, traces) if time]
        expected[key] = {"ranks": exact(len(traces)),
                         "start_ns": exact(min((start for start, _ in times), default=None)),
                         "end_ns": exact(max((end for _, end in times), default=None))}
    columns = ["run", "capture", "ranks", "start_ns", "end_ns"]
    rows = [dict(zip(columns, row)) for row in db.table("captures", columns)]
    report.check("captures", len(expected), compare_rows(
        rows, expected, lambda row: (row["run"], row["capture"]), columns[2:], "capture"))


def check_ranks(db, job, report):
    columns = ["run", "rank", "world_size", "traces", "slices"]
    rows = [dict(zip(columns, row)) for row in db.table("ranks", columns)]
    expected = {}
    for key in {(trace.run, trace.rank) for trace in job.traces}:
        mine = [trace for trace in job.traces if (trace.run, trace.rank) == key]
        sizes = {trace.world_size for trace in mine if trace.world_size is not None}
        least = sum(len(trace.slices) for trace in mine)
        most = least + sum(len(trace.negative) for trace in mine)
        expected[key] = {
            "world_size": (sizes or None, lambda v, s=sizes: bool(s) and number(v) not in s),
            "traces": exact(len(mine)),
            "slices": (least, lambda v, a=least, b=most: not isinstance(v, int) or not a <= v <= b),
        }
    report.check("ranks", len(expected), compare_rows(
        rows, expected, lambda row: (row["run"], number(row["rank"])), columns[2:], "rank"))


def check_accounting(db, job, report):
    differences = []
    traces = job.traces
    slices = db.count("slices")
    counters, flows, memory = (db.count(t) for t in ("counters", "flows", "memory_events"))
    phases = collections.Counter(text(phase) for phase, in db.table("instants", ["phase"]))
    instants = phases["i"] + phases["I"]
    kept = sum(phases.values()) - instants
    issues = sum(number(row[0]) or 0 for row in db.table("issues", ["count"]))

    def total(part):
        return sum(part(trace) for trace in traces)

    wanted = {name: total(part) for name, part in {
        "slices": lambda t: len(t.slices), "negative": lambda t: len(t.negative),
        "pairs": lambda t: t.pairs, "instants": lambda t: len(t.instants),
        "kept": lambda t: sum(phase not in "iI" for phase, _, _ in t.points),
        "memory": lambda t: len(t.memory), "counters": lambda t: len(t.counters),
        "series": lambda t: t.counter_series, "flows": lambda t: len(t.flows),
        "metadata": lambda t: t.metadata, "events": lambda t: t.events,
        "empty": lambda t: t.empty}.items()}
    if not wanted["slices"] <= slices <= wanted["slices"] + wanted["negative"]:
        differences.append(("slices", slices, wanted["slices"]))
    if instants not in (wanted["instants"], wanted["instants"] + wanted["memory"]):
        differences.append(("instants of phase i and I (with or without [memory])", instants, wanted["instants"]))
    if kept != wanted["kept"]:
        differences.append(("instants of the other phases", kept, wanted["kept"]))
    if memory != wanted["memory"]:
        differences.append(("memory_events", memory, wanted["memory"]))
    if counters not in (wanted["counters"], wanted["series"]):
        differences.append(("counters (a row an event or a row a series)", counters,
                            (wanted["counters"], wanted["series"])))
    if flows != wanted["flows"]:
        differences.append(("flows", flows, wanted["flows"]))
    # What the tables do not hold must be counted among the issues.
    accounted = (slices + wanted["pairs"] + min(instants, wanted["instants"]) + memory + kept
                 + wanted["counters"] + flows + wanted["metadata"] + wanted["empty"])
    lost = wanted["events"] - accounted
    if not 0 <= lost <= issues:
        differences.append((f"events in no table: {lost}; counted in issues", issues, lost))
    report.check("every event accounted for", wanted["events"], differences,
                 [f"{lost} events are in issues only"] if lost else [])


def slice_rows(job, which):
    counted = collections.Counter()
    for trace in job.traces:
        for piece in getattr(trace, which):
            counted[(trace.rank, piece.category, piece.name, piece.ts, piece.dur,
                     text(oracle.text_of(piece.pid)), text(oracle.text_of(piece.tid)),
                     oracle.canonical(piece.args))] += 1
    return counted


def check_slices(db, job, report):
    rows = db.table("slices", ["rank", "category", "name", "ts_ns", "dur_ns", "pid", "tid", "args"])
    ours = collections.Counter()
    broken = []
    texts = {}
    for rank, category, name, ts, dur, pid, tid, args in rows:
        known = texts.get(args) if args is not None else "{}"
        if known is None:
            try:
                known = oracle.canonical(oracle.parse_json(text(args) or "{}"))
            except ValueError as error:
                broken.append((f"slice {name!r} at {ts}: args are no JSON: {error}", args, None))
                known = text(args)
            if len(texts) < 200000:
                texts[args] = known
        ours[(number(rank), text(category), text(name), ts, dur, text(pid), text(tid), known)] += 1
    theirs = slice_rows(job, "slices")
    negative = slice_rows(job, "negative")
    categories = collections.Counter(), collections.Counter()
    for counted, into in zip((ours - negative, theirs), categories):
        for row, times in counted.items():
            into[row[1]] += times
    report.check("slices per category", len(categories[1]),
                 [(f"category {category!r}", categories[0][category], categories[1][category])
                  for category in sorted(set(categories[0]) | set(categories[1]))
                  if categories[0][category] != categories[1][category]])
    report.check("slices (rank, category, name, ts, dur, pid, tid, args)", len(rows),
                 broken + multisets(ours, theirs, lambda row: (row[0], row[2], row[3]), negative))


def check_slice_links(db, job, report):
    rows = db.table("slices", ["rank", "name", "ts_ns", "correlation", "external_id"])
    ours = collections.Counter((number(rank), text(name), ts, text(correlation), text(external))
                               for rank, name, ts, correlation, external in rows)
    counted = collections.Counter(), collections.Counter()
    for which, into in zip(("slices", "negative"), counted):
        for trace in job.traces:
            for piece in getattr(trace, which):
                args = piece.args if isinstance(piece.args, dict) else {}
                external = args.get("External id", args.get("external id"))
                into[(trace.rank, piece.name, piece.ts, text(oracle.text_of(args.get("correlation"))),
                      text(oracle.text_of(external)))] += 1
    report.check("slices (correlation, external_id)", len(rows),
                 multisets(ours, counted[0], lambda row: row[:3], counted[1]))


def check_kernels(db, job, report):
    rows = db.table("kernels", ["rank", "device", "stream", "name", "kind", "ts_ns", "dur_ns",
                                "correlation", "launch_ts_ns", "step", "bytes"])
    negative = collections.Counter()
    for trace in job.traces:
        for order, piece in enumerate(trace.negative):
            if piece.source == "X" and oracle.is_gpu_category(piece.category):
                activity = oracle.Activity(piece, order)
                negative[(trace.rank, activity.device, activity.stream, activity.name, activity.kind,
                          activity.ts, activity.dur, text(activity.correlation))] += 1
    ours, theirs = collections.defaultdict(list), collections.defaultdict(list)
    for rank, device, stream, name, kind, ts, dur, correlation, launch, step, size in rows:
        key = (number(rank), text(device), text(stream), text(name), text(kind), ts, dur, text(correlation))
        ours[key].append((launch, number(step), number(size)))
    for a in job.activities:
        key = (a.rank, text(a.device), text(a.stream), a.name, a.kind, a.ts, a.dur, text(a.correlation))
        theirs[key].append(a)
    count = lambda table: collections.Counter({key: len(value) for key, value in table.items()})
    report.check("kernels by kind", len(job.activities), [
        (f"kind {kind}", have, want) for kind in ("compute", "communication", "memory")
        for have in [sum(n for key, n in (count(ours) - negative).items() if key[4] == kind)]
        for want in [sum(a.kind == kind for a in job.activities)] if have != want])
    report.check("kernels (rank, device, stream, name, kind, ts, dur, correlation)", len(rows),
                 multisets(count(ours), count(theirs), lambda row: (row[0], row[3], row[5]), negative))

    launches, steps, sizes, memory = [], [], [], 0
    for key in ours.keys() & theirs.keys():
        left = list(theirs[key])
        for launch, step, size in ours[key]:
            if not left:
                break
            fitting = [a for a in left if (launch in a.launches if a.launches else launch is None)
                       and step in a.step_options] or left
            activity = fitting[0]
            left.remove(activity)
            if not (launch in activity.launches if activity.launches else launch is None):
                launches.append((f"kernel {shorten(key)}: launch_ts_ns", launch, activity.launches or None))
            if step not in activity.step_options:
                steps.append((f"kernel {shorten(key)}: step", step, activity.step_options))
            if activity.kind == "memory":
                memory += 1
                if size != activity.bytes:
                    sizes.append((f"kernel {shorten(key)}: bytes", size, activity.bytes))
    report.check("kernels' launches", len(rows), launches)
    report.check("kernels' steps", len(rows), steps)
    report.check("bytes of memory activities", memory, sizes)


def check_steps(db, job, report):
    rows = db.table("steps", ["rank", "step", "ts_ns", "dur_ns"])
    ours = collections.Counter((number(rank), number(step), ts, dur) for rank, step, ts, dur in rows)
    theirs = collections.Counter((trace.rank, *step) for trace in job.traces for step in trace.steps)
    report.check("steps", len(rows), multisets(ours, theirs, lambda row: row[:2]))


STREAM_PARTS = {"activities": "activities", "start_ns": "start", "end_ns": "end", "busy_ns": "busy",
                "compute_ns": "compute", "communication_ns": "comm", "memory_ns": "memory"}


def check_streams(db, job, report):
    """Of a rank in `streams`, of a trace in `stream_uses`."""
    traces = job.numbered(db)
    whole = {(one.run, *key): row for one in job.jobs for key, row in one.streams.items()}
    in_trace = {key: row for one in job.jobs for key, row in one.trace_streams.items()}
    for table, place, key_of, found in (
            ("streams", ["run", "rank"], lambda row: (row["run"], number(row["rank"])), whole),
            ("stream_uses", ["trace_id"], lambda row: (traces.get(row["trace_id"]),), in_trace)):
        columns = [*place, "device", "stream", *STREAM_PARTS]
        rows = [dict(zip(columns, row)) for row in db.table(table, columns)]
        expected = {key: {column: exact(row[part]) for column, part in STREAM_PARTS.items()}
                    for key, row in found.items()}
        report.check(table, len(expected), compare_rows(
            rows, expected, lambda row, key_of=key_of: (*key_of(row), text(row["device"]), text(row["stream"])),
            list(STREAM_PARTS), "stream"))


DEVICE_PARTS = {"compute_ns": "compute", "communication_ns": "comm", "overlap_ns": "overlap",
                "exposed_communication_ns": "exposed_comm", "exposed_memory_ns": "exposed_memory",
                "idle_ns": "idle"}


def check_device_uses(db, job, report):
    columns = ["trace_id", "rank", "device", "start_ns", "end_ns", *DEVICE_PARTS]
    rows = [dict(zip(columns, row)) for row in db.table("device_uses", columns)]
    expected = {(trace, device): {
        "rank": exact(trace.rank), "start_ns": exact(row["start"]), "end_ns": exact(row["end"]),
        **{column: exact(row[part]) for column, part in DEVICE_PARTS.items()}}
        for one in job.jobs for (trace, device), row in one.trace_devices.items()}
    traces = job.numbered(db)
    report.check("device_uses", len(expected), compare_rows(
        rows, expected, lambda row: (traces.get(row["trace_id"]), text(row["device"])),
        ["rank", *columns[3:]], "device"))


def joined(segments):
    """Stretches of time with what runs in them; those that touch and are alike are one."""
    found = []
    for start, end, kinds in sorted(segments):
        if found and found[-1][1:] == (start, kinds):
            start = found.pop()[0]
        found.append((start, end, kinds))
    return found


def check_busy_segments(db, job, report):
    traces = job.numbered(db)
    ours, theirs = collections.defaultdict(list), collections.defaultdict(list)
    for trace, device, ts, dur, kinds in db.table(
            "busy_segments", ["trace_id", "device", "ts_ns", "dur_ns", "kinds"]):
        ours[traces.get(trace), text(device)].append((ts, ts + dur, kinds))
    bits = {"compute": 1, "communication": 2, "memory": 4}
    for one in job.jobs:
        for trace, device in one.trace_devices:
            sets = one.by_kind([a for a in trace.activities if a.device == device])
            theirs[trace, device] = [
                (start, end, sum(bits[kind] for kind in held))
                for start, end, held in oracle.elementary(sets) if held]
    rows = [collections.Counter((key, *segment) for key, segments in of.items()
                                for segment in joined(segments)) for of in (ours, theirs)]
    report.check("busy_segments", sum(rows[1].values()), multisets(*rows, lambda row: row[:2]))


def check_step_uses(db, job, report):
    traces = job.numbered(db)
    exposed = [f"exposed_{kind}_ns" for kind in partition_oracle.KINDS]
    columns = ["trace_id", "device", "step", "start_ns", "end_ns", "compute_ns", *exposed,
               "exposed_memory_ns", "idle_host_ns", "idle_sync_ns", "idle_dependency_ns",
               "idle_unknown_ns"]
    ours = collections.Counter((traces.get(trace), text(device), *row) for trace, device, *row in
                               db.table("step_uses", columns))
    theirs = collections.Counter()
    for one in job.jobs:
        for trace, device, step, start, end, parts in partition_oracle.partition(one):
            theirs[(trace, device, step, start, end, *parts)] += 1
    report.check("step_uses", len(theirs), multisets(ours, theirs, lambda row: row[:3]))


def check_rank_clocks(db, job, report):
    """The oracle knows no alignment: what it is given is of one clock, or of clocks that agree."""
    traces = job.numbered(db)
    rows = db.table("rank_clocks", ["trace_id", "rank", "reference_rank", "offset_ns", "drift_ppb"])
    differences = [("two rows of a trace", key, None) for key, count in
                   collections.Counter(row[0] for row in rows).items() if count > 1]
    for row in rows:
        trace = traces.get(row[0])
        beside = set() if trace is None else {
            other.rank for other in job.traces
            if (other.run, other.capture) == (trace.run, trace.capture)}
        if trace is None or row[1] != trace.rank or row[2] not in beside or any(row[3:]):
            differences.append(("rank_clocks: of a trace, by a rank of its capture, and nothing moved",
                                row, sorted(beside)))
    report.check("rank_clocks", len(rows), differences)


def check_overlap(db, jobs, job, report):
    parts = ["span", "compute", "comm", "overlap", "exposed_comm", "exposed_memory", "idle"]
    columns = [part + "_ms" for part in parts] + ["overlap_pct"]
    rows = db.query_of_run("overlap", ["rank", "device"] + columns, jobs, job)
    expected = {}
    for key, row in job.devices.items():
        assert row["compute"] + row["exposed_comm"] + row["exposed_memory"] + row["idle"] == row["span"]
        expected[key] = {part + "_ms": as_ms(row[part]) for part in parts}
        expected[key]["overlap_pct"] = as_pct(row["overlap"], row["comm"])
    report.check("query overlap", len(expected), compare_rows(
        rows, expected, lambda row: (number(row["rank"]), text(row["device"])), columns, "device"))
    broken = []
    for row in rows:
        try:
            ns = {part: round(row[part + "_ms"] * 1e6) for part in parts}
        except TypeError:
            broken.append(("not numbers", row, None))
            continue
        whole = ns["compute"] + ns["exposed_comm"] + ns["exposed_memory"] + ns["idle"]
        if whole != ns["span"]:
            broken.append((f"rank {row['rank']}, device {row['device']}: "
                           "compute + exposed_comm + exposed_memory + idle is not span", whole, ns["span"]))
    report.check("query overlap: the parts make up the span", len(rows), broken)


def check_stream_utilization(db, jobs, job, report):
    columns = ["activities", "busy_ms", "utilization_pct", "compute_ms", "comm_ms", "memory_ms"]
    rows = db.query_of_run("stream_utilization", ["rank", "device", "stream"] + columns, jobs, job)
    expected = {}
    for (rank, device, stream), row in job.streams.items():
        expected[(rank, device, stream)] = {
            "activities": exact(row["activities"]), "busy_ms": as_ms(row["busy"]),
            "utilization_pct": as_pct(row["busy"], job.devices[(rank, device)]["span"]),
            "compute_ms": as_ms(row["compute"]), "comm_ms": as_ms(row["comm"]),
            "memory_ms": as_ms(row["memory"])}
    report.check("query stream_utilization", len(expected), compare_rows(
        rows, expected, lambda row: (number(row["rank"]), text(row["device"]), text(row["stream"])),
        columns, "stream"))


def ranks_of_text(value):
    return tuple(sorted(int(digits) for digits in re.findall(r"\d+", text(value))))


def check_groups(db, job, report):
    rows = db.table("process_groups", ["run", "name", "ranks", "description", "size", "parallelism"])
    ours = collections.Counter((run, text(name), ranks_of_text(ranks)) for run, name, ranks, *_ in rows)
    told = {(one.run, *group): texts for one in job.jobs for group, texts in one.groups.items()}
    differences = multisets(ours, collections.Counter(told.keys()))
    for run, name, ranks, description, size, parallelism in rows:
        texts = told.get((run, text(name), ranks_of_text(ranks)))
        if texts is None:
            continue
        said = {text(one) for one in texts if one} or {""}
        if text(description) not in said:
            differences.append((f"description of {name}", description, sorted(said)))
        if parallelism != identity_oracle.parallelism(description):
            differences.append((f"parallelism of {name}, {description}", parallelism,
                                identity_oracle.parallelism(description)))
        if number(size) != len(ranks_of_text(ranks)):
            differences.append((f"size of {name}", size, ranks))
    report.check("process_groups (run, name, ranks; description, parallelism, size)", len(told),
                 differences)


def check_collectives(db, job, report):
    rows = db.table("collectives", ["trace_id", "rank", "group_id", "ordinal", "collective", "dtype",
                                    "in_bytes", "out_bytes", "ts_ns", "dur_ns", "peer", "capture_id"])
    groups = {group: Communicator(text(name), ranks_of_text(ranks))
              for group, name, ranks in db.table("process_groups", ["group_id", "name", "ranks"])}
    captures = {number: (run, capture)
                for number, run, capture in db.table("captures", ["capture_id", "run", "capture"])}
    traces = job.numbered(db)
    notes = []
    bare = [row for row in rows if row[4] in (None, "")]
    if bare:
        notes.append(f"{len(bare)} rows without a collective's name are left out of the comparison")
    ours, theirs = collections.Counter(), collections.Counter()
    ordinals = collections.defaultdict(list), collections.defaultdict(list)
    for number_, rank, group, ordinal, name, dtype, *sizes, ts, dur, peer, capture in rows:
        if name in (None, ""):
            continue
        trace = traces.get(number_)
        key = (trace and trace.path, number(rank), captures.get(capture), groups.get(group), text(name),
               text(dtype), *sizes, ts, dur, number(peer))
        ours[key] += 1
        if groups.get(group) is not None:
            ordinals[0][key].append(number(ordinal))
    for one in job.jobs:
        for part in one.parts:
            trace = part.activity.trace
            key = (trace.path, part.rank, (trace.run, trace.capture), part.group, text(part.collective),
                   text(part.dtype), part.in_bytes, part.out_bytes, part.ts, part.dur, part.peer)
            theirs[key] += 1
            if part.group is not None:
                ordinals[1][key].append(part.ordinal + 1)
    report.check("collectives (trace, rank, capture, communicator, name, dtype, bytes, ts, dur, peer)",
                 len(rows) - len(bare),
                 multisets(ours, theirs, lambda row: (row[0], row[8], row[9]) if row[8] is not None else row),
                 notes)
    report.check("collectives' ordinals", len(ordinals[1]), [
        (f"collective {shorten(key)}: ordinal in its trace", ordinals[0][key], ordinals[1][key])
        for key in ordinals[1].keys() & ordinals[0].keys()
        if sorted(map(text, ordinals[0][key])) != sorted(map(text, ordinals[1][key]))])


# -- nccl_stalls: which parts make a row and what its ordinal is, the contract leaves open; one choice
# -- must hold for the whole result.

SCOPES = {
    "groups of two ranks or more of which every rank is there": lambda c: c.complete and c.matched,
    "groups of which every rank is there": lambda c: c.complete,
    "groups of which two ranks or more are there": lambda c: c.matched,
    "all, also parts without a partner": lambda c: True,
}
ORDINALS = {
    "ordinal of the last to start": lambda c: c.last.ordinal,
    "ordinal of the first rank": lambda c: [p.ordinal for p in sorted(c.parts, key=lambda p: p.rank)][0],
    "lowest ordinal": lambda c: min(p.ordinal for p in c.parts),
    "highest ordinal": lambda c: max(p.ordinal for p in c.parts),
    "Seq, else ordinal": lambda c: c.key[1],
}


def comparable(job, notes):
    """The collectives whose rows the contract settles."""
    left_out = [c for c in job.collectives if c.repeated]
    if left_out:
        notes.append(f"{len(left_out)} collectives are not compared: one rank has two parts in them")
    skipped = {id(c) for c in left_out}
    return [c for c in job.collectives if id(c) not in skipped], {c.group for c in left_out}


def check_nccl_stalls(db, jobs, job, report):
    columns = ["collective", "group_name", "group_ranks", "ordinal", "step", "bytes", "start_ms",
               "culprit_rank", "total_wait_ms", "max_wait_ms", "transfer_ms", "cause"]
    rows = [row for row in db.query_of_run("nccl_stalls", columns, jobs, job)
            if not row.get("is_estimate")]
    notes = []
    wanted, excluded = comparable(job, notes)
    group_of = lambda row: Communicator(text(row["group_name"]), ranks_of_text(row["group_ranks"]))
    # Until a query tells captures apart it is right where there is one.
    by_capture = bool(rows) and "capture" in rows[0]
    if rows and not by_capture and any(trace.capture > 1 for trace in job.traces):
        raise Missing("query nccl_stalls lacks the column capture")
    row_key = lambda row: (row["capture"] if by_capture else 1, group_of(row), number(row["ordinal"]))
    nowhere = [row for row in rows if not group_of(row).ranks]
    if nowhere and any(part.group is None for part in job.parts):
        notes.append(f"{len(nowhere)} rows of groups whose ranks are not known are not compared")
        rows = [row for row in rows if group_of(row).ranks]
    rows = [row for row in rows if group_of(row) not in excluded]
    wanted = [c for c in wanted if c.group not in excluded]
    ours = collections.Counter(map(row_key, rows))
    best = None
    for scope, chosen in SCOPES.items():
        inside = [c for c in wanted if chosen(c)]
        for label, ordinal_of in ORDINALS.items():
            for offset in (0, 1):
                theirs = collections.Counter((c.capture, c.group, ordinal_of(c) + offset) for c in inside)
                score = sum((ours - theirs).values()) + sum((theirs - ours).values())
                if best is None or score < best[0]:
                    best = score, scope, label, offset, inside, ordinal_of
    _, scope, label, offset, inside, ordinal_of = best
    notes.append(f"rows taken as: {scope}; {label} from {offset}")
    pairs, differences = [], []
    by_key = collections.defaultdict(list)
    for row in rows:
        by_key[row_key(row)].append(row)
    for c in sorted(inside, key=lambda c: c.first_start):
        key = (c.capture, c.group, ordinal_of(c) + offset)
        if by_key[key]:
            fitting = [row for row in by_key[key] if not ms_differs(row["total_wait_ms"], c.total_wait)]
            row = (fitting or by_key[key])[0]
            by_key[key].remove(row)
            pairs.append((c, row, key))
        else:
            differences.append((f"collective {key}: only in the oracle", None,
                                (c.key, [(p.rank, p.ts, p.dur) for p in c.parts])))
    for key, left in by_key.items():
        differences += [(f"collective {key}: only in the database", row, None) for row in left]
    for c, row, key in pairs:
        name = text(row["collective"])
        if not any(part.collective in name for part in c.parts):
            differences.append((f"collective {key}: collective", name, sorted({p.collective for p in c.parts})))
        if number(row["culprit_rank"]) not in (c.culprits or [None]):
            differences.append((f"collective {key}: culprit_rank", row["culprit_rank"], c.culprits))
        for column, ns in (("total_wait_ms", c.total_wait), ("max_wait_ms", c.max_wait),
                           ("transfer_ms", c.transfer)):
            if ms_differs(row[column], ns) and (c.matched or row[column] is not None):
                differences.append((f"collective {key}: {column}", row[column], as_ms(ns)[0]))
        sizes = {size for part in c.parts for size in (part.in_bytes, part.out_bytes)}
        if number(row["bytes"]) not in sizes:
            differences.append((f"collective {key}: bytes", row["bytes"], sorted(sizes, key=text)))
        steps = {step for part in c.parts for step in part.activity.step_options}
        if number(row["step"]) not in steps:
            differences.append((f"collective {key}: step", row["step"], sorted(steps, key=text)))
    report.check("query nccl_stalls", len(rows), differences, notes)

    report.check("query nccl_stalls: start_ms", len(pairs), [
        (f"collective {key}: start_ms", row["start_ms"], as_ms(c.first_start - job.start)[0])
        for c, row, key in pairs if ms_differs(row["start_ms"], c.first_start - job.start)])


def check_nccl_stall_ranks(db, jobs, job, report):
    columns = ["rank", "collectives", "times_last", "caused_wait_ms", "suffered_wait_ms"]
    answer = db.query_of_run("nccl_stall_ranks", columns, jobs, job)
    rows = {number(row["rank"]): row for row in answer}
    notes = []
    if len(rows) != len(answer):
        report.check("query nccl_stall_ranks: one row a rank", len(answer),
                     [("rows of the same rank", len(answer), len(rows))])
    _, excluded = comparable(job, notes)
    if excluded:
        report.check("query nccl_stall_ranks", 0, [], notes + ["not compared"])
        return
    best = None
    for scope, chosen in SCOPES.items():
        expected = job.stall_ranks(chosen)
        whole = sum(c.total_wait for c in job.collectives if chosen(c))
        wrong = []
        for rank, want in expected.items():
            row = rows.get(rank)
            if row is None:
                wrong.append((f"rank {rank}: only in the oracle", None, dict(want)))
                continue
            if number(row["collectives"]) != want["collectives"]:
                wrong.append((f"rank {rank}: collectives", row["collectives"], want["collectives"]))
            times = row["times_last"] or 0
            if not want["times_last_least"] <= times <= want["times_last_most"]:
                wrong.append((f"rank {rank}: times_last", times,
                              (want["times_last_least"], want["times_last_most"])))
            if ms_differs(row["suffered_wait_ms"], want["suffered_wait"]):
                wrong.append((f"rank {rank}: suffered_wait_ms", row["suffered_wait_ms"],
                              as_ms(want["suffered_wait"])[0]))
            caused = row["caused_wait_ms"] or 0
            if want["caused_wait_least"] == want["caused_wait_most"]:
                if ms_differs(caused, want["caused_wait"]):
                    wrong.append((f"rank {rank}: caused_wait_ms", row["caused_wait_ms"],
                                  as_ms(want["caused_wait"])[0]))
            elif not want["caused_wait_least"] <= round(caused * 1e6) <= want["caused_wait_most"]:
                wrong.append((f"rank {rank}: caused_wait_ms (ties)", row["caused_wait_ms"],
                              (want["caused_wait_least"], want["caused_wait_most"])))
        for rank in rows.keys() - expected.keys():
            row = rows[rank]
            if row["collectives"] or row["times_last"] or row["caused_wait_ms"] or row["suffered_wait_ms"]:
                wrong.append((f"rank {rank}: only in the database", row, None))
        for column in ("caused_wait_ms", "suffered_wait_ms"):
            total = sum(round((row[column] or 0) * 1e6) for row in rows.values())
            if total != whole:
                wrong.append((f"sum of {column}, in ns", total, whole))
        if best is None or len(wrong) < len(best[0]):
            best = wrong, scope, len(expected)
    report.check("query nccl_stall_ranks", best[2], best[0], notes + [f"rows taken as: {best[1]}"])


def check_instants(db, job, report):
    """Phases i and I row by row; the view also holds every phase without a table of its own, and
    begins and ends without a partner: those by name and time as well, and by phase."""
    ours = collections.Counter((number(rank), text(phase), text(name), number(ts)) for rank, phase, name, ts in
                               db.table("instants", ["rank", "phase", "name", "ts_ns"]))
    theirs = collections.Counter((trace.rank, *point) for trace in job.traces for point in trace.points)
    # [memory] events may stand in memory_events only.
    memory = collections.Counter((trace.rank, phase, name, ts) for trace in job.traces
                                 for phase, name, ts in trace.points if phase in "iI" and name == "[memory]")
    if not any(row[2] == "[memory]" for row in ours):
        theirs -= memory
    for label, chosen in (("instants of phase i and I", lambda row: row[1] in ("i", "I")),
                          ("instants of the other phases", lambda row: row[1] not in ("i", "I"))):
        mine, wanted = (collections.Counter({row: n for row, n in rows.items() if chosen(row)})
                        for rows in (ours, theirs))
        report.check(f"{label} (rank, phase, name, ts_ns)", sum(wanted.values()),
                     multisets(mine, wanted, lambda row: (row[0], row[2], row[3])))


def check_points(db, job, report):
    """Names and times of what is no slice, by the columns that are there."""
    for table, which in (("counters", "counters"), ("flows", "flows"), ("memory_events", "memory")):
        have = set(db.columns(table))
        columns = [column for column in ("rank", "name", "ts_ns") if column in have]
        if "ts_ns" not in columns:
            report.check(table, 0, [f"table {table} lacks the column ts_ns"])
            continue
        pick = [("rank", "name", "ts_ns").index(column) for column in columns]

        def counted(attribute):
            found = collections.Counter()
            for trace in job.traces:
                for name, ts in getattr(trace, attribute):
                    row = (trace.rank, name, ts)
                    found[tuple(row[position] for position in pick)] += 1
            return found

        ours = collections.Counter(
            tuple(text(value) if column == "name" else number(value) for column, value in zip(columns, row))
            for row in db.table(table, columns))
        theirs = counted(which)
        if table == "counters" and sum(ours.values()) != sum(theirs.values()):
            # A row a series: only whether the same counters are there at the same times.
            ours = collections.Counter(dict.fromkeys(ours, 1))
            theirs = collections.Counter(dict.fromkeys(theirs, 1))
        report.check(f"{table} ({', '.join(columns)})", sum(theirs.values()),
                     multisets(ours, theirs))


def check_names(db, job, report):
    for table, columns, attribute in (("processes", ["rank", "pid", "name"], "process_names"),
                                      ("threads", ["rank", "pid", "tid", "name"], "thread_names")):
        have = set(db.columns(table))
        columns = [column for column in columns if column in have or column not in ("rank", "pid")]
        ours = collections.defaultdict(set)
        for row in db.table(table, columns):
            key = tuple(number(value) if column == "rank" else text(value)
                        for column, value in zip(columns, row[:-1]))
            ours[key].add(text(row[-1]))
        differences, compared = [], 0
        for trace in job.traces:
            for key, names in getattr(trace, attribute).items():
                compared += 1
                parts = dict(zip(("pid", "tid"), (key,) if isinstance(key, str) else key), rank=trace.rank)
                full = tuple(text(parts[c]) if c != "rank" else parts[c] for c in columns[:-1])
                # Several names for one thread: any of them.
                if not {name.strip() for name in names} & {name.strip() for name in ours.get(full, ())}:
                    differences.append((f"{table} {dict(zip(columns, full))}: name",
                                        sorted(ours.get(full, ())), sorted(names)))
        report.check(table, compared, differences)


CHECKS = {
    "traces": check_traces, "runs": check_runs, "captures": check_captures, "ranks": check_ranks,
    "accounting": check_accounting, "slices": check_slices, "links": check_slice_links,
    "instants": check_instants, "points": check_points, "names": check_names,
    "kernels": check_kernels, "steps": check_steps, "streams": check_streams,
    "device_uses": check_device_uses, "busy_segments": check_busy_segments,
    "step_uses": check_step_uses, "rank_clocks": check_rank_clocks, "groups": check_groups,
    "collectives": check_collectives,
}
QUERY_CHECKS = {
    "overlap": check_overlap, "stream_utilization": check_stream_utilization,
    "nccl_stalls": check_nccl_stalls, "nccl_stall_ranks": check_nccl_stall_ranks,
}


def ranked(db, jobs, inputs):
    """A file that says no rank has the one that the database gave it."""
    traces = [trace for job in jobs for trace in job.traces]
    for trace in traces:
        if trace.rank is None:
            given = [number(rank) for path, rank in db.table("traces", ["path", "rank"])
                     if os.path.basename(text(path)) == os.path.basename(trace.path)]
            trace.rank = given[0] if given else None
    return oracle.jobs_of(traces, inputs) if any(t.header_rank is None for t in traces) else jobs


def with_ranks(database, jobs, inputs):
    db = Database(database, QUERIES)
    try:
        return ranked(db, jobs, inputs)
    finally:
        db.connection.close()


def compare(options, database, jobs):
    """(differences, checks). jobs as ranked() has them."""
    out = io.StringIO()
    report = Report(options.show, out)
    run(database, jobs, report)
    said = [line for line in out.getvalue().splitlines() if not line.startswith(("ok ", "    note:"))]
    return said, report.checks


def run(database, jobs, report, queries=QUERIES, only=None, inputs=()):
    """jobs: one a run; inputs: the folders that were given to ingest."""
    try:
        db = Database(database, queries)
        jobs = ranked(db, jobs, inputs)
    except (Missing, sqlite3.Error) as error:
        report.check("the database", 0, [str(error)])
        return report
    asked = [(name, lambda check=check: check(db, Whole(jobs), report)) for name, check in CHECKS.items()]
    asked += [(name, lambda check=check, job=job: check(db, jobs, job, report))
              for name, check in QUERY_CHECKS.items() for job in jobs]
    for name, check in asked:
        if only and name not in only:
            continue
        try:
            check()
        except Missing as error:
            report.check(name, 0, [str(error)])
        except Exception as error:  # whatever a strange database provokes is a difference, no traceback
            report.check(name, 0, [f"the comparison broke: {type(error).__name__}: {error}"])
    db.connection.close()
    return report


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Compare a tracedb database with its traces.")
    parser.add_argument("database")
    parser.add_argument("traces", nargs="+", metavar="TRACE", help="a trace file, or a folder of them")
    parser.add_argument("--queries", default=QUERIES, help="the folder of the canned queries")
    parser.add_argument("--only", help="names of checks, with commas: " + ", ".join([*CHECKS, *QUERY_CHECKS]))
    parser.add_argument("--show", type=int, default=10, help="differences shown a check")
    options = parser.parse_args(arguments)
    only = set(options.only.split(",")) if options.only else None
    if only and only - {*CHECKS, *QUERY_CHECKS}:
        parser.error("no such check: " + ", ".join(sorted(only - {*CHECKS, *QUERY_CHECKS})))
    paths = []
    for given in options.traces:
        if os.path.isdir(given):
            paths += sorted(os.path.join(folder, name) for folder, _, names in os.walk(given)
                            for name in names if re.search(r"trace.*\.json(\.gz|\.zst)?\Z", name))
        else:
            paths.append(given)
    report = Report(options.show)
    run(options.database, oracle.load(paths, options.traces), report, options.queries, only,
        options.traces)
    report.say(f"{report.checks - report.failed} of {report.checks} checks agree")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
