#!/usr/bin/env python3
"""Parquet files beside other readers of them: pyarrow, DuckDB and polars read every summary and
every answer, and say what the databases say. Exit 77 where none is installed."""
import argparse
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

try:
    import pyarrow.parquet as parquet
except ImportError:
    parquet = None
try:
    import duckdb
except ImportError:
    duckdb = None
try:
    import polars
except ImportError:
    polars = None

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures"
SKIPPED = 77
# Tables whose rows go into a summary as they are, one a row.
AS_THEY_ARE = ("step", "device_use", "stream_use", "step_use", "host_use", "kernel_use", "track",
               "process", "thread")


def make(program, folder, name, ranks):
    for rank in range(ranks):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks))
        subprocess.run([program, "-q", "ingest", "--shard", folder / "out", "--run", name, "--db",
                        folder / f"{name}.{{rank}}.db", FIXTURES / name], env=environment,
                       check=True)


def rows_of(database, table, columns):
    with sqlite3.connect(database) as db:
        names = ", ".join(f'"{column}"' for column in columns)
        return sorted(db.execute(f"SELECT {names} FROM _{table}").fetchall(), key=repr)


def values_of(table, column):
    """Texts in a column of integers, as odd traces have, are in a column beside it."""
    values = table[column].to_pylist()
    if f"{column}.text" not in table.column_names:
        return values
    odd = table[f"{column}.text"].to_pylist()
    return [value if text is None else text for value, text in zip(values, odd)]


def check_pyarrow(folder, name, ranks):
    files = 0
    for rank in range(ranks):
        place = folder / "out" / f"run={name}" / f"rank={rank}"
        for path in sorted(place.glob("*.parquet")):
            table = parquet.read_table(path, partitioning=None)
            files += 1
            if path.stem not in AS_THEY_ARE:
                continue
            columns = [column for column in table.column_names if "." not in column]
            got = sorted(zip(*(values_of(table, column) for column in columns)), key=repr)
            wanted = rows_of(folder / f"{name}.{rank}.db", path.stem, columns)
            if got != wanted:
                sys.exit(f"{path}: {got[:2]} ..., and the database has {wanted[:2]} ...")
    return files


def check_duckdb(folder, name, ranks):
    source = folder / "out" / f"run={name}" / "rank=*" / "collective_part.parquet"
    got = duckdb.sql(f"SELECT run, rank, count(*), sum(dur_ns), min(ts_ns), max(ts_ns), "
                     f"count(DISTINCT collective) FROM read_parquet('{source}', "
                     f"hive_partitioning = true) GROUP BY ALL ORDER BY rank").fetchall()
    for rank in range(ranks):
        with sqlite3.connect(folder / f"{name}.{rank}.db") as db:
            wanted = db.execute("SELECT count(*), sum(dur_ns), min(ts_ns), max(ts_ns), "
                                "count(DISTINCT collective) FROM _collective_part").fetchone()
        if tuple(got[rank]) != (name, rank, *wanted):
            sys.exit(f"DuckDB: {got[rank]}, and the database of rank {rank} has {wanted}")
    rows = 0
    for path in (folder / "out" / f"run={name}" / "rank=0").glob("*.parquet"):
        found = duckdb.sql(f"SELECT * FROM read_parquet('{path}', hive_partitioning = false)")
        rows += len(found.fetchall())
    return rows


# Of every type, with NULLs, texts that repeat and that do not, and more than a row group of rows.
MANY = ("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 150000) "
        "SELECT i AS number, iif(i % 3 = 0, NULL, i * 1000003 - 5) AS some, i / 8.0 AS real, "
        "'kernel ' || (i * i % 97) AS few, 'ä ' || i AS distinct_text, "
        "iif(i < 100000, NULL, i) AS late, NULL AS never, 7 AS same FROM n")


def wanted_rows(program, database, question):
    """By ndjson, which keeps types: names, and the rows of values."""
    done = subprocess.run([program, "-q", "--db", database, "query", *question, "--format",
                           "ndjson"], capture_output=True, check=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [tuple(row.values()) for row in rows]


def same(got, wanted):
    """A column of texts has numbers as texts: a device may be called 0 or 0x0."""
    return len(got) == len(wanted) and all(
        one == (str(other) if isinstance(one, str) and isinstance(other, int) else other)
        for left, right in zip(got, wanted) for one, other in zip(left, right))


def readers(path):
    """What each reader that is installed makes of the file: its name, and rows."""
    if parquet is not None:
        columns = parquet.read_table(path, partitioning=None).columns
        yield "pyarrow", list(zip(*(column.to_pylist() for column in columns)))
    if duckdb is not None:
        yield "DuckDB", duckdb.sql(f"SELECT * FROM read_parquet('{path}')").fetchall()
    if polars is not None:
        yield "polars", polars.read_parquet(path).rows()


def check_answers(program, folder):
    """Queries and tables as Parquet: read with each reader, the values to the last bit."""
    database = folder / "job.db"
    subprocess.run([program, "-q", "ingest", FIXTURES / "megatron", "--db", database], check=True)
    questions = [("overlap",), ("nccl_stalls", "-p", "limit=500"), ("nccl_unmatched",),
                 ("-c", "SELECT * FROM kernels"), ("-c", "SELECT * FROM slices WHERE rank < 2"),
                 ("-c", MANY)]
    compared = 0
    for question in questions:
        path = folder / "answer.parquet"
        subprocess.run([program, "-q", "--db", database, "query", *question, "-o", path],
                       check=True)
        wanted = wanted_rows(program, database, question)
        for reader, got in readers(path):
            if not same(got, wanted):
                odd = next((pair for pair in zip(got, wanted) if pair[0] != pair[1]), "rows")
                sys.exit(f"{question}: {reader} has {len(got)} rows, wanted {len(wanted)}: {odd}")
            compared += len(got)
    made = folder / "export"
    subprocess.run([program, "-q", "--db", database, "export", "overlap", "steps", "--format",
                    "parquet", "-o", made], check=True)
    for name, question in (("overlap", ("overlap",)), ("steps", ("-c", "SELECT * FROM steps"))):
        for reader, got in readers(made / f"{name}.parquet"):
            if not same(got, wanted_rows(program, database, question)):
                sys.exit(f"export {name}: {reader} reads something else")
    return compared


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = str(pathlib.Path(parser.parse_args().program).resolve())
    if parquet is None and duckdb is None and polars is None:
        print("neither pyarrow, duckdb nor polars is installed: nothing was read with them")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="tracedb-parquet-") as name:
        folder = pathlib.Path(name)
        for fixture, ranks in (("megatron", 8), ("rocm", 1)):
            make(program, folder, fixture, ranks)
            if parquet is not None:
                print(f"{fixture}: pyarrow read {check_pyarrow(folder, fixture, ranks)} files")
        if duckdb is not None:
            print(f"megatron: DuckDB read {check_duckdb(folder, 'megatron', 8)} rows of rank 0")
        print(f"answers: {check_answers(program, folder)} rows are those of ndjson")
    for known, module in (("pyarrow", parquet), ("duckdb", duckdb), ("polars", polars)):
        if module is None:
            print(f"{known} is not installed: not tried")
    return 0


if __name__ == "__main__":
    sys.exit(main())
