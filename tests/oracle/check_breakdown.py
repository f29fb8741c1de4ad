#!/usr/bin/env python3
"""Lets the program ingest the fixtures and random jobs, and compares its queries on where the time
goes with breakdown_oracle.py and partition_oracle.py: every column of every row.

    python3 check_breakdown.py --program P [--fixtures DIR] [--only NAME] [--query Q] [--show 5]
                               [--seeds 6] [FOLDER...]

A set is a folder of fixtures, a random job of make_cases, or a FOLDER given. One line a set, the
differences below it, at the end `N passed, N failed`; exit 1 if any failed.
"""
import csv
import inspect
import io
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import breakdown_oracle  # noqa: E402
import make_cases  # noqa: E402
import partition_oracle  # noqa: E402
import trace_oracle as oracle  # noqa: E402
from run_oracle import traces_in  # noqa: E402
from run_sets import QUERY_OPTION, run_sets  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
QUERIES = os.path.join(HERE, "..", "..", "queries")
SETS = ("megatron", "seqpar", "ddp", "legacy", "rocm", "kineto2026", "xpu", "phases")
# Asked for with parameters too; those that the trace has not give no row.
WITH_PARAMETERS = (("kernels_top", {"rank": 1, "step": 4}), ("kernels_top", {"step": 3}),
                   ("memcpy_summary", {"rank": 0, "step": 4}),
                   ("overlap_by_group", {"rank": 1, "step": 3}),
                   ("gpu_gaps", {"limit": 1000000}),
                   ("launch_latency", {"rank": 1, "step": 3}),
                   ("time_partition", {"rank": 1, "step": 4}))


def query_functions(oracles):
    """{name of a query: what it must say}."""
    return {name: member for oracle_of in oracles
            for name, member in inspect.getmembers(oracle_of, inspect.isfunction)
            if os.path.exists(os.path.join(QUERIES, name + ".sql"))}


def ask(program, database, query, parameters):
    given = [text for name, number in parameters.items() for text in ("-p", f"{name}={number}")]
    done = subprocess.run([program, "-q", "--db", database, "query",
                           os.path.join(QUERIES, query + ".sql"), *given], check=True,
                          stdout=subprocess.PIPE, text=True, encoding="utf-8")
    header, *rows = csv.reader(io.StringIO(done.stdout))
    return header, rows


def alike(ours, theirs):
    """Ours is the text of the program, theirs a value, or a set of those that are right; a NULL is
    an empty text."""
    if theirs is breakdown_oracle.ANY:
        return True
    if isinstance(theirs, set):
        return any(alike(ours, one) for one in theirs)
    if theirs is None:
        return ours == ""
    if isinstance(theirs, str):
        return ours == theirs
    try:
        return math.isclose(float(ours), theirs, rel_tol=1e-9, abs_tol=1e-12)
    except ValueError:
        return False


def differences_of(query, ours, expected):
    header, rows = ours
    if len(rows) != len(expected):
        yield f"{query}: {len(rows)} rows, expected {len(expected)}"
    for number, (row, wanted) in enumerate(zip(rows, expected), 1):
        if len(row) != len(wanted):
            yield f"{query}: {len(row)} columns, expected {len(wanted)}"
            return
        for name, text, value in zip(header, row, wanted):
            if not alike(text, value):
                yield f"{query}: row {number}: {name} is {text!r}, expected {value!r}"


def check_set(options, name, paths, expecting, with_parameters):
    with tempfile.TemporaryDirectory(prefix="tracedb-breakdown-") as folder:
        database = os.path.join(folder, "trace.db")
        subprocess.run([options.program, "-q", "--db", database, "ingest", *paths], check=True)
        job = oracle.load(paths)
        differences, rows = [], 0
        asked = [(query, {}) for query in query_functions(expecting)]
        for query, parameters in asked + [*with_parameters]:
            if options.query not in (None, query):
                continue
            expected = list(query_functions(expecting)[query](job, **parameters))
            ours = ask(options.program, database, query, parameters)
            differences += differences_of(query, ours, expected)
            rows += len(expected)
    print(f"{'FAIL' if differences else 'ok  '} {name} ({len(paths)} traces, {rows} rows)")
    for line in differences[:options.show]:
        print("     " + line[:400])
    if len(differences) > options.show:
        print(f"     ... and {len(differences) - options.show} more")
    sys.stdout.flush()
    return not differences


def sets(options, folder):
    for name in SETS:
        yield name, traces_in(os.path.join(options.fixtures, name))
    for seed in range(1, options.seeds + 1):
        made = os.path.join(folder, f"seed{seed}")
        os.makedirs(made)
        yield f"seed {seed}", make_cases.write(made, seed)
    for given in options.paths:
        yield given, traces_in(given)


def main(expecting=(breakdown_oracle, partition_oracle), with_parameters=WITH_PARAMETERS,
         check=None):
    """expecting: the modules with a function for each query; with_parameters: (query, {name: value})
    that are asked besides. check(options, name, paths): what to do with a set instead."""
    if check is None:
        def check(options, name, paths):
            return check_set(options, name, paths, expecting, with_parameters)
    return run_sets("Compare queries on time spent with an oracle.", sets, check, 6, [QUERY_OPTION])


if __name__ == "__main__":
    sys.exit(main())
