#!/usr/bin/env python3
"""Runs .test files against the program.

    run_text_tests.py --program P [--sqlite3 S] [--jobs N] [--filter TEXT] [--part 2/8]
                      FILE_OR_FOLDER...

One line a test, the differences of a failed one below it, and at the end `N passed, N failed`.
Exit 0: all passed; 1: some failed; 2: wrong usage. TRACEDB_UPDATE=1 rewrites the expectations.
README.md says what a .test file is.
"""
import argparse
import concurrent.futures
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import command_test  # noqa: E402
import load_test  # noqa: E402
from test_file import BadTest, TestFile  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def run_test(path, options):
    """(verdict, path, what was measured, lines of differences)."""
    try:
        test = TestFile(path)
        skip = test.one("skip")
        if skip is not None:
            done = subprocess.run(["/bin/sh", "-c", skip.text], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, check=False)
            if done.returncode == 0:
                return "skip", path, "", []
        kind = command_test if test.one("command") else load_test
        check = kind.run(test, options)
        if options.update and check.changed:
            test.write()
        return "FAIL" if check.differences else "ok", path, check.measured, check.differences
    except BadTest as error:
        return "FAIL", path, "", [f"the test itself is wrong: {error}"]
    except Exception as error:  # a broken test must not hide the others
        return "FAIL", path, "", [f"{type(error).__name__}: {error}"]


def test_files(given):
    for path in given:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(names)
                        if name.endswith(".test"))


def part_of(text):
    """(2, 8) of "2/8"."""
    part, _, parts = text.partition("/")
    if not 1 <= int(part) <= int(parts):
        raise ValueError(text)
    return int(part), int(parts)


def main():
    # Who is started in the background of a shell ignores SIGINT, and so would the program.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser(description="Run text tests.")
    parser.add_argument("--program", required=True, help="the program under test")
    parser.add_argument("--sqlite3", default="sqlite3", help="the sqlite3 shell")
    parser.add_argument("--queries", default=os.path.join(HERE, "..", "..", "queries"))
    parser.add_argument("--fixtures", default=os.path.join(HERE, "..", "..", "fixtures"))
    parser.add_argument("--jobs", type=int, default=1, help="tests at a time")
    parser.add_argument("--filter", default="", help="only tests with this in their path")
    parser.add_argument("--part", type=part_of, default=(1, 1), metavar="N/M",
                        help="only every M-th test, from the N-th on")
    parser.add_argument("files", nargs="+", metavar="FILE_OR_FOLDER")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    options.queries = os.path.abspath(options.queries)
    options.fixtures = os.path.abspath(options.fixtures)
    options.update = os.environ.get("TRACEDB_UPDATE") == "1"
    if not os.access(options.program, os.X_OK):
        parser.error(f"{options.program}: there is no such program")
    files = [path for path in test_files(options.files) if options.filter in path]
    files = files[options.part[0] - 1::options.part[1]]
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for verdict, path, measured, lines in pool.map(lambda p: run_test(p, options), files):
            counts[verdict] += 1
            print(f"{verdict:4} {os.path.relpath(path)}{measured}")
            for line in lines:
                print("     " + line.replace("\n", "\n     "))
            sys.stdout.flush()
    if counts["skip"]:
        print(f"{counts['skip']} skipped")
    print(f"{counts['ok']} passed, {counts['FAIL']} failed")
    return 1 if counts["FAIL"] or not files else 0


if __name__ == "__main__":
    sys.exit(main())
