"""A database as the tests see it: which of the known states it is in, and what lies beside it."""
import hashlib
import os
import re
import shutil
import sqlite3
import subprocess

# What hangs is ended; nothing that works takes as long, however busy the machine.
TIMEOUT_S = 1200
INGESTED_AT = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
# What an error may say about the cause, whoever says it.
CAUSES = ("No space left", "Input/output error", "File too large", "disk I/O error", "full",
          "Too many open files", "No locks available", "unable to open", "locked",
          "Permission denied", "cannot read", "readonly", "malformed", "nterrupted")
# Everything of a trace that does not depend on which row numbers it got; 'trace_id' is put in.
LOGICAL_OF_TRACE = (
    "SELECT rank, category, name, ts_ns, dur_ns, pid, tid, device, stream, args FROM slices "
    "WHERE trace_id = {id}",
    "SELECT p.ordinal, p.seq, g.name, g.ranks, p.collective, p.ts_ns, p.dur_ns, p.match_no, p.step "
    "FROM _collective_part p LEFT JOIN _process_group g ON g.group_id = p.group_id "
    "WHERE p.trace_id = {id}",
    "SELECT device, ts_ns, dur_ns, kinds FROM _busy_segment WHERE trace_id = {id}",
    "SELECT device, start_ns, end_ns, compute_ns, communication_ns, overlap_ns, "
    "exposed_communication_ns, exposed_memory_ns, idle_ns FROM _device_use WHERE trace_id = {id}",
    "SELECT device, stream, activities, start_ns, end_ns, busy_ns, compute_ns, communication_ns, "
    "memory_ns FROM _stream_use WHERE trace_id = {id}",
    "SELECT rank, pid, tid, name, sort_index FROM _thread WHERE trace_id = {id}",
    "SELECT kind, count, first_offset, first_excerpt FROM _issue WHERE trace_id = {id}",
    "SELECT rank, events, slices, complete, start_ns, end_ns, text_hash, file_hash, header, "
    "file_bytes FROM _trace WHERE trace_id = {id}",
)
LOGICAL_OF_ALL = (
    "SELECT run, capture, path FROM traces",
    "SELECT run, name, ranks, description, size, parallelism FROM process_groups",
    "SELECT rank, first_start_ns, start_ns, wait_ns, cause, cause_name, root_rank, root_cause, "
    "root_name FROM _collective_cause")
# What all traces say of one another: made in transactions of its own, after those that land them.
BETWEEN_TRACES = ("_clock", "_clock_pair", "_collective_cause", "_explained_trace")


class Database:
    """NAME.db of one test in a folder of its own, and the program that works on it."""

    def __init__(self, folder, options):
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
        self.path = os.path.join(folder, "trace.db")
        self.options = options

    def command(self, *arguments):
        return [self.options.program, "--db", self.path, *arguments]

    def start(self, arguments, env=None, **more):
        """An ingest that runs on; its messages come through `stderr`."""
        return subprocess.Popen(self.command("ingest", *arguments), stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                env=environment(env), **more)

    def ingest(self, arguments, env=None, **more):
        """(exit status, its standard error)"""
        child = self.start(arguments, env, **more)
        return ended(child, TIMEOUT_S)

    def query(self, sql, *more):
        done = subprocess.run(self.command("query", "--no-header", "-c", sql, *more),
                              capture_output=True, timeout=TIMEOUT_S, check=False,
                              env=environment(), text=True)
        return done.returncode, done.stdout, done.stderr

    def clear(self):
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))

    def reset(self, before):
        """To the file `before`, or to no database."""
        self.clear()
        if before is not None:
            shutil.copyfile(before, self.path)

    def made_of(self, inputs, path):
        """Moves a new database of `inputs` to `path`, for reset()."""
        self.clear()
        status, said = self.ingest(inputs)
        if status != 0:
            raise RuntimeError(f"a database of {inputs} cannot be made: {status} {said}")
        os.replace(self.path, path)
        return path

    def litter(self):
        return sorted(name for name in os.listdir(self.folder) if name != "trace.db")


def environment(more=None):
    env = dict(os.environ, **(more or {}))
    env.pop("TRACEDB_DB", None)
    # A sanitizer's verdict is not to look like an error that the program reports.
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        env[name] = env.get(name, "") + ":exitcode=99"
    return env


def ended(child, timeout_s):
    """(exit status, standard error); one that hangs is killed, and its status is 'hangs'."""
    try:
        _, said = child.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return "hangs", ""
    return child.returncode, said.decode(errors="replace")


def same_bytes_mark(path):
    """The file's content but for the times at which traces were ingested."""
    with open(path, "rb") as file:
        return hashlib.sha256(INGESTED_AT.sub(b"", file.read())).hexdigest()


def hash_rows(rows):
    digest = hashlib.sha256()
    count = 0
    for row in rows:
        digest.update(repr(row).encode())
        count += 1
    return count, digest.hexdigest()


def tables(db):
    return [name for name, in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]


# When a trace came, and what follows from whether its folder was given or the file itself: a
# sequence names files.
NOT_CONTENT = ("_trace.ingested_at", "_trace.input_folder", "_run.run", "_run.path")


def content(path):
    """Rows and their checksum of every table."""
    found = {}
    db = sqlite3.connect(path)
    for table in tables(db):
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        wanted = ", ".join(column for column in columns if f"{table}.{column}" not in NOT_CONTENT)
        has_rowid, = db.execute("SELECT NOT wr FROM pragma_table_list WHERE schema = 'main' "
                                "AND name = ?", (table,)).fetchone()
        order = "rowid" if has_rowid else wanted
        found[table] = hash_rows(db.execute(f"SELECT {wanted} FROM {table} ORDER BY {order}"))
    db.close()
    return found


def logical(path):
    """What is known of each trace, whatever row numbers it has: the same for every order."""
    db = sqlite3.connect(path)
    found = []
    for trace_id, name in db.execute("SELECT trace_id, path FROM _trace").fetchall():
        parts = [hash_rows(sorted(db.execute(sql.format(id=trace_id)), key=repr))
                 for sql in LOGICAL_OF_TRACE]
        found.append((name, parts))
    rest = [hash_rows(sorted(db.execute(sql), key=repr)) for sql in LOGICAL_OF_ALL]
    db.close()
    return sorted(found, key=repr), rest


def runs(path):
    """Of each trace, as the first of what logical() knows of all."""
    db = sqlite3.connect(path)
    found = hash_rows(sorted(db.execute(LOGICAL_OF_ALL[0]), key=repr))
    db.close()
    return found


def integrity(path):
    """What is wrong with it; this also rolls back what a killed ingest left."""
    try:
        db = sqlite3.connect(path, timeout=TIMEOUT_S)
        answer = [row[0] for row in db.execute("PRAGMA integrity_check")]
        db.close()
    except sqlite3.Error as error:
        return f"integrity_check: {error}"
    return "" if answer == ["ok"] else f"integrity_check: {'; '.join(answer)[:300]}"


class Sequence:
    """The states that ingesting `inputs` one by one takes a database through."""

    def __init__(self, database, before, inputs, arguments=(), named=None):
        self.before = before
        self.arguments = list(arguments)
        self.named = named or list(inputs)  # what the command line says: files, or their folder
        self.names = ["before"]
        self.marks = []
        self.contents = []
        database.reset(before)
        self._note(database.path)
        for number, path in enumerate(inputs, 1):
            status, said = database.ingest([*self.arguments, path])
            if status != 0:
                raise RuntimeError(f"the reference ingest of {path} failed: {status} {said}")
            self.names.append(f"after file {number}")
            self._note(database.path)
        self.logical = logical(database.path)
        self.found = {}  # mark: (integrity, content) of a database that is none of the states
        status, said = database.ingest(self.all_at_once())
        if status != 0 or database.litter():
            raise RuntimeError(f"once more: exit {status}, {database.litter()}: {said}")

    def _note(self, path):
        there = os.path.exists(path)
        if there and integrity(path):
            raise RuntimeError(f"after an ingest that nobody disturbed: {integrity(path)}")
        self.marks.append(same_bytes_mark(path) if there else None)
        self.bytes = os.path.getsize(path) if there else 0
        self.contents.append(content(path) if there else None)

    def _is_known(self, path):
        return (same_bytes_mark(path) if os.path.exists(path) else None) in self.marks

    def all_at_once(self):
        return [*self.arguments, *self.named]

    def last(self):
        return self.names[-1]

    def state_of(self, path):
        """(name of the state, what is wrong)"""
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            if self.marks[0] is None:
                return "before", ""
            return "?", "the database is gone"
        # The bytes of a state were checked when the states were made.
        if os.path.exists(path + "-journal"):
            wrong = integrity(path)
            if wrong:
                return "?", wrong
        mark = same_bytes_mark(path)
        if mark in self.marks:
            return self.names[self.marks.index(mark)], ""
        if mark not in self.found:  # calls that fail one after the other leave much the same
            wrong = integrity(path)
            self.found[mark] = wrong, {} if wrong else content(path)
        wrong, found = self.found[mark]
        if wrong:
            return "?", wrong
        for number, known in enumerate(self.contents):
            if known is not None and self._is_like(found, number):
                return self.names[number], ""
        counts = {name: rows for name, (rows, _) in found.items() if rows}
        return "?", f"none of the states between files: rows {counts}"

    def _is_like(self, found, number):
        """State `number`, where what traces say of one another may still be of a state before."""
        earlier = [known for known in self.contents[:number + 1] if known is not None]
        return all(rows == self.contents[number].get(table) or
                   table in BETWEEN_TRACES and
                   (rows[0] == 0 or rows in [known[table] for known in earlier])
                   for table, rows in found.items())

    def _is_all(self, path):
        mark = same_bytes_mark(path)
        if mark == self.marks[-1]:
            return True
        if self.found.get(mark) == ("", self.contents[-1]):  # which leaves the runs' names out
            return runs(path) == self.logical[1][0]
        return logical(path) == self.logical

    def ends_well(self, database):
        """What is wrong after the next ingest: all is to be there, once, and nothing beside it."""
        if not database.litter() and self._is_known(database.path):
            return []  # the same ingest into the same bytes went well when the states were made
        status, said = database.ingest(self.all_at_once())
        if status != 0:
            return [f"the next ingest: exit {status}: {said.strip()}"]
        problems = []
        if database.litter():
            problems.append(f"after the next ingest there is {database.litter()}")
        state, wrong = self.state_of(database.path)
        if wrong.startswith("integrity") or not self._is_all(database.path):
            problems.append(f"after the next ingest: {state} {wrong}")
        return problems

    def seen_by_program(self, database, state):
        """What is wrong with what `tracedb` itself says of a database that is in `state`."""
        if state == "before" and self.before is None:
            status, _, said = database.query("SELECT count(*) FROM traces")
            return [] if status == 1 and "no such database" in said or "is empty" in said else \
                [f"query of no database: exit {status}: {said.strip()}"]
        expected = self.contents[self.names.index(state)]
        status, rows, said = database.query(
            "SELECT (SELECT count(*) FROM _trace) || ' ' || (SELECT count(*) FROM _event_name) "
            "|| ' ' || "
            "(SELECT count(*) FROM _gpu_slice) AS n")
        counts = " ".join(str(expected[table][0]) for table in
                          ("_trace", "_event_name", "_gpu_slice"))
        problems = []
        if status != 0 or rows.strip() != counts:
            problems.append(f"query: exit {status}: '{rows.strip()}', not '{counts}': {said}")
        done = subprocess.run(database.command("info"), capture_output=True, check=False,
                              timeout=TIMEOUT_S, env=environment())
        if done.returncode != 0:
            problems.append(f"info: exit {done.returncode}: {done.stderr.decode()}")
        return problems


def bad_message(said, names):
    """What is wrong with an error message: it is to name a file and the cause."""
    lines = [line for line in said.splitlines() if line.strip()]
    if not lines:
        return "no message"
    if any(not line.startswith(("tracedb: ", "  ")) for line in lines):
        return f"not a message of the program: {said.strip()[:300]}"
    if names and not any(name in line for line in lines for name in names):
        return f"the message names no file: {said.strip()}"
    if not any(cause in line for line in lines for cause in CAUSES):
        return f"the message names no cause: {said.strip()}"
    return ""
