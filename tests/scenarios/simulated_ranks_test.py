#!/usr/bin/env python3
"""Jobs of bench/simulate_ranks.py: could they be, and does `tracedb` find what was planted?

    simulated_ranks_test.py --program P

First the traces by themselves, read here: collectives end together, streams are in order, the same
seed writes the same bytes. Then what the queries say against the truth. One line a check; exit 1 if
any failed.
"""
import argparse
import csv
import gzip
import hashlib
import io
import json
import pathlib
import subprocess
import sys
from collections import defaultdict

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "text"))
from test_check import temporary_folder  # noqa: E402

SIMULATE = HERE.parents[1] / "bench" / "simulate_ranks.py"
RELEASE_NS = 300 + 2  # how far apart ranks leave a collective; each clock rounds once
CLOCK_NS = 1500  # an offset found, against the true one
FAILED = []


def check(name, holds, detail=""):
    shown = "" if holds else f": {detail}"[:600]
    print(f"{'ok  ' if holds else 'FAIL'} {name}{shown}", flush=True)
    if not holds:
        FAILED.append(name)


def simulate(folder, *options):
    subprocess.run([sys.executable, "-B", SIMULATE, folder, *options], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(folder.with_name(folder.name + ".truth").read_text())


class Program:
    def __init__(self, path, database):
        self.path, self.database = path, database

    def run(self, *arguments):
        done = subprocess.run([self.path, "--db", self.database, *arguments], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{arguments}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def rows(self, *query):
        return list(csv.DictReader(io.StringIO(self.run("query", *query, "--format", "csv"))))


def ns_of(us_text):
    whole, _, part = us_text.partition(".")
    return int(whole) * 1000 + int(part.ljust(3, "0"))


def true_ns(shown_ns, clock):
    """What the right clock showed; to within a nanosecond."""
    since = 1_000_000_000
    return since + round((shown_ns - clock["offset_ns"] - since) / (1 + clock["drift_ppb"] / 1e9))


def read_rank(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_float=str)


def check_traces(folder, truth):
    """By a second reader: the traces are those of a job that could have been."""
    collectives, disorder, late = defaultdict(list), [], []
    for rank in range(truth["ranks"]):
        clock = truth["clocks"][rank // 8]
        trace = read_rank(folder / f"{clock['host']}_rank{rank}.pt.trace.json.gz")
        streams, launches, ordinals = {}, {}, defaultdict(int)
        activities = []
        for event in trace["traceEvents"]:
            if event.get("cat") in ("cuda_runtime", "cuda_driver"):
                launches[event["args"]["correlation"]] = ns_of(event["ts"])
            elif event.get("cat") in ("kernel", "gpu_memset", "gpu_memcpy"):
                start = ns_of(event["ts"])
                activities.append((start, start + ns_of(event["dur"]), event["args"]))
        for start, end, args in sorted(activities, key=lambda each: each[0]):
            if start < streams.get(args["stream"], 0):
                disorder.append((rank, args))
            if start < launches[args["correlation"]]:
                late.append((rank, args))
            streams[args["stream"]] = end
            if "Collective name" not in args:
                continue
            ends = sorted((rank, args.get("Dst Rank", args.get("Src Rank", rank))))
            to = max(ends) if args["Collective name"] == "send" and rank == ends[0] or (
                args["Collective name"] == "recv" and rank == ends[1]) else min(ends)
            is_pair = args["Collective name"] in ("send", "recv")
            key = (args["Process Group Name"], to if is_pair else -1)
            ordinals[key] += 1
            collectives[(*key, ordinals[key])].append(
                (rank, true_ns(start, clock), true_ns(end, clock), args))
    check("streams are in order", not disorder, disorder[:1])
    check("kernels start after their launch", not late, late[:1])
    groups = {tuple(members) for kind in truth["groups"].values() for members in kind}
    alone = [key for key, parts in collectives.items()
             if tuple(sorted(rank for rank, *_ in parts)) not in groups]
    check("every collective has all ranks of a group", not alone, alone[:3])
    apart = [key for key, parts in collectives.items()
             if max(part[2] for part in parts) - min(part[2] for part in parts) > RELEASE_NS]
    check("ranks leave a collective together", not apart, apart[:3])
    early = [key for key, parts in collectives.items()
             if min(part[2] for part in parts) <= max(part[1] for part in parts)]
    check("a collective ends after the last has come", not early, early[:3])
    return collectives


def check_clocks(program, truth):
    wrong = []
    for row in program.rows("clocks"):
        clock = truth["clocks"][int(row["rank"]) // 8]
        # offset_ms is what is added at the middle of the capture.
        since_ms = float(row["middle_ms"])
        shown = clock["offset_ns"] / 1e6 + since_ms * clock["drift_ppb"] / 1e9
        if abs(float(row["offset_ms"]) + shown) * 1e6 > CLOCK_NS:
            wrong.append((row, clock))
    check("the clocks found are the true ones", not wrong, wrong[:2])


def check_groups(program, truth):
    found = {(row["parallelism"], row["ranks"]) for row in
             program.rows("-c", "SELECT parallelism, ranks FROM process_groups WHERE size < "
                          f"{truth['ranks']} AND parallelism IS NOT NULL")}
    for kind, groups in truth["groups"].items():
        missing = [members for members in groups
                   if (kind, json.dumps(members, separators=(",", ":"))) not in found]
        check(f"{kind} groups are those of the job", not missing, missing[:2])


def check_straggler(program, truth):
    planted = truth["straggler"]
    step = program.rows("straggler_steps")
    check("there is one step", [row["step"] for row in step] == [str(truth["step"])], step)
    if planted is None:
        check("straggler_steps names nobody", step[0]["slowest_rank"] == ""
              and step[0]["cause"] == "schedule", step)
        roots = program.rows("nccl_stall_roots")
        check("the waits are the schedule's", roots[0]["root_rank"] == ""
              and sum(float(row["share_pct"]) for row in roots if row["root_rank"] == "") > 90,
              roots[0])
        own = [row for row in program.rows("nccl_stall_ranks")
               if float(row["root_wait_ms"]) > 0.02 * float(step[0]["total_wait_ms"])]
        check("nccl_stall_ranks sees no root", not own, own)
        return
    rank, name = str(planted["rank"]), planted["name"]
    check("straggler_steps names the rank", step[0]["slowest_rank"] == rank, step)
    check("and its cause", (step[0]["cause"], step[0]["cause_name"]) == ("host", name), step)
    # A later stage's delay goes into its wait for the first microbatch; a wait of the schedule's
    # own, 4.2 ms in a job without fault, is added where the last to come would have been last.
    late, delay = float(step[0]["late_ms"]), planted["delay_ns"] / 1e6
    check("late by about the delay", 0.7 * delay < late < delay + 4.3, step)
    root = program.rows("nccl_stall_roots")[0]
    found = (root["root_rank"], root["root_cause"], root["root_name"])
    check("nccl_stall_roots has it first", found == (rank, "host", name), root)
    ranks = program.rows("nccl_stall_ranks")
    most = max(ranks, key=lambda row: float(row["root_wait_ms"]))
    others = [float(row["root_wait_ms"]) for row in ranks if row["rank"] != rank]
    check("nccl_stall_ranks has most root waits at it", most["rank"] == rank
          and float(most["root_wait_ms"]) > 5 * max(others), most)


def check_slow_link(collectives, program, truth):
    """Against what the traces themselves have: the shortest part of each send with its recv."""
    slow, others = [], []
    for (group, to, _), parts in collectives.items():
        if to < 0:
            continue
        transfer = min(end for _, _, end, _ in parts) - max(start for _, start, _, _ in parts)
        (slow if group == truth["slow_link"]["group_name"] else others).append(transfer)
    ratio = (sum(slow) / len(slow)) / (sum(others) / len(others))
    check("the slow link is slower by its factor",
          abs(ratio - truth["slow_link"]["factor"]) < 0.1, ratio)
    rows = program.rows("-c", "SELECT name AS group_name, sum(transfer_ns) AS ns "
                        "FROM matched_collectives JOIN process_groups USING (group_id) "
                        "WHERE parallelism = 'pipeline' "
                        "GROUP BY 1 ORDER BY 2 DESC LIMIT 2")
    check("its transfers are the longest of the database",
          rows[0]["group_name"] == truth["slow_link"]["group_name"]
          and float(rows[0]["ns"]) > 3 * float(rows[1]["ns"]), rows)


def job(program_path, temp, name, *options):
    print(f"{name}: {' '.join(options)}")
    folder = temp / name
    truth = simulate(folder, *options)
    collectives = check_traces(folder, truth)
    program = Program(program_path, temp / f"{name}.db")
    program.run("ingest", str(folder), "-q")
    check_clocks(program, truth)
    check_groups(program, truth)
    check_straggler(program, truth)
    if truth["slow_link"] is not None:
        check_slow_link(collectives, program, truth)


def digest(folder):
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    with temporary_folder() as name:
        temp = pathlib.Path(name)
        job(options.program, temp, "first_stage", "--ranks", "16", "--straggler", "6")
        job(options.program, temp, "last_stage", "--ranks", "24", "--straggler", "17",
            "--seed", "7", "--slow-link", "2")
        job(options.program, temp, "nobody", "--ranks", "16")
        simulate(temp / "again", "--ranks", "16", "--straggler", "6")
        simulate(temp / "other", "--ranks", "16", "--straggler", "6", "--seed", "2")
        check("the same seed writes the same bytes",
              digest(temp / "again") == digest(temp / "first_stage"))
        check("another seed does not", digest(temp / "other") != digest(temp / "first_stage"))
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
