#!/usr/bin/env python3
"""Lets the program ingest the fixtures and random jobs, and compares the queries of queries/report
with report_oracle.py: every column of every row.

    python3 check_report.py --program P [--fixtures DIR] [--only NAME] [--seeds 6] [FOLDER...]

One line a set, the differences below it, at the end `N passed, N failed`; exit 1 if any failed.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_breakdown  # noqa: E402
import report_oracle  # noqa: E402
import trace_oracle as oracle  # noqa: E402

QUESTIONS = (("headline", {}), ("stall_matrix", {}), ("stall_matrix", {"limit": 3}),
             ("stream_heat", {}), ("stream_heat", {"bins": 7, "streams": 2}), ("timeline", {}),
             ("timeline", {"per_stream": 20}), ("timeline", {"per_stream": 1, "streams": 3}),
             ("memory_line", {}), ("memory_line", {"bins": 5}))


def without_straggler(answer):
    header, rows = answer
    return header, [row for row in rows if row[0] != "straggler"]


def clocks_are_as_they_are(program, database):
    """The oracle knows no alignment; these sets are of one host each."""
    header, rows = check_breakdown.ask(program, database, "clocks", {})
    return all(float(row[header.index("offset_ms")] or 0) == 0 for row in rows)


def check_set(options, name, paths):
    with tempfile.TemporaryDirectory(prefix="tracedb-report-") as folder:
        database = os.path.join(folder, "trace.db")
        subprocess.run([options.program, "-q", "--db", database, "ingest", *paths], check=True)
        job = oracle.load(paths)
        differences, rows = [], 0
        for query, parameters in QUESTIONS:
            if options.query not in (None, query):
                continue
            if query == "stall_matrix" and not clocks_are_as_they_are(options.program, database):
                differences.append("its clocks were aligned")
            expected = list(getattr(report_oracle, query)(job, **parameters))
            ours = check_breakdown.ask(options.program, database, "report/" + query, parameters)
            if query == "headline":
                ours = without_straggler(ours)
            differences += check_breakdown.differences_of(query, ours, expected)
            rows += len(expected)
    print(f"{'FAIL' if differences else 'ok  '} {name} ({len(paths)} traces, {rows} rows)")
    for line in differences[:options.show]:
        print("     " + line[:400])
    sys.stdout.flush()
    return not differences


if __name__ == "__main__":
    sys.exit(check_breakdown.main(check=check_set))
