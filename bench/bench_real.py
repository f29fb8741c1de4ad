"""Real traces, each next to `gzip -dc` of it in the same run: fixtures of ours, and other people's
files where they are there. An empty trace, and many small files in one command.

What counts is CPU: a user's file is mostly small, so that starting counts, and mostly not like the
made ones, so that every way of writing JSON counts.
"""

import gzip
import pathlib
from typing import NamedTuple

import bench_base as base
import bench_cases as cases
import bench_figures as figures
import rank_traces

SAMPLES = base.ROOT.parent / "shared" / "samples"
FOLDERS = (SAMPLES / "kineto", SAMPLES / "megatron_lm", base.ROOT / "fixtures")
SMALL = base.ROOT / "fixtures" / "megatron"  # eight files of 5 MB
MANY = 64  # of such files

OVER_GZIP_MAX = 1.0  # of the sum of those of so many bytes, below which starting is most of it
SUMMED_BYTES_MIN = 1_000_000
JUDGED_BYTES_MIN = 10_000_000
CPU_S_PER_GB_MAX = 6.0
EMPTY_MS_MAX = 10.0
SMALL_FILE_MS_MAX = 20.0


class Cost(NamedTuple):
    path: pathlib.Path
    json_bytes: int
    cpu_s: float  # the least of the runs: noise only adds
    gzip_cpu_s: float


def find_traces():
    return [path for folder in FOLDERS if folder.is_dir()
            for path in sorted(folder.rglob("*.json.gz"))]


def json_bytes(path: pathlib.Path) -> int:
    size = 0
    with gzip.open(path) as file:
        while piece := file.read(1 << 20):
            size += len(piece)
    return size


def ingest_cpu_s(bench: cases.Bench, paths) -> float:
    base.remove_database(bench.db)
    return base.checked([bench.program.path, "ingest", *paths, "--db", bench.db, "-q"]).cpu_s


def cost_of(bench: cases.Bench, path: pathlib.Path) -> Cost:
    size = json_bytes(path)  # reads it as well, so that every run finds it in the page cache
    ours, gzips = [], []
    for _ in range(bench.runs):
        ours.append(ingest_cpu_s(bench, [path]))
        gzips.append(base.checked(["gzip", "-dc", path]).cpu_s)
    return Cost(path, size, min(ours), min(gzips))


def name_of(path: pathlib.Path) -> str:
    folder = next(folder for folder in FOLDERS if path.is_relative_to(folder))
    return f"{folder.name}/{path.relative_to(folder)}".removesuffix(".json.gz")


def large_figures(costs):
    """Of each that is large enough for starting not to matter."""
    for cost in costs:
        if cost.json_bytes < JUDGED_BYTES_MIN:
            continue
        of = figures.size_name(cost.json_bytes)
        what = f"real: {name_of(cost.path)}"
        yield figures.Figure(what, of, "CPU s/GB", cost.cpu_s / (cost.json_bytes / 1e9),
                             at_most=CPU_S_PER_GB_MAX)
        yield figures.Figure(what, of, "x gzip -dc", cost.cpu_s / cost.gzip_cpu_s)


def sum_figure(what: str, costs, at_most):
    return figures.Figure(what, figures.size_name(sum(cost.json_bytes for cost in costs)),
                          "x gzip -dc", sum(cost.cpu_s for cost in costs) /
                          sum(cost.gzip_cpu_s for cost in costs), at_most=at_most)


def real_figures(bench: cases.Bench):
    costs = [cost_of(bench, path) for path in find_traces()]
    for cost in costs:
        print(f"  {name_of(cost.path)}: {cost.json_bytes / 1e6:.1f} MB, CPU {cost.cpu_s:.3f} s, "
              f"gzip -dc {cost.gzip_cpu_s:.3f} s", flush=True)
    yield from large_figures(costs)
    large = [cost for cost in costs if cost.json_bytes >= SUMMED_BYTES_MIN]
    is_judged = SAMPLES.is_dir()  # fixtures alone are small files
    yield sum_figure(f"real: all {len(costs)}", costs, None)
    yield sum_figure(f"real: the {len(large)} of 1 MB and more", large,
                     OVER_GZIP_MAX if is_judged else None)


def small_figures(bench: cases.Bench):
    """What a file costs that has nothing, or little, in it."""
    empty = bench.cache / "empty.json"
    empty.write_text('{"traceEvents":[]}\n', encoding="ascii")
    cpu_s = min(ingest_cpu_s(bench, [empty]) for _ in range(3 * bench.runs))
    yield figures.Figure("empty trace", "0 GB", "ms CPU", cpu_s * 1e3, at_most=EMPTY_MS_MAX)
    few = sorted(SMALL.glob("*.json.gz"))
    one = base.Trace(few[0], "megatron", json_bytes(few[0]), few[0].stat().st_size, 0)
    many = [trace.path for trace in rank_traces.ensure_ranks(one, MANY, bench.cache)]
    for paths in (few, many):
        cpu_s = min(ingest_cpu_s(bench, paths) for _ in range(bench.runs))
        yield figures.Figure(f"{len(paths)} files of 5 MB", figures.size_name(
            sum(json_bytes(path) for path in paths)), "ms CPU a file", cpu_s * 1e3 / len(paths),
                             at_most=SMALL_FILE_MS_MAX)


def all_figures(bench: cases.Bench):
    print("\nreal traces, in turn with gzip -dc")
    yield from small_figures(bench)
    yield from real_figures(bench)


def over_gzip_figures(bench: cases.Bench, trace: base.Trace):
    """One large trace and `gzip -dc` of it in turn: CPU, and time."""
    base.warm(trace.path)
    ours, gzips = [], []
    for _ in range(bench.runs):
        base.remove_database(bench.db)
        ours.append(base.checked([bench.program.path, "ingest", trace.path, "--db", bench.db,
                                  "-q"]))
        gzips.append(base.checked(["gzip", "-dc", trace.path]))
    least = lambda measures, what: min(getattr(measure, what) for measure in measures)
    of = figures.size_name(trace.json_bytes)
    for what, name in (("cpu_s", "x its CPU"), ("wall_s", "x its time")):
        yield figures.Figure("ingest over gzip -dc", of, name,
                             least(ours, what) / least(gzips, what))
