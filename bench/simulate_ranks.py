#!/usr/bin/env python3
"""Writes the traces of a job of N ranks with known faults: a straggler, a slow link, clocks.

One step, as eight real ranks did it (simulated_job.py has how): launches, kernels, collectives. The
hosts have clocks of their own, eight ranks each. The same seed writes the same bytes. OUT.truth,
beside the folder, says in JSON what was planted.

    python3 bench/simulate_ranks.py OUT --ranks 64 --straggler 21 --delay-ms 20
    tracedb ingest OUT --db job.db && tracedb query straggler_steps --db job.db
"""

import argparse
import dataclasses
import json
import pathlib
import random
import sys
import zlib

import simulated_job as model

FIXTURE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "megatron"
RANKS_OF_HOST = 8
RANKS_MAX = 16384
STEP = 4
FULL_RANKS_MAX = 30  # of longer lists PyTorch writes the first 29 and the last
START_NS = 1_000_000_000  # of the step, after the trace's base time
HELD = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


@dataclasses.dataclass
class Clock:
    """Of a host: what it shows at a true time."""

    offset_ns: int
    drift_ppb: int

    def at(self, true_ns: int) -> int:
        return true_ns + self.offset_ns + (true_ns - START_NS) * self.drift_ppb // 10**9


def host_clocks(hosts: int, offset_us: int, drift_ppm: float, seed: int) -> list[Clock]:
    """The first host's clock is right: the others' errors are those against it."""
    rng = random.Random(f"clocks {seed}")
    clocks = [Clock(0, 0)]
    for _ in range(1, hosts):
        clocks.append(Clock(rng.randint(-offset_us * 1000, offset_us * 1000),
                            rng.randint(round(-drift_ppm * 1000), round(drift_ppm * 1000))))
    return clocks


def us_text(time_ns: int) -> str:
    return f"{time_ns // 1000}.{time_ns % 1000:03d}"


def ranks_text(ranks: list[int]) -> str:
    if len(ranks) <= FULL_RANKS_MAX:
        return str(ranks)
    return "[" + ", ".join(map(str, ranks[:FULL_RANKS_MAX - 1])) + f", ..., {ranks[-1]}]"


class RankWriter:
    """A rank's trace, as text. What does not differ between ranks is formatted once."""

    def __init__(self, job: model.Job, stages: list[list[model.Op]], header: dict):
        self.job, self.stages, self.header = job, stages, header
        self.call_texts = [[self.call_text(op, index) for index, op in enumerate(ops)]
                           for ops in stages]
        self.activity_texts = [[self.activity_text(op, index) for index, op in enumerate(ops)]
                               for ops in stages]

    @staticmethod
    def call_text(op: model.Op, index: int) -> tuple[str, str]:
        args = {"External id": index + 1, "correlation": index + 1}
        if "cbid" in op.call["args"]:
            args["cbid"] = op.call["args"]["cbid"]
        return (f'{{"ph":"X","cat":"{op.call["cat"]}","name":"{op.call["name"]}","pid":%d,"tid":%d,'
                f'"ts":%s,"dur":%s,"args":{json.dumps(args)}}}')

    @staticmethod
    def activity_text(op: model.Op, index: int) -> tuple[str, str]:
        """Before and after its times; the place of the group's args is the end."""
        if op.activity is None:
            return "", ""
        args = {key: value for key, value in op.activity["args"].items()
                if not key.startswith("Process Group") and key not in
                ("Group size", "Dst Rank", "Src Rank", "device", "queued")}
        args.update({"External id": index + 1, "correlation": index + 1})
        return (f'{{"ph":"X","cat":"{op.activity["cat"]}","name":{json.dumps(op.activity["name"])},'
                f'"pid":', f',"tid":{op.activity["tid"]},"args":{json.dumps(args)[:-1]}')

    def group_args(self, rank: int) -> dict:
        """Text of the args that say which communicator, by kind of it."""
        texts = {"": ""}
        for kind in ("tensor", "data", "pipeline"):
            name, members = self.job.group(kind, rank)
            of = {"pipeline": "PIPELINE_MODEL", "tensor": "TENSOR_MODEL", "data": "DATA"}[kind]
            args = {"Group size": len(members), "Process Group Name": name,
                    "Process Group Description": f"{of}_PARALLEL_GROUP",
                    "Process Group Ranks": ranks_text(members)}
            texts[kind] = ", " + json.dumps(args)[1:-1]
        return texts

    def head(self, rank: int, host: str) -> str:
        groups = []
        for kind, about in (("world", "default_pg"), ("tensor", "TENSOR_MODEL_PARALLEL_GROUP"),
                            ("data", "DATA_PARALLEL_GROUP"),
                            ("pipeline", "PIPELINE_MODEL_PARALLEL_GROUP")):
            name, members = self.job.group(kind, rank)
            groups.append({"pg_name": name, "pg_desc": about, "backend_config": "cuda:nccl",
                           "pg_size": len(members), "ranks": members})
        keys = {key: value for key, value in self.header.items() if key != "traceEvents"}
        keys.update(trace_id=f"{rank:032X}", traceName=f"/traces/rank{rank}.pt.trace.json",
                    host_name=host)
        keys["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": self.job.ranks,
                                   "pg_count": len(self.job.names), "pg_config": groups,
                                   "nccl_version": "2.28.9"}
        return json.dumps(keys)[:-1] + ', "traceEvents": [\n'

    def events(self, rank: int, times: model.RankTimes, clock: Clock):
        stage = self.job.place(rank)[2]
        device, pid = rank % RANKS_OF_HOST, 1000 + rank

        def span(start_ns: int, end_ns: int) -> tuple[str, str]:
            begin, end = clock.at(START_NS + start_ns), clock.at(START_NS + end_ns)
            return us_text(begin), us_text(end - begin)

        def host_slice(category: str, name: str, start_ns: int, end_ns: int) -> str:
            ts, dur = span(start_ns, end_ns)
            return (f'{{"ph":"X","cat":"{category}","name":"{name}","pid":{pid},"tid":{pid},'
                    f'"ts":{ts},"dur":{dur},"args":{{}}}}')

        yield (f'{{"name":"process_name","ph":"M","ts":{us_text(START_NS)},"pid":{pid},"tid":0,'
               f'"args":{{"name":"python"}}}}')
        yield host_slice("user_annotation", f"ProfilerStep#{STEP}", 0, times.step_end + 10_000)
        if times.held is not None:
            yield host_slice("user_annotation", HELD, times.held[0], sum(times.held))
        group_args = self.group_args(rank)
        for index, op in enumerate(self.stages[stage]):
            launch = times.launched[index]
            if op.activity is None:
                yield self.call_texts[stage][index] % (
                    pid, pid, *span(launch, times.ended[index]))
                continue
            following = times.launched[index + 1] if index + 1 < len(times.launched) else None
            held = (times.held[0] if times.held is not None and times.held[0] > launch else None)
            ends = [end for end in (launch + op.call_ns, following, held) if end is not None]
            yield self.call_texts[stage][index] % (pid, pid, *span(launch, min(ends)))
            before, after = self.activity_texts[stage][index]
            ts, dur = span(times.started[index], times.ended[index])
            peer = ""
            if op.kind in ("send", "recv"):
                tensor, data, _ = self.job.place(rank)
                other = self.job.rank_at(tensor, data, op.peer_stage)
                peer = f', "{"Dst" if op.kind == "send" else "Src"} Rank": {other}'
            place = f', "device": {device}' + group_args[op.group] + peer
            yield f'{before}{device}{after}{place}}},"ts":{ts},"dur":{dur}}}'

    def text(self, rank: int, times: model.RankTimes, clock: Clock, host: str) -> str:
        return self.head(rank, host) + ",\n".join(self.events(rank, times, clock)) + "\n]}\n"


def pack(text: str) -> bytes:
    """As gzip, without a time in it."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(text.encode()) + packer.flush()


def truth_of(job: model.Job, replay: model.Replay, clocks: list[Clock], seed: int) -> dict:
    fault = replay.fault
    truth = {"ranks": job.ranks, "seed": seed, "step": STEP, "straggler": None, "slow_link": None}
    if fault.straggler is not None:
        held = replay.ranks[fault.straggler].held
        truth["straggler"] = {"rank": fault.straggler, "step": STEP, "name": HELD,
                              "delay_ns": held[1], "start_ns": START_NS + held[0]}
    if fault.slow_pipeline is not None:
        name, members = job.group("pipeline", fault.slow_pipeline)
        truth["slow_link"] = {"group_name": name, "ranks": members, "factor": fault.slow_factor}
    truth["step_ns"] = max(times.step_end for times in replay.ranks)
    truth["groups"] = {kind: [members for key, (_, members) in job.names.items() if key[0] == kind]
                       for kind in ("tensor", "data", "pipeline")}
    truth["clocks"] = [{"host": f"node{host}", "ranks": [host * RANKS_OF_HOST,
                                                         (host + 1) * RANKS_OF_HOST - 1],
                        "offset_ns": clock.offset_ns, "drift_ppb": clock.drift_ppb}
                       for host, clock in enumerate(clocks)]
    return truth


def simulate(folder: pathlib.Path, ranks: int, fault: model.Fault, seed: int = 1,
             offset_us: int = 50_000, drift_ppm: float = 20.0) -> dict:
    """Writes the traces into `folder`; returns the truth."""
    traces = model.load(FIXTURE)
    job = model.Job(ranks)
    stages = [model.stage_ops(traces, stage) for stage in range(model.STAGES)]
    replay = model.Replay(job, stages, fault, seed)
    replay.run()
    clocks = host_clocks(ranks // RANKS_OF_HOST, offset_us, drift_ppm, seed)
    folder.mkdir(parents=True, exist_ok=True)
    writer = RankWriter(job, stages, traces[0])
    for rank, times in enumerate(replay.ranks):
        host = rank // RANKS_OF_HOST
        text = writer.text(rank, times, clocks[host], f"node{host}")
        path = folder / f"node{host}_rank{rank}.pt.trace.json.gz"
        partial = path.with_suffix(".tmp")
        partial.write_bytes(pack(text))
        partial.rename(path)
    truth = truth_of(job, replay, clocks, seed)
    folder.with_name(folder.name + ".truth").write_text(json.dumps(truth, indent=1) + "\n")
    return truth


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where the traces are written")
    parser.add_argument("--ranks", type=int, default=64, help="a multiple of 8 (default: 64)")
    parser.add_argument("--straggler", type=int, help="the rank that is late (default: none)")
    parser.add_argument("--delay-ms", type=float, default=20.0, help="by how much (default: 20)")
    parser.add_argument("--slow-link", type=int, metavar="RANK",
                        help="the transfers of this rank's pipeline group are slower")
    parser.add_argument("--slow-factor", type=float, default=4.0, help="so much (default: 4)")
    parser.add_argument("--offset-us", type=int, default=50_000,
                        help="hosts' clocks are off by so much at most (default: 50000)")
    parser.add_argument("--drift-ppm", type=float, default=20.0,
                        help="and drift by so much at most (default: 20)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not 0 < options.ranks <= RANKS_MAX or options.ranks % model.RECORDED_RANKS != 0:
        parser.error(f"--ranks: a multiple of {model.RECORDED_RANKS}, at most {RANKS_MAX}")
    for name, rank in (("--straggler", options.straggler), ("--slow-link", options.slow_link)):
        if rank is not None and not 0 <= rank < options.ranks:
            parser.error(f"{name} {rank}: no rank of {options.ranks}")
    fault = model.Fault(options.straggler, round(options.delay_ms * 1e6),
                        slow_factor=options.slow_factor)
    if options.slow_link is not None:
        fault.slow_pipeline = model.Job(options.ranks).key("pipeline", options.slow_link)[1]
    truth = simulate(options.folder, options.ranks, fault, options.seed, options.offset_us,
                     options.drift_ppm)
    print(f"{options.ranks} ranks in {options.folder}, a step of {truth['step_ns'] / 1e6:.3f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
