"""Whether what a command made of a damaged database is an answer, or an error that says so."""
import csv
import io
import json
import os
import re
import resource
import sqlite3
import subprocess

from damage_base import EVENT_TABLES, rows_of

EXITS = {0, 1, 3, 4}
SANITIZER = re.compile(r"Sanitizer|runtime error|Assertion|terminate called")


class Fault(Exception):
    pass


class Run:
    """One run of the program, bounded in processor time; what is wrong with it is a Fault."""

    def __init__(self, program, arguments, cpu_s, exits=EXITS):
        def bound():
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 2))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        self.arguments = arguments
        try:
            done = subprocess.run([program, *arguments], capture_output=True, check=False,
                                  preexec_fn=bound, timeout=120 * cpu_s,
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as error:
            raise Fault(f"hangs: {' '.join(arguments)}") from error
        self.code = done.returncode
        self.out = done.stdout
        self.errors = done.stderr.decode("utf-8", "replace")
        if self.code == -24:
            raise Fault(f"over {cpu_s} CPU s: {self}")
        if self.code < 0 or SANITIZER.search(self.errors):
            raise Fault(f"crash: {self}: exit {self.code}: {self.errors[-1500:]}")
        if self.code not in exits:
            raise Fault(f"exit {self.code}: {self}: {self.errors[:300]}")
        if self.code == 1 and "tracedb: " not in self.errors:
            raise Fault(f"fails without a message: {self}")

    @property
    def ok(self):
        return self.code != 1

    def __str__(self):
        return " ".join(self.arguments)


def no_constants(text):
    raise ValueError(f"{text} is no JSON")


def load_json(raw):
    return json.loads(raw.decode("utf-8"), parse_constant=no_constants)


def check_json(run):
    try:
        return load_json(run.out)
    except (ValueError, RecursionError) as error:
        raise Fault(f"broken JSON: {run}: {error}: {run.out[:200]!r}") from error


def check_csv(run):
    rows = list(csv.reader(io.StringIO(run.out.decode("latin-1"), newline="")))
    if len({len(row) for row in rows}) > 1:
        raise Fault(f"CSV of rows that differ in length: {run}")


def check_html(run, raw):
    try:
        text = raw.decode("utf-8")
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
        load_json(data[1].encode())
    except (ValueError, TypeError) as error:
        raise Fault(f"broken page: {run}: {error}") from error
    if not text.startswith("<!") or not text.rstrip().endswith("</html>"):
        raise Fault(f"a page that does not end: {run}")


def point_nowhere(database):
    """How many events have a text, a name or a track that is not there; None: nobody can say."""
    count = 0
    connection = sqlite3.connect(f"file:{database}?immutable=1", uri=True)
    connection.text_factory = bytes
    try:
        for table in EVENT_TABLES:
            count += connection.execute(
                f"SELECT count(*) FROM {table} s JOIN _trace t ON s.id BETWEEN t.first_row AND "
                "t.last_row LEFT JOIN _args_text a ON a.id = s.args_text LEFT JOIN _track k ON "
                "k.id = s.track LEFT JOIN _event_name e ON e.id = s.event_name WHERE k.id IS NULL "
                "OR e.id IS NULL OR (s.args_text IS NOT NULL AND a.id IS NULL)").fetchone()[0]
        return count
    except sqlite3.Error:
        return None
    finally:
        connection.close()


def check_cut(run, path, database, whole):
    if not run.ok:
        if os.path.exists(path):
            raise Fault(f"fails, and leaves a file: {run}")
        return
    with open(path, "rb") as file:
        raw = file.read()
    try:
        events = load_json(raw)["traceEvents"]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise Fault(f"broken trace: {run}: {error}") from error
    for event in events:
        if not isinstance(event, dict) or not isinstance(event.get("name"), str):
            raise Fault(f"no event: {run}: {json.dumps(event)[:200]}")
    lost = point_nowhere(database) if whole else None
    if lost:
        raise Fault(f"{lost} events have lost a text, and the cut does not say so: {run}")


def check_ingest(run, database, before, path, events):
    with open(database, "rb") as file:
        after = file.read()
    if not run.ok:
        # A trace that has landed stays when the comparison of the ranks fails, which says so.
        if after != before and "the traces are in the database" not in run.errors:
            raise Fault(f"fails, and the database is not as it was: {run}: {run.errors[:300]}")
        return
    if events is None or "skipped" in run.out.decode("utf-8", "replace"):
        return
    found = rows_of(database, path)
    if found != events:
        raise Fault(f"{found} of {events} events are there: {run}")
