"""Compares queries with the functions of their names in an oracle: every column of every row, in
order. run_queries.py has the sets. Here: where the time goes, breakdown_oracle.py and
partition_oracle.py.
"""
import csv
import inspect
import io
import math
import os
import subprocess

import breakdown_oracle
import partition_oracle

HERE = os.path.dirname(os.path.abspath(__file__))
QUERIES = os.path.join(HERE, "..", "..", "queries")
ORACLES = (breakdown_oracle, partition_oracle)
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


def compare(options, database, job, oracles=ORACLES, with_parameters=WITH_PARAMETERS):
    """(differences, rows). oracles: the modules with a function for each query; with_parameters:
    (query, {name: value}) that are asked besides."""
    functions = query_functions(oracles)
    differences, rows = [], 0
    for query, parameters in [*((query, {}) for query in functions), *with_parameters]:
        if options.query not in (None, query):
            continue
        expected = list(functions[query](job, **parameters))
        ours = ask(options.program, database, query, parameters)
        differences += [f"{parameters or ''} {line}" for line in
                        differences_of(query, ours, expected)]
        rows += len(expected)
    return differences, rows
