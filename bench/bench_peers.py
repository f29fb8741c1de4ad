#!/usr/bin/env python3
"""Loads one made trace with tracedb and with what people use instead, side by side in one run.

Peers: Python's json + sqlite3, DuckDB (module or command line), trace_processor_shell in PATH. One
that is absent is listed as such. What each does and does not do: bench/README.md. Standard library
only; DuckDB's module is used where the Python that runs this has it.
"""

import argparse
import datetime
import importlib.util
import os
import pathlib
import shutil
import sys
from typing import NamedTuple, Optional

import bench_base as base
import bench_figures as figures

COLUMNS = ("date commit cpu_model cores fixture json_bytes gz_bytes events peer peer_version round "
           "result wall_s cpu_s mb_per_s cpu_s_per_gb peak_rss_mib db_bytes db_over_json").split()
SHOWN = ("mb_per_s", "wall_s", "cpu_s", "peak_rss_mib", "db_bytes", "db_over_json")


class Peer(NamedTuple):
    name: str
    version: str
    command: Optional[list]  # None: not installed; else to be run with {trace} and {db} filled in


# ---- the naive peer -----------------------------------------------------------------------------


def load_json_sqlite(trace: str, db: str) -> None:
    """What one writes in ten minutes: the whole file in memory, one table, args as text."""
    import gzip
    import json
    import sqlite3
    with gzip.open(trace, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    connection = sqlite3.connect(db)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("CREATE TABLE events (ph TEXT, cat TEXT, name TEXT, pid, tid, ts REAL, "
                       "dur REAL, flow_id, args TEXT)")
    connection.executemany(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((e.get("ph"), e.get("cat"), e.get("name"), e.get("pid"), e.get("tid"), e.get("ts"),
          e.get("dur"), e.get("id"), json.dumps(e["args"]) if "args" in e else None)
         for e in events))
    connection.commit()
    connection.close()


# ---- DuckDB -------------------------------------------------------------------------------------


def duckdb_sql(trace: str, json_bytes: int) -> str:
    """All events into one table, times exact, args kept as JSON. The array is one JSON object to
    DuckDB, so its limit for an object is raised to the file's size."""
    event = ('STRUCT(ph VARCHAR, cat VARCHAR, "name" VARCHAR, pid JSON, tid JSON, '
             'ts DECIMAL(22, 3), dur DECIMAL(22, 3), id JSON, bp VARCHAR, s VARCHAR, args JSON)[]')
    path = trace.replace("'", "''")
    return ("SET preserve_insertion_order = false; "
            "CREATE TABLE events AS SELECT unnest(event) FROM (SELECT unnest(traceEvents) AS event "
            f"FROM read_json('{path}', format = 'unstructured', "
            f"maximum_object_size = {json_bytes + 4096}, "
            f"columns = {{traceEvents: '{event}'}}));")


def load_duckdb(trace: str, db: str, json_bytes: int) -> None:
    import duckdb  # pylint: disable=import-error
    connection = duckdb.connect(db)
    connection.execute(duckdb_sql(trace, json_bytes))
    connection.close()


# ---- who is there -------------------------------------------------------------------------------


def this_script(action: str, *more) -> list:
    return [sys.executable, pathlib.Path(__file__).resolve(), action, "{trace}", "{db}", *more]


def duckdb_peer(trace: base.Trace) -> Peer:
    if importlib.util.find_spec("duckdb"):
        version = base.output_of([sys.executable, "-c", "import duckdb; print(duckdb.__version__)"])
        return Peer("DuckDB (module)", version, this_script("--load-duckdb", trace.json_bytes))
    if shutil.which("duckdb"):
        command = ["duckdb", "{db}", "-c", duckdb_sql(str(trace.path), trace.json_bytes)]
        return Peer("DuckDB (command)", base.output_of(["duckdb", "--version"]), command)
    return Peer("DuckDB", "", None)


def trace_processor_peer() -> Peer:
    shell = "trace_processor_shell"
    if not shutil.which(shell):
        return Peer(shell, "", None)
    version = base.output_of([shell, "--version"]).split("\n")[0]
    return Peer(shell, version, [shell, "-e", "{db}", "{trace}"])


def find_peers(program: base.Program, trace: base.Trace):
    python = ".".join(map(str, sys.version_info[:3]))
    return [
        Peer("tracedb", program.version, [program.path, "ingest", "{trace}", "--db", "{db}", "-q"]),
        Peer("Python json + sqlite3", python, this_script("--load-json-sqlite")),
        duckdb_peer(trace),
        trace_processor_peer(),
    ]


# ---- the bench ----------------------------------------------------------------------------------


def run_peer(peer: Peer, trace: base.Trace, db: pathlib.Path, timeout_s: float) -> dict:
    row = {"peer": peer.name, "peer_version": peer.version}
    if peer.command is None:
        return row | {"result": "not installed"}
    base.remove_database(db)
    os.sync()
    words = {"{trace}": trace.path, "{db}": db}
    measure = base.run_measured([words.get(word, word) for word in peer.command], timeout_s)
    if measure.exit_code != 0:
        base.say(f"{peer.name}: exit code {measure.exit_code}\n{measure.stderr[-1000:]}")
        return row | {"result": f"exit code {measure.exit_code}"}
    if not db.is_file():
        return row | {"result": "left no database"}
    gigabytes = trace.json_bytes / 1e9
    size = db.stat().st_size
    return row | {
        "result": "ok", "wall_s": f"{measure.wall_s:.3f}", "cpu_s": f"{measure.cpu_s:.3f}",
        "mb_per_s": f"{gigabytes * 1000 / measure.wall_s:.1f}",
        "cpu_s_per_gb": f"{measure.cpu_s / gigabytes:.3f}",
        "peak_rss_mib": f"{measure.peak_rss_mib:.1f}",
        "db_bytes": size, "db_over_json": f"{size / trace.json_bytes:.4f}",
    }


def print_row(cells) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def run_rounds(peers, trace: base.Trace, db: pathlib.Path, rounds: int, timeout_s: float):
    """Round by round, so that a slow minute of the machine falls on all of them."""
    base.need_space(db.parent, 2 * trace.json_bytes + 10**8, "a peer's database")
    base.warm(trace.path)
    where = {"commit": base.commit(), **base.machine(), "fixture": trace.fixture,
             "json_bytes": trace.json_bytes, "gz_bytes": trace.gz_bytes, "events": trace.events}
    print_row(["peer", "version", "round", "result", *SHOWN])
    print_row(["---"] * 4 + ["---:"] * len(SHOWN))
    rows = []
    try:
        for number in range(1, rounds + 1):
            for peer in peers:
                row = where | {"date": base.now(), "round": number}
                row |= run_peer(peer, trace, db, timeout_s)
                rows.append(row)
                print_row([row["peer"], row["peer_version"], number, row["result"],
                           *(row.get(column, "") for column in SHOWN)])
    finally:
        base.remove_database(db)
    return rows


def peer_figures(trace: base.Trace, rows):
    """Each peer against tracedb in the same rounds."""
    good = {}
    for row in rows:
        if row["result"] == "ok":
            good.setdefault(row["peer"], []).append(row)
    own = good.get("tracedb")
    for peer, theirs in good.items():
        if own is None or peer == "tracedb":
            continue
        of = f"{theirs[0]['peer_version']}, {figures.size_name(trace.json_bytes)}"
        ratio = lambda column: figures.median(theirs, column) / figures.median(own, column)
        yield figures.Figure(f"peer: {peer}", of, "MB/s", figures.median(theirs, "mb_per_s"))
        yield figures.Figure(f"peer: {peer}", of, "x tracedb's time", ratio("wall_s"))
        yield figures.Figure(f"peer: {peer}", of, "x its CPU", ratio("cpu_s"))
        yield figures.Figure(f"peer: {peer}", of, "x its memory", ratio("peak_rss_mib"))
        yield figures.Figure(f"peer: {peer}", of, "x its database", ratio("db_bytes"))


def runs_path() -> pathlib.Path:
    return base.RUNS / f"peers-{datetime.date.today().isoformat()}.csv"


def bench(options) -> int:
    fixture = base.find_fixture(options.fixture)
    trace = base.ensure_trace(fixture, base.parse_size(options.size), options.cache, options.maker)
    program = base.find_program(options.program)
    base.use_cores(options.cpus)
    print(base.where_line(program))
    print(f"{trace.json_bytes / 1e6:.1f} MB of JSON, {trace.events} events\n")
    rows = run_rounds(find_peers(program, trace), trace,
                      options.cache / f"peers-{os.getpid()}.db", options.runs, options.timeout)
    if options.save:
        base.append_csv(runs_path(), COLUMNS, rows)
    # tracedb is what is measured here; a peer that fails is a line of the table.
    return 0 if all(row["result"] == "ok" for row in rows if row["peer"] == "tracedb") else 1


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", help="tracedb to measure (default: that of build/release)")
    parser.add_argument("--size", default="0.2G", help="of JSON (default: 0.2G)")
    parser.add_argument("--runs", type=int, default=1, help="rounds (default: 1)")
    parser.add_argument("--timeout", type=float, default=900, metavar="S",
                        help="seconds for one load (default: 900)")
    parser.add_argument("--cpus", type=int, help="use the first N cores only")
    parser.add_argument("--fixture", help="a trace as Kineto prints it: .json, .json.gz, .json.xz")
    parser.add_argument("--maker", help="make_trace (default: built where needed)")
    parser.add_argument("--cache", type=base.folder_path, default=base.CACHE,
                        help="folder of made traces and databases (default: %(default)s)")
    parser.add_argument("--no-save", dest="save", action="store_false",
                        help="write nothing to bench/runs")
    return parser.parse_args()


def main() -> int:
    # The script runs itself as the peers that are Python, so that they are measured as processes.
    if len(sys.argv) == 4 and sys.argv[1] == "--load-json-sqlite":
        load_json_sqlite(*sys.argv[2:])
        return 0
    if len(sys.argv) == 5 and sys.argv[1] == "--load-duckdb":
        load_duckdb(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        return 0
    return base.run_main("bench_peers", lambda: bench(parse_options()))


if __name__ == "__main__":
    sys.exit(main())
