"""Compares the queries on operators, modules, annotations and calls that wait for the GPU with
host_queries_oracle.py: every column of every row. run_host.py has the sets. Which rank a trace is of,
the database is asked.
"""
import collections
import inspect
import json
import os
import sqlite3

import host_cases
import host_queries_oracle
from check_breakdown import QUERIES, answers, differences_of

# Asked for of each query; those that the traces have not give no row.
PARAMETERS = ({}, {"limit": 1000000}, {"rank": 1, "step": 3}, {"step": 4, "limit": 3})
MORE_PARAMETERS = (("module_time", {"kind": "module", "limit": 1000000}),
                   ("module_time", {"kind": "function", "step": 1}),
                   ("sync_points", {"step": 1}), ("sync_points", {"rank": 1, "step": 2}),
                   ("annotations", {"step": 2}), ("ops_top", {"step": 2, "limit": 1000000}))
# Columns at the end that are left to tests/query: what patterns of names tell.
LEFT_OUT = {"ops_top": 2}
WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "hipMemcpy", "cuMemsetD8", "cudaMemcpyAsync",
         "Synchronize", "cudaEventQuery")


class HostJob(list):
    """The (rank, HostTrace) of a run: of a folder."""

    def captures(self):
        """Nothing here tells captures apart: all are sums of traces."""
        return {}


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


def compare(options, database, traces):
    """As in check_host.py."""
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    ranks = dict(db.execute("SELECT path, rank FROM traces"))
    db.close()
    jobs = collections.defaultdict(HostJob)
    for path, trace in traces.items():
        jobs[os.path.dirname(path)].append((ranks[path], trace))
    for folder, job in jobs.items():
        job.run = os.path.basename(folder)
    differences, rows = [], 0
    functions = query_functions()
    asked = [(query, parameters) for query in functions for parameters in PARAMETERS]
    for query, parameters in [*asked, *MORE_PARAMETERS]:
        if options.query not in (None, query):
            continue
        for job, (header, ours) in answers(options.program, database, query, parameters,
                                           list(jobs.values())):
            kept = len(header) - LEFT_OUT.get(query, 0)
            ours = header[:kept], [row[:kept] for row in ours]
            expected = list(functions[query](job, **parameters))
            differences += [f"{parameters} {line}" for line in
                            differences_of(query, ours, expected, job)]
            rows += len(expected)
    return differences, rows
