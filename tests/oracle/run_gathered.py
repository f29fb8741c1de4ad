#!/usr/bin/env python3
"""Has each rank of a job leave a summary, gathers them, and compares the program's replay of collectives alone with
gathered_oracle.py and gathered_lateness_oracle.py: as it was recorded, with other transfers, without waits, and without
the lateness of ranks. What summaries say of parts is compared with all events.

    python3 run_gathered.py --program P [--fixtures DIR] [--only NAME] [--seeds 6] [PATH...]

A set is a folder of fixtures, a scenario, a random job or a PATH given.
"""
import collections
import csv
import io
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "scenarios")]
import gathered_lateness_oracle  # noqa: E402
import gathered_oracle  # noqa: E402
import kineto_writer  # noqa: E402
import replay_oracle  # noqa: E402
from run_sets import run_sets, show  # noqa: E402
from scenarios import all_scenarios  # noqa: E402
from trace_maker import Group, Job  # noqa: E402

FIXTURES = ("ddp", "moe", "seqpar", "megatron", "parallel/fsdp2", "parallel/pipeline", "parallel/tensor",
            "parallel/repeat")
SCENARIOS = ("accumulates_slow", "accumulates_pair", "calls_not_recorded", "evaluates_alone", "hides_four",
             "hides_short_pieces", "hot_experts", "first_stage_loads", "late_backward",
            "loader_and_buckets", "loaders_in_turn",
             "logs_before_optimizer", "long_optimizer",
            "offloads_optimizer", "set_forward", "slow_gpu", "slow_node", "slow_stage",
             "slow_way_to_gpu", "small_and_hidden", "touching_captures", "unlike_reasons")
NOT_TOLD = ("no other rank is of the pipeline stage", "no pipeline groups tell which do",
            "other ranks do nothing like what rank")
Set = collections.namedtuple("Set", "name path")


def run(options, folder, *arguments, **environment):
    return subprocess.run([options.program, *arguments], cwd=folder, check=False, capture_output=True, text=True,
                          encoding="utf-8", env={**os.environ, **environment})


def gather(options, path, folder):
    """The databases of all events, and of summaries."""
    done = run(options, folder, "-q", "ingest", path, "--db", "all.db")
    assert done.returncode == 0, done.stderr
    ranks = [rank for rank, in sqlite3.connect(os.path.join(folder, "all.db")).execute(
        "SELECT DISTINCT rank FROM traces ORDER BY rank")]
    for rank in ranks:
        done = run(options, folder, "-q", "ingest", "--shard", "out", "--db", "rank.{rank}.db", path, RANK=str(rank),
                   WORLD_SIZE=str(ranks[-1] + 1))
        assert done.returncode == 0, done.stderr
    run(options, folder, "-q", "gather", "out", "-o", "job.db")
    return (os.path.join(folder, name) for name in ("all.db", "job.db"))


def changes_of(db, graph):
    """[(as the program takes it, [as the oracle does], late ranks)]"""
    found = [([], [], [])]
    for (parallelism,) in [("all",), *db.execute("SELECT DISTINCT parallelism FROM process_groups ORDER BY 1")]:
        found.append(([{"transfers": parallelism, "factor": 0.5}],
                      [{"change": "transfers", "parallelism": parallelism, "factor": 0.5}], []))
        if parallelism != "all":
            found.append(([{"waits": parallelism}], [{"change": "waits", "parallelism": parallelism}], []))
    found.append(([{"kind": "communication", "factor": 0}],
                  [{"change": "activities", "kind": "communication", "factor": 0}], []))
    ranks = sorted(set(graph.ranks.values()))
    for some in [[rank] for rank in ranks] + [ranks[1:3], ranks]:
        found.append(([{"rank_late": rank} for rank in some], [], some))
    return found


def steps_of(graph, mine, late):
    """None where the oracle has nothing to compare with."""
    try:
        changes = mine + (gathered_lateness_oracle.without_lateness(graph, late) if late else [])
    except gathered_lateness_oracle.NothingToCompare:
        return None
    return [["" if step is None else str(step), ns]
            for step, ns in replay_oracle.steps(graph, replay_oracle.replay(graph, changes))]


def compare_replays(options, database):
    differences, asked = [], 0
    db = sqlite3.connect(database)
    for capture_id in replay_oracle.captures(db):
        graph = gathered_oracle.build(db, capture_id)
        for theirs, mine, late in changes_of(db, graph):
            text = json.dumps(theirs)
            done = run(options, None, "-q", "--db", database, "query", "-c",
                       f"SELECT step, dur_ns FROM replay_steps({capture_id}, '{text}') ORDER BY step, start_ns",
                       "--format", "csv")
            found = [[row["step"], int(row["dur_ns"])] for row in csv.DictReader(io.StringIO(done.stdout))]
            wanted = steps_of(graph, mine, late)
            if done.returncode != 0:
                found = None if any(said in done.stderr for said in NOT_TOLD) else done.stderr
            if found != wanted:
                differences.append(f"capture {capture_id} with {text}: {found}, should be {wanted}")
            asked += 1
    return differences, asked


def compare_uses(events, database):
    """What summaries say of parts."""
    events, db = map(sqlite3.connect, (events, database))
    wanted = collections.Counter(use for capture_id in replay_oracle.captures(events)
                                 for use in gathered_oracle.uses(events, capture_id))
    found = collections.Counter(db.execute("SELECT rank, ts_ns, dur_ns, computing_ns, idle_ns FROM _collective_part "
                                           "LEFT JOIN _part_use USING (id)"))
    differences = []
    if found != wanted:
        differences.append(f"of parts there are {dict(found - wanted)}, should be {dict(wanted - found)}")
    wanted = sorted(full for capture_id in replay_oracle.captures(events)
                    for full in gathered_oracle.launches_into_full_queues(events, capture_id))
    found = sorted(db.execute("SELECT t.rank, r.ts + k.base_ns FROM _full_queue JOIN _runtime_slice r USING (id) "
                              "JOIN _track k ON k.id = r.track JOIN _trace t ON t.trace_id = k.trace_id"))
    if found != wanted:
        differences.append(f"launches into full queues are {found}, should be {wanted}")
    return differences


def check_set(options, of):
    with tempfile.TemporaryDirectory(prefix="tracedb-gathered-") as folder:
        events, database = gather(options, of.path, folder)
        differences, asked = compare_replays(options, database)
        return show(options, of.name, f"{asked} questions", compare_uses(events, database) + differences)


def random_job(seed):
    """Ranks that do nearly the same: kernels, collectives on two streams, work and waits of hosts."""
    chance = random.Random(seed)
    ranks = chance.choice((2, 3, 4))
    groups = [Group("3", "DATA_PARALLEL_GROUP", tuple(range(ranks)))]
    if ranks == 4:
        groups += [Group("4", "TENSOR_MODEL_PARALLEL_GROUP", (0, 1)), Group("5", "TENSOR_MODEL_PARALLEL_GROUP", (2, 3))]
    job = Job(f"random{seed}", ranks, groups)
    capture = job.capture(0)
    plans = [[(chance.choice("kkkccjwsl"), chance.randrange(20, 900)) for _ in range(chance.randrange(5, 14))]
             for _ in range(chance.randrange(2, 5))]
    slow = chance.randrange(ranks)
    for host in capture.every_host():
        for number, plan in enumerate(plans, 1):
            with host.step(number):
                for what, us in plan:
                    own_us = us * (2 if host.rank == slow else 1) + chance.randrange(20)
                    group = job.groups[1] if ranks < 4 or us % 2 else job.groups[2 + host.rank // 2]
                    if what == "k":
                        host.kernel("gemm", own_us, op="aten::mm")
                    elif what in "cj":
                        host.collective("allreduce", group, us, 20 + us % 2, joined=what == "j")
                    elif what == "w":
                        host.work(own_us, "load", "user_annotation")
                    elif what == "l":
                        host.copy(own_us, nbytes=1 << 20)
                    else:
                        host.sync()
                for stream in (20, 21):
                    host.sync(stream)
                host.sync()
    capture.simulate()
    return job


def sets(options, folder):
    for name in FIXTURES:
        yield Set(name, os.path.join(os.path.abspath(options.fixtures), name))
    jobs = [(s.name, s.jobs[0]) for s in all_scenarios() if s.name in SCENARIOS]
    jobs += [(f"seed {seed}", random_job(seed)) for seed in range(1, options.seeds + 1)]
    for name, job in jobs:
        kineto_writer.write_job(job, os.path.join(folder, job.folder))
        yield Set(name, os.path.join(folder, job.folder))
    for given in options.paths:
        yield Set(given, os.path.abspath(given))


if __name__ == "__main__":
    sys.exit(run_sets("Compare the replay of gathered databases with an oracle.", sets, check_set, 6))
