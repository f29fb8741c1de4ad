#!/usr/bin/env python3
"""tracedb_profiler with what is installed beside it: types of frames, plots, a million rows.

    frames_test.py [--only NAME...] [--speed TRACE]

Run by the Python to be tested, in which the wheel is installed (or with $TRACEDB_PROGRAM and
PYTHONPATH). What is not installed is named as skipped; with TRACEDB_CLIENTS=all that is a failure.
"""
import argparse
import importlib.util
import os
import sys
import tempfile
import time
import warnings

import tracedb_profiler

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "fixtures")
FIRST = "SELECT ts_ns FROM kernels ORDER BY ts_ns LIMIT 1"
# A column of each type, with NULLs; one whose values are of several.
TYPES = ("SELECT * FROM (SELECT 1700000000123456789 AS t, 1700000000123456789 AS i, 0.5 AS r, "
         "'k' AS s, 1 AS mixed UNION ALL SELECT 1700000000123456790, NULL, NULL, NULL, 'x')")
LATE = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000) "
        "SELECT i, iif(i < 70000, i, 'x') AS late FROM n")


class Skipped(Exception):
    pass


def need(module):
    if importlib.util.find_spec(module) is None:
        raise Skipped(f"there is no {module}")


def pandas_frames(db):
    need("pandas")
    import pandas

    frame = db.sql(TYPES, frame="pandas")
    assert frame["t"].dtype == "int64" and frame["t"][1] == 1700000000123456790, frame.dtypes
    assert frame["i"].dtype == "Int64" and frame["i"][0] == 1700000000123456789
    assert frame["i"][1] is pandas.NA
    assert frame["r"].dtype == "float64" and frame["r"].isna().tolist() == [False, True]
    assert isinstance(frame["s"].dtype, pandas.CategoricalDtype), frame.dtypes
    assert frame["mixed"].tolist() == ["1", "x"]
    overlap = db.overlap(frame="pandas")
    assert isinstance(overlap, pandas.DataFrame) and len(overlap) == 8
    assert isinstance(overlap["device"].dtype, pandas.CategoricalDtype)
    parts = overlap.compute_ms + overlap.exposed_comm_ms + overlap.exposed_memory_ms
    assert ((parts + overlap.idle_ms - overlap.span_ms).abs() < 1e-9).all()
    late = db.sql(LATE, frame="pandas")
    assert late["i"].dtype == "int64" and late["late"].iloc[-2:].tolist() == ["69999", "x"]
    none = db.query("overlap", frame="pandas", run="megatron", rank=[0], capture=9)
    assert list(none.columns) == list(overlap.columns) and none.empty


def polars_frames(db):
    need("polars")
    import polars

    frame = db.sql(TYPES, frame="polars")
    assert frame.schema["t"] == polars.Int64 and frame["t"][1] == 1700000000123456790
    assert frame["i"].to_list() == [1700000000123456789, None]
    assert frame.schema["r"] == polars.Float64 and frame.schema["s"] == polars.Categorical
    assert frame["mixed"].to_list() == ["1", "x"]
    assert isinstance(db.overlap(frame="polars"), polars.DataFrame)
    late = db.sql(LATE, frame="polars")
    assert late.schema["i"] == polars.Int64 and late["late"].to_list()[-2:] == ["69999", "x"]


def arrow_tables(db):
    need("pyarrow")
    import pyarrow

    table = db.sql(TYPES, frame="arrow")
    assert table.schema.field("t").type == pyarrow.int64(), table.schema
    assert table["i"].to_pylist() == [1700000000123456789, None]
    assert pyarrow.types.is_dictionary(table.schema.field("s").type), table.schema
    assert db.sql(LATE, frame="arrow")["late"].to_pylist()[-2:] == ["69999", "x"]
    table.validate(full=True)
    # Every view, whole: what is written can be read.
    for name in sorted({row.table for row in db.schema(frame="rows")}):
        db.table(name, limit=2000, frame="arrow").validate(full=True)


def all_frames_agree(db):
    want = db.sql(FIRST, frame="rows")[0].ts_ns
    for frame, module in (("pandas", "pandas"), ("polars", "polars"), ("arrow", "pyarrow")):
        if importlib.util.find_spec(module) is None:
            continue
        got = db.sql(FIRST, frame=frame)["ts_ns"]
        assert (got.to_pylist() if frame == "arrow" else got.to_list()) == [want], frame


def the_default_is_what_is_installed(db):
    from tracedb_profiler import _frames

    there = [name for name, module in (("pandas", "pandas"), ("polars", "polars"),
                                       ("arrow", "pyarrow")) if importlib.util.find_spec(module)]
    assert _frames.chosen_frame(None) == (there + ["rows"])[0]
    assert type(db.overlap()) is type(db.overlap(frame=(there + ["rows"])[0]))


def every_query_is_drawn(db, backend):
    drawn = 0
    for name, doc in tracedb_profiler.queries().items():
        if doc.plot is None or any(param.required for param in doc.params):
            continue
        chart = db.plot(name, backend=backend)
        drawn += 1
        if backend == "altair":
            chart.to_dict()
        else:
            chart.savefig(os.devnull, format="png")
    assert drawn > 30, drawn
    try:
        db.plot("hang", backend=backend)
    except tracedb_profiler.UsageError as error:
        assert "hang" in str(error)
    else:
        raise AssertionError("a query without a plot was drawn")


def drawn_by_altair(chart):
    (values,) = chart.to_dict()["datasets"].values()
    return values


def altair_draws(db):
    need("altair")
    every_query_is_drawn(db, "altair")
    values = drawn_by_altair(db.plot("overlap", backend="altair"))
    idle = [item["value"] for item in values if item["column"] == "idle_ms"]
    assert idle == [row.idle_ms for row in db.overlap(frame="rows")]
    assert values[0]["name"] == "rank 0, device 0", values[0]  # the run is the same in all
    # Each row has a bar, also of kernels whose names begin and end alike.
    values = drawn_by_altair(db.plot("kernels_top", backend="altair"))
    assert len({item["name"] for item in values}) == len(values) > 20
    assert max(len(item["name"]) for item in values) < 70


def matplotlib_draws(db):
    need("matplotlib")
    every_query_is_drawn(db, "matplotlib")
    axes = db.plot("overlap", backend="matplotlib").axes[0]
    widths = [round(bar.get_width(), 6) for bar in axes.containers[-1]]
    assert widths == [round(row.idle_ms, 6) for row in db.overlap(frame="rows")]


CHECKS = (pandas_frames, polars_frames, arrow_tables, all_frames_agree,
          the_default_is_what_is_installed, altair_draws, matplotlib_draws)


def a_million_rows(trace, folder):
    """In processor time of both sides; they run side by side, so by the clock it is less. The least
    of five: the first also imports, and what runs beside it on a shared core only adds."""
    need("pyarrow")
    db = tracedb_profiler.ingest(trace, db=os.path.join(folder, "speed.db"), frame="arrow")
    sql = "SELECT slice_id, name, ts_ns, dur_ns FROM slices LIMIT 1000000"
    runs = []
    for _ in range(5):
        before, begin = sum(os.times()[:4]), time.monotonic()
        table = db.sql(sql)
        runs.append((sum(os.times()[:4]) - before, time.monotonic() - begin))
    seconds, wall = min(runs)
    assert table.num_rows == 1_000_000, table.num_rows
    print(f"     a million rows to Arrow: {seconds:.2f} s of a processor, "
          f"{wall:.2f} s by the clock")
    assert seconds < 1, seconds


def main():
    parser = argparse.ArgumentParser(description="Test frames of the Python module.")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--speed")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tracedb-frames-") as folder:
        db = tracedb_profiler.ingest(os.path.join(FIXTURES, "megatron"),
                                     db=os.path.join(folder, "job.db"))
        warnings.simplefilter("ignore", tracedb_profiler.TracedbWarning)  # queries without rows
        for check in CHECKS:
            if options.only and check.__name__ not in options.only:
                continue
            try:
                check(db)
                print(f"ok   {check.__name__}", flush=True)
            except Skipped as skipped:
                failed += os.environ.get("TRACEDB_CLIENTS") == "all"
                print(f"skip {check.__name__}: {skipped}", flush=True)
        if options.speed:
            a_million_rows(options.speed, folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
