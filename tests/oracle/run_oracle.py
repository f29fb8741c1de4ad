#!/usr/bin/env python3
"""Lets the program ingest real and random traces, each set once, parses them once, and compares what it
says with the oracles: its tables and the queries of the contract (database), stalls (stalls), where the
time goes (breakdown), patterns in time (patterns), the queries of the report page (report), a mixture of
experts' all-to-alls (experts), SQL for Nsight Systems' exports (nsight), the replay with and without changes
(replay).

    python3 run_oracle.py --program P [--fixtures DIR] [--only NAME] [--half 1] [--part breakdown]
                          [--query Q] [--show 5] [--seeds 8] [--sqlite3 S] [PATH...]

A set is a folder of fixtures, several of them together, some ranks of one, a job of 64 ranks made of
seqpar, a pipeline of ../scenarios, a random job of make_cases (every second one --dirty) or of
make_experts, or a PATH given. One line a set and part, the differences below it, at the end `N passed,
N failed`; exit 1 if any failed.
"""
import collections
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "scenarios")]
import accumulates  # noqa: E402
import boundaries  # noqa: E402
import causes  # noqa: E402
import check_breakdown  # noqa: E402
import check_database  # noqa: E402
import check_experts  # noqa: E402
import check_nsight  # noqa: E402
import check_patterns  # noqa: E402
import check_replay  # noqa: E402
import check_report  # noqa: E402
import check_stalls  # noqa: E402
import hidden  # noqa: E402
import links  # noqa: E402
import make_cases  # noqa: E402
import kineto_writer  # noqa: E402
import make_experts  # noqa: E402
import make_ranks  # noqa: E402
import netted  # noqa: E402
import several  # noqa: E402
import trace_oracle as oracle  # noqa: E402
from run_sets import QUERY_OPTION, run_sets, show, traces_in  # noqa: E402

PARTS = {"database": check_database, "stalls": check_stalls, "breakdown": check_breakdown,
         "patterns": check_patterns, "report": check_report, "experts": check_experts,
         "nsight": check_nsight, "replay": check_replay}
SOME_RANKS = (("megatron", (4, 5)), ("megatron", (0, 1, 4, 5, 6)), ("megatron", (3,)),
              ("seqpar", (0, 2, 3)))
# What a Megatron-LM job has beside megatron is its communicators: the rest would be asked twice.
PARTS_OF = {"megatron_dp": ("database", "stalls", "replay")}
# In one database; each is asked for by itself there, so it needs no set of its own.
TOGETHER = (("fsdp2", "fsdp2_again"), ("repeat", "ddp_hook"))

# name; inputs: what is given to ingest; one_by_one: each in a command of its own, the last first, so that
# what is worked out over ranks is worked out again and again; parts: those that are compared
Set = collections.namedtuple("Set", "name inputs one_by_one parts", defaults=(False, tuple(PARTS)))


def ingest(options, database, of):
    for chosen in ([[path] for path in reversed(of.inputs)] if of.one_by_one else [of.inputs]):
        subprocess.run([options.program, "-q", "--db", database, "ingest", *chosen], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def check_set(options, of):
    """True when the database agrees."""
    with tempfile.TemporaryDirectory(prefix="tracedb-oracle-") as folder:
        database = os.path.join(folder, "trace.db")
        ingest(options, database, of)
        paths = [path for given in of.inputs for path in traces_in(given)]
        jobs = check_database.with_ranks(database, oracle.load(paths, of.inputs), of.inputs)
        agree = True
        for part, checks in PARTS.items():
            if part in of.parts and options.part in (None, part):
                differences, rows = checks.compare(options, database, jobs)
                agree &= show(options, f"{of.name}: {part}", f"{len(paths)} traces, {rows} rows",
                              differences)
    return agree


def fixture_sets(fixtures):
    for folder in (fixtures, os.path.join(fixtures, "parallel")):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if os.path.isdir(path) and name not in ("parallel", *sum(TOGETHER, ())):
                yield Set(os.path.relpath(path, fixtures), [path], False, PARTS_OF.get(name, tuple(PARTS)))
    for names in TOGETHER:
        yield Set(" with ".join(names), [os.path.join(fixtures, "parallel", name) for name in names])
    for name, ranks in SOME_RANKS:
        paths = [path for path in traces_in(os.path.join(fixtures, name))
                 if any(os.path.basename(path).startswith(f"rank{rank}.") for rank in ranks)]
        yield Set(f"{name} {ranks}", paths, True, ("stalls",))


def sets(options, folder):
    yield from fixture_sets(options.fixtures)
    if options.only in "64 ranks":
        seqpar = traces_in(os.path.join(options.fixtures, "seqpar"))
        made = os.path.join(folder, "many")
        make_ranks.make_ranks(seqpar, made, 16)
        yield Set("64 ranks", [made], False, ("stalls",))
    for job in (causes.pipeline("pipeline"), causes.pipeline("slow stage", slow_stage=1)):
        made = os.path.join(folder, job.folder)
        kineto_writer.write_job(job, made)
        yield Set(job.folder, [made], True, ("stalls", "patterns"))
    adds_up = accumulates.training("adds up", slower=lambda rank, _: 1.4 if rank == 2 else 1)
    hides = hidden.job_of("hides", loads={2: ("gc_collect", 4000)}, slower={1: 1.8})
    ring = links.ring("ring", lambda rank: 150 + 300 * (rank == 2), merges=False)
    logs = boundaries.logs_then_loads().jobs[0]
    instead, both = netted.logs_for_loads().jobs[0], netted.host_and_gpu().jobs[0]
    offloads = several.offloading()
    sleeps = several.pauses()
    for job in (adds_up, hides, ring, logs, instead, both, offloads, sleeps):
        kineto_writer.write_job(job, os.path.join(folder, job.folder))
        yield Set(job.folder, [os.path.join(folder, job.folder)], True, ("stalls", "replay"))
    for seed in range(1, options.seeds + 1):
        paths = make_cases.write(os.path.join(folder, f"seed{seed}"), seed, dirty=seed % 2 == 0)
        # What is dirty is a matter of the tables.
        yield Set(f"seed {seed}" + ("" if seed % 2 else " --dirty"), paths, seed % 4 >= 2,
                  tuple(PARTS) if seed % 2 else ("database", "stalls"))
    for seed in range(1, 3 * options.seeds // 2 + 1):
        paths = make_experts.write(os.path.join(folder, f"experts{seed}"), seed)
        yield Set(f"experts {seed}", paths, False, ("experts",))
    for given in options.paths:
        yield Set(given, [given])


def main():
    more = [QUERY_OPTION, ("--part", {"choices": PARTS, "help": "these comparisons only"}),
            ("--sqlite3", {"default": "sqlite3", "help": "the shell"})]
    return run_sets("Compare what the program makes with oracles.", sets, check_set, 8, more)


if __name__ == "__main__":
    sys.exit(main())
