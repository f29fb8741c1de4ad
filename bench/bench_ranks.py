#!/usr/bin/env python3
"""How a job's ranks weigh: simulated jobs (simulate_ranks.py) of 8, 16, 64 and 256 ranks and more.

Measured for each: writing the traces, ingest (time, memory, database), and every canned query,
doctor and report. Eight times the ranks may take eight times as long. Of each what was planted must
be found: a figure of a wrong answer is worth nothing.
"""

import argparse
import csv
import datetime
import io
import pathlib
import shutil
import sys
import time

import bench_base as base
import bench_growth
import simulate_ranks
import simulated_job

RANKS = [8, 16, 64, 256]
SEED = 1
JUDGED_S_MIN = 0.05  # what takes less is mostly the start of a process
GROWTH_MAX = 1.25  # times the growth of the ranks, from the job before
COLUMNS = "date commit what ranks cpu_s wall_s peak_rss_mib bytes".split()


def straggler_of(ranks: int) -> int:
    """In the first stage, where the schedule hides nothing of a delay."""
    return ranks // 4 + 2


def simulate(folder: pathlib.Path, ranks: int) -> float:
    shutil.rmtree(folder, ignore_errors=True)
    start = time.process_time()
    fault = simulated_job.Fault(straggler_of(ranks), slow_pipeline=0)
    simulate_ranks.simulate(folder, ranks, fault, SEED)
    return time.process_time() - start


def check_found(program: base.Program, db: pathlib.Path, ranks: int) -> None:
    text = base.output_of([program.path, "query", "straggler_steps", "--db", db, "--format", "csv"])
    found = [row["slowest_rank"] for row in csv.DictReader(io.StringIO(text))]
    if found != [str(straggler_of(ranks))]:
        raise base.BenchError(f"{ranks} ranks: straggler_steps says {found}, not "
                              f"{straggler_of(ranks)}")


def folder_bytes(folder: pathlib.Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def job_rows(program: base.Program, cache: pathlib.Path, ranks: int, runs: int):
    """A row for each thing that was measured."""
    folder, db = cache / f"simulated-{ranks}", cache / f"simulated-{ranks}.db"
    try:
        took_s = simulate(folder, ranks)
        yield "simulate", took_s, "", "", folder_bytes(folder)
        base.remove_database(db)
        ran = base.checked([program.path, "ingest", folder, "--db", db, "-q"])
        yield "ingest", ran.cpu_s, ran.wall_s, ran.peak_rss_mib, db.stat().st_size
        check_found(program, db, ranks)
        base.warm(db)
        for what, arguments in bench_growth.commands(program):
            ran = [base.run_measured([program.path, *arguments, "--db", db]) for _ in range(runs)]
            failed = next((each for each in ran if each.exit_code not in
                           (0, bench_growth.FINDINGS_EXIT)), None)
            if failed is not None:
                raise base.BenchError(f"{what}, {ranks} ranks: {failed.stderr}")
            least = min(ran, key=lambda each: each.cpu_s)
            yield what, least.cpu_s, least.wall_s, least.peak_rss_mib, ""
    finally:
        base.remove_database(db)
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_name(folder.name + ".truth").unlink(missing_ok=True)


def print_table(counts, found) -> list[str]:
    """CPU seconds by ranks; returns what grew by more than the ranks did."""
    steep = []
    print(f"\n| CPU s of ranks | {' | '.join(map(str, counts))} | growth of the last |")
    print(f"|---|{'---:|' * (len(counts) + 1)}")
    for what, by_ranks in found.items():
        values = [by_ranks[count] for count in counts]
        growth = values[-1] / max(values[-2], 1e-9) if len(counts) > 1 else 1.0
        allowed = GROWTH_MAX * counts[-1] / counts[-2] if len(counts) > 1 else 1.0
        mark = ""
        if values[-1] >= JUDGED_S_MIN and growth > allowed:
            steep.append(what)
            mark = " !"
        print(f"| {what} | {' | '.join(f'{value:.3f}' for value in values)} | "
              f"{growth:.1f}{mark} |", flush=True)
    return steep


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", help="tracedb to measure (default: build/release)")
    parser.add_argument("--cache", type=base.folder_path, default=base.CACHE,
                        help="where the jobs are made (default: build/bench-data)")
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS,
                        help=f"multiples of 8, rising (default: {' '.join(map(str, RANKS))})")
    parser.add_argument("--runs", type=int, default=3, help="of each, the least counts")
    parser.add_argument("--output", type=pathlib.Path, help="a CSV file for the rows")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    program = base.find_program(options.program)
    print(base.where_line(program))
    rows, found = [], {}
    date = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    for ranks in options.ranks:
        base.say(f"a job of {ranks} ranks")
        for what, cpu_s, wall_s, rss_mib, size in job_rows(program, options.cache, ranks,
                                                           options.runs):
            found.setdefault(what, {})[ranks] = cpu_s
            rows.append([date, program.commit, what, ranks, f"{cpu_s:.4f}",
                         wall_s and f"{wall_s:.4f}", rss_mib and f"{rss_mib:.1f}", size])
    if options.output is not None:
        with open(options.output, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([COLUMNS, *rows])
    steep = print_table(options.ranks, found)
    if steep:
        print(f"\ngrew by more than {GROWTH_MAX} times what the ranks did: {', '.join(steep)}")
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(base.run_main("bench_ranks", main))
