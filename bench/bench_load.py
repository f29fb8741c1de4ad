#!/usr/bin/env python3
"""Measures `tracedb ingest` from .json.gz to the finished database, on traces made for it.

Speed, CPU, peak memory and database size; or two programs in turn. One line a run goes to
bench/runs. Method and columns: bench/README.md. Standard library only.
"""

import argparse
import os
import pathlib
import statistics
import sys

import bench_base as base
import bench_figures as figures

RUN_COLUMNS = ("date commit version program cpu_model cores fixture run json_bytes gz_bytes "
               "events wall_s cpu_s mb_per_s cpu_s_per_gb peak_rss_mib db_bytes db_over_json"
               ).split()
SHOWN = ("mb_per_s", "cpu_s_per_gb", "peak_rss_mib", "db_over_json", "wall_s")


def ingest(program: base.Program, trace: base.Trace, db: pathlib.Path, run: int) -> dict:
    base.remove_database(db)
    os.sync()  # what an earlier run left to write is not this run's
    date = base.now()
    measure = base.checked([program.path, "ingest", trace.path, "--db", db, "-q"])
    if not db.is_file():
        raise base.BenchError(f"{program.path}: exit code 0, but there is no {db}")
    gigabytes = trace.json_bytes / 1e9
    size = db.stat().st_size
    return {
        "date": date, "commit": program.commit, "version": program.version,
        "program": base.shown(program.path), **base.machine(), "fixture": trace.fixture, "run": run,
        "json_bytes": trace.json_bytes, "gz_bytes": trace.gz_bytes, "events": trace.events,
        "wall_s": f"{measure.wall_s:.3f}", "cpu_s": f"{measure.cpu_s:.3f}",
        "mb_per_s": f"{gigabytes * 1000 / measure.wall_s:.1f}",
        "cpu_s_per_gb": f"{measure.cpu_s / gigabytes:.3f}",
        "peak_rss_mib": f"{measure.peak_rss_mib:.1f}",
        "db_bytes": size, "db_over_json": f"{size / trace.json_bytes:.4f}",
    }


def print_run(name: str, row: dict) -> None:
    print(f"  {name:<8}" + "".join(f"{row[column]:>14}" for column in SHOWN), flush=True)


def print_summary(rows) -> None:
    for name, of in (("min", min), ("median", statistics.median), ("max", max)):
        values = [of([float(row[column]) for row in rows]) for column in SHOWN]
        print(f"  {name:<8}" + "".join(f"{value:>14.4g}" for value in values))


def print_pairs(first, second) -> None:
    print("  B over A, pair by pair")
    for number, (a, b) in enumerate(zip(first, second), 1):
        ratios = [float(b[column]) / float(a[column]) for column in SHOWN]
        print(f"  pair {number:<3}" + "".join(f"{ratio:>14.3f}" for ratio in ratios), flush=True)


def verify(db: pathlib.Path) -> None:
    """In a child: the pages it reads must not count as this process's memory."""
    code = ("import sqlite3, sys; d = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True); "
            "r = d.execute('PRAGMA integrity_check').fetchall(); "
            "sys.exit(0 if r == [('ok',)] else str(r[:10]))")
    base.checked([sys.executable, "-c", code, db])
    print("  integrity_check: ok")


def print_header(trace: base.Trace) -> None:
    print(f"\n{trace.path.name}: {trace.json_bytes / 1e6:.1f} MB of JSON, "
          f"{trace.gz_bytes / 1e6:.1f} MB gzipped, {trace.events} events")
    print(f"  {'run':<8}" + "".join(f"{column:>14}" for column in SHOWN))


def load_runs(programs, trace: base.Trace, db: pathlib.Path, runs: int, save):
    """All runs on one trace; a list of rows for each program. The last database stays."""
    print_header(trace)
    base.need_space(db.parent, trace.json_bytes // 2 + 10**8, "the database")
    base.warm(trace.path)
    rows = [[] for _ in programs]
    for run in range(1, runs + 1):
        for which, program in enumerate(programs):
            row = ingest(program, trace, db, run)
            save(RUN_COLUMNS, [row])
            rows[which].append(row)
            print_run(f"{'AB'[which]} {run}" if len(programs) > 1 else str(run), row)
    for which, own in enumerate(rows):
        if len(programs) > 1:
            print(f"  {'AB'[which]}: {programs[which].path}")
        print_summary(own)
    if len(programs) > 1:
        print_pairs(*rows)
    return rows


def add_common_options(parser) -> None:
    parser.add_argument("--program", help="tracedb to measure (default: that of build/release)")
    parser.add_argument("--label", help="what to write as commit of the program")
    parser.add_argument("--sizes", default="0.1G,2.5G", help="of JSON (default: 0.1G,2.5G)")
    parser.add_argument("--runs", type=int, default=3, help="of each measurement (default: 3)")
    parser.add_argument("--cpus", type=int, help="use the first N cores only")
    parser.add_argument("--fixture", help="a trace as Kineto prints it: .json, .json.gz, .json.xz")
    parser.add_argument("--maker", help="make_trace (default: built where needed)")
    parser.add_argument("--cache", type=base.folder_path, default=base.CACHE,
                        help="folder of made traces and of the database (default: %(default)s)")
    parser.add_argument("--no-save", dest="save", action="store_false",
                        help="write nothing to bench/runs")
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")


def checked_options(parser):
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs is at least 1")
    options.cache.mkdir(parents=True, exist_ok=True)
    return options


def saver(options, suffix: str):
    """Appends rows to the file of this day and machine, unless told not to."""
    path = base.runs_path(suffix)
    return lambda columns, rows: base.append_csv(path, columns, rows) if options.save else None


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_common_options(parser)
    parser.add_argument("--vs", metavar="PROGRAM_B", help="a second one, in turn: A B A B")
    parser.add_argument("--vs-label", default="b", help="the same as --label for --vs (default: b)")
    parser.add_argument("--verify", action="store_true", help="PRAGMA integrity_check afterwards")
    return checked_options(parser)


def bench(options) -> int:
    sizes = [base.parse_size(size) for size in options.sizes.split(",")]
    programs = [base.find_program(options.program, options.label)]
    if options.vs:
        programs.append(base.find_program(options.vs, options.vs_label))
    fixture = base.find_fixture(options.fixture)
    traces = [base.ensure_trace(fixture, size, options.cache, options.maker) for size in sizes]
    base.use_cores(options.cpus)  # after the traces are made
    save = saver(options, ".csv")
    print(base.where_line(programs[0]))
    print(f"floor of peak RSS (the launcher's): {base.checked(['true']).peak_rss_mib:.1f} MiB")
    found = []
    db = options.cache / f"bench-{os.getpid()}.db"
    try:
        for trace in traces:
            rows = load_runs(programs, trace, db, options.runs, save)
            found += figures.load_figures(trace, rows[0])
            if options.verify:
                verify(db)
    finally:
        base.remove_database(db)
    for figure in found:
        if figure.missed:
            print(f"target missed: {figure.of}: {figures.number(figure.value)} {figure.name}, "
                  f"wanted {figures.wanted(figure)}")
    return 1 if options.check and any(figure.missed for figure in found) else 0


def main() -> int:
    return base.run_main("bench_load", lambda: bench(parse_options()))


if __name__ == "__main__":
    sys.exit(main())
