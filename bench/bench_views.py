#!/usr/bin/env python3
"""Times count(*), GROUP BY and LIMIT 20 of every public view, with the plain sqlite3 shell.

What people type first. CPU seconds, as a busy machine changes them least. As a section of
bench_all.py ("views"), or by itself on any database: bench_views.py trace.db. Standard library
only.
"""

import argparse
import csv
import pathlib
import sqlite3
import sys

import bench_base as base
import bench_figures as figures

LIMIT = 20


def public_views(program: base.Program):
    """(name, its columns), Nsight's without columns, in the order of `query --schema`."""
    listed = base.output_of([program.path, "query", "--schema", "--format", "csv"])
    views = {}
    for name, column, _ in list(csv.reader(listed.splitlines()))[1:]:
        views.setdefault(name, [])
        if column:
            views[name].append(column)
    if not views:
        raise base.BenchError(f"{program.path} query --schema: lists nothing")
    return views.items()


def group_column(db: sqlite3.Connection, view: str, columns):
    """name, or else the first column with a text in it; None where there is no text."""
    if "name" in columns:
        return "name"
    cursor = db.execute(f'SELECT * FROM "{view}" LIMIT {LIMIT}')
    rows = cursor.fetchall()
    for place, (column, *_) in enumerate(cursor.description):
        if any(isinstance(row[place], str) for row in rows):
            return column
    return None


def statements(db: sqlite3.Connection, view: str, columns):
    yield "count(*)", f'SELECT count(*) FROM "{view}"'
    column = group_column(db, view, columns)
    if column is not None:
        yield f"GROUP BY {column}", f'SELECT "{column}", count(*) FROM "{view}" GROUP BY 1'
    yield f"LIMIT {LIMIT}", f'SELECT * FROM "{view}" LIMIT {LIMIT}'


def time_view(db_path: pathlib.Path, sql: str, runs: int) -> float:
    """The least of the runs: a neighbour can only add."""
    return min(base.checked(["sqlite3", "-batch", "-readonly", db_path, sql]).cpu_s
               for _ in range(runs))


def view_figures(program: base.Program, of: str, db_path: pathlib.Path, runs: int):
    base.warm(db_path)
    db = sqlite3.connect(f"file:{db_path}?mode=ro", uri=True)
    slices = db.execute("SELECT sum(slices) FROM traces").fetchone()[0]
    print(f"\n  {'CPU s of plain sqlite3':<28}{'rows':>12}{'count(*)':>12}{'GROUP BY':>12}"
          f"{'LIMIT 20':>12}")
    for view, columns in public_views(program):
        rows = db.execute(f'SELECT count(*) FROM "{view}"').fetchone()[0]
        found = []
        for what, sql in statements(db, view, columns):
            most = None
            if view == "slices" and not what.startswith("LIMIT"):
                most = figures.SLICES_S_PER_MILLION_MAX * max(slices, 10**6) / 1e6
            found.append(figures.Figure(f"view {view}", of, f"CPU s {what}",
                                        time_view(db_path, sql, runs), at_most=most))
        shown = {figure.name.split()[2]: f"{figure.value:.3f}" for figure in found}
        print(f"  {view:<28}{rows:>12,}{shown['count(*)']:>12}{shown.get('GROUP', ''):>12}"
              f"{shown['LIMIT']:>12}", flush=True)
        yield from found
    db.close()


def main(options) -> int:
    program = base.find_program(options.program)
    where_line = base.where_line(program)
    print(where_line)
    size = sqlite3.connect(f"file:{options.database}?mode=ro", uri=True).execute(
        "SELECT sum(bytes) FROM traces").fetchone()[0]
    found = list(view_figures(program, figures.size_name(size), options.database, options.runs))
    if options.save:
        where = {"date": base.now(), "commit": program.commit, "version": program.version,
                 "program": base.shown(program.path), **base.machine(), "fixture": ""}
        base.append_csv(base.runs_path("-figures.csv"), figures.COLUMNS,
                        [figures.figure_row(figure, where) for figure in found])
    return 1 if options.check and any(figure.missed for figure in found) else 0


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("database", type=pathlib.Path)
    parser.add_argument("--program", help="tracedb (default: that of build/release)")
    parser.add_argument("--runs", type=int, default=1, help="of each; the least counts")
    parser.add_argument("--no-save", dest="save", action="store_false")
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(base.run_main("bench_views", lambda: main(parse_options())))
