"""Compares queries with the functions of their names in an oracle: every column of every row, in
order. run_queries.py has the sets. Here: where the time goes, breakdown_oracle.py and
partition_oracle.py.
"""
import inspect
import math
import os
import re

import breakdown_oracle
import partition_oracle
from exact_rows import exact_rows

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
    return exact_rows(program, database, os.path.join(QUERIES, query + ".sql"), *given)


def takes(query, parameter):
    with open(os.path.join(QUERIES, query + ".sql"), encoding="utf-8") as handle:
        return re.search(rf"^-- param:\s+{parameter}\s", handle.read(), re.MULTILINE) is not None


def answers(program, database, query, parameters, jobs):
    """(job, what the query says of it) as asked of all together, limits being those of a run, and where
    there are several run by run. A run of several captures is asked capture by capture as well."""
    header, rows = ask(program, database, query, parameters)
    if len(jobs) > 1 and "run" in header:
        runs = [row[header.index("run")] for row in rows]
        for job in jobs:
            yield job, (header, [row for row, run in zip(rows, runs) if run == job.run])
            yield job, ask(program, database, query, {**parameters, "run": job.run})
    else:
        yield from ((job, (header, rows)) for job in jobs)
    for job in jobs:
        captures = job.captures()
        if len(captures) > 1 and takes(query, "capture"):
            for number, of_capture in captures.items():
                yield of_capture, ask(program, database, query, {
                    **parameters, "run": job.run, "capture": number})


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


def named(header, wanted, run, of_capture):
    """{column: what is right}: a row of an oracle is that, or the values of the columns but run, the
    capture first where it has one."""
    if isinstance(wanted, dict):
        return {"run": run, **wanted}
    place = ["capture"] if of_capture else []
    if of_capture and "capture" not in header:
        place, wanted = [], wanted[1:]             # that it is not there was said
    return dict(zip([*place, *(name for name in header if name not in ("run", *place))], wanted)) | {
        "run": run}


def differences_of(query, ours, expected, job=None, of_capture=False):
    """of_capture: its rows are each of one capture; job: None for what knows no runs."""
    header, rows = ours
    if of_capture and "capture" in header:         # the order of captures is not compared
        place = header.index("capture")
        rows = sorted(rows, key=lambda row: row[place])
        expected = sorted(expected, key=lambda row: str(
            (row["capture"] if isinstance(row, dict) else row[0]) or ""))
    if len(rows) != len(expected):
        yield f"{query}: {len(rows)} rows, expected {len(expected)}"
    place = set() if job is None else {"run", "capture"} if of_capture else {"run"}
    if not place <= set(header):
        yield f"{query}: lacks the columns {sorted(place - set(header))}"
    for number, (row, wanted) in enumerate(zip(rows, expected), 1):
        columns = named(header, wanted, job and job.run, of_capture)
        told = [name for name in header if name not in ("run", "capture")]
        if not set(header) <= columns.keys() or len(told) != len(wanted) - (
                "capture" in wanted if isinstance(wanted, dict) else of_capture):
            yield f"{query}: columns {header}, expected {len(wanted)}: {list(columns)}"
            return
        for name, text in zip(header, row):
            if not alike(text, columns[name]):
                yield f"{query}: row {number}: {name} is {text!r}, expected {columns[name]!r}"


def compare(options, database, jobs, oracles=ORACLES, with_parameters=WITH_PARAMETERS):
    """(differences, rows). oracles: the modules with a function for each query; with_parameters:
    (query, {name: value}) that are asked besides."""
    functions = query_functions(oracles)
    differences, rows = [], 0
    for query, parameters in [*((query, {}) for query in functions), *with_parameters]:
        if options.query not in (None, query):
            continue
        function = functions[query]
        for job, ours in answers(options.program, database, query, parameters, jobs):
            expected = list(function(job, **parameters))
            differences += [f"{parameters or ''} {line}" for line in differences_of(
                query, ours, expected, job, hasattr(function, "has_capture"))]
            rows += len(expected)
    return differences, rows
