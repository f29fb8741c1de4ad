"""Compares what a database says about the host with host_oracle.py: every row of host_use and
kernel_use, and of every GPU activity its step, operator and paths. run_host.py has the sets.
"""
import collections
import json
import os
import re
import sqlite3

import host_oracle
import trace_oracle as oracle

COLUMN_MARK = re.compile(r'"?[\x01-\x1f]+"?')    # never in valid JSON but for blanks; a text keeps its quotes
USE = ("calls", "total_ns", "self_ns", "activities", "gpu_ns", "self_gpu_ns", "backward_gpu_ns",
       "self_backward_gpu_ns")


class Database:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.shapes = {None: None}
        for number, args in self.db.execute("SELECT id, args FROM _args_text"):
            self.shapes[number] = self.without_numbers(args)
        self.labels = {number: (name or "", category or "") for number, name, category in
                       self.db.execute("SELECT id, name, category FROM _event_name")}
        self.labels[None] = None

    @staticmethod
    def without_numbers(args):
        if args is None:
            return None
        return oracle.canonical(oracle.parse_json(
            COLUMN_MARK.sub(lambda _: json.dumps(host_oracle.COLUMN), args)))

    def host_rows(self, trace_id):
        """Summed over shapes that are one but for how their args are written. Rows of nothing, for an
        operator of other args within one of its name, say nothing."""
        rows = collections.defaultdict(lambda: [0] * len(USE))
        for step, kind, label, shape, *sums in self.db.execute(
                f"SELECT step, kind, event_name, args_text, {', '.join(USE)} FROM _host_use WHERE trace_id = ?",
                (trace_id,)):
            row = rows[(step, kind, self.labels[label], self.shapes[shape])]
            row[:] = [a + b for a, b in zip(row, sums)]
        return {key: tuple(row) for key, row in rows.items() if any(row)}

    def kernel_rows(self, trace_id):
        return {(step, *(self.labels[label] for label in labels)): (activities, gpu_ns)
                for step, *labels, activities, gpu_ns in self.db.execute(
                    "SELECT step, op, forward_op, kernel, activities, gpu_ns FROM _kernel_use "
                    "WHERE trace_id = ?", (trace_id,))}

    def twice(self, table, columns):
        """Rows of a table that agree in what should be their key."""
        return [f"{table}: {count} rows of ({columns}) = {tuple(key)}" for *key, count in self.db.execute(
            f"SELECT {columns}, count(*) AS n FROM {table} GROUP BY {columns} HAVING n > 1")]

    def paths(self):
        """{path_id: (nodes as in the oracle, name of the nearest operator)}; and what is wrong where the
        view says other things than the table."""
        rows = {row[0]: row[1:] for row in self.db.execute(
            "SELECT c.id, c.parent_id, c.kind, c.event_name, c.args_text, t.trace_id, t.rank FROM _call_path c "
            "LEFT JOIN _trace t ON t.trace_id = c.trace_id")}
        found, wrong = {None: (None, None)}, []

        def path(number):
            if number not in found:
                parent, kind, label, shape, *_ = rows[number]
                above, op = path(parent)
                node = (kind, self.labels[label], self.shapes[shape])
                found[number] = ((*(above or ()), node),
                                 node[1][0] if kind == host_oracle.OPERATOR else op)
            return found[number]

        seen = 0
        for number, parent, *said in self.db.execute(
                "SELECT path_id, parent_id, trace_id, rank, kind, name, op, args FROM call_paths"):
            nodes, op = path(number)
            kind, (name, _), shape = nodes[-1]
            *shown, args = said
            seen += 1
            if [*shown, self.without_numbers(args)] != [*rows[number][4:], host_oracle.KIND_NAMES[kind],
                                                        name, op, shape] or parent != rows[number][0]:
                wrong.append(f"call_paths: {number}: {parent}, {said}; nodes {nodes[-1]}, op {op}")
        if seen != len(rows):
            wrong.append(f"call_paths has {seen} rows, call_path {len(rows)}")
        of_none = [number for number, row in rows.items() if row[4] is None]
        if of_none:
            wrong.append(f"call_path: {len(of_none)} of {len(rows)} are of no trace; {min(of_none)} is "
                         "the first")
        wrong += [f"activity: {row} has a path of another trace" for row in self.db.execute(
            "SELECT k.slice_id, k.trace_id, c.trace_id FROM kernels k JOIN call_paths c "
            "ON c.path_id IN (k.path_id, k.forward_path_id) WHERE c.trace_id <> k.trace_id")]
        return found, wrong

    def activities(self, trace_id, paths):
        for ts, dur, name, category, device, stream, step, op, path, forward in self.db.execute(
                "SELECT ts_ns, max(ifnull(dur_ns, 0), 0), name, category, device, stream, step, op, "
                "path_id, forward_path_id FROM kernels WHERE trace_id = ?", (trace_id,)):
            # Numbers in the database where the trace has numbers; here all are texts.
            device, stream = (None if at is None else str(at) for at in (device, stream))
            yield (ts, dur, (name or "", category or ""), device, stream, step, op, paths[path][0],
                   paths[forward][0])


def expected_activities(trace):
    for activity in trace.activities:
        op = host_oracle.innermost_operator(activity.path)
        paths = [path and tuple(piece.node for piece in path)
                 for path in (activity.path, activity.forward_path)]
        yield (activity.ts, activity.dur, activity.label, *activity.track, activity.step,
               op and op.label[0], *paths)


def rows_differ(table, ours, expected):
    for key in sorted(ours.keys() | expected.keys(), key=repr):
        left, right = ours.get(key), expected.get(key)
        if left is None or right is None:
            yield f"{table}: {key}: {'missing' if left is None else 'too many'}: {left or right}"
        elif left != right:
            yield f"{table}: {key}: {left}, expected {right}"


def activities_differ(ours, expected):
    left, right = collections.Counter(ours), collections.Counter(expected)
    for row in sorted((left - right).elements(), key=repr):
        yield f"activity: has {row}"
    for row in sorted((right - left).elements(), key=repr):
        yield f"activity: lacks {row}"


def differences(database, traces):
    """traces: {path as it was given to ingest: HostTrace}."""
    of = Database(database)
    paths, wrong = of.paths()
    yield from wrong
    yield from of.twice("_host_use", "trace_id, step, kind, event_name, args_text")
    yield from of.twice("_kernel_use", "trace_id, step, op, forward_op, kernel")
    yield from of.twice("_call_path", "trace_id, parent_id, kind, event_name, args_text")
    for trace_id, path in of.db.execute("SELECT trace_id, path FROM _trace").fetchall():
        trace = traces[path]
        for line in (*activities_differ(of.activities(trace_id, paths), expected_activities(trace)),
                     *rows_differ("host_use", of.host_rows(trace_id), trace.host_rows),
                     *rows_differ("kernel_use", of.kernel_rows(trace_id), trace.kernel_rows)):
            yield f"{os.path.basename(path)}: {line}"


def compare(options, database, traces):
    """(differences, rows). traces: {path as it was given to ingest: HostTrace}."""
    rows = sum(len(trace.host_rows) + len(trace.kernel_rows) + len(trace.activities)
               for trace in traces.values())
    return list(differences(database, traces)), rows
