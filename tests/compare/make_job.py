#!/usr/bin/env python3
"""A training job of known truth as traces, for compare: every step computes, communicates and
leaves the GPU to the host.

    python3 make_job.py FOLDER [--ranks 2] [--steps 16] [--seed 1] [--noise 0.2] [--compute 4]
                        [--grow 0] [--suffix TEXT] [--annotation NAME RANK MS] [--recompute]
                        [--gpu NAME] [--tensor 1] [--lost RANK EACH] [--casts 0]
                        [--uneven 0] [--unlaunched 0]

Times in ms, noise in percent of each time. A step is 4 ms of a matrix product in the forward pass,
as much in the backward pass, 1 of an all-reduce that nothing hides, and 3 in which the host is
busy. `--recompute` runs the forward pass once more in the backward pass; `--annotation` has a
rank's host do something more in each step, under that name, for which the other ranks wait;
`--grow` makes each step that much longer than the one before. `--lost` leaves out one in EACH of
a rank's kernels. `--casts` has one short cast in the forward pass, all others in the backward one.
`--uneven` makes the steps of the second quarter that much longer.
`--unlaunched` leaves out the call of one in so many launches.
"""
import argparse
import json
import os
import random


class Rank:
    def __init__(self, rank, options):
        self.rank, self.options = rank, options
        self.events, self.correlation = [], 0

    def add(self, category, name, start, duration, tid=5, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 5 if tid < 7 else 0,
                            "tid": tid, "ts": round(start * 1e3, 3),
                            "dur": round(duration * 1e3, 3), "args": args})

    def launch(self, name, at, duration, tid=5, stream=7, **args):
        """The kernel follows its launch at once; returns its end."""
        self.correlation += 1
        unlaunched = self.options.unlaunched
        if not unlaunched or self.correlation % unlaunched != 1:
            self.add("cuda_runtime", "cudaLaunchKernel", at, 0.005, tid,
                     correlation=self.correlation)
        lost = self.options.lost
        is_lost = lost and lost[0] == self.rank and self.correlation % lost[1] == 0
        if is_lost and "Collective name" not in args:
            return at + 0.01 + duration
        self.add("kernel", name, at + 0.01, duration, stream, device=self.rank, stream=stream,
                 correlation=self.correlation, **args)
        return at + 0.01 + duration

    def product(self, at, duration, tid=5):
        self.add("cpu_op", "aten::mm", at, 0.05, tid)
        return self.launch("gemm_128x128" + self.options.suffix, at + 0.01, duration, tid)

    def forward(self, at, duration, tid=5):
        self.add("cpu_op", "Attention", at, 0.1, tid)
        if self.options.casts and tid == 5:
            self.cast(at, tid)
        return self.product(at + 0.01, duration, tid)

    def cast(self, at, tid):
        self.add("cpu_op", "aten::_to_copy", at, 0.006, tid)
        self.launch("cast", at, 0.005, tid)

    def backward(self, at, duration):
        node = "CheckpointFunctionBackward" if self.options.recompute else "AttentionBackward"
        outer = 0.3 if self.options.recompute else 0.2
        self.add("cpu_op", "autograd::engine::evaluate_function: " + node, at, outer, 6)
        end = self.forward(at + 0.01, duration, 6) if self.options.recompute else at
        inner = at + 0.15 if self.options.recompute else at + 0.01
        self.add("cpu_op", "AttentionBackward", inner, 0.14, 6)
        self.add("cpu_op", "aten::mm", inner + 0.01, 0.05, 6)
        self.launch("gemm_backward" + self.options.suffix, inner + 0.02, duration, 6, stream=8)
        last = self.events[-1]
        for i in range(1, self.options.casts):
            self.cast(inner + 0.06 + 0.01 * i, 6)
        if self.options.casts:
            self.add("cpu_op", "ToCopyBackward0", inner + 0.1, 0.01, 6)
        last["ts"] = max(last["ts"], round(end * 1e3, 3))
        return last["ts"] / 1e3 + duration

    def all_reduce(self, at, duration):
        self.add("cpu_op", "c10d::allreduce_", at, 0.03)
        ranks = str(list(range(self.options.ranks)))
        tensor = self.options.tensor > 1
        described = ("TENSOR_MODEL" if tensor else "DATA") + "_PARALLEL_GROUP"
        name = "ncclDevKernel_AllReduce" + self.options.suffix
        return self.launch(name, at + 0.01, duration, stream=20, **{
            "Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024,
            "dtype": "Float", "Group size": self.options.ranks, "Process Group Name": "1",
            "Process Group Ranks": ranks, "Process Group Description": described})


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    for name, default in (("--ranks", 2), ("--steps", 16), ("--seed", 1), ("--tensor", 1),
                          ("--casts", 0), ("--unlaunched", 0)):
        parser.add_argument(name, type=int, default=default)
    for name, default in (("--noise", 0.2), ("--compute", 4.0), ("--grow", 0.0), ("--uneven", 0.0)):
        parser.add_argument(name, type=float, default=default)
    parser.add_argument("--suffix", default="")
    parser.add_argument("--annotation", nargs=3, default=None)
    parser.add_argument("--lost", nargs=2, type=int, default=None)
    parser.add_argument("--recompute", action="store_true")
    parser.add_argument("--gpu", default="GPU of a test")
    return parser.parse_args()


def main():
    options = read_options()
    draw = random.Random(options.seed)
    ranks = [Rank(rank, options) for rank in range(options.ranks)]
    at = 1.0
    for step in range(1, options.steps + 1):
        is_second = options.steps // 4 < step <= options.steps // 2
        times = (options.compute, 1, 3 + options.grow * step + (options.uneven if is_second else 0))
        compute, reduce, host = (round(ms * (1 + draw.gauss(0, options.noise / 100)), 3)
                                 for ms in times)
        extra = float(options.annotation[2]) if options.annotation else 0
        end = 0
        for rank in ranks:
            now = at
            late = options.annotation is not None and rank.rank == int(options.annotation[1])
            if late:
                rank.add("user_annotation", options.annotation[0], now, extra)
                now += extra
            now = rank.forward(now, compute)
            now = rank.backward(now, compute)
            # The ranks leave the all-reduce together: those that are not late wait in it.
            end = rank.all_reduce(now, reduce if late or not extra else reduce + extra) + host
        for rank in ranks:
            rank.add("user_annotation", f"ProfilerStep#{step}", at, end - at)
        at = end
    os.makedirs(options.folder, exist_ok=True)
    for rank in ranks:
        whole = {"deviceProperties": [{"id": rank.rank, "name": options.gpu}],
                 "distributedInfo": {"rank": rank.rank, "world_size": options.ranks},
                 "traceEvents": rank.events}
        path = os.path.join(options.folder, f"rank{rank.rank}.pt.trace.json")
        with open(path, "w", encoding="utf-8") as trace:
            json.dump(whole, trace)


if __name__ == "__main__":
    main()
