#!/usr/bin/env python3
"""Lets the program ingest the fixtures and random jobs, and compares its queries on operators,
modules, annotations and calls that wait for the GPU with host_queries_oracle.py: every column of every
row.

    python3 check_host_queries.py --program P [--fixtures DIR] [--only NAME] [--query Q] [--show 5]
                                  [--seeds 4] [PATH...]

A set is a folder of fixtures, a random job of make_cases, random traces of host_cases with calls that
wait, or a PATH given (a trace or a folder). One line a set, the differences below it, at the end
`N passed, N failed`; exit 1 if any failed. Which rank a trace is of, the database is asked.
"""
import inspect
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import host_cases  # noqa: E402
import host_oracle  # noqa: E402
import host_queries_oracle  # noqa: E402
import make_cases  # noqa: E402
from check_breakdown import QUERIES, ask, differences_of  # noqa: E402
from check_host import inputs, unpacked  # noqa: E402
from run_sets import QUERY_OPTION, run_sets  # noqa: E402

SETS = ("megatron", "seqpar", "ddp", "legacy", "rocm", "kineto2026", "phases",
        "megatron32-stack.pt.trace.json.xz")
# Asked for of each query; those that the traces have not give no row.
PARAMETERS = ({}, {"limit": 1000000}, {"rank": 1, "step": 3}, {"step": 4, "limit": 3})
MORE_PARAMETERS = (("module_time", {"kind": "module", "limit": 1000000}),
                   ("module_time", {"kind": "function", "step": 1}),
                   ("sync_points", {"step": 1}), ("sync_points", {"rank": 1, "step": 2}),
                   ("annotations", {"step": 2}), ("ops_top", {"step": 2, "limit": 1000000}))
WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "hipMemcpy", "cuMemsetD8", "cudaMemcpyAsync",
         "Synchronize", "cudaEventQuery")


def query_functions():
    """{name of a query: what it must say}."""
    return {name: member
            for name, member in inspect.getmembers(host_queries_oracle, inspect.isfunction)
            if os.path.exists(os.path.join(QUERIES, name + ".sql"))}


class WaitMaker(host_cases.Maker):
    """Besides what a Maker makes, on a GPU that is idle half of its time: launches soon before their
    kernels, and calls that wait. No two start together."""

    def __init__(self, seed, size):
        super().__init__(seed, size, 0)

    def add_activity(self):
        """Its own last for ever, so that no gap would be left."""

    def events(self):
        events = super().events()
        pick, length = self.random.choice, self.length
        for number in range(self.size):
            ts, correlation = self.moment(), 1_000_000 + number
            thread, process = self.thread()
            events.append(host_cases.call(correlation, ts, 0.5, thread, process))
            start = round(ts + self.random.random() * pick((2, 40)), 3)
            events.append(host_cases.event(
                *pick((("kernel", "gemm"), ("gpu_memcpy", "Memcpy HtoD"))), start,
                pick((0, round(self.random.random() * length / self.size, 3))), pick((7, 20)), 0,
                device=pick((0, 0, 1)), correlation=correlation))
        for _ in range(self.size // 2):
            events.append(host_cases.event(pick(("cuda_runtime", "cuda_driver")), pick(WAITS),
                                           self.moment(), round(self.random.random() * 60, 3),
                                           *self.thread()))
        return events


def waiting_job(seed, folder):
    os.makedirs(folder)
    size = (60, 300)[seed % 2]
    paths = []
    for rank in range(2):
        paths.append(os.path.join(folder, f"rank{rank}.json"))
        with open(paths[-1], "w", encoding="utf-8") as handle:
            json.dump({"distributedInfo": {"rank": rank, "world_size": 2},
                       "traceEvents": WaitMaker(2 * seed + rank, size).events()}, handle)
    return paths


def load_job(database, paths):
    """[(rank, HostTrace)]"""
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    ranks = dict(db.execute("SELECT path, rank FROM traces"))
    return [(ranks[path], host_oracle.load(path)) for path in paths]


def check_set(options, name, paths):
    with tempfile.TemporaryDirectory(prefix="tracedb-host-") as folder:
        paths = [unpacked(path, folder) for path in paths]
        database = os.path.join(folder, "trace.db")
        rank = ["--rank", "0"] if len(paths) == 1 else []
        subprocess.run([options.program, "-q", "--db", database, "ingest", *rank, *paths], check=True)
        job = load_job(database, paths)
        differences, rows, stalled = [], 0, 0
        asked = [(query, parameters) for query in query_functions() for parameters in PARAMETERS]
        for query, parameters in [*asked, *MORE_PARAMETERS]:
            if options.query not in (None, query):
                continue
            expected = list(query_functions()[query](job, **parameters))
            ours = ask(options.program, database, query, parameters)
            differences += [f"{parameters} {line}" for line in differences_of(query, ours, expected)]
            rows += len(expected)
            if query == "sync_points" and not parameters:
                stalled = sum(row[6] for row in expected)
    print(f"{'FAIL' if differences else 'ok  '} {name} ({len(paths)} traces, {rows} rows, "
          f"{stalled} stalls)")
    for line in differences[:options.show]:
        print("     " + line[:400])
    if len(differences) > options.show:
        print(f"     ... and {len(differences) - options.show} more")
    sys.stdout.flush()
    return not differences


def sets(options, folder):
    for name in SETS:
        yield name, inputs(os.path.join(options.fixtures, name))
    for seed in range(1, options.seeds + 1):
        made = os.path.join(folder, f"seed{seed}")
        os.makedirs(made)
        yield f"seed {seed}", make_cases.write(made, seed)
        yield f"waits {seed}", waiting_job(seed, os.path.join(folder, f"waits{seed}"))
    for given in options.paths:
        yield given, inputs(given)


def main():
    return run_sets("Compare queries on the host with an oracle.", sets, check_set, 4, [QUERY_OPTION])


if __name__ == "__main__":
    sys.exit(main())
