#!/usr/bin/env python3
"""What people use, on a database and on what `tracedb serve-csv` makes of it.

    clients_test.py --program P --tools FOLDER [--filter TEXT]

FOLDER is where `./dev test-clients` put the virtual environment and the npm package. A client that
is not installed is named as skipped; with TRACEDB_CLIENTS=all it is a failure.
"""
import argparse
import csv
import glob
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
import xml.etree.ElementTree
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from formula_texts import FORMULAS, HARMLESS, formulas_of_xlsx  # noqa: E402
from serve_server import HOSTILE_NAMES, Server, make_database  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
QUERIES = os.path.join(HERE, "..", "..", "queries")
COUNT_KERNELS = "SELECT kind, count(*) AS kernels FROM kernels GROUP BY kind ORDER BY kind"


class Skipped(Exception):
    pass


class Setting:
    def __init__(self, options, folder):
        self.program = os.path.abspath(options.program)
        self.tools = os.path.abspath(options.tools)
        self.folder = folder
        self.database = make_database(self.program, folder)
        self.extension = os.path.join(os.path.dirname(self.program), "tracedb.so")

    def tool(self, *names):
        """The first of these that is here: in the tools' folder or on the path."""
        for name in names:
            for found in (os.path.join(self.tools, "venv", "bin", name), shutil.which(name)):
                if found and os.access(found, os.X_OK):
                    return found
        raise Skipped(f"there is no {' or '.join(names)}")

    def rows(self, *query):
        """What `tracedb query` gives."""
        text = output(self.program, "--db", self.database, "query", *query, "--format", "csv")
        return list(csv.reader(io.StringIO(text, newline="")))

    def venv_python(self, module):
        python = os.path.join(self.tools, "venv", "bin", "python3")
        if not os.path.exists(python) or subprocess.run(
                [python, "-c", f"import {module}"], capture_output=True, check=False).returncode:
            raise Skipped(f"there is no {module}")
        return python


def output(*command, text=None, seconds=180):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=seconds,
                          check=False)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def same_cells(got, want, rounded=0.0):
    """Rows of texts; numbers are compared as numbers, which may have been rounded by so much."""
    assert len(got) == len(want), (len(got), len(want))
    for got_row, want_row in zip(got, want):
        for one, other in zip(got_row + [""] * (len(want_row) - len(got_row)), want_row):
            try:
                apart = abs(float(one) - float(other))
                assert apart <= max(1e-9 * abs(float(other)), rounded), (one, other)
            except ValueError:
                assert one == other, (one, other)


def cells_of_xlsx(path):
    """Rows of the first sheet, as texts."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as book:
        shared = []
        if "xl/sharedStrings.xml" in book.namelist():
            tree = xml.etree.ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
            shared = ["".join(t.text or "" for t in item.iter(space + "t")) for item in tree]
        sheet = xml.etree.ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    assert sheet.find(f".//{space}f") is None, "a formula got in"
    rows = []
    for row in sheet.iter(space + "row"):
        cells = {}
        for cell in row.iter(space + "c"):
            column = 0
            for letter in cell.get("r").rstrip("0123456789"):
                column = column * 26 + ord(letter) - 64
            value = cell.find(space + "v")
            text = "" if value is None else value.text
            cells[column] = shared[int(text)] if cell.get("t") == "s" else text
        rows.append([cells.get(i, "") for i in range(1, max(cells, default=0) + 1)])
    return rows


def libreoffice_opens_the_address(setting):
    office = setting.tool("soffice", "libreoffice")
    with Server(setting.program, setting.database) as server:
        for name, path in (("overlap", "overlap.csv"),
                           ("kernels", "tables/kernels.csv?limit=13&order=ts_ns&ns=text")):
            out = os.path.join(setting.folder, "xlsx-" + name)
            output(office, "--headless", f"-env:UserInstallation=file://{setting.folder}/office",
                   "--infilter=CSV:44,34,76,1", "--convert-to", "xlsx", "--outdir", out,
                   server.url + path)
            made = glob.glob(out + "/*")
            assert len(made) == 1, made
            got = cells_of_xlsx(made[0])
            if name == "overlap":
                same_cells(got, setting.rows("overlap"))
                continue
            # To the nanosecond: as numbers the last four of their digits would be lost.
            column, want = got[0].index("ts_ns"), setting.rows(
                "-c", "SELECT ts_ns FROM kernels ORDER BY ts_ns LIMIT 13")[1:]
            times = [row[column].removeprefix("'") for row in got[1:]]
            assert times == [row[0] for row in want], times
            column = got[0].index("name")
            names = [row[column] for row in got[1:]]
            assert "'=1+1" in names and "'@SUM(A1)" in names and "ä€😀" in names, names
            assert len(names) == len(HOSTILE_NAMES)


def libreoffice_runs_no_guarded_text(setting):
    """--safe-csv, cut at commas, semicolons and tabs, in an American and a German locale."""
    office = setting.tool("soffice", "libreoffice")
    texts = FORMULAS + HARMLESS
    database = os.path.join(setting.folder, "texts.db")
    shutil.copy(setting.database, database)
    with sqlite3.connect(database) as db:
        db.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)")
        db.executemany("INSERT INTO texts (text) VALUES (?)", [(text,) for text in texts])
    for guard in (["--safe-csv"], []):
        made = os.path.join(setting.folder, "texts.csv")
        output(setting.program, "--db", database, "query", "-c",
               "SELECT id, text, text AS again FROM texts", "--format", "csv", "-o", made, *guard)
        for separator in (44, 59, 9):
            for locale in (1033, 1031):
                out = os.path.join(setting.folder, f"texts-{len(guard)}-{separator}-{locale}")
                output(office, "--headless",
                       f"-env:UserInstallation=file://{setting.folder}/office",
                       f"--infilter=CSV:{separator},34,76,1,,{locale}", "--convert-to", "xlsx",
                       "--outdir", out, made)
                formulas = formulas_of_xlsx(os.path.join(out, "texts.xlsx"))
                # Without the guard there are some: else the texts would test nothing.
                assert bool(formulas) != bool(guard), (guard, separator, locale, formulas[:5])
        os.remove(made)


def chromium_fills_the_form(setting):
    node = setting.tool("node", "nodejs")
    browser = setting.tool("chromium", "chromium-browser", "google-chrome")
    if not os.path.isdir(os.path.join(setting.tools, "node_modules", "playwright-core")):
        raise Skipped("there is no playwright-core")
    with Server(setting.program, setting.database) as server:
        told = output(node, os.path.join(HERE, "browser_client.cjs"), setting.tools, browser,
                      server.url)
    told = json.loads(told)
    assert told["alerts"] == 0 and told["foreign"] == [], told
    assert told["errors"] == [], told["errors"]
    want = setting.rows("stream_utilization", "-p", "rank=0")
    assert told["address"].endswith("rank=0#stream_utilization"), told["address"]
    # One run alone is said above the table, as in a terminal.
    assert want[0][0] == "run" and len({row[0] for row in want[1:]}) == 1, want
    same_cells(told["rows"], [row[1:] for row in want], 0.005)
    assert told["answer"][:2] == [["answer"], ["42"]], told["answer"]
    for width, (wide, high) in zip((1400, 400), told["sizes"]):
        assert wide <= width and high < 16_000, told["sizes"]
    assert list(csv.reader(io.StringIO(told["csv"], newline=""))) == want
    assert "<script>alert(1)</script>" in told["names"]


def the_sqlite3_shell(setting):
    shell = setting.tool("sqlite3")
    want = setting.rows("-c", COUNT_KERNELS)
    got = output(shell, "-csv", "-header", setting.database, COUNT_KERNELS)
    assert list(csv.reader(io.StringIO(got))) == want
    with open(os.path.join(QUERIES, "overlap.sql"), encoding="utf-8") as file:
        got = output(shell, "-csv", "-header", setting.database, text=file.read())
    same_cells(list(csv.reader(io.StringIO(got))), setting.rows("overlap"))
    sql = "SELECT busy_ns(ts_ns, dur_ns) FROM kernels WHERE rank = 0"
    got = output(shell, setting.database, text=f".load {setting.extension}\n{sql};\n")
    assert got.strip() == setting.rows("-c", sql)[1][0]


def pythons_sqlite3(setting):
    code = ("import sqlite3, sys\n"
            "db = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)\n"
            "for row in db.execute(sys.argv[2]): print(*row, sep=',')\n")
    got = output(sys.executable, "-c", code, setting.database, COUNT_KERNELS)
    assert list(csv.reader(io.StringIO(got))) == setting.rows("-c", COUNT_KERNELS)[1:]


def pandas_reads_sql_and_csv(setting):
    python = setting.venv_python("pandas")
    code = ("import pandas, sqlite3, sys\n"
            "sql = pandas.read_sql(open(sys.argv[2]).read(), sqlite3.connect(sys.argv[1]),\n"
            "                      params={'run': None, 'capture': None, 'rank': None})\n"
            "web = pandas.read_csv(sys.argv[3])\n"
            "pandas.testing.assert_frame_equal(sql, web, check_dtype=False)\n"
            "print(web.to_csv(index=False), end='')\n")
    with Server(setting.program, setting.database) as server:
        got = output(python, "-c", code, setting.database, os.path.join(QUERIES, "overlap.sql"),
                     server.url + "overlap.csv")
    same_cells(list(csv.reader(io.StringIO(got))), setting.rows("overlap"))


def sqlite_utils(setting):
    tool = setting.tool("sqlite-utils")
    got = output(tool, "query", setting.database, COUNT_KERNELS, "--csv")
    assert list(csv.reader(io.StringIO(got))) == setting.rows("-c", COUNT_KERNELS)
    assert "kernels" in output(tool, "views", setting.database)


def datasette(setting):
    tool = setting.tool("datasette")
    got = output(tool, setting.database, "--get",
                 "/trace.json?_shape=array&sql=" + COUNT_KERNELS.replace(" ", "+"))
    want = setting.rows("-c", COUNT_KERNELS)
    assert [[row["kind"], str(row["kernels"])] for row in json.loads(got)] == want[1:]
    assert "kernels" in output(tool, setting.database, "--get", "/trace")


def opens_every_table(setting, client, module):
    python = setting.venv_python(module)
    # The database of hostile names has few rows; that of a real job has some in every view.
    real = os.path.join(setting.folder, "job.db")
    if not os.path.exists(real):
        output(setting.program, "-q", "--db", real, "ingest",
               os.path.join(HERE, "..", "..", "fixtures", "megatron"), seconds=600)
    for database in (setting.database, real):
        output(python, os.path.join(HERE, "client_tables.py"), client, database, seconds=1800)


def duckdb_opens_every_table(setting):
    setting.venv_python("duckdb_extension_sqlite_scanner")
    opens_every_table(setting, "duckdb", "duckdb")


def pandas_opens_every_table(setting):
    opens_every_table(setting, "pandas", "pandas")


def sqlite_utils_opens_every_table(setting):
    opens_every_table(setting, "sqlite-utils", "sqlite_utils")


def datasette_opens_every_table(setting):
    opens_every_table(setting, "datasette", "datasette")


CLIENTS = [libreoffice_opens_the_address, libreoffice_runs_no_guarded_text,
           chromium_fills_the_form, the_sqlite3_shell,
           pythons_sqlite3, pandas_reads_sql_and_csv, sqlite_utils, datasette,
           duckdb_opens_every_table, pandas_opens_every_table, sqlite_utils_opens_every_table,
           datasette_opens_every_table]


def run(client, setting):
    begin, trouble = time.monotonic(), ""
    try:
        client(setting)
        verdict = "ok"
    except Skipped as skipped:
        verdict, trouble = "skip", str(skipped)
        if os.environ.get("TRACEDB_CLIENTS") == "all":
            verdict = "FAIL"
    except Exception:  # a client that fails must not hide the others
        verdict, trouble = "FAIL", traceback.format_exc()
    print(f"{verdict:4} {client.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
    if trouble:
        print("     " + trouble.rstrip().replace("\n", "\n     "), flush=True)
    return verdict != "FAIL"


def main():
    parser = argparse.ArgumentParser(description="Test tracedb with other programs.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--tools", required=True)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tracedb-clients-") as folder:
        setting = Setting(options, folder)
        failed = [client.__name__ for client in CLIENTS
                  if options.filter in client.__name__ and not run(client, setting)]
    print(f"{len(failed)} failed" if failed else "all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
