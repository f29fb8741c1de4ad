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
import os
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ideal_oracle  # noqa: E402
import replay_changes_oracle as changed  # noqa: E402
from replay_graph_oracle import build  # noqa: E402

KINDS = ("host", "recorder", "launch", "compute", "communication", "memory", "waiting", "transfer", "gap", "lag",
         "unrecorded")
EDGE_KINDS = {"host": "host", "handover": "host", "call": "host", "launch": "launch", "stream": "gap", "wait": "gap",
              "inferred": "gap", "sync": "gap", "room": "gap", "meet": None}
Piece = collections.namedtuple("Piece", "start_ns dur_ns kind rank slice_id")


class Replayed:
    """times and edges, by the number of the node."""

    def __init__(self, times, edges):
        self.times, self.edges = times, edges


def replay(graph, changes=()):
    late = sorted({change["rank"] for change in changes if change["change"] == "rank_late"})
    first = next((change for change in changes if change["change"] == "rank_late"), None)
    changes = [one for change in changes for one in (
        (changed.of_late_ranks(graph, late) if change is first else []) if change["change"] == "rank_late" else
        [changed.of_one_slice(graph, change)] if change["change"] == "slice" else [change])]
    slices = [changed.changed_slices(graph, change) if change["change"] in ("slice", "slices") else
              changed.held_stretches(graph, change) if change["change"] == "held_by" else
              changed.balancing(graph, change["of"]) if change["change"] == "balance" else {} for change in changes]
    if any(change["change"] == "ideal" for change in changes) and not hasattr(graph, "ideal"):
        graph.ideal = ideal_oracle.weights(graph)
    times, all_edges = [], []
    for node in graph.nodes:
        edges = node.edges
        for change, named in zip(changes, slices):
            new = [(edge, changed.changed_weight(graph, change, named, node, edge)) for edge in edges]
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
    pieces, goes_on = [], None  # the node of a host that was passed last, but for holds

    def add(from_ns, to_ns, kind, node):
        from_ns = max(from_ns, start)
        if to_ns > from_ns:
            of = goes_on if node.what == "hold-begin" and goes_on else node
            pieces.append(Piece(from_ns, to_ns - from_ns, kind, graph.ranks.get(node.trace), of.slice_id))

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
        if node.thread and node.what not in ("hold-begin", "hold-end"):
            goes_on = node
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
