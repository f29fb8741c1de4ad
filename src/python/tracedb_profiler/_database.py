"""A database: queries and SQL as frames, plots, the report, cuts."""
from __future__ import annotations

import difflib
import json
import os
from typing import Any, Dict, List, Optional, Union

from ._errors import TracedbError
from ._frames import chosen_frame, from_ndjson, read_frame, stream_format
from ._pages import Cut, Report
from ._program import option_texts, output, run, value_text
from ._queries import CannedQuery, find, queries
from ._sql import with_values

Path = Union[str, "os.PathLike[str]"]
# What Arrow's columns cannot hold, as the program says it.
_MIXED_COLUMN = "has another type in row"
# A text that is longer goes to standard input: Linux takes 128 KiB for one argument.
_ARGUMENT_BYTES_MAX = 100_000


def default_path() -> str:
    return os.environ.get("TRACEDB_DB") or "trace.db"


def ingest(*inputs: Path, db: Optional[Path] = None, frame: Optional[str] = None,
           rank: Optional[int] = None, run: Optional[str] = None, replace: bool = False,
           strict: bool = False, memory: Optional[str] = None, threads: Optional[int] = None,
           jobs: Optional[int] = None, args: Optional[str] = None, keep: Optional[str] = None,
           tz: Optional[str] = None) -> "Database":
    """Reads traces, and what else a job leaves, into a database, and opens it.

    inputs: files and folders, plain, gzip or zstd. db: the database, $TRACEDB_DB or trace.db where
    it is not given; traces that are in it already are skipped. The other options are those of
    `tracedb ingest`; what was read is in the result's `ingested`.
    """
    if not inputs:
        raise TypeError("ingest() wants a file or a folder")
    path = os.fspath(db) if db is not None else default_path()
    options = option_texts({"rank": rank, "run": run, "replace": replace, "strict": strict,
                            "memory": memory, "threads": threads, "jobs": jobs, "args": args,
                            "keep": keep, "tz": tz})
    said = output("--db", path, "ingest", "--format=json", *options, "--",
                  *(os.fspath(each) for each in inputs))
    database = Database(path, frame=frame)
    database.ingested = json.loads(said)
    return database


class Database:
    """A trace database. Every canned query is a method of it: `db.overlap(rank=0)`.

    frame: what answers are: "pandas", "polars", "arrow" or "rows"; None: the first that is
    installed.
    """

    #: What `ingest` has read: runs, traces, sources.
    ingested: Dict[str, Any]

    def __init__(self, path: Optional[Path] = None, frame: Optional[str] = None) -> None:
        self.path = os.path.abspath(os.fspath(path) if path is not None else default_path())
        self.frame = frame
        self.ingested = {}
        chosen_frame(frame)
        if not os.path.exists(self.path):
            # The program says what is to be done.
            output("--db", self.path, "info", "--format=json")
            raise TracedbError(f"{self.path}: there is no such file")

    # --- Answers ---------------------------------------------------------------------------

    def query(self, name: str, /, *, frame: Optional[str] = None, **params: Any) -> Any:
        """The rows of a canned query. Parameters are the query's: `rank=0`, `rank=[0, 3]`,
        `limit=10`, `run="job"`; None is null. See tracedb_profiler.queries()."""
        doc = find(name)
        given = [text for key, value in params.items()
                 for text in ("-p", f"{key}={value_text(value)}")]
        return self._rows([doc.name, *given], frame, doc.columns)

    def sql(self, sql: str, /, *, frame: Optional[str] = None, **params: Any) -> Any:
        """The rows of your own SQL. `:name` in it takes the keyword argument of that name, a list
        where the SQL has `IN :name`. The program's functions are there: busy_ns, overlap_ns ..."""
        text = with_values(sql, params)
        if len(text.encode("utf-8", "replace")) > _ARGUMENT_BYTES_MAX:
            return self._rows(["-"], frame, None, text)
        return self._rows([f"--command={text}"], frame, None)

    def table(self, name: str, limit: Optional[int] = None, frame: Optional[str] = None) -> Any:
        """The rows of a table or view, all of them where there is no limit."""
        quoted = '"' + name.replace('"', '""') + '"'
        return self.sql(f"SELECT * FROM {quoted} LIMIT {-1 if limit is None else int(limit)}",
                        frame=frame)

    def __getitem__(self, name: str) -> Any:
        """As table(): db["kernels"]."""
        if not isinstance(name, str):
            raise KeyError(name)
        return self.table(name)

    def _rows(self, arguments: List[str], frame: Optional[str], columns: Any,
              text_in: Optional[str] = None) -> Any:
        wanted = chosen_frame(frame or self.frame)
        command = ["--db", self.path, "query", *arguments]
        try:
            return run([*command, f"--format={stream_format(wanted)}"],
                       lambda out: read_frame(out, wanted, columns), text_in)
        except TracedbError as error:
            if _MIXED_COLUMN not in error.text:
                raise
        return run([*command, "--format=ndjson"],
                   lambda out: from_ndjson(out, wanted, columns), text_in)

    # --- Names -----------------------------------------------------------------------------

    def __getattr__(self, name: str) -> CannedQuery:
        if name.startswith("_"):
            raise AttributeError(name)
        doc = queries().get(name)
        if doc is None:
            near = difflib.get_close_matches(name, dir(self), 2)
            advice = f"did you mean {' or '.join(near)}? " if near else ""
            raise AttributeError(f"a Database has no {name!r}, and no query is called so; "
                                 f"{advice}tracedb_profiler.queries() has them all")
        return CannedQuery(self, doc)

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *queries()})

    def _ipython_key_completions_(self) -> List[str]:
        return sorted({row[0] for row in self.schema(frame="rows")})

    def schema(self, frame: Optional[str] = None) -> Any:
        """Every table, view and column that SQL may name, and what it means."""
        wanted = chosen_frame(frame or self.frame)
        return run(["query", "--schema", f"--format={stream_format(wanted)}"],
                   lambda out: read_frame(out, wanted, None))

    # --- More than rows --------------------------------------------------------------------

    def info(self) -> Any:
        """What is in the database: its traces."""
        return self.query("info_traces")

    def doctor(self) -> Dict[str, Any]:
        """What is suspicious in the data: findings, notes and all checks."""
        said: Dict[str, Any] = json.loads(
            output("--db", self.path, "doctor", "--format=json", may_exit=(0, 4)))
        return said

    def plot(self, name: str, /, *, backend: Optional[str] = None, **params: Any) -> Any:
        """Draws a query as its header says: a chart of altair, or a figure of matplotlib.

        backend: "altair" or "matplotlib"; None: the first that is installed."""
        from ._plot import draw

        doc = find(name)
        return draw(doc, lambda: self.query(name, frame="rows", **params), backend)

    def report(self, run: Optional[str] = None, capture: Optional[int] = None) -> Report:
        """The page of `tracedb report`, shown inline in a notebook; `.save(path)` keeps it."""
        return Report(output("--db", self.path, "report", "-o", "-", "-q",
                             *option_texts({"run": run, "capture": capture})))

    def cut(self, path: Optional[Path] = None, *, force: bool = False,
            step: Union[int, str, None] = None, start: Union[int, str, None] = None,
            end: Union[int, str, None] = None, rank: Any = None, stream: Any = None,
            category: Any = None, slowest_collective: bool = False, around: Optional[str] = None,
            margin: Optional[str] = None, run: Optional[str] = None,
            capture: Optional[int] = None, clip: bool = False, incoming: bool = False,
            critical_path: bool = False, max_events: Optional[int] = None) -> Cut:
        """A window of the database as a trace: in a notebook with a button that opens it in
        Perfetto's page, elsewhere `.open()` does. Options are those of `tracedb cut`; without
        `path` the file is a temporary one."""
        options = option_texts({
            "step": step, "start": start, "end": end, "rank": rank, "stream": stream,
            "category": category, "slowest_collective": slowest_collective, "around": around,
            "margin": margin, "run": run, "capture": capture, "clip": clip,
            "incoming": incoming, "critical_path": critical_path, "max_events": max_events,
            "force": force})
        cut = Cut(None if path is None else os.fspath(path))
        output("--db", self.path, "cut", "-o", cut.path, "-q", *options)
        return cut

    def __repr__(self) -> str:
        return f"<trace database {self.path}>"

    def _repr_html_(self) -> str:
        import html

        runs = self.query("info_runs", frame="rows")
        return f"<p><code>{html.escape(self.path)}</code></p>{runs._repr_html_()}"
