#!/usr/bin/env python3
"""Kills, full disks, failing reads, signals and company: a file is in the database whole or not.

    crash_test.py --program P --shim LIB [--seed N] [--all] [--jobs N] [GROUP...]

Groups: kill full_disk faults signals together (none given: all). One line a check with its figures,
what is wrong below it, and at the end `N passed, N failed`; exit 1 if any failed. The random
moments come from the seed, which is printed. --all hits every call, where else every tenth is
of those that are many.
"""
import argparse
import os
import shutil
import signal
import sys
import tempfile
import time

import crash_disk
import crash_faults
import crash_kills
import crash_signals
import crash_together
from crash_check import Checks, Options

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = {"kill": crash_kills.run, "full_disk": crash_disk.run, "faults": crash_faults.run,
          "signals": crash_signals.run, "together": crash_together.run}


def main():
    parser = argparse.ArgumentParser(description="Crash tests of the program.")
    parser.add_argument("--program", required=True, help="the program under test")
    parser.add_argument("--shim", required=True, help="the library built from fault_shim.cc")
    parser.add_argument("--fixtures", default=os.path.join(HERE, "..", "..", "fixtures"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true",
                        help="every call, where else a tenth is; all random moments, else half")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    told = parser.parse_args()
    unknown = [name for name in told.groups if name not in GROUPS]
    if unknown:
        parser.error(f"there is no group {unknown[0]}")
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup's children would not feel it
    signal.signal(signal.SIGINT, signal.default_int_handler)  # nor a background job's a SIGINT
    print(f"seed {told.seed}", flush=True)
    folder = os.path.realpath(tempfile.mkdtemp(prefix="tracedb-crash-"))
    checks = Checks()
    try:
        options = Options(told, folder)
        for name in told.groups or GROUPS:
            begun = time.monotonic()
            GROUPS[name](options, checks)
            print(f"group {name}: {time.monotonic() - begun:.1f} s", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
