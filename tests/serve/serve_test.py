#!/usr/bin/env python3
"""`tracedb serve-csv`, driven over loopback as clients do, well-meaning ones and others.

    serve_test.py --program P [--filter TEXT] [GROUP...]

One line a check. Exit 0: all passed; 1: some failed. Groups: protocol, safety, streams,
load, life, requests, sharing, files, tokens, metrics, cuts.
"""
import argparse
import os
import signal
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_cuts  # noqa: E402
import check_files  # noqa: E402
import check_life  # noqa: E402
import check_load  # noqa: E402
import check_metrics  # noqa: E402
import check_protocol  # noqa: E402
import check_requests  # noqa: E402
import check_safety  # noqa: E402
import check_sharing  # noqa: E402
import check_streams  # noqa: E402
import check_tokens  # noqa: E402
from serve_server import make_database  # noqa: E402

GROUPS = {"protocol": check_protocol, "safety": check_safety, "streams": check_streams,
          "load": check_load, "life": check_life, "requests": check_requests,
          "sharing": check_sharing, "files": check_files, "tokens": check_tokens,
          "metrics": check_metrics, "cuts": check_cuts}


def run(check, program, database):
    begin = time.monotonic()
    try:
        check(program, database)
        verdict, trouble = "ok", ""
    except Exception:  # a check that fails must not hide the others
        verdict, trouble = "FAIL", traceback.format_exc()
    print(f"{verdict:4} {check.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
    if trouble:
        print("     " + trouble.rstrip().replace("\n", "\n     "), flush=True)
    return verdict == "ok"


def main():
    parser = argparse.ArgumentParser(description="Test tracedb serve-csv.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--filter", default="", help="only checks with this in their name")
    parser.add_argument("groups", nargs="*", metavar="GROUP", choices=[[], *GROUPS])
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also as a background job
    program = os.path.abspath(options.program)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tracedb-serve-") as folder:
        database = make_database(program, folder)
        for group in options.groups or GROUPS:
            for check in GROUPS[group].CHECKS:
                if options.filter in check.__name__:
                    failed += not run(check, program, database)
    print(f"{failed} failed" if failed else "all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
