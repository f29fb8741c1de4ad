"""What the tests of exports of Nsight Systems ask of each: that nothing is lost, that the views
give back what the file held, that queries answer."""
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile

QUERIES = ("overlap", "stream_utilization", "nccl_stalls", "ops_top", "step_times")


class Problem(Exception):
    pass


def must(condition, text):
    if not condition:
        raise Problem(text)


def same(got, wanted, what):
    must(got == wanted, f"{what}: {got!r} in place of {wanted!r}")


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = os.path.abspath(path), folder

    def run(self, *arguments, status=0, path=None):
        environment = {key: value for key, value in os.environ.items() if key != "TRACEDB_DB"}
        if path is not None:
            environment["PATH"] = path
        done = subprocess.run([self.path, *arguments], cwd=self.folder, capture_output=True,
                              text=True,
                              check=False, env=environment, timeout=600)
        must(done.returncode == status,
             f"{' '.join(arguments)}: exit {done.returncode}, not {status}: {done.stderr.strip()}")
        return done

    def ingest(self, *inputs, **more):
        return self.run("ingest", "--db", "t.db", *inputs, **more)

    def ask(self, sql):
        db = sqlite3.connect(os.path.join(self.folder, "t.db"))
        rows = db.execute(sql).fetchall()
        db.close()
        return rows

    def one(self, sql):
        return self.ask(sql)[0][0]


def event_tables(db):
    """Tables of an export whose rows are events, with the column of the time."""
    for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
        for time_of in ("start", "timestamp", "rawTimestamp"):
            if time_of in columns and not table.startswith(("TARGET_INFO_", "META_DATA_",
                                                            "ENUM_")):
                yield table, time_of, columns
                break


def nothing_is_lost(program, *paths):
    """Rows in = rows out + rows counted; times and lengths to the ns."""
    wanted, points = [], 0
    for path in paths:
        db = sqlite3.connect(path)
        epoch = 0
        with contextlib.suppress(sqlite3.OperationalError, TypeError):
            epoch = db.execute("SELECT utcEpochNs FROM "
                               "TARGET_INFO_SESSION_START_TIME").fetchone()[0]
        for table, time_of, columns in event_tables(db):
            if "end" in columns:
                wanted += db.execute(f'SELECT "{time_of}" + {epoch}, "end" - "{time_of}" FROM '
                                     f'"{table}"'
                                     f' WHERE NOT (eventType NOT IN (59, 60))'
                                     if table == "NVTX_EVENTS"
                                     else f'SELECT "{time_of}" + {epoch}, "end" - "{time_of}" '
                                     f'FROM '
                                     f'"{table}"').fetchall()
                if table == "NVTX_EVENTS":
                    points += db.execute(f'SELECT count(*) FROM "{table}" WHERE eventType NOT IN '
                                         '(59, 60)').fetchone()[0]
            else:
                points += db.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
        db.close()
    got = program.ask("SELECT ts_ns, dur_ns FROM slices")
    counted = program.one("SELECT ifnull(sum(count), 0) FROM issues WHERE kind = 'unusable_row'")
    usable = [(start, length) for start, length in wanted if isinstance(start, int)]
    same(len(wanted) - len(usable) + points,
         counted + program.one("SELECT (SELECT count(*) FROM instants) + (SELECT count(*) FROM "
                               "_counter_event)"), "points and rows that are counted")
    by_none_last = lambda row: (row[0], row[1] is None, row[1])  # noqa: E731
    same(len(got), len(usable), "slices")
    same(sorted(got, key=by_none_last), sorted(usable, key=by_none_last), "times")


# Columns that ours and theirs share; those of names apart, as they are compared as texts.
VIEWS = {
    "CUPTI_ACTIVITY_KIND_KERNEL":
        ("start end deviceId contextId greenContextId streamId correlationId globalPid launchType "
         "cacheConfig registersPerThread gridX gridY gridZ blockX blockY blockZ "
         "staticSharedMemory "
         "dynamicSharedMemory localMemoryPerThread localMemoryTotal gridId sharedMemoryExecuted "
         "graphNodeId sharedMemoryLimitConfig graphId clusterX clusterY clusterZ "
         "clusterSchedulingPolicy maxPotentialClusterSize maxActiveClusters", "demangledName "
         "shortName"),
    "CUPTI_ACTIVITY_KIND_MEMCPY":
        ("start end deviceId contextId greenContextId streamId correlationId globalPid bytes "
         "copyKind "
         "deprecatedSrcId srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId "
         "migrationCause graphNodeId virtualAddress copyCount", ""),
    "CUPTI_ACTIVITY_KIND_MEMSET":
        ("start end deviceId contextId greenContextId streamId correlationId globalPid value "
         "bytes "
         "graphNodeId memKind", ""),
    "CUPTI_ACTIVITY_KIND_RUNTIME":
        ("start end eventClass globalTid correlationId returnValue callchainId", "nameId"),
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION":
        ("start end deviceId contextId greenContextId streamId correlationId globalPid syncType "
         "eventId "
         "eventSyncId", ""),
    "NVTX_EVENTS": ("start end eventType rangeId category color globalTid endGlobalTid", "textId"),
}


def views_give_back(program, path):
    """EXCEPT is empty both ways."""
    db = sqlite3.connect(path)
    db.execute("ATTACH ? AS ours", [os.path.join(program.folder, "t.db")])
    for table, (plain, names) in VIEWS.items():
        has = [row[1] for row in db.execute(f'PRAGMA main.table_info("{table}")')]
        if not has:
            continue
        columns = [column for column in plain.split() if column in has]
        theirs = [f't."{column}"' for column in columns]
        ours = list(theirs)
        for column in names.split():
            if column not in has:
                continue
            text = "t.text, " if table == "NVTX_EVENTS" else ""
            theirs.append(f"coalesce({text}(SELECT value FROM main.StringIds WHERE id = "
                          f"t.{column}))"
                          if text else f"(SELECT value FROM main.StringIds WHERE id = t.{column})")
            ours.append("t.text" if table == "NVTX_EVENTS" else f"n{column}.value")
        if table == "NVTX_EVENTS":
            theirs.append("coalesce(t.domainId, 0)")
            ours.append("t.domainId")
        joins = "".join(f" LEFT JOIN ours_names n{column} ON n{column}.id = t.{column}"
                        for column in names.split() if column in has and table != "NVTX_EVENTS")
        db.execute("CREATE TEMP TABLE IF NOT EXISTS ours_names AS SELECT id, value FROM "
                   "ours.StringIds")
        db.execute("CREATE INDEX IF NOT EXISTS temp.by_id ON ours_names (id, value)")
        file_side = (f'SELECT {", ".join(theirs)} FROM main."{table}" t '
                     "WHERE typeof(start) = 'integer'")
        view_side = f'SELECT {", ".join(ours)} FROM ours."{table}" t{joins}'
        for one, other, what in ((file_side, view_side, "not in the view"),
                                 (view_side, file_side, "not in the file")):
            left = db.execute(f"{one} EXCEPT {other}").fetchmany(2)
            must(not left, f"{table}: {what} ({columns}): {left}")
        same(db.execute(f'SELECT count(*) FROM ours."{table}"').fetchone(),
             db.execute(f'SELECT count(*) FROM main."{table}" WHERE typeof(start) = \'integer\'')
             .fetchone(), f"rows of {table}")
    db.close()


def queries_answer(program):
    for query in QUERIES:
        program.run("query", query, "--db", "t.db", "--format", "csv")
    done = subprocess.run([program.path, "doctor", "--db", "t.db"], cwd=program.folder, text=True,
                          capture_output=True, check=False, timeout=600)
    must(done.returncode in (0, 4), f"doctor: exit {done.returncode}: {done.stderr}")
    program.run("report", "--db", "t.db", "-o", "report.html", "--force")
    must(os.path.getsize(os.path.join(program.folder, "report.html")) > 10_000, "the report is "
         "small")


def run_checks(program, checks):
    """Each in a folder of its own; a line of verdict for each."""
    failed = 0
    for check in checks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(Program(program, folder))
                print(f"passed: {check.__name__}")
            except Problem as problem:
                failed += 1
                print(f"failed: {check.__name__}: {problem}")
    sys.exit(1 if failed else 0)
