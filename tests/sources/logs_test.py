#!/usr/bin/env python3
"""Training logs against a second parser, files that are none, and files made to hurt.

    logs_test.py --program P

Real logs: every line with an iteration, as grep counts them, is a row, and every field is what
the parser of this file makes of it; so are timers and arguments. This project's own log is in
fixtures/; other people's lie outside the repository: without them the test says so. Then nothing
of this repository itself is taken for a log or for settings, and lines without an end, NULs and
bars without an end are read in bounded memory.
"""
import argparse
import glob
import gzip
import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
SHARED = os.environ.get("TRACEDB_SHARED") or os.path.join(ROOT, "..", "shared")
OPTIONS = None
MEMORY_KB = 128 << 10

PREFIXES = ("worker-0: ", "192.168.0.4: ", "[1,0]<stdout>:", "[0] ", "0: ", "[default0]:",
            "[pod/job-worker-0/pytorch] ", "Nov 22 00:50:19 node7 torchrun[4711]: ",
            "worker-1  | ", "I1122 00:50:19.082800  4711 training.py:77] ",
            "(TrainActor pid=4711) ", "[rank0]: ")

HEAD = re.compile(r"iteration +(\d+)/ *(\d+) \|")
BLOCK = re.compile(r"^ {4}(\S.*?) \.*: \((\S+), (\S+)\)$")
ARGUMENT = re.compile(r"^  (\S+) (?:\.+|) (.*)$")


def text_of(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", errors="replace", newline="\n") as file:
        return file.read()


def iterations_of(text):
    """(line, iteration, of how many, fields) of each line that has them."""
    for number, line in enumerate(text.split("\n"), 1):
        head = HEAD.search(line)
        if not head:
            continue
        fields = {}
        *parts, behind = line[head.end():].split("|")
        for part in parts:
            name, value = part.split(":", 1)
            fields[name.strip()] = value.strip()
        if ":" in behind:
            raise ValueError(f"a field without a bar: {line}")
        yield number, int(head[1]), int(head[2]), fields


def timers_of(text):
    """(iteration, name, min, max) as Megatron-LM prints blocks of them, and of "time (ms) |"."""
    iteration = None
    for line in text.split("\n"):
        head = HEAD.search(line)
        if head:
            iteration = int(head[1])
        timer = BLOCK.match(line)
        if timer:
            yield iteration, timer[1], float(timer[2]), float(timer[3])


def single_timers_of(text):
    iteration = None
    for line in text.split("\n"):
        head = HEAD.search(line)
        if head:
            iteration = int(head[1])
        if line.startswith("time (ms) |"):
            pairs = [part.rsplit(":", 1) for part in line.split("|")[1:]]
            try:
                yield from [(iteration, name.strip(), float(value)) for name, value in pairs]
            except ValueError:
                continue  # the end of the line is another writer's


def arguments_of(text):
    inside = text.partition(" arguments ---")[2].partition(" end of arguments ")[0]
    for line in inside.split("\n"):
        argument = ARGUMENT.match(line)
        if argument:
            yield argument[1], argument[2].strip()


class LogsTest(unittest.TestCase):
    def setUp(self):
        shm = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.folder = tempfile.mkdtemp(dir=shm)
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def ingest(self, *paths, db="a.db"):
        return subprocess.run([OPTIONS.program, "-q", "ingest", "--db", self.path(db), *paths],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)

    def rows(self, sql, db="a.db"):
        with sqlite3.connect(self.path(db)) as connection:
            return connection.execute(sql).fetchall()

    def check_log(self, path):
        text = text_of(path)
        name = f"{os.path.basename(os.path.dirname(path))}-{os.path.basename(path)}.db"
        done = self.ingest(path, db=name)
        self.assertEqual(done.returncode, 0, done.stderr)
        wanted = list(iterations_of(text))
        rows = self.rows("SELECT line, iteration, iterations, fields, elapsed_ms, loss "
                         "FROM log_iterations ORDER BY line", name)
        self.assertEqual(len(rows), len(re.findall(r"(?m)^.*iteration +[0-9]+/.*$", text)))
        self.assertEqual(len(rows), len(wanted))
        for (line, iteration, iterations, fields, elapsed_ms, loss), want in zip(rows, wanted):
            self.assertEqual((line, iteration, iterations), want[:3])
            self.assertEqual(json.loads(fields, parse_float=str, parse_int=str), want[3])
            self.assertEqual(elapsed_ms, float(want[3]["elapsed time per iteration (ms)"]))
            self.assertEqual(loss, float(want[3]["lm loss"]))
        timers = list(timers_of(text))
        rows_of_timers = self.rows("SELECT ifnull(iteration, -1), name, min_ms, max_ms "
                                   "FROM log_timers WHERE max_ms IS NOT NULL", name)
        self.assertEqual(sorted(rows_of_timers),
                         sorted((-1 if i is None else i, n, low, high)
                                for i, n, low, high in timers))
        single = {(i, n, ms) for i, n, ms in single_timers_of(text)}
        self.assertEqual(set(self.rows("SELECT iteration, name, ms FROM log_timers "
                                       "WHERE ms IS NOT NULL", name)), single)
        if " end of arguments " in text and "Emitting ninja" not in text:
            self.assertEqual(self.rows("SELECT name, value FROM log_arguments "
                                       "WHERE section = 'arguments' ORDER BY line", name),
                             list(arguments_of(text)))
        return len(rows)

    def test_our_own_log_says_what_a_second_parser_reads(self):
        self.assertEqual(self.check_log(os.path.join(ROOT, "fixtures", "megatron_dp.log.gz")), 14)

    def test_samples_say_what_a_second_parser_reads(self):
        paths = sorted(glob.glob(os.path.join(SHARED, "samples", "logs", "*.gz"))
                       + glob.glob(os.path.join(SHARED, "samples", "*", "*", "log.txt")))
        if not paths:
            print(f"logs_test.py: NO SAMPLES in {SHARED}/samples: nothing was checked with them",
                  file=sys.stderr)
        for path in paths:
            with self.subTest(path=path):
                rows = self.check_log(path)
                if "growing" in path:
                    self.assertEqual(rows, 213)

    def test_a_log_says_the_same_behind_every_prefix(self):
        text = text_of(os.path.join(ROOT, "fixtures", "megatron_dp.log.gz"))
        tables = {"iterations": "iteration AS name, at_ns, fields",
                  "timers": "iteration, name, min_ms", "arguments": "section, name, value",
                  "memory": "name, mb", "events": "name"}
        told = {}
        for number, prefix in enumerate(("", *PREFIXES)):
            path = self.path(f"{number}.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(prefix + line + "\n" for line in text.split("\n"))
            done = self.ingest(path, db=f"{number}.db")
            self.assertEqual(done.returncode, 0, done.stderr)
            told[prefix] = {
                table: self.rows(f"SELECT {columns} FROM log_{table} ORDER BY line, name",
                                 f"{number}.db") for table, columns in tables.items()}
            self.assertEqual(told[prefix], told[""], prefix)
        self.assertGreater(min(map(len, told[""].values())), 5)

    def test_nothing_of_this_repository_is_a_log_or_settings(self):
        skipped = {"build", ".git", "fixtures", "__pycache__", "corpus"}
        copied = 0
        for at, folders, names in os.walk(ROOT):
            folders[:] = [folder for folder in folders if folder not in skipped]
            for name in names:
                path = os.path.join(at, name)
                if name.endswith(".test") or not os.path.isfile(path):  # these hold logs
                    continue
                shutil.copy(path, self.path(f"{copied}_{name}"))
                copied += 1
        self.assertGreater(copied, 500)
        shutil.copy(os.path.join(ROOT, "fixtures", "megatron_dp.log.gz"), self.path("log.gz"))
        done = self.ingest(self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.rows("SELECT path FROM sources WHERE kind IN ('training log', 'job settings')")
        self.assertEqual(rows, [(self.path("log.gz"),)])

    def hurt(self, name, pieces):
        """Ingests a log with these bytes at its end, packed; its issues."""
        with gzip.open(self.path(name), "wb", compresslevel=1) as file:
            file.write(b" iteration 1/ 9 | elapsed time per iteration (ms): 1.5 | lm loss: 1.0 |\n")
            for piece, times in pieces:
                block = piece * max(1, (1 << 20) // len(piece))
                for _ in range(max(1, len(piece) * times // len(block))):
                    file.write(block)
            file.write(b"\n iteration 2/ 9 | elapsed time per iteration (ms): 1.5 |"
                       b" lm loss: 1.0 |\n")
        done = self.ingest(self.path(name), db=name + ".db")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rows("SELECT iteration FROM log_iterations ORDER BY 1", name + ".db"),
                         [(1,), (2,)])
        return {kind for kind, in self.rows("SELECT kind FROM issues", name + ".db")}

    def test_lines_without_end_are_bounded(self):
        size = 200 << 20
        self.assertEqual(self.hurt("long.log.gz", [(b"a", size)]), {"too_long_line"})
        self.assertEqual(self.hurt("bars.log.gz", [(b"|", size)]), {"too_long_line"})
        self.hurt("nuls.log.gz", [(b"\0", size)])
        self.hurt("returns.log.gz", [(b"x\r", size // 8)])
        self.hurt("names.log.gz", [(b" iteration 1/ 9 " + b"| x: 1 " * 300 + b"|\n", 3000)])
        self.hurt("ranks.log.gz", [(b"times across ranks (ms):\n  forward:\n"
                                    + b"     rank  1: 1.5\n" * 5000, 100)])
        kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(kb, MEMORY_KB)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.program = os.path.abspath(OPTIONS.program)
    unittest.main(argv=[sys.argv[0], *rest])
