"""Figures, what is wanted of them, and the one table that they end in. Knows no bench."""

import statistics
from typing import NamedTuple, Optional

import bench_base as base

MB_PER_S_MIN = 1100.0  # on two cores
CPU_S_PER_GB_MAX = 1.5
PEAK_RSS_MIB_MAX = 64.0
DB_PERCENT_MAX = 15.0
QUERY_S_MAX = 1.0
OPENING_S_MAX = 0.050
REPORT_S_MAX = 5.0
# count(*) and GROUP BY name of the view slices, in CPU seconds of the plain sqlite3 shell.
SLICES_S_PER_MILLION_MAX = 0.5
# Each GB of eight ranks against a GB of one, and the 64th rank against the same trace in a new
# database: "no slower" and "about the same", with room for noise.
RANKS_OVER_ONE_MAX = 1.05
APPEND_OVER_NEW_MAX = 1.25
# Unpacking alone takes several times as much: what takes less has not unpacked the file.
UNCHANGED_PERCENT_MAX = 10.0
# Below this, starting and fsync weigh more than the load: speed is shown but not judged.
JUDGED_BYTES_MIN = 10**9

COLUMNS = ("date commit version program cpu_model cores fixture what of figure value at_least "
           "at_most").split()


class Figure(NamedTuple):
    what: str  # ingest
    of: str  # 2.5 GB
    name: str  # MB/s
    value: float
    at_least: Optional[float] = None
    at_most: Optional[float] = None

    @property
    def missed(self) -> bool:
        return ((self.at_least is not None and self.value < self.at_least) or
                (self.at_most is not None and self.value > self.at_most))


def size_name(json_bytes: int) -> str:
    return f"{json_bytes / 1e9:.4g} GB"


def median(rows, column: str) -> float:
    return statistics.median(float(row[column]) for row in rows)


def load_figures(trace: base.Trace, rows):
    """Of the runs of one trace: medians; of memory the largest."""
    judged = trace.json_bytes >= JUDGED_BYTES_MIN
    two_cores = judged and all(int(row["cores"]) >= 2 for row in rows)
    of = size_name(trace.json_bytes)
    return [
        Figure("ingest", of, "MB/s", median(rows, "mb_per_s"),
               at_least=MB_PER_S_MIN if two_cores else None),
        Figure("ingest", of, "CPU s/GB", median(rows, "cpu_s_per_gb"),
               at_most=CPU_S_PER_GB_MAX if judged else None),
        Figure("ingest", of, "MiB", max(float(row["peak_rss_mib"]) for row in rows),
               at_most=PEAK_RSS_MIB_MAX),
        Figure("ingest", of, "% of the JSON", 100 * median(rows, "db_over_json"),
               at_most=DB_PERCENT_MAX),
    ]


# ---- showing ------------------------------------------------------------------------------------


def number(value: float) -> str:
    """Three digits, or all those before the point."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.01 or value == 0 else f"{value:.4f}"


def wanted(figure: Figure) -> str:
    if figure.at_least is not None:
        return f"at least {number(figure.at_least)} {figure.name}"
    if figure.at_most is not None:
        return f"at most {number(figure.at_most)} {figure.name}"
    return ""


def verdict(group) -> str:
    missed = [figure.name for figure in group if figure.missed]
    if missed:
        return "**missed: " + ", ".join(missed) + "**"
    return "met" if any(wanted(figure) for figure in group) else ""


def table_lines(figures):
    groups = {}
    for figure in figures:
        groups.setdefault((figure.what, figure.of), []).append(figure)
    yield "| what | of | measured | wanted | |"
    yield "|---|---|---|---|---|"
    for (what, of), group in groups.items():
        measured = ", ".join(f"{number(figure.value)} {figure.name}" for figure in group)
        targets = ", ".join(wanted(figure) for figure in group if wanted(figure))
        yield f"| {what} | {of} | {measured} | {targets} | {verdict(group)} |"


def figure_row(figure: Figure, where: dict) -> dict:
    plain = lambda limit: "" if limit is None else f"{limit:g}"
    return where | {"what": figure.what, "of": figure.of, "figure": figure.name,
                    "value": f"{figure.value:.6g}", "at_least": plain(figure.at_least),
                    "at_most": plain(figure.at_most)}
