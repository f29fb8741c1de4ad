"""Compares the program's replay of every capture, as it was recorded and with changes, with replay_oracle.py: how
long steps are, and every piece of their critical paths. run_oracle.py has the sets.
"""
import csv
import io
import json
import sqlite3
import subprocess

import replay_changes_oracle
import replay_oracle

SLEEP = "injected_straggler_sleep"
MANY_NODES = 10_000
PIECE = ("step", "start_ns", "dur_ns", "kind", "rank", "slice_id")


def named(name, factor, **where):
    """A name is one of GPU activities, of host slices, or of both."""
    given = {"name": name, "factor": factor, **where}
    return given, [{"change": what, **given} for what in ("activities", "slices")]


def first(db, sql, *values):
    row = db.execute(sql, values).fetchone()
    return row and row[0]


def changes_of(db, graph):
    """[(as the program takes it, [as the oracle does])]: nothing changed, and one thing after the other."""
    found = [([], []), ([{"recorder": 0.25}], [{"change": "recorder", "factor": 0.25}])]
    # What the GPU is busiest with; what the host does most often, on the last rank; what was made to happen.
    busiest = first(db, "SELECT name FROM kernels GROUP BY name ORDER BY sum(dur_ns) DESC, name LIMIT 1")
    often = first(db, "SELECT name FROM slices WHERE category = 'cpu_op' GROUP BY name "
                      "ORDER BY count(*) DESC, name LIMIT 1")
    rank, step = max(graph.ranks.values()), max(graph.step_numbers.values(), default=None)
    sleep = first(db, "SELECT name FROM slices WHERE name = ?", SLEEP)
    for name, factor, where in ((sleep, 0, {}), (busiest, 0.3, {}), (often, 0, {"rank": rank, "step": step}),
                                (busiest, 0, {"rank": rank})):
        if name is not None:
            given, mine = named(name, factor, **{key: value for key, value in where.items() if value is not None})
            found.append(([given], mine))
    found += of_what_was_changed(db, busiest)
    for slice_id, dur in db.execute("SELECT slice_id, dur_ns FROM slices WHERE dur_ns > 0 AND category <> 'Trace' "
                                    "ORDER BY slice_id * 7919 % 10007 LIMIT 2").fetchall():
        found.append(([{"slice": slice_id, "shorten_ns": dur // 3}],
                      [{"change": "slice", "slice_id": slice_id, "shorten_ns": dur // 3}]))
    found += [([{"launch_latency_ns": 3000}], [{"change": "launches", "most_ns": 3000}]),
              ([{"short_host": 0.5}], [{"change": "short_host", "factor": 0.5}]),
              ([{"waits": "sync"}], [{"change": "waits"}])]
    for (parallelism,) in db.execute("SELECT DISTINCT parallelism FROM process_groups ORDER BY 1").fetchall():
        found += [([{"transfers": parallelism, "factor": 0.5}],
                   [{"change": "transfers", "parallelism": parallelism, "factor": 0.5}]),
                  ([{"waits": parallelism}], [{"change": "waits", "parallelism": parallelism}])]
    found += balances_and_callers(db, graph, rank, step)
    if len(graph.nodes) > MANY_NODES:
        found = found[:8] + found[-3:]
    for late in sorted({min(graph.ranks.values()), rank} if len(graph.nodes) <= MANY_NODES else ()):
        found.append(([{"rank_late": late}], [{"change": "rank_late", "rank": late}]))
    if len(graph.nodes) <= MANY_NODES:
        every = sorted(set(graph.ranks.values()))
        for some in (every, every[1:3]):
            found.append(([{"rank_late": late} for late in some],
                          [{"change": "rank_late", "rank": late} for late in some]))
    # All at once: two things are seldom critical together.
    found.append(([c for theirs, _ in found for c in theirs], [c for _, mine in found for c in mine]))
    return found + ideals(rank, step)


def of_what_was_changed(db, busiest):
    """A slice that another change has made shorter already."""
    row = db.execute("SELECT slice_id, dur_ns FROM kernels WHERE name = ? ORDER BY dur_ns DESC, slice_id",
                     (busiest,)).fetchone()
    if row is None:
        return []
    given, mine = named(busiest, 0.3)
    return [([given, {"slice": row[0], "shorten_ns": row[1] // 3}],
             [*mine, {"change": "slice", "slice_id": row[0], "shorten_ns": row[1] // 3}])]


def balances_and_callers(db, graph, rank, step):
    found = []
    for (caller,) in [("-",), *db.execute("SELECT DISTINCT caller FROM collective_callers WHERE caller IS NOT NULL "
                                          "ORDER BY 1 LIMIT 2").fetchall()]:
        for where in ({}, {"rank": rank}):
            asked = {"caller": caller, "factor": 3, **where}
            found.append(([{"transfers": "other", **asked}],
                          [{"change": "transfers", "parallelism": "other", **asked}]))
    for (pair,) in db.execute("SELECT max(pair) FROM collectives HAVING max(pair) <> ''").fetchall():
        for where in ({}, {"rank": rank}):
            asked = {"pair": pair, "factor": 4, **where}
            found.append(([{"transfers": "all", **asked}], [{"change": "transfers", "parallelism": "all", **asked}]))
    found.append(([{"transfers": "all", "factor": 0.5}],
                  [{"change": "transfers", "parallelism": "all", "factor": 0.5}]))
    for of in ("ranks", "stages") if replay_changes_oracle.stages(graph) else ("ranks",):
        found.append(([{"balance": of}], [{"change": "balance", "of": of}]))
    # What holds a host the longest, but for steps.
    longest = db.execute("SELECT name FROM slices WHERE dur_ns >= 250000 AND category IN ('cpu_op', 'user_annotation') "
                         "AND name NOT GLOB 'ProfilerStep*' GROUP BY name ORDER BY sum(dur_ns) DESC, name LIMIT 1")
    for (name,) in longest.fetchall():
        for where in ({"factor": 0.25}, {"factor": 0, "rank": rank}, {"factor": 0, "step": step}):
            if where.get("step", 0) is not None:
                found.append(([{"held_by": name, **where}], [{"change": "held_by", "name": name, **where}]))
    return found


def ideals(rank, step):
    """As on the other ranks: not with the changes before, which would not be left."""
    in_step = {} if step is None else {"step": step}
    found = [([{"ideal": of, **where}], [{"change": "ideal", "of": of, **where}])
             for of, where in (("all", {}), ("all", {"except_rank": rank}), ("host", {"rank": rank}),
                               ("communication", {}), ("compute", in_step), ("memory", {}))]
    found.append(([{"ideal": "all"}, {"short_host": 0.5}, {"launch_latency_ns": 3000}],
                  [{"change": "ideal", "of": "all"}, {"change": "short_host", "factor": 0.5},
                   {"change": "launches", "most_ns": 3000}]))
    return found


REFUSED = "is on a thread that launches nothing"


def refused_changes(options, database, capture_id, changes):
    """Those that the program takes for mistakes: names of slices that nothing is known to wait for."""
    return [change for change in changes
            if ask(options, database, "replay_steps", capture_id, [change]) is None]


def ask(options, database, function, capture_id, changes):
    text = json.dumps(changes).replace("'", "''")
    done = subprocess.run([options.program, "-q", "--db", database, "query", "-c",
                           f"SELECT * FROM {function}({capture_id}, '{text}') ORDER BY step, start_ns"],
                          check=False, capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0 and REFUSED in done.stderr:
        return None
    assert done.returncode == 0, (changes, done.stderr)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def text_of(value):
    return "" if value is None else str(value)


def joined(pieces):
    """Pieces of a host that are parted by what holds it are one: of the same step, kind, rank and slice."""
    found = []
    for step, start, dur, *owner in pieces:
        if owner[0] == "host" and found and [found[-1][0], *found[-1][3:]] == [step, *owner]:
            found[-1][2] += int(dur)
        else:
            found.append([step, int(start), int(dur), *owner])
    return found


def compare(options, database, jobs):
    """(differences, pieces compared). jobs, the traces parsed, are not asked: the oracle reads the database."""
    del jobs
    if options.query is not None:
        return [], 0
    differences, pieces = [], 0
    db = sqlite3.connect(database)
    for capture_id in replay_oracle.captures(db):
        graph = replay_oracle.build(db, capture_id)
        for theirs, mine in changes_of(db, graph):
            replayed = replay_oracle.replay(graph, mine)
            steps = replay_oracle.steps(graph, replayed)
            rows = ask(options, database, "replay_steps", capture_id, theirs)
            if rows is None:
                refused = refused_changes(options, database, capture_id, theirs)
                if len(theirs) == 1:
                    if steps != replay_oracle.steps(graph, replay_oracle.replay(graph)):
                        differences.append(f"capture {capture_id}: {json.dumps(theirs)} is refused, and gains")
                    continue
                theirs = [change for change in theirs if change not in refused]
                rows = ask(options, database, "replay_steps", capture_id, theirs)
            expected = {
                "replay_steps": [[text_of(step), dur] for step, dur in steps],
                "replay_path": joined(
                    (text_of(step), p.start_ns, p.dur_ns, p.kind, text_of(p.rank), text_of(p.slice_id))
                    for step, _ in steps for p in replay_oracle.critical_path(graph, replayed, step))}
            found = {
                "replay_steps": [[row["step"], int(row["dur_ns"])] for row in rows],
                "replay_path": joined([row[name] for name in PIECE]
                                      for row in ask(options, database, "replay_path", capture_id, theirs))}
            for function, rows in expected.items():
                ours = found[function]
                if ours != rows:
                    place = next((n for n, pair in enumerate(zip(ours, rows)) if pair[0] != pair[1]),
                                 min(len(ours), len(rows)))
                    differences.append(f"{function} of capture {capture_id} with {json.dumps(theirs)[:200]}: "
                                       f"{len(ours)} rows for {len(rows)}; row {place} is "
                                       f"{ours[place:place + 1]}, should be {rows[place:place + 1]}")
            pieces += len(expected["replay_path"])
    db.close()
    return differences, pieces
