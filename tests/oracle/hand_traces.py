"""Small traces by hand: for tests of the oracles."""
import json

import trace_oracle as oracle


def trace(events, rank=0, **header):
    """A trace of events given as JSON-like objects; ts and dur in us."""
    document = {"distributedInfo": {"rank": rank, "world_size": 2, "pg_config": [
        {"pg_name": "3", "ranks": [1, 0]}]}, **header, "traceEvents": events}
    return oracle.Trace(f"rank{rank}.json", oracle.parse_json(json.dumps(document)))


def kernel(ts, dur, name="gemm", stream=7, cat="kernel", **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": ts, "dur": dur,
            "args": {"device": 0, "stream": stream, **args}}


def part(ts, dur, **args):
    return kernel(ts, dur, "ncclDevKernel", 9, **{
        "Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 10, "Out msg nelems": 20,
        "Process Group Ranks": "[0, 1]", **args})


def recorded(events, rank=0, begin=0, end=100, path=None, **header):
    """A trace from begin to end, in us."""
    made = trace([*events, *({"ph": "i", "name": "edge", "ts": at} for at in (begin, end))], rank, **header)
    made.path = path or made.path
    return made
