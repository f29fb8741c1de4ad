"""Small traces with CUDA or HIP graphs whose truth is known: what each kernel of a replay is of.

A Recorder writes a trace event by event, as the profiler would: operators, what they launch, a capture (its
launches run nothing), replays. It hands back, by start, the operator of each kernel.
"""
import gzip
import json
import os


class Recorder:
    def __init__(self, vendor="cuda", first=1000, rank=0):
        self.vendor, self.now, self.correlation, self.rank = vendor, first, first, rank
        self.events, self.truth, self.track = [], {}, 1
        self.gpu = first + 500_000

    def event(self, category, name, start, end, tid=1, pid=5, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start,
                            "dur": round(end - start, 3), "args": {key.replace("_", " "): value
                                                                   for key, value in args.items()}})

    def call(self, name, length=1, **args):
        """A call of the runtime: its correlation."""
        self.correlation += 1
        self.event(f"{self.vendor}_runtime", self.vendor + name, self.now, self.now + length,
                   correlation=self.correlation, **args)
        self.now += length + 1
        return self.correlation

    def within(self, category, name, inside, **args):
        start = self.now
        self.now += 1
        inside()
        self.event(category, name, start, self.now, **args)
        self.now += 1

    def activity(self, kernel, correlation, stream=7, start=None, dur=2, of=None, **args):
        start = self.gpu if start is None else start
        self.gpu = max(self.gpu, start + dur + 1)
        category = {"Memcpy": "gpu_memcpy", "Memset": "gpu_memset"}.get(kernel[:6], "kernel")
        self.event(category, kernel, start, start + dur, tid=stream, pid=0, device=0, stream=stream,
                   correlation=correlation, **args)
        self.truth[round(start * 1000)] = of

    def launch(self, node, runs=True, stream=7):
        """Of a node: (operator, kernel[, args]). Nothing runs while a graph is captured."""
        op, kernel, args = (*node, {})[:3]
        name = {"Memcpy": "MemcpyAsync", "Memset": "MemsetAsync"}.get(kernel[:6], "LaunchKernel")

        def inside():
            said = {"kernel": kernel, "grid": [4, 1, 1], "block": [64, 1, 1]} if self.vendor == "hip" else {}
            number = self.call(name, **{**said, **args.get("call", {})})
            if runs:
                self.activity(kernel, number, stream=stream, of=op, **self.gpu_args(args))
        self.within("cpu_op", op, inside, **args.get("op", {}))

    def gpu_args(self, args):
        if self.vendor == "hip":
            return {}
        return args.get("gpu", {"grid": [4, 1, 1], "block": [64, 1, 1]})

    def eager(self, nodes, streams=None):
        for i, node in enumerate(nodes):
            self.launch(node, stream=streams[i] if streams else 7)

    def capture(self, nodes, name="capture", between=None):
        def inside():
            self.call("StreamBeginCapture")
            for i, node in enumerate(nodes):
                if between is not None:
                    between(i)
                self.launch(node, runs=False)
            self.call("StreamEndCapture")
        self.within("user_annotation", name, inside)

    def replay(self, nodes, name="replay", order=None, truth=None, streams=None):
        """`order`: which nodes run, in the order of time; `streams`: of each node. `truth`: of each node, else as
        captured; None: of nothing."""
        def inside():
            number = self.call("GraphLaunch")
            for i in range(len(nodes)) if order is None else order:
                op, kernel, args = (*nodes[i], {})[:3]
                extra = {"graph_node_id": args["node"]} if "node" in args else {}
                self.activity(args.get("runs_as", kernel), number, stream=streams[i] if streams else 7,
                              of=truth[i] if truth is not None else op, dur=2 + i % 3,
                              **self.gpu_args(args), **extra)
        self.within("user_annotation", name, inside)

    def write(self, folder, name):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with gzip.open(path, "wt") as file:
            json.dump({"distributedInfo": {"rank": self.rank, "world_size": 1}, "traceEvents": self.events}, file)
        return path


def recorded_truth(path):
    """Of our own recording: the operator and its input sizes of each kernel of a replay, by start in ns, as the eager
    part has them. The script's side stream joins the other before the last three kernels; a replay runs the side and
    these three on one stream, what comes before on another."""
    with gzip.open(path, "rt") as file:
        events = [event for event in json.load(file, parse_float=str)["traceEvents"] if event.get("ph") == "X"]

    def ns(text):
        whole, _, part = str(text).partition(".")
        return int(whole) * 1000 + int((part + "000")[:3])

    ops = [(ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e) for e in events if e["cat"] == "cpu_op"]
    calls = {e["args"]["correlation"]: ns(e["ts"]) for e in events
             if e["cat"].startswith("cuda_") and "correlation" in e.get("args", {})}
    capture = next(ns(e["ts"]) for e in events if e["name"] == "cudaStreamBeginCapture")
    launched = {}
    for event in events:
        if event["cat"] in ("kernel", "gpu_memset", "gpu_memcpy"):
            launched.setdefault(event["args"]["correlation"], []).append(event)

    def op_at(time):
        around = [(end - start, event) for start, end, event in ops if start <= time < end]
        inner = min(around, key=lambda one: one[0])[1]
        return inner["name"], json.dumps(inner["args"].get("Input Dims"))

    eager = {}
    for correlation, kernels in sorted(launched.items(), key=lambda item: calls[item[0]]):
        if len(kernels) == 1 and calls[correlation] < capture:
            eager.setdefault(kernels[0]["args"]["stream"], []).append(
                (kernels[0]["name"], op_at(calls[correlation])))
    side, main = sorted((sequence for sequence in eager.values() if len(sequence) > 2), key=len)
    assert len(side) == 3
    sequences = {tuple(name for name, _ in sequence): [op for _, op in sequence]
                 for sequence in (side + main[-3:], main[:-3])}
    truth = {}
    for kernels in launched.values():
        if len(kernels) == 1:
            continue
        streams = {}
        for kernel in sorted(kernels, key=lambda event: ns(event["ts"])):
            streams.setdefault(kernel["args"]["stream"], []).append(kernel)
        for stream in streams.values():
            known = sequences[tuple(kernel["name"] for kernel in stream)]
            for kernel, op in zip(stream, known):
                truth[ns(kernel["ts"])] = op
    return truth
