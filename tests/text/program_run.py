"""Runs the program and reads its databases."""
import os
import sqlite3
import subprocess
import threading
import time
import urllib.parse

TIMEOUT_S = 120


class Outcome:
    def __init__(self, code, stdout, stderr, peak_bytes, seconds):
        self.code, self.stdout, self.stderr = code, stdout, stderr
        self.peak_bytes, self.seconds = peak_bytes, seconds

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


def run(command, cwd, stdin=None, extra=None, timeout_s=TIMEOUT_S):
    """Runs an argument list. stdin: bytes, or an open file. The peak of the memory is the child's
    own (from wait4), not below that of this program at the fork."""
    begun = time.monotonic()
    given = subprocess.PIPE if isinstance(stdin, bytes) else (stdin or subprocess.DEVNULL)
    child = subprocess.Popen(command, cwd=cwd, stdin=given, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=clean_environment(extra))
    texts = {}

    def feed():
        try:
            child.stdin.write(stdin)
            child.stdin.close()
        except OSError:
            pass

    workers = [threading.Thread(target=lambda n=n, f=f: texts.__setitem__(n, f.read()))
               for n, f in (("out", child.stdout), ("err", child.stderr))]
    if isinstance(stdin, bytes):
        workers.append(threading.Thread(target=feed))
    late = threading.Event()

    def end():
        late.set()
        child.kill()

    timer = threading.Timer(timeout_s, end)
    timer.start()
    for worker in workers:
        worker.start()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    timer.cancel()
    for worker in workers:
        worker.join()
    child.stdout.close()
    child.stderr.close()
    code = "timeout" if late.is_set() else child.returncode
    return Outcome(code, texts["out"].decode("utf-8", "backslashreplace"),
                   texts["err"].decode("utf-8", "backslashreplace"), usage.ru_maxrss * 1024,
                   time.monotonic() - begun)


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


# What may differ between two ways of loading the same file.
NOT_COMPARED = {"traces": {"path", "file_bytes", "ingested_at"}}


def dump(path):
    """{view: CSV of its rows in a stable order}, and what PRAGMA integrity_check says."""
    database = open_database(path)
    try:
        views = [row[0] for row in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")]
        found = {}
        for view in views:
            cursor = database.execute(f'SELECT * FROM "{view}"')
            names = [column[0] for column in cursor.description]
            kept = [i for i, name in enumerate(names) if name not in NOT_COMPARED.get(view, ())]
            rows = sorted((tuple(row[i] for i in kept) for row in cursor), key=repr)
            found[view] = csv_text([names[i] for i in kept], rows)
        check = database.execute("PRAGMA integrity_check").fetchall()
        return found, "" if check == [("ok",)] else f"integrity_check: {check[:3]}"
    finally:
        database.close()
