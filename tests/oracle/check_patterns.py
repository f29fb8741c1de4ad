"""As check_breakdown.py: the queries that have a function in patterns_oracle.py."""
import check_breakdown
import patterns_oracle

WITH_PARAMETERS = (("memory_timeline", {"bins": 7}), ("memory_timeline", {"rank": 1, "bins": 1}),
                   ("queue_depth", {"moments": 100000}),
                   ("queue_depth", {"rank": 0, "moments": 13, "full": 3}),
                   ("small_kernels", {"max_us": 3.5, "min_kernels": 2, "idle_pct": 20}),
                   ("small_kernels", {"rank": 1, "max_us": 40, "min_kernels": 3, "idle_pct": 0}),
                   ("kernel_sequences", {"length": 2, "step": -1, "limit": 100000, "min_times": 1,
                                         "max_gap_us": 1000000}),
                   ("kernel_sequences", {"length": 5, "step": 4, "rank": 0, "limit": 50}))


def compare(options, database, jobs):
    return check_breakdown.compare(options, database, jobs, (patterns_oracle,), WITH_PARAMETERS)
