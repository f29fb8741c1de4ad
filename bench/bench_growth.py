#!/usr/bin/env python3
"""How queries, report and doctor grow with the ranks: tiny ranks, 16, 64 and 256 of them.

Each takes as long as its rows, so four times the ranks may take four times as long; what is looked
up rank by rank among all ranks takes sixteen times. CPU seconds, the least of the runs.
"""

import argparse
import pathlib
import sys

import bench_base as base
import bench_figures as figures
import bench_queries
import rank_traces

RANKS = (16, 64, 256)
GROWTH_MAX = 5.0  # from 64 to 256
# Starting takes as long as the query of few ranks: what takes less than this grows unseen.
JUDGED_S_MIN = 0.02
FINDINGS_EXIT = 4  # of doctor


def ask(command) -> float:
    ran = base.run_measured(command)
    if ran.exit_code not in (0, FINDINGS_EXIT if "doctor" in command else 0):
        raise base.BenchError(f"{' '.join(map(str, command))}: exit {ran.exit_code}: {ran.stderr}")
    return ran.cpu_s


def commands(program: base.Program):
    for name in bench_queries.query_names(program):
        if "must be given" not in base.output_of([program.path, "query", name, "--explain"]):
            yield f"query {name}", ["query", name]
    yield "doctor", ["doctor"]
    yield "report", ["report", "-o", "-"]


def growth_figures(program: base.Program, cache: pathlib.Path, runs: int):
    """A figure for each count of ranks, and how many times that of 64 that of 256 is."""
    databases = []
    try:
        for count in RANKS:
            db = cache / f"growth-{count}.db"
            base.remove_database(db)
            databases.append(db)
            paths = rank_traces.ensure_tiny_ranks(count, cache)
            base.checked([program.path, "ingest", *paths, "--db", db, "-q"])
        print(f"\n  {'CPU s of ranks':<28}" + "".join(f"{count:>10}" for count in RANKS) +
              f"{'x of 64':>10}")
        for what, arguments in commands(program):
            took = [min(ask([program.path, *arguments, "--db", db]) for _ in range(runs))
                    for db in databases]
            growth = took[-1] / took[-2]
            print(f"  {what:<28}" + "".join(f"{each:>10.4f}" for each in took) +
                  f"{growth:>10.1f}", flush=True)
            for count, each in zip(RANKS, took):
                yield figures.Figure(what, f"{count} tiny ranks", "CPU s", each)
            judged = took[-1] >= JUDGED_S_MIN
            yield figures.Figure(what, f"{RANKS[-1]} tiny ranks", f"x of {RANKS[-2]}", growth,
                                 at_most=GROWTH_MAX if judged else None)
    finally:
        for db in databases:
            base.remove_database(db)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", help="tracedb to measure (default: build/release)")
    parser.add_argument("--cache", type=base.folder_path, default=base.CACHE,
                        help="where made traces are kept (default: build/bench-data)")
    parser.add_argument("--runs", type=int, default=3, help="of each, the least counts")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    program = base.find_program(options.program)
    print(base.where_line(program))
    found = list(growth_figures(program, options.cache, options.runs))
    return 1 if any(figure.missed for figure in found) else 0


if __name__ == "__main__":
    sys.exit(base.run_main("bench_growth", main))
