"""A job's traces on a Spark cluster: executors sum up each rank's, and Spark answers across ranks.

    from tracedb_profiler import spark as tracedb

    job = tracedb.ingest(session, paths, "/shared/job1/summaries", run="job1")
    job.nccl_stall_roots()              # a canned query, as a DataFrame of Spark
    job.query("overlap", rank=[0, 1])
    tracedb.open(session, "/shared/job1/summaries")

Executors run the program `tracedb` on traces and the folder of the summaries that they and the
driver see under one path; they need nothing else of this package. What only all ranks together tell
(runs, clocks, why ranks were late) the driver works out of the summaries with `tracedb gather`.
"""
from __future__ import annotations

import functools
import os
import re
import tempfile
import warnings
from typing import (TYPE_CHECKING, Any, Dict, Iterable, List, NamedTuple, Optional, Sequence,
                    Tuple, Union)

from . import _program
from ._errors import TracedbError, TracedbWarning, UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Paths = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]
PLACES = os.path.join("gathered", "all", "job_place.parquet")


class Summary(NamedTuple):
    """What became of the traces of one rank."""
    traces: Tuple[str, ...]
    run: str
    rank: Optional[int]  # None: it failed
    host: str            # of the executor
    text: str            # what the program said


class Job:
    """Gathered summaries in a folder; its canned queries are methods too."""

    def __init__(self, session: "SparkSession", folder: "Union[str, os.PathLike[str]]",
                 summaries: Sequence[Summary] = ()) -> None:
        self.session = session
        self.folder = os.path.abspath(os.fspath(folder))
        self.summaries = list(summaries)

    @property
    def failed(self) -> List[Summary]:
        """Ranks whose traces could not be read when this was ingested."""
        return [summary for summary in self.summaries if summary.rank is None]

    def queries(self) -> Dict[str, str]:
        """The names of the canned queries that Spark can answer, and what they ask."""
        return dict(_titles())

    def sql(self, name: str, **params: Any) -> str:
        """What `query` runs: one statement over the files."""
        given = [text for key, value in params.items()
                 for text in ("-p", f"{key}={_program.value_text(value)}")]
        return _program.output("export", "--sql", "spark", name, "--shards", self.folder, *given)

    def query(self, name: str, **params: Any) -> "DataFrame":
        """The answer of a canned query; parameters as `tracedb query` has them."""
        return self.session.sql(self.sql(name, **params))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in _titles():
            raise AttributeError(f"Spark has no query {name!r}; queries() says which it has")
        return functools.partial(self.query, name)

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__(), *_titles()})

    def gather(self, database: "Optional[Union[str, os.PathLike[str]]]" = None) -> "Job":
        """Works out anew what all summaries tell together. `database`: kept, as SQLite."""
        with tempfile.TemporaryDirectory(prefix="tracedb-gather-") as scratch:
            target = os.fspath(database) if database else os.path.join(scratch, "job.db")
            before = _stamp(os.path.join(self.folder, PLACES))
            try:
                _program.output("-q", "gather", self.folder, "-o", target)
            except TracedbError as error:
                # Ranks that are missing are named, and the others are there.
                if error.exit_code != 1 or _stamp(os.path.join(self.folder, PLACES)) == before:
                    raise
                warnings.warn(error.text, TracedbWarning, stacklevel=2)
        if _stamp(os.path.join(self.folder, PLACES)) == before:
            raise TracedbError(f"{self.folder}: cannot be written: Spark needs there what all "
                               "ranks tell together")
        return self


@functools.lru_cache(maxsize=1)
def _titles() -> "dict[str, str]":
    lines = _program.output("export", "--sql", "spark").splitlines()
    return {line.split(None, 1)[0]: line.split(None, 1)[1] for line in lines}


def _stamp(path: str) -> "Optional[Tuple[int, int]]":
    """Of a file that is written anew each time."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _by_rank(traces: Iterable[Paths]) -> List[List[str]]:
    """One task for each rank: all traces of one whose names tell it, and of each list."""
    tasks: List[List[str]] = []
    known: Dict[str, List[str]] = {}
    for given in traces:
        if not isinstance(given, (str, os.PathLike)):
            tasks.append([os.fspath(path) for path in given])
            continue
        path = os.fspath(given)
        rank = re.search(r"rank[-_\[ ]?(\d+)", os.path.basename(path), re.IGNORECASE)
        if rank is None:
            tasks.append([path])
        elif rank[1] in known:
            known[rank[1]].append(path)
        else:
            known[rank[1]] = [path]
            tasks.append(known[rank[1]])
    return tasks


def _ingest_task(options: "dict[str, Any]") -> Any:
    """A function that an executor can run: it needs nothing of this package."""

    def ingest_rank(paths: List[str]) -> "Tuple[Tuple[str, ...], str, Optional[int], str, str]":
        import json
        import os
        import shutil
        import socket
        import subprocess
        import tempfile

        host = socket.gethostname()
        program = (options["program"] or os.environ.get("TRACEDB_PROGRAM")
                   or shutil.which("tracedb"))
        if not program:
            return tuple(paths), "", None, host, "there is no program `tracedb` on this executor"
        # Who this process is in a job of another kind is not the rank of a trace.
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("SLURM_", "OMPI_", "PMI_", "PMIX_", "MPI_"))
                       and key not in ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "TRACEDB_DB")}
        with tempfile.TemporaryDirectory(prefix="tracedb-rank-", dir=options["scratch"]) as scratch:
            command = [program, "-q", "ingest", "--format", "json", "--shard", options["folder"],
                       "--shard-inputs", "all", "--db", os.path.join(scratch, "rank.db")]
            for name in ("run", "memory"):
                if options[name]:
                    command += ["--" + name, str(options[name])]
            try:
                done = subprocess.run([*command, "--", *paths], env=environment,
                                      stdin=subprocess.DEVNULL, capture_output=True)
            except OSError as error:
                return tuple(paths), "", None, host, f"{program}: {error.strerror}"
        said = done.stderr.decode("utf-8", "replace").strip()
        if done.returncode != 0:
            return tuple(paths), "", None, host, said or f"ended with {done.returncode}"
        told = json.loads(done.stdout)
        ranks = {trace["rank"] for trace in told["traces"] if not trace["skipped"]}
        if len(ranks) != 1:
            return tuple(paths), "", None, host, f"traces of several ranks: {sorted(ranks)}"
        return tuple(paths), told["runs"][0]["run"], ranks.pop(), host, said

    return ingest_rank


def _check_ranks(summaries: Sequence[Summary]) -> None:
    """A rank that comes twice has replaced its own summary."""
    known: Dict[Tuple[str, int], Summary] = {}
    for summary in summaries:
        if summary.rank is None:
            continue
        other = known.setdefault((summary.run, summary.rank), summary)
        if other is not summary:
            raise UsageError(f"{other.traces[0]} and {summary.traces[0]} are both of rank "
                             f"{summary.rank}, and one has replaced the other's summary\n"
                             "  give the traces of one rank as one list: [[first, second], ...]", 2)


def ingest(session: "SparkSession", traces: Iterable[Paths],
           folder: "Union[str, os.PathLike[str]]", run: "Optional[str]" = None, *,
           database: "Optional[Union[str, os.PathLike[str]]]" = None,
           program: "Optional[str]" = None, memory: "Optional[str]" = None,
           scratch: "Optional[str]" = None, tasks: "Optional[int]" = None) -> Job:
    """Sums up the traces on the executors, gathers the summaries, and gives the job.

    traces: paths as executors see them; those of one rank (several captures) go to one executor:
      told by their names, or given as a list. run: all are of this one; without it each folder of
      traces is a run. folder: of the summaries. database: what is gathered is kept there, as
      SQLite. program, memory, scratch: on executors, the program, its --memory and where the
      databases of ranks are made, which go again. tasks: how many ranks at a time; default: as
      many as Spark has cores for.

    Ranks that cannot be read are in `failed` of the job, and a warning names them.
    """
    ranks = _by_rank(traces)
    if not ranks:
        raise UsageError("there is no trace to ingest", 2)
    options = {"folder": os.path.abspath(os.fspath(folder)), "run": run, "program": program,
               "memory": memory, "scratch": scratch}
    context = session.sparkContext
    # A rank a partition: one that takes long holds up none that waits behind it.
    spread = context.parallelize(ranks, min(len(ranks), tasks) if tasks else len(ranks))
    done = [Summary(*each) for each in spread.map(_ingest_task(options)).collect()]
    job = Job(session, folder, done)
    if len(job.failed) == len(done):
        raise TracedbError(f"no trace could be read; the first: {done[0].traces[0]}: "
                           f"{done[0].text}")
    _check_ranks(done)
    if job.failed:
        named = "; ".join(f"{each.traces[0]}: {each.text}" for each in job.failed[:3])
        warnings.warn(f"{len(job.failed)} of {len(done)} ranks could not be read: {named}",
                      TracedbWarning, stacklevel=2)
    return job.gather(database)


def open(session: "SparkSession", folder: "Union[str, os.PathLike[str]]") -> Job:  # noqa: A001
    """Summaries that are there: of `tracedb ingest --shard`; gathered where they were not."""
    job = Job(session, folder)
    return job if os.path.exists(os.path.join(job.folder, PLACES)) else job.gather()
