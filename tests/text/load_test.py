"""Tests that load traces in several ways, which must make the same database, and then ask it."""
import csv
import gzip
import io
import os
import re
import shlex
import shutil
import subprocess
import sys

import program_run
from test_check import Check, temporary_folder, write_inputs
from test_file import BadTest

# gzip; zstd, and its skippable frames
PACKED = re.compile(rb"\x1f\x8b|\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
MEMORY_BYTES = 128 << 20
ISSUES_SQL = "SELECT kind, sum(count) FROM issues GROUP BY kind ORDER BY kind"


def gzipped(data):
    return gzip.compress(data, 6, mtime=0)


def two_members(data):
    middle = len(data) // 2
    return gzipped(data[:middle]) + gzipped(data[middle:])


def zstandard(data):
    return subprocess.run(["zstd", "-qc", "--no-check"], input=data, check=True,
                          stdout=subprocess.PIPE).stdout


# name: (packing, ingest options, from standard input)
WAYS = {
    "whole": (None, [], False),
    "1 byte a block": (None, ["--block-bytes", "1"], False),
    "7 bytes a block": (None, ["--block-bytes", "7"], False),
    "gzip": ((".gz", gzipped), [], False),
    "gzip in two members": ((".gz", two_members), [], False),
    "gzip, 1 byte a block": ((".gz", gzipped), ["--block-bytes", "1"], False),
    "zstd": ((".zst", zstandard), [], False),
    "standard input": (None, [], True),
    "1 thread": (None, ["--threads", "1"], False),
    "3 threads": (None, ["--threads", "3"], False),
}


# Under sanitizers with little time those that share least code; the others run without them.
FEW_WAYS = ["whole", "1 byte a block", "gzip in two members", "3 threads"]


class Loads:
    """The ways of one test."""

    def __init__(self, test, options, folder):
        self.test, self.options, self.folder = test, options, folder
        self.names, self.stream = write_inputs(test, folder)
        given = test.one("options")
        self.ingest_options = shlex.split(given.text) if given else []
        exit_section = test.one("exit")
        self.wanted_exit = int(exit_section.text) if exit_section else 0
        self.peak_bytes = 0
        self.memory_bytes = MEMORY_BYTES
        if "--memory" in self.ingest_options:
            size = self.ingest_options[self.ingest_options.index("--memory") + 1]
            self.memory_bytes = int(size.rstrip("M")) << 20
        self.measures = self.stream or self.memory_bytes != MEMORY_BYTES
        ways = test.one("ways")
        all_ways = FEW_WAYS if os.environ.get("TRACEDB_SANITIZED") == "quick" else list(WAYS)
        self.ways = [line for line in ways.text.splitlines() if line] if ways else all_ways
        if set(self.ways) - WAYS.keys():
            raise BadTest(f"no such way: {', '.join(sorted(set(self.ways) - WAYS.keys()))}")
        if self.stream:
            self.ways = ["standard input"]

    def applies(self, way):
        packing, _, from_stdin = WAYS[way]
        packed = False
        for name in self.names:
            with open(os.path.join(self.folder, name), "rb") as handle:
                packed = packed or PACKED.match(handle.read(4)) is not None
        if packing and packed:
            return False
        # Standard input has no name that could tell a rank.
        return not (from_stdin and any("rank" in name for name in self.names))

    def load(self, way):
        """(database, what went wrong)."""
        packing, extra, from_stdin = WAYS[way]
        folder = os.path.join(self.folder, "way-" + way.replace(" ", "-").replace(",", ""),
                              "job")
        os.makedirs(folder)
        paths = []
        for name in self.names:
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            source = os.path.join(self.folder, name)
            if packing is None:
                shutil.copyfile(source, path)
            else:
                path += packing[0]
                with open(source, "rb") as plain, open(path, "wb") as packed:
                    packed.write(packing[1](plain.read()))
            paths.append(path)
        database = os.path.join(folder, "trace.db")
        command = [self.options.program, "--db", database, "ingest", *self.ingest_options, *extra]
        if self.stream:
            return database, self.load_stream(command + ["-"], folder)
        if not from_stdin:
            run = program_run.run_measured if self.measures else program_run.run
            return database, self.wrong(run(command + paths, folder))
        for path in paths:
            with open(path, "rb") as handle:
                wrong = self.wrong(program_run.run(command + ["-"], folder, handle))
            if wrong:
                return database, wrong
        return database, ""

    def load_stream(self, command, folder):
        with subprocess.Popen([sys.executable, "-S", self.stream], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, cwd=folder) as generator:
            outcome = program_run.run_measured(command, folder, generator.stdout)
            generator.stdout.close()
        return self.wrong(outcome)

    def litter(self, database):
        """What must be there and is not, or the other way."""
        left = [name for name in os.listdir(os.path.dirname(database))
                if name.startswith(os.path.basename(database) + ".partial")]
        if left:
            return f"{left} is left behind"
        if self.wanted_exit == 0 and not os.path.exists(database):
            return "there is no database"
        return ""

    def wrong(self, outcome):
        self.peak_bytes = max(self.peak_bytes, outcome.peak_bytes)
        if outcome.crashed():
            return f"{outcome.crashed()}\n{outcome.stderr}"
        if outcome.code != self.wanted_exit:
            return f"exit {outcome.code} instead of {self.wanted_exit}\n{outcome.stderr}"
        # A sanitizer's own memory is no fault of the program.
        bounded = "TRACEDB_SANITIZED" not in os.environ
        if bounded and outcome.peak_bytes >= self.memory_bytes:
            return (f"peak memory {outcome.peak_bytes / 1e6:.1f} MB, "
                    f"the bound is {self.memory_bytes / 1e6:.1f} MB")
        return ""


def compare_views(check, way, first, other):
    wanted, got = program_run.dump(first), program_run.dump(other)
    for view in sorted(wanted.keys() | got.keys()):
        check.text(f"{way}: view {view}", wanted.get(view, ""), got.get(view, ""))


def run(test, options):
    check = Check(test, options.update)
    with temporary_folder() as folder:
        loads = Loads(test, options, folder)
        troubles = {}  # trouble: the ways that met it
        first = None
        for way in filter(loads.applies, loads.ways):
            database, wrong = loads.load(way)
            there = not wrong and os.path.exists(database)
            damage, tables = program_run.tables(database) if there else ("", {})
            for trouble in filter(None, (wrong, damage, loads.litter(database))):
                trouble = trouble.replace(os.path.dirname(database), "$FOLDER")
                troubles.setdefault(trouble, []).append(way)
            if not there:
                continue
            if first is None:
                first, wanted_tables = database, tables
                expectations(check, test, options, database)
            elif tables != wanted_tables:
                differ = [name for name in tables if tables[name] != wanted_tables.get(name)]
                check.fail(f"{way}: not the same rows of {', '.join(differ)}")
                compare_views(check, way, first, database)
        for trouble, ways in troubles.items():
            met = ", ".join(ways) if len(ways) < 4 else f"{len(ways)} ways"
            check.fail(f"{met}: {trouble}")
        if loads.measures:
            check.measured = (f" (peak {loads.peak_bytes / 1e6:.0f} "
                              f"of {loads.memory_bytes / 1e6:.0f} MB)")
    return check


def expectations(check, test, options, database):
    for asked, wanted in test.asked():
        if asked.name == "sql":
            got = program_run.answer(database, asked.text)
        else:
            got = ask_program(check, asked, options, database)
        check.section(f"=== {asked.head}", wanted, got, "csv", asked)
    issues = program_run.csv_text([], csv.reader(io.StringIO(
        program_run.answer(database, ISSUES_SQL).partition("\n")[2])))
    section = test.one("issues")
    if section and section.rest == "kinds":
        issues = "".join(line.rpartition(",")[0] + "\n" for line in issues.splitlines())
    if issues or section:
        check.section("issues", section, issues, "issues")


def ask_program(check, asked, options, database):
    """The answer of `tracedb query`; the sqlite3 shell must say the same where it can."""
    words = shlex.split(asked.rest) + shlex.split(asked.text)
    outcome = program_run.run([options.program, "query", "--db", database, *words],
                              os.path.dirname(database))
    if outcome.crashed() or outcome.code != 0:
        check.fail(f"query {' '.join(words)}: exit {outcome.code}\n{outcome.stderr}")
    path = os.path.join(options.queries, words[0].removesuffix(".sql") + ".sql")
    if len(words) == 1 and not needs_program(path):
        with open(path, "rb") as handle:
            shell = program_run.run([options.sqlite3, "-csv", "-header", "-readonly", database],
                                    os.path.dirname(database), handle)
        if shell.code != 0:
            check.fail(f"the sqlite3 shell: {shell.stderr}")
        # The shell prints no header when there is no row.
        if shell.stdout or outcome.stdout.count("\n") != 1:
            check.text(f"query {words[0]} in the sqlite3 shell", as_numbers(outcome.stdout),
                       as_numbers(shell.stdout))
    return outcome.stdout.replace(os.path.dirname(database), "$FOLDER")


def needs_program(path):
    """Whether a query reads tables that the program works out."""
    with open(path, encoding="utf-8") as file:
        return re.search(r"\b(replay|stream)_[a-z]+\(", file.read()) is not None


UNITS = ("_ms", "_us", "_pct", "gbps", "tflops", "gflop", "mbyte")


def as_numbers(text):
    """CSV with one spelling of each number: to 13 digits (the shell prints 15), and where a
    column's name has a unit, to nine after the point (as the program prints them)."""
    def plain(field, name):
        try:
            if field.lstrip("-").isdigit():
                return field
            number = float(field)
            return f"{round(number, 9) if name.endswith(UNITS) else number:.13g}"
        except ValueError:
            return field
    header, *rows = list(csv.reader(io.StringIO(text))) or [[]]
    return "".join(",".join(map(plain, row, header)) + "\n" for row in [header, *rows])
