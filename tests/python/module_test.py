#!/usr/bin/env python3
"""tracedb_profiler with the standard library alone: answers as rows, errors, pages.

    module_test.py [--program P]

Without a program it tests the wheel that is installed, else the module of this checkout.
"""
import argparse
import contextlib
import csv
import gc
import gzip
import importlib
import inspect
import io
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
FIXTURES = os.path.join(ROOT, "fixtures")


class Setting:
    def __init__(self, program, folder):
        sys.dont_write_bytecode = True
        if program is not None:
            os.environ["TRACEDB_PROGRAM"] = os.path.abspath(program)
            sys.path.insert(0, os.path.join(ROOT, "src", "python"))
        self.module = importlib.import_module("tracedb_profiler")
        self.program = self.module.program()
        self.folder = folder
        self.db = self.module.ingest(os.path.join(FIXTURES, "megatron"), frame="rows",
                                     db=os.path.join(folder, "job.db"))

    def cells(self, *query):
        """Names, then values with every digit, as texts."""
        def said(form):
            return subprocess.run([self.program, "--db", self.db.path, "query", *query, "--format",
                                   form], capture_output=True, text=True, check=True).stdout
        names = next(csv.reader(io.StringIO(said("csv"), newline="")))
        return [names] + [["" if row[name] is None else str(row[name]) for name in names]
                          for row in json.loads(said("json"))]


@contextlib.contextmanager
def raises(kind, *texts):
    try:
        yield
    except kind as error:
        for text in texts:
            assert text in str(error), (text, str(error))
        return
    raise AssertionError(f"no {kind.__name__}")


def as_cells(rows):
    return [list(rows.columns)] + [["" if cell is None else str(cell) for cell in row]
                                   for row in rows]


def same(got, want):
    assert len(got) == len(want), (len(got), len(want))
    for one, other in zip(got, want):
        for left, right in zip(one, other):
            assert left == right or float(left) == float(right), (left, right)


def ingest_says_what_was_read(setting):
    said = setting.db.ingested
    assert said["runs"] == [{"run": "megatron", "ranks": 8, "captures": 1}], said["runs"]
    assert [trace["rank"] for trace in said["traces"]] == list(range(8))
    with raises(TypeError, "a file or a folder"):
        setting.module.ingest()
    with raises(setting.module.TracedbError, "no-such-folder"):
        setting.module.ingest(os.path.join(setting.folder, "no-such-folder"),
                              db=os.path.join(setting.folder, "none.db"))
    with raises(setting.module.TracedbError, "no-such.db"):
        setting.module.open(os.path.join(setting.folder, "no-such.db"))
    # A name that looks like an option is a name.
    odd = os.path.join(setting.folder, "--rank=5.json")
    with open(odd, "w", encoding="utf-8") as file:
        file.write('{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2,"pid":0,"tid":0}]}')
    before = os.getcwd()
    os.chdir(setting.folder)
    try:
        db = setting.module.ingest("--rank=5.json", db="odd.db", frame="rows")
    finally:
        os.chdir(before)
    assert [row.rank for row in db.sql("SELECT rank FROM traces")] == [5]


def queries_answer_as_the_program(setting):
    db = setting.db
    same(as_cells(db.overlap()), setting.cells("overlap"))
    same(as_cells(db.overlap(rank=[0, 3])), setting.cells("overlap", "-p", "rank=0,3"))
    same(as_cells(db.overlap(rank=range(2, 4))), setting.cells("overlap", "-p", "rank=2,3"))
    same(as_cells(db.query("nccl_stalls.sql", limit=3, run="megatron")),
         setting.cells("nccl_stalls", "-p", "limit=3", "-p", "run=megatron"))
    same(as_cells(db.nccl_stalls(limit=None)), setting.cells("nccl_stalls"))
    same(as_cells(db.query("doctor/times_missing")), setting.cells("doctor/times_missing"))
    assert db.log_timers_by_rank(name="forward") == []  # a parameter may be called name
    row = db.overlap(rank=5)[0]
    assert (row.rank, row.device, type(row.span_ms)) == (5, "5", float)


def sql_takes_values_of_their_types(setting):
    db = setting.db
    values = {"i": -2**63, "j": 2**63 - 1, "r": 0.1, "t": "it's :i", "n": None, "b": True,
              "d": "0", "x": b"\x00\xff"}
    row = db.sql("SELECT :i AS i, :j AS j, @r AS r, $t AS t, :n AS n, :b AS b, :d AS d, "
                 "':i' AS quoted, typeof(:d) AS kind, hex(:x) AS x -- :nobody\n", **values)[0]
    assert row == (-2**63, 2**63 - 1, 0.1, "it's :i", None, 1, "0", ":i", "text", "00FF"), row
    rows = db.sql("SELECT count(*) AS n FROM ranks WHERE rank IN :ranks", ranks=[1, 4, 99])
    assert rows[0].n == 2
    # Times are whole, and hold the nanoseconds since 1970.
    row = db.sql("SELECT ts_ns FROM kernels ORDER BY ts_ns LIMIT 1")[0]
    want = setting.cells("-c", "SELECT ts_ns FROM kernels ORDER BY ts_ns LIMIT 1")[1][0]
    assert isinstance(row.ts_ns, int) and str(row.ts_ns) == want
    # What is longer than an argument may be.
    assert db.sql("SELECT length(:t) AS n", t="y" * 300_000)[0].n == 300_000
    with raises(TypeError, ":missing"):
        db.sql("SELECT :missing")
    with raises(TypeError, ":more"):
        db.sql("SELECT 1", more=2)
    with raises(ValueError, "64 bits"):
        db.sql("SELECT :big", big=2**63)
    assert len(db["streams"]) == len(setting.cells("-c", "SELECT * FROM streams")) - 1
    assert len(db.table("kernels", limit=7)) == 7


def errors_have_the_programs_text(setting):
    module, db = setting.module, setting.db
    with raises(module.TracedbError, 'near "SELEC": syntax error'):
        db.sql("SELEC")
    with raises(module.TracedbError, "INSERT is not reading"):
        db.sql("INSERT INTO x VALUES (1)")
    with raises(module.UsageError, "no canned query 'overlapp'", "did you mean overlap?"):
        db.query("overlapp")
    with raises(module.TracedbError, "rnak"):
        db.overlap(rnak=1)
    with raises(module.TracedbError, "SQL:1: no such column: nam", "did you mean name"):
        db.sql("SELECT nam FROM names")
    with raises(AttributeError, "overlapp", "did you mean overlap"):
        db.overlapp  # noqa: B018
    with raises(ValueError, "one of pandas, polars, arrow, rows"):
        db.overlap(frame="excel")
    try:
        db.sql("SELEC")
    except module.TracedbError as error:
        assert error.exit_code == 1 and error.command[0] == setting.program, error.command
        assert not error.text.startswith("tracedb:"), error.text
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert db.overlap(rank=99) == [] and db.overlap(rank=99).columns[0] == "run"
    assert "there is no rank 99" in str(caught[0].message), caught
    assert issubclass(caught[0].category, module.TracedbWarning)
    before = os.environ.get("TRACEDB_PROGRAM")
    os.environ["TRACEDB_PROGRAM"] = os.path.join(setting.folder, "nothing")
    try:
        with raises(module.TracedbError, "No such file"):
            db.sql("SELECT 1")
    finally:
        del os.environ["TRACEDB_PROGRAM"]
        if before is not None:
            os.environ["TRACEDB_PROGRAM"] = before


def names_complete_and_document_themselves(setting):
    module, db = setting.module, setting.db
    listed = {name for name, _ in setting.cells()[1:]}
    assert set(module.queries()) == listed and listed <= set(dir(db))
    assert "doctor/times_missing" in module.queries(checks=True)
    for name in listed:  # none hides behind a method
        assert isinstance(getattr(db, name), module.CannedQuery), name
        inspect.signature(getattr(db, name))
    doc = db.nccl_stalls.__doc__
    assert doc.startswith("Which collectives kept ranks waiting, for whom, and why.\n"), doc[:80]
    assert "culprit_rank" in doc and "int (rows)" in doc
    signature = str(inspect.signature(db.recommendations))
    assert "min_pct=2" in signature and "rank=None" in signature, signature
    assert "kernels" in db._ipython_key_completions_()
    assert any(row.table == "kernels" and row.column == "dur_ns" for row in db.schema())


def pages_for_a_notebook(setting):
    db = setting.db
    page = db.report()
    assert page.html.lstrip().lower().startswith("<!doctype html>"), page.html[:60]
    shown = page._repr_html_()
    assert shown.startswith("<iframe srcdoc=\"") and shown.count("<") == 2, shown[:80]
    assert 'sandbox="allow-scripts' in shown and "allow-same-origin" not in shown
    saved = page.save(os.path.join(setting.folder, "report.html"))
    with open(saved, encoding="utf-8") as file:
        assert file.read() == page.html
    assert "megatron" in db._repr_html_()
    assert "<table>" in db.overlap()._repr_html_()


class Browser:
    """In the place of a browser: asks as Perfetto's page does."""

    def __init__(self):
        self.answers = []

    def open(self, url):
        address = url.split("?url=")[1]

        def fetch():
            with urllib.request.urlopen(address, timeout=20) as answer:
                self.answers.append((answer.headers["Access-Control-Allow-Origin"], answer.read()))

        try:
            urllib.request.urlopen(address.rsplit("/", 1)[0] + "/../etc/passwd", timeout=20)
        except urllib.error.HTTPError as error:
            self.answers.append(error.code)
        self.fetching = threading.Thread(target=fetch)
        self.fetching.start()


def port_taken():
    """Perfetto's port, by this test: another that has it may give it back at any moment."""
    for attempt in range(60):
        try:
            return socket.create_server(("127.0.0.1", 9001))
        except OSError:
            if attempt == 59:
                raise
            time.sleep(1)


def cuts_open_in_perfetto(setting):
    db = setting.db
    cut = db.cut(step=3, rank=[4, 5])
    with gzip.open(cut.path, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    assert len(events) > 1000
    browser = Browser()
    for attempt in range(60):  # another test may have the port just now
        try:
            assert cut.open(timeout_s=30, browser=browser)
            break
        except setting.module.TracedbError as error:
            assert "port 9001" in str(error) and attempt < 59, error
            time.sleep(1)
    browser.fetching.join()  # what was sent may not have been read yet
    with open(cut.path, "rb") as file:
        assert browser.answers == [404, ("https://ui.perfetto.dev", file.read())]
    with port_taken():
        with raises(setting.module.TracedbError, "port 9001"):
            cut.open(browser=browser)
    shown = cut._repr_html_()
    assert "Open in Perfetto" in shown and "postMessage" in shown
    temporary = cut.path
    del cut
    gc.collect()  # the error above has seen it
    assert not os.path.exists(temporary)
    named = os.path.join(setting.folder, "named.json")
    assert db.cut(named, slowest_collective=True).path == named and os.path.exists(named)
    with raises(setting.module.TracedbError, "step 77"):
        db.cut(step=77)


def slower_copy(setting):
    """The job with all its times twice as long."""
    folder = os.path.join(setting.folder, "slower")
    os.makedirs(folder)
    for name in os.listdir(os.path.join(FIXTURES, "megatron")):
        with gzip.open(os.path.join(FIXTURES, "megatron", name), "rt", encoding="utf-8") as file:
            text = re.sub(r'"(ts|dur)": ([0-9]+)\.([0-9]{3})',
                          lambda m: f'"{m[1]}": {(2 * int(m[2] + m[3])) / 1000:.3f}', file.read())
        with open(os.path.join(folder, name[:-3]), "w", encoding="utf-8") as file:
            file.write(text)
    return setting.module.ingest(folder, db=os.path.join(setting.folder, "slower.db"),
                                 run="megatron")


def comparisons(setting):
    module = setting.module
    other = module.ingest(os.path.join(FIXTURES, "seqpar"), frame="rows",
                          db=os.path.join(setting.folder, "other.db"))
    said = module.compare(setting.db, other.path)
    done = subprocess.run([setting.program, "compare", setting.db.path, other.path, "--format",
                           "json"], capture_output=True, text=True, check=False)
    assert done.returncode == 4 and said.data == json.loads(done.stdout)
    # Eight ranks and four are no two runs of one thing.
    assert said.verdict == "cannot tell" and not said.comparable and said.parts
    assert {each["fact"] for each in said.differences} >= {"world size"}, said.differences
    assert said.report().html.lstrip().lower().startswith("<!doctype html>")
    again = module.compare(slower_copy(setting), setting.db.path)
    assert again.comparable and again.step_change_pct < -30, again
    with raises(module.TracedbError, "the same recording"):
        module.compare(setting.db, [setting.db])
    with raises(TypeError, "base"):
        module.compare([], other)


def versions_agree(setting):
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        cmake = re.search(r"project\(tracedb VERSION ([0-9.]+)", file.read())[1]
    with open(os.path.join(ROOT, "CHANGELOG.md"), encoding="utf-8") as file:
        changes = re.search(r"^## ([0-9.]+)", file.read(), re.M)[1]
    said = subprocess.run([setting.program, "--version"], capture_output=True, text=True,
                          check=True).stdout.strip().split(" ")[-1]
    assert cmake == changes == said == setting.module.__version__, (
        cmake, changes, said, setting.module.__version__)
    with open(os.path.join(ROOT, "src", "python", "pyproject.toml"), encoding="utf-8") as file:
        text = file.read()
    assert 'dynamic = ["version"]' in text and "../../CMakeLists.txt" in text


CHECKS = (ingest_says_what_was_read, queries_answer_as_the_program, sql_takes_values_of_their_types,
          errors_have_the_programs_text, names_complete_and_document_themselves,
          pages_for_a_notebook, cuts_open_in_perfetto, comparisons, versions_agree)


def run(checks):
    parser = argparse.ArgumentParser(description="Test the Python module.")
    parser.add_argument("--program")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tracedb-module-") as folder:
        setting = Setting(options.program, folder)
        for check in checks:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", setting.module.TracedbWarning)
                check(setting)
            print(f"ok   {check.__name__}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(run(CHECKS))
