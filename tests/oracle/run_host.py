#!/usr/bin/env python3
"""Lets the program ingest the fixtures and made traces, each set once, parses them once, and compares
what it says about the host with the oracles: its tables (check_host.py) and the queries on them
(check_host_queries.py).

    python3 run_host.py --program P [--fixtures DIR] [--only NAME] [--part tables] [--query Q]
                        [--show 5] [--seeds 4] [PATH...]

A set is a folder of fixtures, a case of host_cases, twice as many random traces of it as --seeds, a
random job of make_cases, random traces with calls that wait, or a PATH given (a trace or a folder).
One line a set, the differences below it, at the end `N passed, N failed`; exit 1 if any failed.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_host  # noqa: E402
import check_host_queries  # noqa: E402
import host_cases  # noqa: E402
import host_oracle  # noqa: E402
import make_cases  # noqa: E402
from run_sets import QUERY_OPTION, run_sets, show, traces_in  # noqa: E402

SETS = (("megatron",), ("seqpar",), ("ddp",), ("legacy",), ("rocm",), ("kineto2026",), ("phases",),
        ("xpu",), ("megatron32-stack.pt.trace.json.xz",), ("parallel/repeat",), ("parallel/compile",),
        ("parallel/fsdp2", "parallel/fsdp2_again"))
Set = collections.namedtuple("Set", "name paths")
PARTS = {"tables": check_host, "queries": check_host_queries}


def unpacked(path, folder):
    """The program does not read xz."""
    if not path.endswith(".xz"):
        return path
    plain = os.path.join(folder, os.path.basename(path)[:-len(".xz")])
    with open(plain, "w", encoding="utf-8") as handle:
        handle.write(host_oracle.read_text(path))
    return plain


def check_set(options, of):
    name, paths = of
    with tempfile.TemporaryDirectory(prefix="tracedb-host-") as folder:
        paths = [unpacked(path, folder) for path in paths]
        database = os.path.join(folder, "trace.db")
        # Made traces do not all say which rank they are.
        rank = ["--rank", "0"] if len(paths) == 1 else []
        subprocess.run([options.program, "-q", "--db", database, "ingest", *rank, *paths], check=True)
        traces = {path: host_oracle.load(path) for path in paths}
        agree = True
        for part, checks in PARTS.items():
            # The cases of host_cases are small, and made for the tables.
            if options.part in (None, part) and (part == "tables" or name not in options.cases):
                differences, rows = checks.compare(options, database, traces)
                agree &= show(options, f"{name}: {part}", f"{len(paths)} traces, {rows} rows",
                              differences)
    rows_of_first = traces[paths[0]].host_rows
    if name.endswith(host_cases.SHUFFLED):
        agree &= show(options, f"{name}: order", f"{len(rows_of_first)} rows",
                      [*check_host.rows_differ("the order matters to the oracle", options.before,
                                               rows_of_first)])
    options.before = rows_of_first
    return agree


def made_sets(options, folder):
    cases = [*host_cases.by_hand(), *host_cases.at_random(2 * options.seeds)]
    options.cases = {name for name, _ in cases}
    for name, events in cases:
        path = os.path.join(folder, name.replace(" ", "_") + ".json")
        with open(path, "w", encoding="utf-8") as handle:
            json.dump(events, handle)
        yield name, [path]
    crossing = dict(host_cases.by_hand())["more paths than events"]
    paths = [os.path.join(folder, f"rank{rank}.json") for rank in range(2)]
    for rank, path in enumerate(paths):
        with open(path, "w", encoding="utf-8") as handle:
            json.dump({"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": crossing}, handle)
    yield "more paths than events, twice", paths
    for seed in range(1, options.seeds + 1):
        made = os.path.join(folder, f"seed{seed}")
        os.makedirs(made)
        yield f"seed {seed}", make_cases.write(made, seed)
        yield f"waits {seed}", check_host_queries.waiting_job(seed, os.path.join(folder, f"waits{seed}"))


def sets(options, folder):
    options.cases = set()
    for names in SETS:
        yield Set(" with ".join(names), [path for name in names for path in traces_in(
            os.path.join(options.fixtures, name))])
    for made in made_sets(options, folder):
        yield Set(*made)
    for given in options.paths:
        yield Set(given, traces_in(given))


def main():
    return run_sets("Compare what is said about the host with an oracle.", sets, check_set, 4,
                    [QUERY_OPTION, ("--part", {"choices": PARTS, "help": "these comparisons only"})])


if __name__ == "__main__":
    sys.exit(main())
