"""PyTorch profiler traces of any size into SQLite, and answers as data frames.

    import tracedb_profiler as tracedb

    db = tracedb.ingest("traces/")          # or tracedb.open("trace.db")
    db.overlap(rank=0)                      # a canned query, as a data frame
    db.query("nccl_stalls", limit=10)
    db.sql("SELECT name, dur_ns FROM kernels WHERE rank = :rank", rank=0)
    db.plot("overlap"); db.report(); db.cut(step=3)
    tracedb.compare("before.db", "after.db")

Frames are of pandas, polars or pyarrow, the first of them that is installed, else lists of named
rows. Times are integer nanoseconds (`_ns`); those of queries are milliseconds (`_ms`).
"""
from __future__ import annotations

import os

from ._compare import Comparison, compare
from ._database import Database, ingest
from ._errors import TracedbError, TracedbWarning, UsageError
from ._profiler import handler, wait_for_ingests
from ._program import program, version
from ._queries import CannedQuery, QueryDoc, queries


def open(path: "str | os.PathLike[str]", frame: "str | None" = None) -> Database:  # noqa: A001
    """The database at `path`. `frame`: what answers are: "pandas", "polars", "arrow", "rows"."""
    return Database(path, frame=frame)


__version__ = version()
__all__ = ["CannedQuery", "Comparison", "Database", "QueryDoc", "TracedbError", "TracedbWarning",
           "UsageError", "compare", "handler", "ingest", "open", "program", "queries", "version",
           "wait_for_ingests"]
