#!/usr/bin/env python3
"""The replay of src/replay/MODEL.md from a database's public views, everything looked for in everything.

    python3 replay_oracle.py DB...                                  per capture and step: how long, what is critical
        --without NAME   replay without the host slices of this name as well
        --path STEP      the pieces of this step's critical path

graph = build(db, capture_id); replayed = replay(graph, changes); steps(graph, replayed);
critical_path(graph, replayed, step)
"""
import argparse
import collections
import math
import os
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay_graph_oracle import build  # noqa: E402

KINDS = ("host", "launch", "compute", "communication", "memory", "waiting", "transfer", "gap", "lag", "unrecorded")
EDGE_KINDS = {"host": "host", "handover": "host", "call": "host", "launch": "launch", "stream": "gap", "wait": "gap",
              "inferred": "gap", "sync": "gap", "meet": None}
SHORT_NS = 250_000
Piece = collections.namedtuple("Piece", "start_ns dur_ns kind rank slice_id")


# --- Changes: dicts. {"change": "activities", "factor": f, "name", "rank", "step", "kind"},
# {"change": "slices", "factor": f, "name", "rank", "step"}, {"change": "slice", "slice_id", "shorten_ns"},
# {"change": "short_host", "factor": f}, {"change": "transfers", "factor": f, "parallelism"},
# {"change": "rank_late", "rank"}, {"change": "launches", "most_ns": n}, {"change": "waits", "parallelism"},
# {"change": "waits"} of calls.
def nearest(value):
    return math.floor(value + 0.5)


def open_time(slices, start, end):
    """ns of [start, end) in which one of these is open."""
    total, until = 0, start
    for s in sorted(slices, key=lambda s: s.ts):
        from_ns, to_ns = max(s.ts, until), min(s.end, end)
        if to_ns > from_ns:
            total, until = total + to_ns - from_ns, to_ns
    return total


def changed_slices(graph, change):
    """{thread: slices that the change names}"""
    gpu = {row[0] for row in graph.db.execute("SELECT slice_id FROM kernels")}
    found = collections.defaultdict(list)
    if change["change"] == "slice":
        named = graph.slices("slice_id = ?", (change["slice_id"],))
    else:
        named = graph.slices("name = ?", (change["name"],))
    for s in named:
        if s.slice_id in gpu or change.get("rank") not in (None, graph.ranks[s.trace]):
            continue
        if change.get("step") in (None, step_of(graph, s)):
            found[s.thread].append(s)
    return found


def step_of(graph, s):
    """The step in which a host slice starts."""
    return next((graph.step_numbers[step.slice_id] for step in graph.step_slices
                 if step.trace == s.trace and step.ts <= s.ts < step.end), None)


def of_one_slice(graph, change):
    """The same with the factor that this is."""
    length = next((s.end - s.ts for s in graph.slices("slice_id = ?", (change["slice_id"],))), 0)
    return {**change, "factor": max(0, 1 - change["shorten_ns"] / length) if length else 1}


def of_late_rank(graph, change):
    """What held this rank up, as changes of one slice each."""
    starts = collections.defaultdict(dict)  # {collective: {rank: its start}}
    key_of = {}
    for slice_id, *key in graph.db.execute("SELECT slice_id, group_id, pair, by_seq, match_no FROM collectives "
                                           "WHERE capture_id = ?", (graph.capture_id,)):
        key_of[slice_id] = tuple(key)
    for a in graph.activities:
        if a.slice_id in key_of:
            starts[key_of[a.slice_id]][graph.ranks[a.trace]] = a.ts
    shorter, slow = {}, set()
    for slice_id, step, held_by, cause in graph.db.execute(
            "SELECT slice_id, step, cause_slice_id, cause FROM collective_causes "
            "WHERE rank = ? AND cause IN ('host', 'device') "
            "AND carried_id IS NULL AND cause_slice_id IS NOT NULL", (change["rank"],)):
        if slice_id not in key_of:
            continue
        if cause == "device":
            slow.add(step)
            continue
        parts = starts[key_of[slice_id]]
        late = parts[change["rank"]] - max(ts for rank, ts in parts.items() if rank != change["rank"])
        most = late_at_most(graph, held_by, step, change["rank"])
        shorter[held_by] = max(shorter.get(held_by, 0), min(late, most))
    shorter.update(slow_kernels(graph, change["rank"], slow))
    return [of_one_slice(graph, {"change": "slice", "slice_id": held_by, "shorten_ns": ns})
            for held_by, ns in sorted(shorter.items()) if ns > 0]


def slow_kernels(graph, rank, steps):
    """{slice_id: by how much it is longer than on the other ranks}, of a rank's GPU in these steps."""
    work = dict(graph.db.execute("SELECT slice_id, name FROM kernels WHERE kind <> 'communication'"))
    lengths = collections.defaultdict(lambda: ([], []))  # own, others'
    mine = [a for a in graph.activities if a.slice_id in work and a.step in steps]
    for a in mine:
        lengths[a.step, work[a.slice_id]][graph.ranks[a.trace] != rank].append(a.end - a.ts)
    found = {}
    for a in mine:
        own, others = lengths[a.step, work[a.slice_id]]
        if graph.ranks[a.trace] != rank or not others:
            continue
        mean, wanted = sum(own) // len(own), sum(others) // len(others)
        if mean > wanted:
            found[a.slice_id] = a.end - a.ts - (a.end - a.ts) * wanted // mean
    return found


def late_at_most(graph, slice_id, step, rank):
    """By how much a slice is longer than those of its name on the other ranks in this step."""
    held_by = next(iter(graph.slices("slice_id = ?", (slice_id,))))
    gpu = {a.slice_id: a.step for a in graph.activities}
    alike = graph.slices("name = ? AND category NOT IN ('gpu_user_annotation', 'async')", (held_by.name,))
    others = [s.end - s.ts for s in alike if graph.ranks[s.trace] != rank
              and (gpu[s.slice_id] if s.slice_id in gpu else step_of(graph, s)) == step]
    return held_by.end - held_by.ts - (sum(others) // len(others) if others else 0)


def changed_weight(graph, change, slices, node, edge):
    """None: the edge goes."""
    source, weight, name = edge
    what = change["change"]
    if what == "activities" and node.what == "finish":
        of = {"name": node.of.name, "rank": graph.ranks[node.trace], "step": node.of.step, "kind": node.of.kind}
        if all(change.get(key) in (None, of[key]) for key in of):
            return nearest(weight * change["factor"])
    if what == "slice" and node.what == "finish" and node.slice_id == change["slice_id"]:
        return nearest(weight * change["factor"])
    if what == "short_host" and name in ("host", "handover", "call") and node.time - source.time < SHORT_NS:
        return nearest(weight * change["factor"])
    if what in ("slice", "slices") and name in ("host", "handover", "call") and weight:
        threads = {source.thread, node.thread}
        open_ns = open_time([s for thread in threads for s in slices.get(thread, ())], source.time, node.time)
        return max(0, weight - nearest((1 - change["factor"]) * open_ns))
    if what == "transfers" and node.what == "finish" and node.of.parallelism == change["parallelism"]:
        return nearest(weight * change["factor"])
    if what == "launches" and name == "launch":
        return min(weight, change["most_ns"])
    if what == "waits" and change.get("parallelism"):
        if name == "transfer" and node.of.parallelism == change["parallelism"]:
            return None
    elif what == "waits" and node.what == "end":
        return None if name == "sync" else 0
    return weight


class Replayed:
    """times and edges, by the number of the node."""

    def __init__(self, times, edges):
        self.times, self.edges = times, edges


def replay(graph, changes=()):
    changes = [one for change in changes for one in (
        of_late_rank(graph, change) if change["change"] == "rank_late" else
        [of_one_slice(graph, change)] if change["change"] == "slice" else [change])]
    slices = [changed_slices(graph, change) if change["change"] in ("slice", "slices") else {} for change in changes]
    times, all_edges = [], []
    for node in graph.nodes:
        edges = node.edges
        for change, named in zip(changes, slices):
            new = [(edge, changed_weight(graph, change, named, node, edge)) for edge in edges]
            edges = [(source, weight, name) for (source, _, name), weight in new if weight is not None]
        came = max((times[source.number] + weight for source, weight, _ in edges), default=node.time)
        times.append(came + node.lag)
        all_edges.append(edges)
    return Replayed(times, all_edges)


def step_ends(graph):
    """[(step, nodes that may end it)]; a capture without steps is one."""
    numbers = sorted({graph.step_numbers[s.slice_id] for s in graph.step_slices})
    if not numbers:
        return [(None, graph.nodes)] if graph.nodes else []
    found = {number: [] for number in numbers}
    for node in graph.nodes:
        if node.what == "step-end":
            found[graph.step_numbers[node.slice_id]].append(node)
        elif node.what == "finish" and node.of.step in found:
            found[node.of.step].append(node)
    return list(found.items())


def bounds(graph, replayed):
    """[(step, start, end, nodes that may end it)]"""
    found, start = [], None
    for number, ends in step_ends(graph):
        if start is None:
            start = min(replayed.times) if number is None else max(
                replayed.times[node.number] for node in graph.nodes
                if node.what == "step-begin" and graph.step_numbers[node.slice_id] == number)
        end = max(start, max(replayed.times[node.number] for node in ends))
        found.append((number, start, end, ends))
        start = end
    return found


def steps(graph, replayed):
    return [(number, end - start) for number, start, end, _ in bounds(graph, replayed)]


def critical_path(graph, replayed, step):
    """[Piece] in the order of time; their sum is the step."""
    start, end, ends = next(row[1:] for row in bounds(graph, replayed) if row[0] == step)
    pieces = []

    def add(from_ns, to_ns, kind, node):
        from_ns = max(from_ns, start)
        if to_ns > from_ns:
            pieces.append(Piece(from_ns, to_ns - from_ns, kind, graph.ranks.get(node.trace), node.slice_id))

    node = next((node for node in ends if replayed.times[node.number] == end), None)
    while node is not None and replayed.times[node.number] > start:
        edges, at = replayed.edges[node.number], replayed.times[node.number]
        if not edges:
            add(start, at, "unrecorded", node)
            break
        source, weight, name = max(edges, key=lambda edge: replayed.times[edge[0].number] + edge[1])
        came = replayed.times[source.number] + weight
        add(came, at, "lag", node)
        add(came - weight, came, node.of.kind if name == "activity" else EDGE_KINDS.get(name, name), node)
        node = source
    return pieces[::-1]


def shares(pieces):
    """{kind: ns}"""
    found = dict.fromkeys(KINDS, 0)
    for piece in pieces:
        found[piece.kind] += piece.dur_ns
    return found


def captures(db):
    return [row[0] for row in db.execute("SELECT capture_id FROM captures ORDER BY capture_id")]


def show(path, options):
    db = sqlite3.connect(path)
    changes = [{"change": "slices", "name": options.without, "factor": 0}] if options.without else []
    for capture_id in captures(db):
        graph = build(db, capture_id)
        replayed = replay(graph, changes)
        before = dict(steps(graph, replay(graph)))
        for step, duration in steps(graph, replayed):
            pieces = critical_path(graph, replayed, step)
            by_kind = shares(pieces)
            unnamed = by_kind["lag"] + by_kind["unrecorded"]
            print(f"{path} capture {capture_id} step {step}: {duration / 1e6:.6f} ms"
                  + (f" (recorded {before[step] / 1e6:.6f})" if changes else "") + "  "
                  + " ".join(f"{kind} {100 * ns / duration:.2f}" for kind, ns in by_kind.items() if ns)
                  + f" | lag+unrecorded {100 * unnamed / max(duration, 1):.2f} %")
            if options.path is not None and options.path == str(step):
                for piece in pieces:
                    name = db.execute("SELECT name FROM slices WHERE slice_id = ?", (piece.slice_id,)).fetchone()
                    print(f"  {piece.start_ns} {piece.dur_ns:>10} {piece.kind:13} rank {piece.rank} "
                          f"{piece.slice_id} {name[0][:60] if name else ''}")


def main():
    parser = argparse.ArgumentParser(description="Replay what databases hold.")
    parser.add_argument("--without")
    parser.add_argument("--path")
    parser.add_argument("databases", nargs="+")
    options = parser.parse_args()
    for path in options.databases:
        show(path, options)


if __name__ == "__main__":
    sys.exit(main())
