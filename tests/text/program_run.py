"""Runs the program and reads its databases."""
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
# What hangs is ended; nothing that works takes as long, however busy the machine.
TIMEOUT_S = 1200


class Outcome:
    def __init__(self, code, stdout, stderr):
        self.code, self.stdout, self.stderr = code, stdout, stderr
        self.peak_bytes = 0

    def crashed(self):
        """What ended the program if it was no exit of its own; else an empty text."""
        if self.code == "timeout":
            return f"still running after {TIMEOUT_S} s"
        return f"ended by signal {-self.code}" if self.code < 0 else ""


def clean_environment(extra=None):
    unwanted = ("TRACEDB_DB", "TRACEDB_UPDATE", "NO_COLOR", "COLUMNS", "LINES")
    environment = {key: value for key, value in os.environ.items() if key not in unwanted}
    environment.update({"LC_ALL": "C.UTF-8", "TZ": "UTC"})
    environment.update(extra or {})
    return environment


def run(command, cwd, stdin=None, extra=None):
    """Runs an argument list; stdin is an open file or None."""
    child = subprocess.Popen(command, cwd=cwd, stdin=stdin or subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=clean_environment(extra), start_new_session=True)
    try:
        stdout, stderr = child.communicate(timeout=TIMEOUT_S)
        code = child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        stdout, stderr = child.communicate()
        code = "timeout"
    return Outcome(code, stdout.decode("utf-8", "backslashreplace"),
                   stderr.decode("utf-8", "backslashreplace"))


def run_measured(command, cwd, stdin=None):
    """The same, with the peak of the command's memory."""
    with tempfile.NamedTemporaryFile("r", encoding="ascii") as peak:
        measure = [sys.executable, "-S", "-E", os.path.join(HERE, "peak_memory.py"), peak.name]
        outcome = run(measure + command, cwd, stdin)
        outcome.peak_bytes = int(peak.read() or 0)
    return outcome


def open_database(path):
    uri = "file:" + urllib.parse.quote(os.path.abspath(path)) + "?mode=ro"
    return sqlite3.connect(uri, uri=True)


def csv_field(value):
    if value is None:
        return ""
    if isinstance(value, bytes):
        return "x'" + value.hex() + "'"
    text = repr(value) if isinstance(value, float) else str(value)
    if text == "" or any(c in text for c in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def csv_text(names, rows):
    """NULL is an empty field, an empty text is two quotes."""
    lines = [",".join(csv_field(name) for name in names)] if names else []
    lines += [",".join(map(csv_field, row)) for row in rows]
    return "".join(line + "\n" for line in lines)


def statements(sql):
    """The statements of a script, one by one."""
    text = ""
    for line in sql.splitlines(keepends=True):
        text += line
        if sqlite3.complete_statement(text):
            yield text
            text = ""
    if text.strip():
        yield text


def answer(path, sql):
    """The results of all statements as CSV, each with its header line."""
    database = open_database(path)
    try:
        text = ""
        for statement in statements(sql):
            cursor = database.execute(statement)
            text += csv_text([column[0] for column in cursor.description or []], cursor.fetchall())
        return text
    finally:
        database.close()


# What may differ between two ways of loading the same file: where it lay, how it was packed, when.
NOT_COMPARED = {"traces": {"path", "file_bytes", "ingested_at"}, "sources": {"path", "bytes"}}
NOT_COMPARED_OF_TABLES = dict.fromkeys(
    ("_trace", "_source"), {"path", "folder", "file_bytes", "file_hash", "ingested_at"})


def tables(path):
    """(what PRAGMA integrity_check has against the database, else an empty text; {table: rows}).
    Of two databases with the same tables all views are the same, which are slower to ask."""
    database = open_database(path)
    folder = os.path.dirname(path)
    try:
        check = database.execute("PRAGMA integrity_check").fetchall()
        names = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        found = {}
        for name, in names:
            cursor = database.execute(f'SELECT * FROM "{name}"')
            left_out = NOT_COMPARED_OF_TABLES.get(name, ())
            kept = [i for i, column in enumerate(cursor.description) if column[0] not in left_out]
            found[name] = [repr([row[i] for i in kept]).replace(folder, "$FOLDER")
                           for row in cursor]
        return "" if check == [("ok",)] else f"integrity_check: {check[:3]}", found
    finally:
        database.close()


def views_of_sources():
    """Of files that are no traces: a third of all views."""
    schema = os.path.join(os.path.dirname(__file__), "..", "..", "src", "schema")
    for name in sorted(os.listdir(schema)):
        if name.startswith("views_sources_"):
            with open(os.path.join(schema, name), encoding="utf-8") as file:
                yield from re.findall(r"^CREATE VIEW (\w+)", file.read(), re.MULTILINE)


VIEWS_OF_SOURCES = set(views_of_sources())


def dump(path):
    """{view: CSV of its rows in a stable order}; without a source, not of those of sources."""
    database = open_database(path)
    folder = os.path.dirname(path)
    try:
        views = [row[0] for row in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")]
        if database.execute("SELECT count(*) FROM _source").fetchone() == (0,):
            views = [view for view in views if view not in VIEWS_OF_SOURCES]
        found = {}
        for view in views:
            cursor = database.execute(f'SELECT * FROM "{view}"')
            names = [column[0] for column in cursor.description]
            kept = [i for i, name in enumerate(names) if name not in NOT_COMPARED.get(view, ())]
            rows = sorted((tuple(row[i] for i in kept) for row in cursor), key=repr)
            text = csv_text([names[i] for i in kept], rows)
            found[view] = text.replace(folder, "$FOLDER")
        return found
    finally:
        database.close()
