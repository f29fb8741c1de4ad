#!/usr/bin/env python3
"""Lets the program ingest the fixtures and random jobs, each set once, parses its traces once, and
compares the queries on them with the oracles: where the time goes (breakdown), patterns in time
(patterns), the queries of the report page (report), SQL for Nsight Systems' exports (nsight), a
mixture of experts' all-to-alls (experts).

    python3 run_queries.py --program P [--fixtures DIR] [--only NAME] [--part breakdown] [--query Q]
                           [--show 5] [--seeds 6] [--sqlite3 S] [FOLDER...]

A set is a folder of fixtures, a random job of make_cases or make_experts, or a FOLDER given. One line a set, the
differences below it, at the end `N passed, N failed`; exit 1 if any failed.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_breakdown  # noqa: E402
import check_experts  # noqa: E402
import check_nsight  # noqa: E402
import check_patterns  # noqa: E402
import check_report  # noqa: E402
import make_cases  # noqa: E402
import make_experts  # noqa: E402
import trace_oracle as oracle  # noqa: E402
from run_oracle import traces_in  # noqa: E402
from run_sets import QUERY_OPTION, run_sets, show  # noqa: E402

SETS = ("megatron", "seqpar", "ddp", "moe", "legacy", "rocm", "kineto2026", "xpu", "phases")
PARTS = {"breakdown": check_breakdown, "patterns": check_patterns, "report": check_report,
         "nsight": check_nsight, "experts": check_experts}
# Its dozen communicators of the same ranks have one name made of all of theirs.
PARTS_OF = {"moe": {"experts"}}


def check_set(options, name, paths):
    with tempfile.TemporaryDirectory(prefix="tracedb-queries-") as folder:
        database = os.path.join(folder, "trace.db")
        subprocess.run([options.program, "-q", "--db", database, "ingest", *paths], check=True)
        job = oracle.load(paths)
        agree = True
        for part, checks in PARTS.items():
            if options.part in (None, part) and part in PARTS_OF.get(name, PARTS):
                differences, rows = checks.compare(options, database, job)
                agree &= show(options, f"{name}: {part}", f"{len(paths)} traces, {rows} rows",
                              differences)
    return agree


def sets(options, folder):
    for name in SETS:
        yield name, traces_in(os.path.join(options.fixtures, name))
    for seed in range(1, options.seeds + 1):
        made = os.path.join(folder, f"seed{seed}")
        os.makedirs(made)
        yield f"seed {seed}", make_cases.write(made, seed)
    for seed in range(1, 3 * options.seeds + 1):
        yield f"experts {seed}", make_experts.write(os.path.join(folder, f"experts{seed}"), seed)
    for given in options.paths:
        yield given, traces_in(given)


def main():
    more = [QUERY_OPTION, ("--part", {"choices": PARTS, "help": "these comparisons only"}),
            ("--sqlite3", {"default": "sqlite3", "help": "the shell"})]
    return run_sets("Compare queries with oracles.", sets, check_set, 6, more)


if __name__ == "__main__":
    sys.exit(main())
