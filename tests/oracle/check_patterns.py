#!/usr/bin/env python3
"""The same as check_breakdown.py, of the queries that have a function in patterns_oracle.py.

    python3 check_patterns.py --program P [the options of check_breakdown.py]
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_breakdown  # noqa: E402
import patterns_oracle  # noqa: E402

WITH_PARAMETERS = (("memory_timeline", {"bins": 7}), ("memory_timeline", {"rank": 1, "bins": 1}),
                   ("queue_depth", {"moments": 100000}),
                   ("queue_depth", {"rank": 0, "moments": 13, "full": 3}),
                   ("small_kernels", {"max_us": 3.5, "min_kernels": 2, "idle_pct": 20}),
                   ("small_kernels", {"rank": 1, "max_us": 40, "min_kernels": 3, "idle_pct": 0}),
                   ("kernel_sequences", {"length": 2, "step": -1, "limit": 100000, "min_times": 1,
                                         "max_gap_us": 1000000}),
                   ("kernel_sequences", {"length": 5, "step": 4, "rank": 0, "limit": 50}))


if __name__ == "__main__":
    sys.exit(check_breakdown.main((patterns_oracle,), WITH_PARAMETERS))
