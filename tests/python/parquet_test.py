#!/usr/bin/env python3
"""Summaries beside other readers of Parquet: pyarrow and DuckDB read every file, and say what the
ranks' databases say. Exit 77 where neither is installed."""
import argparse
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = str(pathlib.Path(parser.parse_args().program).resolve())
    if parquet is None and duckdb is None:
        print("neither pyarrow nor duckdb is installed: nothing was read with them")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="tracedb-parquet-") as name:
        folder = pathlib.Path(name)
        for fixture, ranks in (("megatron", 8), ("rocm", 1)):
            make(program, folder, fixture, ranks)
            if parquet is not None:
                print(f"{fixture}: pyarrow read {check_pyarrow(folder, fixture, ranks)} files")
        if duckdb is not None:
            print(f"megatron: DuckDB read {check_duckdb(folder, 'megatron', 8)} rows of rank 0")
    for known, module in (("pyarrow", parquet), ("duckdb", duckdb)):
        if module is None:
            print(f"{known} is not installed: not tried")
    return 0


if __name__ == "__main__":
    sys.exit(main())
