#!/usr/bin/env python3
"""Lets the program ingest real and random traces, and compares each database with the oracle.

    python3 run_oracle.py --program P [--fixtures DIR] [--seeds 12] [--only NAME] [FOLDER...]

A set is a folder of fixtures, a seed of make_cases (every second one --dirty), or a FOLDER given.
One line a set, the differences below it, and at the end `N passed, N failed`; exit 1 if any
failed. Traces of a set are ingested in one command, and for odd seeds one by one, in reverse.
"""
import argparse
import io
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_database  # noqa: E402
import make_cases  # noqa: E402
import trace_oracle as oracle  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT_S = 1200


def traces_in(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if name.endswith((".json", ".json.gz", ".json.zst")))


def ingest(program, database, paths, one_by_one):
    """What went wrong; empty when nothing did."""
    for chosen in ([[path] for path in reversed(paths)] if one_by_one else [paths]):
        done = subprocess.run([program, "-q", "--db", database, "ingest", *chosen], timeout=TIMEOUT_S,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            return f"ingest: exit {done.returncode}\n{done.stderr.decode(errors='replace')}"
    return ""


def check_set(options, name, paths, one_by_one=False):
    """True when the database agrees."""
    out = io.StringIO()
    with tempfile.TemporaryDirectory(prefix="tracedb-oracle-") as folder:
        database = os.path.join(folder, "trace.db")
        wrong = ingest(options.program, database, paths, one_by_one)
        if not wrong:
            report = check_database.Report(options.show, out)
            check_database.run(database, oracle.load(paths), report, options.queries)
            if report.failed:
                wrong = "\n".join(line for line in out.getvalue().splitlines()
                                  if not line.startswith(("ok ", "    note:")))
    print(f"{'FAIL' if wrong else 'ok  '} {name} ({len(paths)} traces)")
    if wrong:
        print("     " + wrong.replace("\n", "\n     "))
    sys.stdout.flush()
    return not wrong


def main():
    parser = argparse.ArgumentParser(description="Compare what the program makes with the oracle.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--fixtures", default=os.path.join(HERE, "..", "..", "fixtures"))
    parser.add_argument("--queries", default=check_database.QUERIES)
    parser.add_argument("--seeds", type=int, default=12, help="how many random sets")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--events", type=int, default=60,
                        help="about how many GPU activities a random trace")
    parser.add_argument("--only", default="", help="only sets with this in their name")
    parser.add_argument("--show", type=int, default=5, help="differences shown a check")
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="more folders, a set each")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    sets = [("fixtures/" + name, os.path.join(options.fixtures, name))
            for name in sorted(os.listdir(options.fixtures))
            if os.path.isdir(os.path.join(options.fixtures, name))]
    sets += [(folder, folder) for folder in options.folders]
    passed = failed = 0
    for name, folder in sets:
        paths = traces_in(folder)
        if paths and options.only in name:
            agrees = check_set(options, name, paths)
            passed, failed = passed + agrees, failed + (not agrees)
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        dirty = seed % 2 == 0
        name = f"seed {seed}" + (" --dirty" if dirty else "")
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory(prefix="tracedb-oracle-") as folder:
            paths = make_cases.write(folder, seed, options.events, dirty)
            agrees = check_set(options, name, paths, seed % 4 >= 2)
            passed, failed = passed + agrees, failed + (not agrees)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
