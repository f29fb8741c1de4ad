#!/usr/bin/env python3
"""All benches in one run, and one table at the end: what was measured and what is wanted.

Loads by size, queries cold and warm, cores, ranks, a rank more, an unchanged file, peers, and a
model of more cores. How to read it: bench/README.md. Standard library only.
"""

import argparse
import os
import sys
from typing import NamedTuple

import bench_base as base
import bench_cases as cases
import bench_figures as figures
import bench_growth
import bench_load
import bench_peers
import bench_queries
import bench_real
import bench_views
import rank_traces
import scaling_model

SECTIONS = ("load", "queries", "views", "unchanged", "real", "cores", "ranks", "append", "growth",
            "model", "peers")
MAIN_BYTES_MAX = 2_500_000_000  # what is larger is only loaded
RANKS = 8
SIZE_STEP = 100_000  # a trace made to be N bytes has a few more
RANKS_APPENDED = 64


class Setting(NamedTuple):
    options: argparse.Namespace
    bench: cases.Bench
    fixture: object
    main: base.Trace  # the largest that is not too large for the rest
    save: object  # rows of single loads


class Outcome:
    """What the sections found, some of it for the model."""

    def __init__(self):
        self.figures = []
        self.failed = []
        self.rank_run = None
        self.measured = {}  # (cores, files): MB/s
        self.model = []

    def add(self, found) -> None:
        self.figures += found

    def value(self, what: str, of: str, name: str):
        return next((figure.value for figure in self.figures
                     if (figure.what, figure.of, figure.name) == (what, of, name)), None)


def made(setting: Setting, size: int) -> base.Trace:
    options = setting.options
    return base.ensure_trace(setting.fixture, size, options.cache, options.maker)


# ---- the sections -------------------------------------------------------------------------------


def load_section(setting: Setting, trace: base.Trace, outcome: Outcome) -> None:
    """One size; what is asked of a database is asked of that of the main trace."""
    bench, only = setting.bench, setting.options.only
    runs = bench.runs if "load" in only else 1
    rows = bench_load.load_runs([bench.program], trace, bench.db, runs, setting.save)[0]
    if "load" in only:
        outcome.add(figures.load_figures(trace, rows))
    if trace != setting.main:
        return
    if "unchanged" in only:
        outcome.add(cases.unchanged_figures(bench, trace, figures.median(rows, "wall_s")))
    if "queries" in only:
        outcome.add(bench_queries.query_figures(bench.program, trace.json_bytes, bench.db,
                                                bench.runs))
    if "views" in only:
        of = figures.size_name(trace.json_bytes)
        outcome.add(bench_views.view_figures(bench.program, of, bench.db, bench.runs))


def cores_section(setting: Setting, outcome: Outcome) -> None:
    of = figures.size_name(setting.main.json_bytes)
    counts = setting.options.cores
    outcome.add(cases.core_figures(setting.bench, setting.main, counts))
    for count in counts:
        was = outcome.value(cases.cores_name(count), of, "MB/s")
        if was is not None:
            outcome.measured[count, 1] = was


def ranks_section(setting: Setting, outcome: Outcome) -> None:
    trace = made(setting, setting.main.json_bytes // RANKS // SIZE_STEP * SIZE_STEP)
    ranks = rank_traces.ensure_ranks(trace, RANKS, setting.options.cache)
    outcome.rank_run = run = cases.rank_runs(setting.bench, setting.main, ranks)
    outcome.add(cases.rank_figures(run, ranks))
    outcome.measured[base.machine()["cores"], RANKS] = 1e3 / run.ranks_s


def append_section(setting: Setting, outcome: Outcome) -> None:
    trace = made(setting, base.parse_size(setting.options.append_size))
    ranks = rank_traces.ensure_ranks(trace, RANKS_APPENDED, setting.options.cache)
    base.need_space(setting.options.cache, sum(rank.json_bytes for rank in ranks) // 4,
                    f"a database of {RANKS_APPENDED} ranks")
    outcome.add(cases.append_figures(setting.bench, ranks))


def model_section(setting: Setting, outcome: Outcome) -> None:
    run = outcome.rank_run
    if run is None:
        raise base.BenchError("the model needs what the ranks' section measures")
    stages, parsers_max = scaling_model.measure_stages(setting.bench.program, setting.main,
                                                       setting.bench.runs)
    costs = scaling_model.Costs(*(stages[stage] for stage in scaling_model.STAGES), run.derive_s,
                                run.land_s, run.add_derive_s, run.add_s, run.one_cpu_s,
                                run.db_percent / 100, parsers_max)
    outcome.model = [*scaling_model.cost_lines(costs), "",
                     *scaling_model.model_lines(costs, outcome.measured)]
    print("\n" + "\n".join(outcome.model))


def peers_section(setting: Setting, outcome: Outcome) -> None:
    trace = made(setting, base.parse_size(setting.options.peer_size))
    peers = bench_peers.find_peers(setting.bench.program, trace)
    print(f"\npeers: {trace.path.name}")
    rows = bench_peers.run_rounds(peers, trace, setting.bench.db, 1, setting.options.timeout)
    if setting.options.save:
        base.append_csv(bench_peers.runs_path(), bench_peers.COLUMNS, rows)
    outcome.add(bench_peers.peer_figures(trace, rows))
    absent = [row["peer"] for row in rows if row["result"] != "ok"]
    if absent:
        print("not measured: " + ", ".join(absent))


def real_section(setting: Setting, outcome: Outcome) -> None:
    outcome.add(bench_real.all_figures(setting.bench))
    outcome.add(bench_real.over_gzip_figures(setting.bench, setting.main))


def growth_section(setting: Setting, outcome: Outcome) -> None:
    outcome.add(bench_growth.growth_figures(setting.bench.program, setting.options.cache,
                                            setting.bench.runs))


OTHER_SECTIONS = {"real": real_section, "cores": cores_section, "ranks": ranks_section,
                  "append": append_section, "growth": growth_section, "model": model_section,
                  "peers": peers_section}


# ---- all of it ----------------------------------------------------------------------------------


def run_sections(setting: Setting, traces, outcome: Outcome) -> None:
    """One that fails is said, and the others go on."""
    only = setting.options.only
    todo = [(f"load of {trace.path.name}", load_section, trace) for trace in traces
            if "load" in only or (trace == setting.main and
                                  {"queries", "views", "unchanged"} & set(only))]
    todo += [(name, section, None) for name, section in OTHER_SECTIONS.items() if name in only]
    for name, section, trace in todo:
        try:
            section(setting, *([trace] if trace else []), outcome)
        except base.BenchError as error:
            base.say(f"bench_all: {name}: {error}")
            outcome.failed.append(name)
        finally:
            base.remove_database(setting.bench.db)


def report(program: base.Program, where_line: str, fixture, outcome: Outcome, save: bool) -> None:
    lines = [f"{where_line}; traces made of {fixture.name}", "",
             *figures.table_lines(outcome.figures)]
    lines += [f"\nnot measured, because it failed: {name}" for name in outcome.failed]
    if outcome.model:
        lines += ["", "What more cores would give at most:", "", *outcome.model]
    text = "\n".join(lines) + "\n"
    print("\n" + text, end="", flush=True)
    if not save:
        return
    where = {"date": base.now(), "commit": program.commit, "version": program.version,
             "program": base.shown(program.path), **base.machine(),
             "fixture": fixture.name.split(".")[0]}
    base.append_csv(base.runs_path("-figures.csv"), figures.COLUMNS,
                    [figures.figure_row(figure, where) for figure in outcome.figures])
    base.runs_path("-table.md").write_text(text, encoding="utf-8")


def bench(options) -> int:
    sizes = [base.parse_size(size) for size in options.sizes.split(",")]
    program = base.find_program(options.program, options.label)
    fixture = base.find_fixture(options.fixture)
    traces = [base.ensure_trace(fixture, size, options.cache, options.maker) for size in sizes]
    small = [trace for trace in traces if trace.json_bytes <= MAIN_BYTES_MAX * 1.01]
    main_trace = max(small or traces, key=lambda trace: trace.json_bytes if small
                     else -trace.json_bytes)
    base.use_cores(options.cpus)
    run = cases.Bench(program, options.cache, options.cache / f"bench-{os.getpid()}.db",
                      options.runs)
    setting = Setting(options, run, fixture, main_trace, bench_load.saver(options, ".csv"))
    where_line = base.where_line(program)
    print(where_line)
    print(f"floor of peak RSS (the launcher's): {base.checked(['true']).peak_rss_mib:.1f} MiB")
    outcome = Outcome()
    run_sections(setting, traces, outcome)
    report(program, where_line, fixture, outcome, options.save)
    missed = any(figure.missed for figure in outcome.figures)
    return 1 if outcome.failed or (missed and options.check) else 0


def sections(text: str):
    names = text.split(",")
    for name in names:
        if name not in SECTIONS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(SECTIONS)}")
    return names + (["ranks"] if "model" in names and "ranks" not in names else [])


def core_counts(text: str):
    counts = [int(word) for word in text.split(",")]
    if min(counts) < 1:
        raise argparse.ArgumentTypeError("at least one core")
    return counts


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    bench_load.add_common_options(parser)
    parser.add_argument("--only", type=sections, default=list(SECTIONS), metavar="SECTION,...",
                        help="of " + ", ".join(SECTIONS) + " (default: all)")
    parser.add_argument("--cores", type=core_counts, default=[1, 2], metavar="N,...",
                        help="so many cores, one after the other (default: 1,2)")
    parser.add_argument("--append-size", default="0.1G", help="of each of 64 ranks (default: 0.1G)")
    parser.add_argument("--peer-size", default="0.2G", help="for the peers (default: 0.2G)")
    parser.add_argument("--timeout", type=float, default=900, metavar="S",
                        help="seconds for one load of a peer (default: 900)")
    return bench_load.checked_options(parser)


if __name__ == "__main__":
    sys.exit(base.run_main("bench_all", lambda: bench(parse_options())))
