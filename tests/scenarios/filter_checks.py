"""Checks of columns, of filters by run, capture and rank, and of what is said of no rows."""
import collections
import re

import truth
from checks import Check, as_ns, by_rank, differences, field

COLUMNS = {
    "overlap": "run rank device span_ms compute_ms comm_ms overlap_ms overlap_pct "
               "exposed_comm_ms exposed_memory_ms idle_ms",
    "stream_utilization": "run rank device stream activities busy_ms utilization_pct compute_ms "
                          "comm_ms memory_ms",
    "nccl_stalls": "run collective group_name group_ranks ordinal step bytes start_ms "
                   "culprit_rank total_wait_ms max_wait_ms transfer_ms cause",
    "nccl_stall_ranks": "run rank collectives times_last caused_wait_ms suffered_wait_ms",
    "critical_path": "run step rank start_ms dur_ms kind name op",
    "recommendations": "run number problem rank step evidence advice gain_ms gain_pct"}


def columns():
    def compare(program):
        for query, names in COLUMNS.items():
            done = program.run("query", query, "--format", "csv")
            have = done.stdout.split("\n")[0].split(",") if done.returncode == 0 else []
            missing = [name for name in names.split() if name not in have]
            if missing:
                yield f"{query}: no column {', '.join(missing)}"
            elif have[0] != "run":
                yield f"{query}: the first column is {have[0]}, not run"
    return Check("columns", "Canned queries that must exist under these names, with at least "
                 "these columns", compare)


def figures(rows):
    """(rank -> span, compute, comm, idle) of rows of overlap; each rank has one."""
    return {rank: tuple(as_ns(field(found[0], f"{name}_ms"))
                        for name in ("span", "compute", "comm", "idle")) if len(found) == 1
            else f"{len(found)} rows" for rank, found in by_rank(rows).items()}


def wanted(times):
    return tuple(times[name] for name in ("span", "compute", "comm", "idle"))


def by_run(jobs):
    def compare(program):
        names = program.run_names(jobs)
        for job in jobs:
            have = figures(program.rows("overlap", "-p", f"run={names[job.folder]}"))
            want = {rank: wanted(truth.overlap_of_rank(job, rank))
                    for rank in range(job.world_size)}
            if have != want:
                yield f"overlap -p run={names[job.folder]}: {have}, the truth is {want}"
    return Check("by_run", "Everything that is matched, compared or summed over ranks stays "
                 "within one run; -p run= gives the rows of that run", compare)


def by_capture(job):
    def compare(program):
        numbers = collections.Counter()
        rows = program.sql("SELECT DISTINCT capture FROM traces")
        for row in rows:
            have = figures(program.rows("overlap", "-p", f"capture={row['capture']}"))
            numbers[tuple(sorted(have.items()))] += 1
        want = collections.Counter(
            tuple((rank, wanted(truth.overlap_of(capture.activities(rank))))
                  for rank in capture.recorded_ranks()) for capture in job.captures)
        if numbers != want:
            yield f"overlap by capture: {dict(numbers)}, the truth is {dict(want)}"
    return Check("by_capture", "Spans, idle times, gaps and shares are those within captures; "
                 "-p capture= gives the figures of that capture", compare)


def runs_of_recommendations(jobs):
    def compare(program):
        names = set(program.run_names(jobs).values())
        for row in program.rows("recommendations"):
            if field(row, "run") not in names:
                yield f"{field(row, 'number')}. {field(row, 'problem')}: run is {row['run']}"
    return Check("runs_of_recommendations", "recommendations: run, number, problem, rank, step, "
                 "evidence, advice, gain_ms, gain_pct", compare)


def no_such_rank(ranks):
    """A filter that matches nothing: which ranks there are, and nothing that is false."""
    def compare(program):
        done = program.run("query", "overlap", "-p", "rank=99", "--format", "table")
        said = done.stdout + done.stderr
        if "no gpu activity is in the database" in said.lower():
            yield "overlap -p rank=99 says that no GPU activity is in the database"
        if not all(re.search(rf"\b{rank}\b", said) for rank in ranks):
            yield f"overlap -p rank=99 does not say which ranks there are: {said.strip()!r}"
    return Check("no_such_rank", "A filter that matches nothing says what there is", compare)


def counts(expected):
    """expected: table -> rows."""
    def compare(program):
        have = {table: program.sql(f"SELECT count(*) AS n FROM {table}")[0]["n"]
                for table in expected}
        yield from differences("rows", expected, have)
    return Check("counts", "Nothing is dropped: every event of the input is a row of one of the "
                 "tables, or counted in issues; what is no trace is no row of traces", compare)
