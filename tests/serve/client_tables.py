"""What other programs do to open every table and view of a database; run by their own Python.

    client_tables.py CLIENT DATABASE

Prints a line for each that cannot be opened, or whose rows are not as many as SQLite's.
"""
import glob
import os
import sqlite3
import sys


def with_duckdb(path):
    import duckdb
    import duckdb_extension_sqlite_scanner
    folder = os.path.dirname(duckdb_extension_sqlite_scanner.__file__)
    extension, = glob.glob(folder + "/extensions/*/sqlite_scanner.duckdb_extension")
    db = duckdb.connect()
    db.execute(f"LOAD '{extension}'")
    db.execute(f"ATTACH '{path}' AS trace (TYPE sqlite, READ_ONLY)")
    return lambda name: len(db.execute(f'SELECT * FROM trace."{name}"').fetchall())


def with_pandas(path):
    import pandas
    db = sqlite3.connect(path)
    return lambda name: len(pandas.read_sql(f'SELECT * FROM "{name}"', db))


def with_sqlite_utils(path):
    import sqlite_utils
    db = sqlite_utils.Database(path)
    return lambda name: sum(1 for _ in db[name].rows)


def with_datasette(path):
    import asyncio
    from datasette.app import Datasette
    served = Datasette([path], settings={"sql_time_limit_ms": 60000})
    database = os.path.splitext(os.path.basename(path))[0]

    async def count(name):
        answer = await served.client.get(f"/{database}/{name}.json?_shape=array&_size=max")
        assert answer.status_code == 200, answer.text[:300]
        return len(answer.json())

    return lambda name: asyncio.run(count(name))


CLIENTS = {"duckdb": with_duckdb, "pandas": with_pandas, "sqlite-utils": with_sqlite_utils,
           "datasette": with_datasette}
PAGE = {"datasette": 1000}  # rows that it shows at most


def main():
    client, path = sys.argv[1:]
    rows_of = CLIENTS[client](path)
    plain = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    names = [row[0] for row in plain.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name")]
    failed = 0
    for name in names:
        want = plain.execute(f'SELECT count(*) FROM (SELECT * FROM "{name}")').fetchone()[0]
        try:
            got = rows_of(name)
            trouble = "" if got == min(want, PAGE.get(client, want)) else f"{got} rows of {want}"
        except Exception as error:  # all that cannot be opened are named
            trouble = str(error)[:500]
        if trouble:
            failed += 1
            print(f"{name}: {trouble}")
    print(f"{len(names) - failed} of {len(names)} opened")
    return 1 if failed or len(names) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
