#!/usr/bin/env python3
"""tracedb cut against the traces it was given, and against windows counted by hand.

    python3 cut_test.py --program BUILD/src/tracedb [--seed N] [GROUP...]

Groups: whole (everything cut and ingested again gives the same rows), windows (random windows
against brute force over the rows of the views), ranks (several in one file), tools (the keys that
readers of such files need), path (the track of the critical path), output (interrupted, full disk,
closed pipe). What a cut holds is read with Python's json module from the file, what it should hold
with Python's sqlite3 from the views: no code is shared with the program.
"""
import argparse
import os
import random
import signal
import sys
import tempfile

import check_output
import check_path
import check_ranks
import check_whole
import check_windows

from cut_program import Program

GROUPS = {"whole": check_whole.check, "windows": check_windows.check, "ranks": check_ranks.check,
          "tools": check_ranks.check_tools, "path": check_path.check, "output": check_output.check}


def main():
    parser = argparse.ArgumentParser(description="Check tracedb cut.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("groups", nargs="*", metavar="GROUP", choices=[[], *GROUPS])
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also as a background job
    here = os.path.dirname(os.path.abspath(__file__))
    failed = []
    with tempfile.TemporaryDirectory(prefix="tracedb-cut-") as folder:
        program = Program(os.path.abspath(options.program), folder,
                          os.path.join(here, "..", "..", "fixtures"))
        for name in options.groups or GROUPS:
            failures = GROUPS[name](program, random.Random(options.seed))
            print(f"{'failed' if failures else 'passed'}: {name}")
            for failure in failures:
                print(f"    {failure}")
            failed += failures
    print(f"{len(failed)} differences, seed {options.seed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
