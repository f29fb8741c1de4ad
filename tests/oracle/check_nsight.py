"""Asks a database in SQL as it is written for Nsight Systems' exports (nsight/*.sql), through the
program and the sqlite3 shell, and compares all rows with nsight_oracle.py.
"""
import csv
import io
import os
import subprocess

import check_breakdown
import nsight_oracle

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


def compare(options, database, jobs):
    """As in check_breakdown.py. Nsight Systems knows no runs: one has to be enough."""
    differences, rows = [], 0
    if len(jobs) > 1:
        return [], 0
    job = jobs[0]
    for file in sorted(os.listdir(REPORTS)):
        report = os.path.splitext(file)[0]
        if options.query not in (None, report):
            continue
        expected = list(getattr(nsight_oracle, report)(job))
        rows += len(expected)
        for who, text in answers(options, database, os.path.join(REPORTS, file)):
            header, *found = list(csv.reader(io.StringIO(text))) or [[]]
            differences += check_breakdown.differences_of(f"{report} of {who}", (header, found),
                                                          expected)
    return differences, rows
