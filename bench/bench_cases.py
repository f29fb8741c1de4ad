"""More than one load of one trace: cores, ranks, a rank more, a file that has not changed."""

import os
import pathlib
import re
import statistics
from typing import NamedTuple

import bench_base as base
import bench_figures as figures

SAID = re.compile(r": ([\d.]+) s reading, ([\d.]+) s deriving, ([\d.]+) s landing$", re.M)


class Bench(NamedTuple):
    """What the cases have in common."""
    program: base.Program
    cache: pathlib.Path
    db: pathlib.Path  # theirs to make and remove
    runs: int


class Phase(NamedTuple):
    """Wall seconds of one trace's ingest, as `ingest -v` says them."""
    reading: float
    deriving: float
    landing: float


def ingest(bench: Bench, traces, new: bool):
    """One command; into a new database or the one that is there. (Measure, Phases)"""
    if new:
        base.remove_database(bench.db)
    os.sync()
    measure = base.checked([bench.program.path, "ingest", *(trace.path for trace in traces),
                            "--db", bench.db, "-v"])
    phases = [Phase(*map(float, found)) for found in SAID.findall(measure.stderr)]
    if len(phases) != len(traces):
        raise base.BenchError(f"{len(traces)} traces, but {len(phases)} were ingested:\n"
                              + measure.stderr[-1000:])
    return measure, phases


def gigabytes(traces) -> float:
    return sum(trace.json_bytes for trace in traces) / 1e9


# ---- cores --------------------------------------------------------------------------------------


def cores_name(count: int) -> str:
    return f"on {count} core{'s' if count > 1 else ''}"


def core_figures(bench: Bench, trace: base.Trace, counts):
    """The same load on the first so many cores; --threads is the program's own choice."""
    print(f"\ncores: {trace.path.name}")
    before = os.sched_getaffinity(0)
    base.warm(trace.path)
    of = figures.size_name(trace.json_bytes)
    for count in counts:
        if count > len(before):
            print(f"  {count} cores: there are {len(before)}")
            continue
        try:
            base.use_cores(count)
            measures = [ingest(bench, [trace], True)[0] for _ in range(bench.runs)]
        finally:
            os.sched_setaffinity(0, before)
        wall = statistics.median(measure.wall_s for measure in measures)
        cpu = statistics.median(measure.cpu_s for measure in measures)
        what = cores_name(count)
        print(f"  {what}: {wall:.3f} s, CPU {cpu:.3f} s", flush=True)
        yield figures.Figure(what, of, "MB/s", gigabytes([trace]) * 1e3 / wall)
        yield figures.Figure(what, of, "CPU s/GB", cpu / gigabytes([trace]))


# ---- ranks --------------------------------------------------------------------------------------


class RankRun(NamedTuple):
    """One trace and the ranks' traces of its size, seconds a GB of JSON."""
    one_s: float
    one_cpu_s: float
    ranks_s: float
    cpu_s: float
    peak_rss_mib: float
    db_percent: float
    derive_s: float  # of the one
    land_s: float  # of the one, as a new database
    add_derive_s: float  # of each later rank
    add_s: float  # its landing in the database that is there


def rank_run(bench: Bench, one: base.Trace, ranks) -> RankRun:
    single, (phase,) = ingest(bench, [one], True)
    many, phases = ingest(bench, ranks, True)
    size, sizes, added = gigabytes([one]), gigabytes(ranks), gigabytes(ranks[1:])
    return RankRun(single.wall_s / size, single.cpu_s / size, many.wall_s / sizes,
                   many.cpu_s / sizes, many.peak_rss_mib, bench.db.stat().st_size / (sizes * 1e7),
                   phase.deriving / size, phase.landing / size,
                   sum(later.deriving for later in phases[1:]) / added,
                   sum(later.landing for later in phases[1:]) / added)


def rank_runs(bench: Bench, one: base.Trace, ranks):
    """Ranks in one command against one trace of their size, in turn; medians, the most memory."""
    print(f"\n{len(ranks)} ranks of {figures.size_name(ranks[0].json_bytes)} in one command, "
          f"against one trace of {figures.size_name(one.json_bytes)}")
    for trace in (one, *ranks):
        base.warm(trace.path)
    runs = []
    for number in range(1, bench.runs + 1):
        runs.append(rank_run(bench, one, ranks))
        print(f"  {number}: one {1e3 / runs[-1].one_s:.0f} MB/s, ranks "
              f"{1e3 / runs[-1].ranks_s:.0f} MB/s; landing {runs[-1].land_s:.3f} s/GB, of later "
              f"ranks {runs[-1].add_s:.3f} s/GB", flush=True)
    middle = RankRun(*(statistics.median(column) for column in zip(*runs)))
    return middle._replace(peak_rss_mib=max(run.peak_rss_mib for run in runs))


def rank_figures(run: RankRun, ranks):
    what, of = f"{len(ranks)} ranks at once", figures.size_name(round(gigabytes(ranks) * 1e9))
    yield figures.Figure(what, of, "MB/s", 1e3 / run.ranks_s)
    yield figures.Figure(what, of, "x the time of one trace", run.ranks_s / run.one_s,
                         at_most=figures.RANKS_OVER_ONE_MAX)
    yield figures.Figure(what, of, "CPU s/GB", run.cpu_s)
    yield figures.Figure(what, of, "MiB", run.peak_rss_mib, at_most=figures.PEAK_RSS_MIB_MAX)
    yield figures.Figure(what, of, "% of the JSON", run.db_percent,
                         at_most=figures.DB_PERCENT_MAX)


# ---- a rank more --------------------------------------------------------------------------------


def append_figures(bench: Bench, ranks):
    """The last three ranks, each into the database of all before it and into a new one."""
    print(f"\n{len(ranks)} ranks of {figures.size_name(ranks[0].json_bytes)}, one after the other")
    fresh = bench._replace(db=bench.db.with_name("new-" + bench.db.name))
    last = len(ranks) - 3
    for trace in ranks[-3:]:
        base.warm(trace.path)
    try:
        ingest(bench, ranks[:1], True)
        second, _ = ingest(bench, ranks[1:2], False)
        rest, _ = ingest(bench, ranks[2:last], False)
        print(f"  to 1 rank: {second.wall_s:.3f} s; ranks 3 to {last} in one command: "
              f"{gigabytes(ranks[2:last]) * 1e3 / rest.wall_s:.0f} MB/s")
        rows = []
        for number, trace in enumerate(ranks[last:], last):
            new, _ = ingest(fresh, [trace], True)
            more, _ = ingest(bench, [trace], False)
            print(f"  to {number} ranks: {more.wall_s:.3f} s, CPU {more.cpu_s:.3f} s; into a new "
                  f"database: {new.wall_s:.3f} s, CPU {new.cpu_s:.3f} s", flush=True)
            rows.append((more.wall_s, more.wall_s / new.wall_s, more.cpu_s / new.cpu_s,
                         more.peak_rss_mib))
    finally:
        base.remove_database(fresh.db)
    wall, over, cpu_over, peak = (statistics.median(column) for column in zip(*rows))
    what, of = f"rank {len(ranks)} to the others", figures.size_name(ranks[-1].json_bytes)
    yield figures.Figure(what, of, "s", wall)
    yield figures.Figure(what, of, "x that of a new database", over,
                         at_most=figures.APPEND_OVER_NEW_MAX)
    yield figures.Figure(what, of, "x its CPU", cpu_over)
    yield figures.Figure(what, of, "MiB", peak, at_most=figures.PEAK_RSS_MIB_MAX)


# ---- a file that has not changed ----------------------------------------------------------------


def unchanged_figures(bench: Bench, trace: base.Trace, ingest_s: float):
    """The trace that the database was made of, once more."""
    base.warm(trace.path)
    before = bench.db.stat()
    command = [bench.program.path, "ingest", trace.path, "--db", bench.db, "-q"]
    measures = [base.checked(command) for _ in range(bench.runs)]
    after = bench.db.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise base.BenchError(f"{trace.path}: ingested twice into {bench.db}")
    wall = statistics.median(measure.wall_s for measure in measures)
    print(f"  unchanged file: {wall:.4f} s")
    of = figures.size_name(trace.json_bytes)
    yield figures.Figure("unchanged file", of, "s", wall)
    yield figures.Figure("unchanged file", of, "% of its ingest", 100 * wall / ingest_s,
                         at_most=figures.UNCHANGED_PERCENT_MAX)
