#!/usr/bin/env python3
# long because: one check after the other of one database; apart, none makes sense.
"""Compare a tracedb database with what trace_oracle.py works out from the same trace files.

    python3 check_database.py [--queries DIR] [--only CHECK,...] [--show N] DB TRACE...

One line a check on stdout, and below it the first differences with both values.
Exit 0: all agree; 1: something differs; 2: wrong usage.
"""
import argparse
import collections
import os
import re
import sqlite3
import sys
import urllib.parse
from decimal import Decimal

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trace_oracle as oracle  # noqa: E402

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
                               "base_time_ns", "header"])
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


def check_ranks(db, job, report):
    rows = [dict(zip(("rank", "world_size", "traces", "slices"), row))
            for row in db.table("ranks", ["rank", "world_size", "traces", "slices"])]
    expected = {}
    for rank in {trace.rank for trace in job.traces}:
        mine = [trace for trace in job.traces if trace.rank == rank]
        sizes = {trace.world_size for trace in mine if trace.world_size is not None}
        least = sum(len(trace.slices) for trace in mine)
        most = least + sum(len(trace.negative) for trace in mine)
        expected[rank] = {
            "world_size": (sizes or None, lambda v, s=sizes: bool(s) and number(v) not in s),
            "traces": exact(len(mine)),
            "slices": (least, lambda v, a=least, b=most: not isinstance(v, int) or not a <= v <= b),
        }
    report.check("ranks", len(expected), compare_rows(
        rows, expected, lambda row: number(row["rank"]), ["world_size", "traces", "slices"], "rank"))


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


def check_streams(db, job, report):
    columns = ["rank", "device", "stream", "activities", "start_ns", "end_ns", "busy_ns"]
    rows = [dict(zip(columns, row)) for row in db.table("streams", columns)]
    expected = {(rank, device, stream): {
        "activities": exact(row["activities"]), "start_ns": exact(row["start"]),
        "end_ns": exact(row["end"]), "busy_ns": exact(row["busy"])}
        for (rank, device, stream), row in job.streams.items()}
    key_of = lambda row: (number(row["rank"]), text(row["device"]), text(row["stream"]))
    rows = [row for row in rows if row["activities"] or key_of(row) in expected]
    report.check("streams", len(expected), compare_rows(rows, expected, key_of, columns[3:], "stream"))


def check_overlap(db, job, report):
    parts = ["span", "compute", "comm", "overlap", "exposed_comm", "exposed_memory", "idle"]
    columns = [part + "_ms" for part in parts] + ["overlap_pct"]
    rows = db.query("overlap", ["rank", "device"] + columns)
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


def check_stream_utilization(db, job, report):
    columns = ["activities", "busy_ms", "utilization_pct", "compute_ms", "comm_ms", "memory_ms"]
    rows = db.query("stream_utilization", ["rank", "device", "stream"] + columns)
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
    rows = db.table("process_groups", ["name", "description", "size", "ranks"])
    ours = {(text(name), ranks_of_text(ranks)) for name, _, _, ranks in rows}
    by_ranks = {ranks for _, ranks in ours}
    theirs = set()
    for trace in job.traces:
        for group in trace.groups():
            ranks = oracle.ranks_from(group.get("ranks"))
            if ranks:
                theirs.add((text(oracle.text_of(group.get("pg_name"))), ranks))
    used = {part.group for part in job.parts if part.group}
    differences = [("group (name, ranks) only in the oracle", None, group)
                   for group in sorted(theirs) if group not in ours and group[1] not in by_ranks]
    differences += [("group that kernels name, only in the oracle", None, ranks)
                    for ranks in sorted(used - by_ranks)]
    differences += [("size is not the number of ranks", row, len(ranks_of_text(row[3])))
                    for row in rows if ranks_of_text(row[3]) and "..." not in text(row[3])
                    and number(row[2]) != len(ranks_of_text(row[3]))]
    report.check("process_groups", len(theirs | {("", ranks) for ranks in used}), differences)


def check_collectives(db, job, report):
    rows = db.table("collectives", ["rank", "group_id", "ordinal", "collective", "dtype", "in_bytes",
                                    "out_bytes", "ts_ns", "dur_ns", "peer"])
    groups = {group: ranks_of_text(ranks)
              for group, ranks in db.table("process_groups", ["group_id", "ranks"])}
    notes = []
    bare = [row for row in rows if row[3] in (None, "")]
    if bare:
        notes.append(f"{len(bare)} rows without a collective's name are left out of the comparison")
    kept = [row for row in rows if row[3] not in (None, "")]
    ours, theirs = collections.Counter(), collections.Counter()
    ordinals = collections.defaultdict(list), collections.defaultdict(list)
    known = {part.group for part in job.parts}
    for rank, group, ordinal, collective, dtype, in_bytes, out_bytes, ts, dur, peer in kept:
        ranks = groups.get(group)
        if None in known and ranks not in known:
            ranks = None
        key = (number(rank), ranks, text(collective), text(dtype), in_bytes, out_bytes, ts, dur, number(peer))
        ours[key] += 1
        ordinals[0][key].append(number(ordinal))
    for part in job.parts:
        key = (part.rank, part.group, text(part.collective), text(part.dtype), part.in_bytes,
               part.out_bytes, part.ts, part.dur, part.peer)
        theirs[key] += 1
        if part.group is not None:
            ordinals[1][key].append(part.ordinal)
    report.check("collectives (rank, group's ranks, name, dtype, bytes, ts, dur, peer)", len(kept),
                 multisets(ours, theirs, lambda row: (row[0], row[6], row[7]) if row[6] is not None else row),
                 notes)
    best = None
    for offset in (0, 1):
        wrong = [(f"collective {shorten(key)}: ordinal (from {offset})", ordinals[0][key],
                  [value + offset for value in ordinals[1][key]])
                 for key in ordinals[1].keys() & ordinals[0].keys()
                 if sorted(map(text, ordinals[0][key])) != sorted(text(v + offset) for v in ordinals[1][key])]
        if best is None or len(wrong) < len(best[1]):
            best = offset, wrong
    report.check("collectives' ordinals", len(ordinals[1]), best[1], [f"ordinals count from {best[0]}"])


# -- nccl_stalls: which parts make a row, what its ordinal and its start are, the contract leaves open;
# -- one choice must hold for the whole result.

SCOPES = {
    "groups of two ranks or more of which every rank is there": lambda c: c.complete and c.matched,
    "groups of which every rank is there": lambda c: c.complete,
    "groups of which two ranks or more are there": lambda c: c.matched,
    "all, also parts without a partner": lambda c: True,
}
ORDINALS = {
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


def check_nccl_stalls(db, job, report):
    columns = ["collective", "group_name", "group_ranks", "ordinal", "step", "bytes", "start_ms",
               "culprit_rank", "total_wait_ms", "max_wait_ms", "transfer_ms", "cause"]
    rows = [row for row in db.query("nccl_stalls", columns) if not row.get("is_estimate")]
    notes = []
    wanted, excluded = comparable(job, notes)
    nowhere = [row for row in rows if not ranks_of_text(row["group_ranks"])]
    if nowhere and any(part.group is None for part in job.parts):
        notes.append(f"{len(nowhere)} rows of groups whose ranks are not known are not compared")
        rows = [row for row in rows if ranks_of_text(row["group_ranks"])]
    rows = [row for row in rows if ranks_of_text(row["group_ranks"]) not in excluded]
    wanted = [c for c in wanted if c.group not in excluded]
    ours = collections.Counter((ranks_of_text(row["group_ranks"]), number(row["ordinal"])) for row in rows)
    best = None
    for scope, chosen in SCOPES.items():
        inside = [c for c in wanted if chosen(c)]
        for label, ordinal_of in ORDINALS.items():
            for offset in (0, 1):
                theirs = collections.Counter((c.group, ordinal_of(c) + offset) for c in inside)
                score = sum((ours - theirs).values()) + sum((theirs - ours).values())
                if best is None or score < best[0]:
                    best = score, scope, label, offset, inside, ordinal_of
    _, scope, label, offset, inside, ordinal_of = best
    notes.append(f"rows taken as: {scope}; {label} from {offset}")
    pairs, differences = [], []
    by_key = collections.defaultdict(list)
    for row in rows:
        by_key[(ranks_of_text(row["group_ranks"]), number(row["ordinal"]))].append(row)
    for c in sorted(inside, key=lambda c: c.first_start):
        key = (c.group, ordinal_of(c) + offset)
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
        if number(row["culprit_rank"]) not in c.culprits and (c.matched or row["culprit_rank"] is not None):
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

    # start_ms counts from somewhere: the same for every row, for the first or the last arrival.
    best = None
    for label, start_of in (("first", lambda c: c.first_start), ("last", lambda c: c.last_start)):
        wrong = []
        bases = collections.Counter()
        for c, row, key in pairs:
            if isinstance(row["start_ms"], (int, float)):
                bases[start_of(c) - round(Decimal(row["start_ms"]) * 1000000)] += 1
            else:
                wrong.append((f"collective {key}: start_ms", row["start_ms"], start_of(c)))
        if bases:
            # An absolute time has 19 digits, more than a REAL holds: then 256 ns is its resolution.
            usual = bases.most_common(1)[0][0]
            absolute = any(isinstance(row["start_ms"], float) and abs(row["start_ms"]) > 2**53 / 1e6
                           for _, row, _ in pairs)
            slack = 256 if absolute else 0
            for c, row, key in pairs:
                if isinstance(row["start_ms"], (int, float)):
                    base = start_of(c) - round(Decimal(row["start_ms"]) * 1000000)
                    if abs(base - usual) > slack:
                        wrong.append((f"collective {key}: start_ms", row["start_ms"],
                                      f"{(start_of(c) - usual) / 1e6!r} ms, as the other rows count"))
        else:
            absolute = False
        if best is None or len(wrong) < len(best[0]):
            best = wrong, label, absolute
    report.check("query nccl_stalls: differences of start_ms", len(pairs), best[0],
                 [f"start is that of the {best[1]} arrival"] +
                 (["start_ms is an absolute time in a REAL: to 256 ns only"] if best[2] else []))


def check_nccl_stall_ranks(db, job, report):
    columns = ["rank", "collectives", "times_last", "caused_wait_ms", "suffered_wait_ms"]
    answer = db.query("nccl_stall_ranks", columns)
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
    "traces": check_traces, "ranks": check_ranks, "accounting": check_accounting,
    "slices": check_slices, "links": check_slice_links, "instants": check_instants,
    "points": check_points, "names": check_names,
    "kernels": check_kernels, "steps": check_steps, "streams": check_streams, "groups": check_groups,
    "collectives": check_collectives, "overlap": check_overlap,
    "stream_utilization": check_stream_utilization, "nccl_stalls": check_nccl_stalls,
    "nccl_stall_ranks": check_nccl_stall_ranks,
}


def run(database, job, report, queries=QUERIES, only=None):
    try:
        db = Database(database, queries)
        # A file that says no rank has the one that the database gave it.
        for trace in job.traces:
            if trace.rank is None:
                given = [number(rank) for path, rank in db.table("traces", ["path", "rank"])
                         if os.path.basename(text(path)) == os.path.basename(trace.path)]
                trace.rank = given[0] if given else None
        if any(trace.header_rank is None for trace in job.traces):
            job = oracle.Job(job.traces)
    except (Missing, sqlite3.Error) as error:
        report.check("the database", 0, [str(error)])
        return report
    for name, check in CHECKS.items():
        if only and name not in only:
            continue
        try:
            check(db, job, report)
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
    parser.add_argument("--only", help="names of checks, with commas: " + ", ".join(CHECKS))
    parser.add_argument("--show", type=int, default=10, help="differences shown a check")
    options = parser.parse_args(arguments)
    only = set(options.only.split(",")) if options.only else None
    if only and only - CHECKS.keys():
        parser.error("no such check: " + ", ".join(sorted(only - CHECKS.keys())))
    paths = []
    for given in options.traces:
        if os.path.isdir(given):
            paths += sorted(os.path.join(folder, name) for folder, _, names in os.walk(given)
                            for name in names if re.search(r"trace.*\.json(\.gz|\.zst)?\Z", name))
        else:
            paths.append(given)
    report = Report(options.show)
    run(options.database, oracle.load(paths), report, options.queries, only)
    report.say(f"{report.checks - report.failed} of {report.checks} checks agree")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
