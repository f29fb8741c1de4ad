#!/usr/bin/env python3
"""Cuts a small trace, plain and as gzip, at every byte, and ingests each piece.

    every_cut_test.py --program P [--jobs N] [--only plain|gzip] [--from N] [--to N]

A piece that ends before the event array is no trace: exit 1, no database. Every other one is
loaded with a warning: exit 0, complete = 0, the whole events before the cut and no other, a sound
database. --strict refuses it. One line for each of the two, the first differences below it; exit 1
if there are any.
"""
import argparse
import concurrent.futures
import os
import sqlite3
import subprocess
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "text"))
from test_check import temporary_folder  # noqa: E402

SHOWN = 12
STRICT_EVERY = 16  # cuts

BEFORE = """ {
    "schemaVersion": 1,
    "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA \\"H200\\" [x] {", "totalGlobalMem": 150109880320
    }
    ],
      "with_stack": 1,
  "displayTimeUnit": "ms",
    "baseTimeNanoseconds": 1790857026000000000,
    "traceEvents": ["""

EVENTS = [
    """
  {
    "ph": "M", "name": "process_name", "ts": 1.000, "pid": 7, "tid": 0,
    "args": {
      "name": "python"
    }
  }""", """
  {
    "ph": "X", "cat": "cpu_op", "name": "aten::mm \\u00e9\\ud83d\\ude00 \\\\", "pid": 7, "tid": 7,
    "ts": 3455190.774, "dur": 6.421
    ,
    "args": {
      "External id": 4097,"Input Dims": [[8, 2048], []], "Concrete Inputs": ["", "]},{"]
    }
  }""", """
  {
    "ph": "s", "id": 10850, "pid": 7, "tid": 7, "ts": 3455191.000, "cat": "ac2g", "name": "ac2g"

  }""", """
  {
    "ph": "X", "cat": "kernel", "name": "void k<\\"a\\">() \u4e2d\U0001f600", "pid": 0, "tid": 7,
    "ts": 3455193.001, "dur": 0.640
    ,
    "args": {
      "device": 0, "stream": 7, "correlation": 10850, "grid": [8, 1, 1], "x": {"y": null}
    }
  }""", """
  {
    "ph": "C", "cat": "mtia_counters", "name": "power", "pid": 0, "tid": 0, "ts": 3455194.000,
    "args": {
      "W": 305.25
    }
  }""", """
  {
    "ph": "i",

    "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 3455999.000

  }"""]

BEHIND = """
  ],
  "distributedInfo": {"backend": "nccl", "rank": 3, "pg_config": [{"ranks": "[0, 1]"}]},
  "traceName": "/tmp/\\"x\\".json" }"""

ROWS_SQL = ("SELECT (SELECT count(*) FROM slices) + (SELECT count(*) FROM instants) + "
            "(SELECT count(*) FROM flows) + (SELECT count(*) FROM metadata) + "
            "(SELECT count(DISTINCT counter_id) FROM counters)")


class Document:
    """The trace's bytes, and where its array and events stand."""

    def __init__(self):
        text = BEFORE.encode()
        self.array = len(text)
        self.events = []  # (first byte, behind the last byte)
        for number, event in enumerate(EVENTS):
            text += b"," if number else b""
            inner = event.encode()
            self.events.append((len(text) + inner.index(b"{"), len(text) + len(inner)))
            text += inner
        self.bytes = text + BEHIND.encode()

    def whole_events(self, size):
        return sum(end <= size for _, end in self.events)

    def inside_event(self, size):
        return any(begin < size < end for begin, end in self.events)


def gzip_of(data):
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def ingest(program, folder, path, *options):
    return subprocess.run(
        [program, "--db", os.path.join(folder, "trace.db"), "ingest", *options, path], cwd=folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1200,
        check=False)


def differences(wanted, found):
    for name, value in wanted.items():
        if found[name] != value:
            yield f"{name}: {found[name]} instead of {value}"


def ask(database):
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        row = connection.execute(
            "SELECT count(*), min(complete), min(events), min(skipped_events) FROM traces")
        found = dict(zip(("traces", "complete", "events", "skipped"), row.fetchone()))
        found["rows"] = connection.execute(ROWS_SQL).fetchone()[0]
        found["issues"] = dict(connection.execute("SELECT kind, count FROM issues"))
        found["integrity"] = connection.execute("PRAGMA integrity_check").fetchone()[0]
        return found
    finally:
        connection.close()


def check_cut(program, document, packed, size, strict):
    """What is wrong with the piece of `size` bytes, line by line."""
    data = (gzip_of(document.bytes) if packed else document.bytes)[:size]
    # What a piece of gzip holds: whatever can be unpacked of it.
    known = len(zlib.decompressobj(31).decompress(data)) if packed else size
    with temporary_folder() as folder:
        path = os.path.join(folder, "piece.json.gz" if packed else "piece.json")
        with open(path, "wb") as handle:
            handle.write(data)
        database = os.path.join(folder, "trace.db")
        outcome = ingest(program, folder, path, *(["--strict"] if strict else []))
        left = sorted(set(os.listdir(folder)) - {os.path.basename(path)})
        if strict or known < document.array:
            yield from differences({"exit": 1, "left behind": [], "says which file": True},
                                   {"exit": outcome.returncode, "left behind": left,
                                    "says which file": b"piece.json" in outcome.stderr})
            return
        if outcome.returncode != 0 or left != ["trace.db"]:
            yield f"exit {outcome.returncode}, {left}: {outcome.stderr.decode(errors='replace')}"
            return
        whole = document.whole_events(known)
        found = ask(database)
        yield from differences({"traces": 1, "complete": 0, "events": whole, "rows": whole,
                                "integrity": "ok"}, found)
        if document.inside_event(known) and found["skipped"] != 1:
            yield f"skipped: {found['skipped']} instead of 1"
        wanted = {"truncated"} if known < len(document.bytes) else set()
        wanted |= {"damaged_compression"} if packed else set()
        if set(found["issues"]) != wanted or set(found["issues"].values()) > {1}:
            yield f"issues: {found['issues']} instead of one each of {sorted(wanted)}"
        if b"piece.json" not in outcome.stderr:
            yield "no warning on standard error"


def check_whole(program, document, packed):
    """The trace as it is: the expectations above would mean nothing if it were not loaded whole."""
    with temporary_folder() as folder:
        path = os.path.join(folder, "piece.json")
        with open(path, "wb") as handle:
            handle.write(gzip_of(document.bytes) if packed else document.bytes)
        outcome = ingest(program, folder, path, "--strict")
        if outcome.returncode != 0:
            yield f"exit {outcome.returncode}: {outcome.stderr.decode(errors='replace')}"
            return
        events = len(document.events)
        yield from differences({"complete": 1, "events": events, "rows": events, "issues": {},
                                "skipped": 0}, ask(os.path.join(folder, "trace.db")))


def run(options, packed):
    """True when nothing is wrong."""
    document = Document()
    size = len(gzip_of(document.bytes)) if packed else len(document.bytes)
    cuts = [(cut, False) for cut in range(options.first, min(size, options.last))]
    cuts += [(cut, True) for cut, _ in cuts[::STRICT_EVERY]]

    def check(cut):
        return [f"cut at byte {cut[0]}{', --strict' if cut[1] else ''}: {line}"
                for line in check_cut(options.program, document, packed, *cut)]

    wrong = [f"whole: {line}" for line in check_whole(options.program, document, packed)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for lines in pool.map(check, cuts):
            wrong += lines
    print(f"{'FAIL' if wrong else 'ok  '} {'gzip' if packed else 'plain'}: {len(cuts)} pieces of "
          f"{size} bytes, {len(wrong)} differences")
    for line in wrong[:SHOWN]:
        print("     " + line.strip().replace("\n", "\n     "))
    sys.stdout.flush()
    return not wrong


def main():
    parser = argparse.ArgumentParser(description="Cut a trace at every byte.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", choices=("plain", "gzip"))
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first cut")
    parser.add_argument("--to", type=int, default=sys.maxsize, dest="last",
                        help="behind the last cut")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    kinds = [options.only] if options.only else ["plain", "gzip"]
    passed = [run(options, kind == "gzip") for kind in kinds]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
