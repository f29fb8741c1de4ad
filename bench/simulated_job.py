"""A job of N ranks that works as the eight ranks of fixtures/megatron did, with planted faults.

The eight are tensor 2 x data 2 x pipeline 2. A job of N ranks has tensor 2, pipeline 2 and N/4
data-parallel replicas, in Megatron-LM's order of ranks: tensor first, pipeline last. Nothing is
copied with its times: each rank is replayed. A host launches at the pace of the recorded ones; a
kernel starts when it has been launched and what it waits for has ended; a collective begins at
each rank when that gets to it, and ends at all of them together, a transfer after the last has.
So a late rank's delay moves into the collectives of the others, and through these to theirs.

Pace, duration and transfer are the middle ones of the stage's four recorded ranks: ranks of a
stage have equal work, as their differences would be stragglers that nobody planted. The recorded
model is so small that its GPUs wait for their hosts, and each host is late now and then: kernels
take 16 times as long here, and hosts a quarter of the time, as with a model that fills a GPU.
"""

import dataclasses
import gzip
import heapq
import json
import pathlib
import random
import statistics

TENSOR = 2
STAGES = 2
RECORDED_RANKS = 8
COMPUTE_STREAM = 7
US = 1000  # ns
# A kernel that starts so long after all that it depends on waited for its launch.
LAUNCH_BOUND_NS = 12 * US
LATENCY_NS = 5 * US  # from a launch to its kernel's start where nothing else holds it
STREAM_GAP_NS = 1 * US  # between two kernels of a stream
STREAM_WAIT_NS = 2 * US  # between kernels of two streams, the later waiting for the earlier
HOST_SCALE = 0.25
KERNEL_SCALE = 16
DELAYED_OP = 2  # at the begin of a step no launches are ahead that would hide a delay
RELEASE_NS_MAX = 300  # how far apart the ranks leave a collective
GPU_CATEGORIES = ("kernel", "gpu_memcpy", "gpu_memset")
CALL_CATEGORIES = ("cuda_runtime", "cuda_driver")


def ns(us: float) -> int:
    return round(us * US)


@dataclasses.dataclass
class Op:
    """A launch with its GPU activity, or a synchronising call: what a host does next."""

    host_gap_ns: int  # from the start of the launch before (the end of a synchronising call)
    call: dict
    call_ns: int
    activity: dict | None = None  # None: a synchronising call
    dur_ns: int = 0  # of a collective: its transfer
    latency_ns: int = LATENCY_NS
    waits_for: int = -1  # an earlier op, on another stream
    group: str = ""  # tensor, data or pipeline, of a collective
    peer_stage: int = -1  # of a send or recv
    kind: str = ""  # of a collective: its name


@dataclasses.dataclass
class Fault:
    straggler: int | None = None
    delay_ns: int = 20_000_000
    slow_pipeline: int | None = None  # the tensor and data place of a pipeline group's ranks
    slow_factor: float = 4.0


@dataclasses.dataclass
class RankTimes:
    """What a rank did, in ns of a true clock since the step began."""

    launched: list = dataclasses.field(default_factory=list)
    started: list = dataclasses.field(default_factory=list)
    ended: list = dataclasses.field(default_factory=list)
    step_end: int = 0
    held: tuple | None = None  # start and duration of the planted delay


def load(folder: pathlib.Path) -> list[dict]:
    traces = []
    for rank in range(RECORDED_RANKS):
        with gzip.open(folder / f"rank{rank}.pt.trace.json.gz") as file:
            traces.append(json.load(file))
    return traces


def last_step(events: list[dict]) -> dict:
    return max((event for event in events if event.get("cat") == "user_annotation"
                and event["name"].startswith("ProfilerStep#")), key=lambda event: event["ts"])


def recorded_ops(trace: dict) -> list[tuple[dict, dict | None]]:
    """Launches and synchronising calls of the last step with their activities, in order."""
    events = trace["traceEvents"]
    step = last_step(events)
    activities = {event["args"]["correlation"]: event for event in events
                  if event.get("cat") in GPU_CATEGORIES}
    calls = [event for event in events if event.get("cat") in CALL_CATEGORIES
             and step["ts"] <= event["ts"] < step["ts"] + step["dur"]]
    ops = [(call, activities.get(call["args"]["correlation"])) for call in calls
           if call["args"]["correlation"] in activities or "DeviceSynchronize" in call["name"]]
    return sorted(ops, key=lambda op: op[0]["ts"])


def waited_for(ops: list[tuple[dict, dict | None]], index: int) -> int:
    """The op of another stream that this one waits for; -1: none.

    Communication waits for what was computed so far. The computation goes on when a send or recv
    is done, which are waited for at once, and after the last of the gradients' reductions.
    """
    activity = ops[index][1]
    if activity is None:
        return -1
    for earlier in reversed(range(index)):
        other = ops[earlier][1]
        if other is None or other["tid"] == activity["tid"]:
            continue
        if activity["tid"] != COMPUTE_STREAM:
            if other["tid"] == COMPUTE_STREAM:
                return earlier
        elif other["args"].get("Collective name") in ("send", "recv"):
            return earlier
        elif not any(op is not None and op["tid"] == other["tid"] for _, op in ops[index:]):
            return earlier
    return -1


def launch_latency(ops: list[tuple[dict, dict | None]], index: int, waits_for: int) -> int | None:
    """Of a kernel that waited for its launch alone; None: it waited for something else as well."""
    call, activity = ops[index]
    free = max((op["ts"] + op["dur"] for _, op in ops[:index]
                if op is not None and op["tid"] == activity["tid"]), default=0.0)
    if waits_for >= 0:
        free = max(free, ops[waits_for][1]["ts"] + ops[waits_for][1]["dur"])
    bound = ns(activity["ts"] - free) > LAUNCH_BOUND_NS
    return ns(activity["ts"] - call["ts"]) if bound else None


def collective_place(activity: dict, rank: int) -> tuple[str, int, str]:
    args = activity["args"]
    if "Collective name" not in args:
        return "", -1, ""
    group = args["Process Group Description"].split("_")[0].lower()
    other = args.get("Dst Rank", args.get("Src Rank", rank))
    return group, other * STAGES // RECORDED_RANKS, args["Collective name"]


def stage_ops(traces: list[dict], stage: int) -> list[Op]:
    """What a host of the stage does in a step: the middle of the four ranks of it."""
    ranks = range(stage * 4, stage * 4 + 4)
    recorded = [recorded_ops(traces[rank]) for rank in ranks]
    names = [[activity and (activity["name"], activity["tid"]) for _, activity in ops
              if activity is not None] for ops in recorded]
    if any(other != names[0] for other in names):
        raise ValueError(f"the ranks of stage {stage} do not do the same")
    ops = []
    for index, (call, activity) in enumerate(recorded[0]):
        before = [each[index - 1][0] if index > 0 else last_step(traces[rank]["traceEvents"])
                  for rank, each in zip(ranks, recorded)]
        synced = index > 0 and recorded[0][index - 1][1] is None
        gaps = [ns(each[index][0]["ts"] - last["ts"] - (last["dur"] if synced else 0))
                for each, last in zip(recorded, before)]
        op = Op(int(statistics.median(gaps) * HOST_SCALE), call, ns(call["dur"]))
        ops.append(op)
        if activity is None:
            continue
        op.activity = activity
        op.waits_for = waited_for(recorded[0], index)
        latencies = [launch_latency(each, index, op.waits_for) for each in recorded]
        bound = [latency for latency in latencies if latency is not None]
        op.latency_ns = int(statistics.median(bound)) if bound else LATENCY_NS
        durations = [ns(each[index][1]["dur"]) for each in recorded]
        op.group, op.peer_stage, op.kind = collective_place(activity, ranks[0])
        middle = int(statistics.median(durations))
        op.dur_ns = min(durations) if op.group else middle * KERNEL_SCALE
        op.call_ns = min(op.call_ns, max(op.latency_ns - 1, 1))
    return ops


class Job:
    """Places of N ranks, and the communicators of each."""

    def __init__(self, ranks: int):
        if ranks < RECORDED_RANKS or ranks % RECORDED_RANKS != 0:
            raise ValueError(f"{ranks} ranks: it takes a multiple of {RECORDED_RANKS}")
        self.ranks = ranks
        self.replicas = ranks // (TENSOR * STAGES)
        self.names = {("world", 0): ("0", list(range(ranks)))}
        for kind in ("tensor", "data", "pipeline"):
            groups = {}
            for rank in range(ranks):
                groups.setdefault(self.key(kind, rank), []).append(rank)
            for key, members in groups.items():
                self.names[key] = (str(len(self.names)), members)

    def place(self, rank: int) -> tuple[int, int, int]:
        """Tensor, data and pipeline coordinates."""
        return (rank % TENSOR, rank // TENSOR % self.replicas, rank // (TENSOR * self.replicas))

    def rank_at(self, tensor: int, data: int, stage: int) -> int:
        return tensor + TENSOR * (data + self.replicas * stage)

    def key(self, kind: str, rank: int) -> tuple[str, int]:
        tensor, data, stage = self.place(rank)
        if kind == "world":
            return kind, 0
        fixed = {"tensor": (0, data, stage), "data": (tensor, 0, stage),
                 "pipeline": (tensor, data, 0)}[kind]
        return kind, self.rank_at(*fixed)

    def group(self, kind: str, rank: int) -> tuple[str, list[int]]:
        """Name and ranks."""
        return self.names[self.key(kind, rank)]

    def recorded_rank(self, rank: int) -> int:
        """Of the eight, the one in its place."""
        tensor, data, stage = self.place(rank)
        return tensor + TENSOR * (data % 2) + 4 * stage


class Replay:
    """A step of all ranks. A rank goes on until it needs the end of a collective that others have
    not got to; the last to get there wakes it."""

    def __init__(self, job: Job, stages: list[list[Op]], fault: Fault, seed: int):
        self.job, self.stages, self.fault = job, stages, fault
        self.random = random.Random(seed)
        self.ranks = [RankTimes() for _ in range(job.ranks)]
        self.at_host = [0] * job.ranks
        self.stream_end = [{} for _ in range(job.ranks)]  # stream: op that is its last
        self.ordinals = [{} for _ in range(job.ranks)]
        self.open = {}  # key of a collective: [(rank, op, start)]
        self.asleep = {}  # (rank, op): it waits for the end of that op

    def ops(self, rank: int) -> list[Op]:
        return self.stages[self.job.place(rank)[2]]

    def run(self) -> list[RankTimes]:
        for rank in range(self.job.ranks):
            self.at_host[rank] = self.random.randrange(50 * US)
        ready = list(range(self.job.ranks))
        while ready:
            self.advance(heapq.heappop(ready), ready)
        if any(len(times.started) < len(self.ops(rank)) for rank, times in enumerate(self.ranks)):
            raise ValueError("a collective waits for a rank that never gets to it")
        for times in self.ranks:
            times.step_end = max(times.step_end, max(times.ended))
        return self.ranks

    def advance(self, rank: int, ready: list[int]) -> None:
        ops, times = self.ops(rank), self.ranks[rank]
        while len(times.started) < len(ops):
            index = len(times.started)
            needed = self.needed(rank, index)
            unknown = next((op for op in needed if times.ended[op] is None), None)
            if unknown is not None:
                self.asleep[(rank, unknown)] = True
                return
            self.take(rank, index, [times.ended[op] for op in needed], ready)

    def needed(self, rank: int, index: int) -> list[int]:
        """The ops whose end this one needs to know."""
        op = self.ops(rank)[index]
        if op.activity is None:
            return list(self.stream_end[rank].values())
        last = self.stream_end[rank].get(op.activity["tid"])
        return [each for each in (last, op.waits_for) if each is not None and each >= 0]

    def take(self, rank: int, index: int, ends: list[int], ready: list[int]) -> None:
        op, times = self.ops(rank)[index], self.ranks[rank]
        launch = self.at_host[rank] + op.host_gap_ns + int(self.random.expovariate(1 / US))
        if index == DELAYED_OP and rank == self.fault.straggler:
            times.held = (launch, self.fault.delay_ns)
            launch += self.fault.delay_ns + US
        self.at_host[rank] = launch
        times.launched.append(launch)
        if op.activity is None:
            end = max([launch + US, *(each + US for each in ends)])
            self.at_host[rank] = times.step_end = end
            times.started.append(launch)
            times.ended.append(end)
            return
        start = launch + op.latency_ns
        last = self.stream_end[rank].get(op.activity["tid"])
        if last is not None:
            start = max(start, times.ended[last] + STREAM_GAP_NS)
        if op.waits_for >= 0:
            start = max(start, times.ended[op.waits_for] + STREAM_WAIT_NS)
        self.stream_end[rank][op.activity["tid"]] = index
        times.started.append(start)
        if not op.group:
            times.ended.append(start + op.dur_ns)
            return
        times.ended.append(None)
        self.meet(rank, index, op, ready)

    def meet(self, rank: int, index: int, op: Op, ready: list[int]) -> None:
        """A rank is in a collective; it ends for all when all are."""
        stage = self.job.place(rank)[2]
        key, size = (*self.job.key(op.group, rank), op.kind), len(self.job.group(op.group, rank)[1])
        if op.kind in ("send", "recv"):
            way = (stage, op.peer_stage)
            key, size = (*key[:2], way if op.kind == "send" else way[::-1]), 2
        ordinal = self.ordinals[rank].get(key, 0)
        self.ordinals[rank][key] = ordinal + 1
        parts = self.open.setdefault((key, ordinal), [])
        parts.append((rank, index))
        if len(parts) < size:
            return
        del self.open[(key, ordinal)]
        transfer = min(self.ops(each)[at].dur_ns for each, at in parts)
        if op.group == "pipeline" and self.job.key(op.group, rank)[1] == self.fault.slow_pipeline:
            transfer = int(transfer * self.fault.slow_factor)
        end = max(self.ranks[each].started[at] for each, at in parts) + transfer
        for each, at in parts:
            self.ranks[each].ended[at] = end + self.random.randrange(RELEASE_NS_MAX)
            if self.asleep.pop((each, at), False):
                heapq.heappush(ready, each)
