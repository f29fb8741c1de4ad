#!/usr/bin/env python3
"""Asks databases of the fixtures and of random jobs in SQL as it is written for Nsight Systems'
exports (nsight/*.sql), through the program and the sqlite3 shell, and compares all rows with
nsight_oracle.py.

    python3 check_nsight.py --program P [--fixtures DIR] [--sqlite3 S] [--only NAME] [--seeds 6]
"""
import argparse
import csv
import io
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_breakdown  # noqa: E402
import nsight_oracle  # noqa: E402
import trace_oracle as oracle  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
REPORTS = os.path.join(HERE, "nsight")


def answers(options, database, path):
    """(who, its header and rows) of the program and the shell."""
    done = subprocess.run([options.program, "-q", "--db", database, "query", path], check=True,
                          stdout=subprocess.PIPE, text=True, encoding="utf-8")
    yield "program", done.stdout
    with open(path, encoding="utf-8") as statement:
        done = subprocess.run([options.sqlite3, "-readonly", "-csv", "-header", database],
                              stdin=statement, check=True, stdout=subprocess.PIPE, text=True,
                              encoding="utf-8")
    yield "sqlite3", done.stdout


def check_set(options, name, paths):
    with tempfile.TemporaryDirectory(prefix="tracedb-nsight-") as folder:
        database = os.path.join(folder, "trace.db")
        subprocess.run([options.program, "-q", "--db", database, "ingest", *paths], check=True)
        job = oracle.load(paths)
        differences, rows = [], 0
        for file in sorted(os.listdir(REPORTS)):
            report = os.path.splitext(file)[0]
            expected = list(getattr(nsight_oracle, report)(job))
            rows += len(expected)
            for who, text in answers(options, database, os.path.join(REPORTS, file)):
                header, *found = list(csv.reader(io.StringIO(text))) or [[]]
                differences += check_breakdown.differences_of(f"{report} of {who}",
                                                              (header, found), expected)
    print(f"{'FAIL' if differences else 'ok  '} {name} ({len(paths)} traces, {rows} rows)")
    for line in differences[:options.show]:
        print("     " + line[:400])
    sys.stdout.flush()
    return not differences


def main():
    parser = argparse.ArgumentParser(description="Compare reports of Nsight's kind with an oracle.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--fixtures", default=os.path.join(HERE, "..", "..", "fixtures"))
    parser.add_argument("--sqlite3", default="sqlite3", help="the shell")
    parser.add_argument("--only", default="", help="only sets with this in their name")
    parser.add_argument("--seeds", type=int, default=6, help="how many random sets")
    parser.add_argument("--show", type=int, default=5, help="differences shown a set")
    options = parser.parse_args()
    options.program, options.folders = os.path.abspath(options.program), []
    results = []
    with tempfile.TemporaryDirectory(prefix="tracedb-nsight-") as folder:
        for name, paths in check_breakdown.sets(options, folder):
            if options.only in name:
                results.append(check_set(options, name, paths))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
