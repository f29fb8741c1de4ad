#!/usr/bin/env python3
"""Write small random traces of one job into a folder, for property tests.

    python3 make_cases.py OUT_DIR --seed N [--events N] [--dirty]

One seed gives the same bytes every time. Without --dirty every event is well formed; with it there are
unmatched begins and ends and negative durations too. The traces are valid JSON in either case.
"""
import argparse
import gzip
import json
import os
import random

NAMES = ["gemm", "void kernel<float, 4>(int*, char const*)", "add \"quoted\" \\ back", "élan \u4e2d\U0001f600",
         "nested::name", "x" * 300, "triton_poi_fused_0", "tab\there"]
COMMUNICATION = ["ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "multimem_all_reduce_kernel",
                 "RCCL_Kernel", "void cross_device_reduce_1stage<float>", "one_shot_all_reduce_kernel"]
DTYPES = ["BFloat16", "Float", "Half", "Byte", "Long", "Int", "Double", "Bool", "Float8_e4m3fn"]


class Exact:
    """A number written as this text."""

    def __init__(self, text):
        self.text = text


def dump(value):
    if isinstance(value, Exact):
        return value.text
    if isinstance(value, dict):
        return "{" + ", ".join(json.dumps(k) + ": " + dump(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"
    return json.dumps(value)


class Writer:
    def __init__(self, random_, base, style):
        self.random, self.base, self.style = random_, base, style

    def time(self, ns):
        """ns as decimal microseconds in this file's style: a number or text, with 0 to 4 decimals."""
        whole, rest = divmod(ns, 1000)
        digits = f"{rest:03d}"
        pick = self.random.random()
        if self.style == "short":
            digits = digits.rstrip("0")
        elif pick < 0.1:
            # A 4th decimal under 5 rounds down to the same ns, from 5 on up to it.
            if pick < 0.05 or ns == 0:
                digits += self.random.choice("01234")
            else:
                whole, rest = divmod(ns - 1, 1000)
                digits = f"{rest:03d}" + self.random.choice("56789")
        text = f"{whole}.{digits}" if digits else str(whole)
        as_text = self.style == "text" or (self.style == "mixed" and self.random.random() < 0.3)
        return text if as_text else Exact(text)


def make_job(seed, events, dirty):
    r = random.Random(seed)
    world = r.choice([1, 2, 2, 3, 4, 4])
    base = r.choice([None, 1790857026000000000])
    origin = r.randrange(10**6, 10**12) if base else 1_700_000_000_000_000_000
    captures = r.choice([1, 1, 2])
    groups = [{"name": "0", "desc": "default_pg", "ranks": list(range(world))}]
    if world == 4:
        groups += [{"name": "1", "desc": "TENSOR", "ranks": [0, 2]}, {"name": "2", "desc": "TENSOR", "ranks": [3, 1]},
                   {"name": "7", "desc": "PIPELINE", "ranks": [0, 1]}]
    for group in groups:
        group["seq"] = r.random() < 0.4
        group["next"] = r.randrange(5, 50)
        group["spelling"] = r.choice(["full", "full", "short", "absent"])
        group["p2p"] = len(group["ranks"]) == 2 and r.random() < 0.4
    files = []
    for capture in range(captures):
        start = origin + capture * 50_000_000
        plan = []                      # the collectives in the order of their launch, the same for all
        for position in range(r.randrange(3, 12)):
            group = r.choice(groups)
            group["next"] += 1
            size = r.randrange(1, 10**7)
            plan.append({"group": group, "seq": group["next"], "elements": size,
                         "dtype": r.choice(DTYPES), "at": start + 10_000 + position * 400_000,
                         "tie": r.random() < 0.2,
                         "name": r.choice(["allreduce", "_allgather_base", "_reduce_scatter_base", "broadcast"])})
        for rank in range(world):
            if captures == 2 and capture == 1 and world > 1 and rank == world - 1 and r.random() < 0.5:
                continue               # one rank without a second capture: parts without a partner
            files.append((rank, capture, make_trace(r, rank, world, base, start, groups, plan, events, dirty)))
    return files


def make_trace(r, rank, world, base, start, groups, plan, events, dirty):
    w = Writer(r, base, r.choice(["three", "three", "short", "text", "mixed"]))
    length = 12 * 400_000
    pid = r.choice([1555, 3, 416, "3239786240"])
    out = []
    correlation = r.randrange(1, 10**6)
    tids = [pid, r.choice([77, "3239786241"]), "stream 7"]

    def moment():
        # A coarse grid makes ties and touching intervals common.
        grid = r.choice([1, 1, 500, 20_000])
        return start + r.randrange(0, length) // grid * grid

    def duration():
        return r.choice([0, 0, 1, 500, 20_000, r.randrange(0, 50_000), r.randrange(0, 900_000)])

    def add(event):
        keys = list(event)
        if r.random() < 0.3:
            r.shuffle(keys)
        out.append({key: event[key] for key in keys})

    def span(category, name, ts, dur, p, t, args=None):
        event = {"ph": "X", "cat": category, "name": name, "pid": p, "tid": t,
                 "ts": w.time(ts), "dur": w.time(dur)}
        if args is not None:
            event["args"] = args
        add(event)

    def odd_args():
        return {key: value for key, value in {
            "External id": r.randrange(1, 5000), "Ev Idx": r.randrange(0, 9999),
            "Sequence number": r.randrange(0, 999), "Fwd thread id": r.choice([0, 1, 2]),
            "Input Dims": [[r.randrange(1, 9), 2048], []], "Input type": ["float", ""],
            "unknown key": r.choice([None, True, False, "text", "5", 5, Exact("5.0"), Exact("1e3"), Exact("0.10")]),
            "Addr": r.choice([2**63 - 1, 2**64 - 1, -5, 140017351808832]), "": 0,
            "nested": {"a": {"b": [1, Exact("2.50"), {"c": None}]}}, "Call stack": "f.py(1): a;g.py(2): \u00e9",
            "unit \"µ\"": Exact("-0.5"), "stream": 0}.items() if r.random() < 0.4}

    # Steps
    step_length = length // 3
    for number in range(3):
        if r.random() < 0.9:
            span("user_annotation", f"ProfilerStep#{number + 3}", start + number * step_length,
                 step_length - r.choice([1000, 40_000]), pid, tids[0], {"External id": number})
    if r.random() < 0.5:
        span("gpu_user_annotation", "ProfilerStep#3", start + 5, step_length, rank, 7, {"External id": 1})

    # GPU activities
    devices = [rank] if r.random() < 0.8 else [rank, rank + 8]
    streams = r.sample([0, 7, 20, 35, "0x0"], r.randrange(1, 4))
    legacy = r.random() < 0.2
    gpu_categories = [("kernel", "gpu_memcpy", "gpu_memset"), ("Kernel", "Memcpy", "Memset")][legacy]

    def gpu(category, name, ts, dur, extra, stream=None):
        nonlocal correlation
        correlation += 1
        device, stream = r.choice(devices), r.choice(streams) if stream is None else stream
        args = {"External id": r.randrange(1, 5000), "device": device, "stream": stream, "correlation": correlation,
                "context": 1, **extra}
        if r.random() < 0.05:
            del args["device"]
        if r.random() < 0.05:
            del args["stream"]
        has_launch = r.random()
        if has_launch < 0.1:
            del args["correlation"]
        elif has_launch < 0.85:
            span(r.choice(["cuda_runtime", "cuda_driver"]) if not legacy else "Runtime",
                 r.choice(["cudaLaunchKernel", "cuLaunchKernelEx"]),
                 ts - r.choice([0, 500, 3_000, 1_000_000]) if r.random() < 0.9 else start - 5_000,
                 r.choice([0, 1500]), pid, r.choice(tids[:2]), {"cbid": 211, "correlation": correlation})
            if r.random() < 0.5:
                add({"ph": "s", "id": correlation, "pid": pid, "tid": tids[0], "ts": w.time(ts), "cat": "ac2g", "name": "ac2g"})
                add({"ph": "f", "id": correlation, "pid": device, "tid": stream, "ts": w.time(ts), "cat": "ac2g",
                     "name": "ac2g", "bp": "e"})
        span(category, name, ts, dur, device, stream, args)
        if has_launch > 0.8 and "Collective name" not in extra:
            # A graph replay: several activities of one correlation.
            for _ in range(r.randrange(0, 3)):
                span(category, name, moment(), duration(), device, stream, dict(args))

    for _ in range(events):
        pick = r.random()
        if pick < 0.6:
            gpu(gpu_categories[0], r.choice(NAMES), moment(), duration(),
                {"grid": [r.randrange(1, 99), 1, 1], "block": [128, 1, 1], "registers per thread": 32,
                 "shared memory": 0, "est. achieved occupancy %": r.choice([0, 31, Exact("12.5")])})
        elif pick < 0.7:
            gpu(gpu_categories[0], r.choice(COMMUNICATION), moment(), duration(), {})
        elif pick < 0.85:
            gpu(gpu_categories[1], "Memcpy HtoD (Pageable -> Device)", moment(), duration(),
                {"bytes": r.randrange(1, 10**9), "memory bandwidth (GB/s)": Exact("2383.1272727272726")})
        elif pick < 0.95:
            gpu(gpu_categories[2], "Memset (Device)", moment(), duration(), {"bytes": 4})
        else:
            span("mtia_ccp_events", "mtia job", moment(), duration(), rank, 3, {"stream": "17"})

    # Collectives
    previous = 0
    for item in plan:
        group = item["group"]
        if rank not in group["ranks"]:
            continue
        at = item["at"] if item["tie"] else item["at"] + r.randrange(0, 200_000)
        at = max(at, previous + 1)
        previous = at
        inside, outside = item["elements"], item["elements"] * len(group["ranks"])
        name = item["name"]
        args = {"Collective name": name, "dtype": item["dtype"], "In msg nelems": inside, "Out msg nelems": outside,
                "Group size": len(group["ranks"]), "In split size": "[]", "Process Group Name": group["name"],
                "Process Group Description": group["desc"]}
        if group["p2p"]:
            other = [x for x in group["ranks"] if x != rank][0]
            sends = (rank < other) == (item["seq"] % 2 == 0)
            args["Collective name"] = "send" if sends else "recv"
            args["Dst Rank" if sends else "Src Rank"] = other
        if group["spelling"] == "full":
            args["Process Group Ranks"] = "[" + ", ".join(map(str, group["ranks"])) + "]"
        elif group["spelling"] == "short":
            args["Process Group Ranks"] = f"[{group['ranks'][0]}, ...]"
        if group["seq"]:
            args["Seq"] = item["seq"]
        gpu(gpu_categories[0], r.choice(COMMUNICATION[:1] + ["deep_ep::internode::dispatch", "plain_name"]),
            at, r.choice([1, 5_000, r.randrange(0, 300_000)]), args)

    # Events of the CPU and the others
    for number in range(events):
        pick = r.random()
        t = r.choice(tids)
        if pick < 0.25:
            span(r.choice(["cpu_op", "python_function", "user_annotation", "overhead"]), r.choice(NAMES), moment(),
                 duration(), pid, t, r.choice([None, {}, odd_args(), odd_args()]))
        elif pick < 0.3:
            span("cuda_sync", "Stream Sync", moment(), duration(), rank, -1,
                 {"stream": -1, "correlation": number, "cuda_sync_kind": "Stream Sync", "device": rank})
        elif pick < 0.45:
            add({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": pid, "tid": t,
                 "ts": w.time(moment()), "args": {"Addr": r.choice([2**64 - 512, 4096]), "Bytes": r.choice([-512, 512]),
                                                  "Total Allocated": 5, "Total Reserved": 9, "Device Type": 1,
                                                  "Device Id": rank, "Ev Idx": number}})
        elif pick < 0.5:
            add({"ph": "i", "s": "g", "name": "Iteration Start: x", "pid": "Traces", "tid": "", "ts": w.time(moment())})
        elif pick < 0.6:
            add({"ph": "C", "name": "GPU power", "pid": rank, "tid": 0, "ts": w.time(moment()),
                 "args": {"W": Exact(str(r.randrange(100)) + ".5")}})
        elif pick < 0.7:
            add({"ph": r.choice("sf"), "id": number, "pid": pid, "tid": t, "ts": w.time(moment()),
                 "cat": "fwdbwd", "name": "fwdbwd"})
    clock = start
    depth = 0
    for _ in range(events // 4):       # properly nested begins and ends on a thread of their own
        clock += r.choice([0, 10, 5_000])
        if depth and r.random() < 0.5:
            add({"ph": "E", "pid": pid, "tid": "nest", "ts": w.time(clock)})
            depth -= 1
        else:
            add({"ph": "B", "cat": "cpu_op", "name": r.choice(NAMES), "pid": pid, "tid": "nest", "ts": w.time(clock),
                 "args": odd_args()})
            depth += 1
    while depth and not dirty:
        add({"ph": "E", "pid": pid, "tid": "nest", "ts": w.time(clock)})
        depth -= 1
    for number in range(events // 8):  # asynchronous ones may cross
        a, b = sorted((moment(), moment()))
        for phase, ts in (("b", a), ("e", b)):
            add({"ph": phase, "cat": "async", "name": f"request {number % 3}", "id": f"0x{number:x}", "pid": pid,
                 "tid": tids[0], "ts": w.time(ts)})
    for t in {str(t): t for t in tids}.values():
        add({"ph": "M", "name": "thread_name", "pid": pid, "tid": t, "ts": w.time(start), "args": {"name": f"thread {t} (x)"}})
    add({"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": w.time(start), "args": {"name": "python"}})
    add({"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "ts": w.time(start), "args": {"labels": "CPU"}})
    if dirty:
        add({"ph": "E", "pid": pid, "tid": "lonely", "ts": w.time(start)})
        add({"ph": "e", "cat": "async", "name": "none", "id": 9999, "pid": pid, "tid": 1, "ts": w.time(start)})
        out.append({"ph": "X", "cat": "kernel", "name": "backwards", "pid": rank, "tid": 7, "ts": w.time(start + 70),
                    "dur": Exact("-0.5"), "args": {"device": rank, "stream": 7}})
    if r.random() < 0.5:
        begins = [e for e in out if e["ph"] in "BEbe"]   # their order counts; all others may come in any
        rest = [e for e in out if e["ph"] not in "BEbe"]
        r.shuffle(rest)
        out = rest + begins
    header = {"schemaVersion": 1, "trace_id": f"T{r.randrange(10**9)}", "displayTimeUnit": "ms",
              "odd key": {"a": [1, Exact("2.50")]},
              "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world, "pg_config": [
                  {"pg_name": g["name"], "pg_desc": g["desc"], "pg_size": len(g["ranks"]), "ranks": g["ranks"]}
                  for g in groups if rank in g["ranks"]]}}
    if base is not None:
        header["baseTimeNanoseconds"] = base
    keys = list(header)
    r.shuffle(keys)
    cut = r.choice([0, len(keys), len(keys) // 2])
    lines = [f"  {json.dumps(key)}: {dump(header[key])}" for key in keys]
    body = "  \"traceEvents\": [\n" + ",\n".join("  " + dump(event) for event in out) + "\n  ]"
    return "{\n" + ",\n".join(lines[:cut] + [body] + lines[cut:]) + "\n}\n"


def write(folder, seed, events=60, dirty=False):
    """The paths of the traces written."""
    os.makedirs(folder, exist_ok=True)
    paths = []
    for number, (rank, capture, text) in enumerate(make_job(seed, events, dirty)):
        path = os.path.join(folder, f"rank{rank}.{capture}.pt.trace.json")
        data = text.encode()
        if (seed + number) % 2:
            path += ".gz"
            data = gzip.compress(data, mtime=0)
        with open(path, "wb") as handle:
            handle.write(data)
        paths.append(path)
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write small random traces.")
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--events", type=int, default=60, help="about how many GPU activities a trace")
    parser.add_argument("--dirty", action="store_true")
    options = parser.parse_args()
    print("\n".join(write(options.folder, options.seed, options.events, options.dirty)))
