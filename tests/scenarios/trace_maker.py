"""Simulates a training job, so that the truth about its traces is known to the nanosecond.

A `Job` is what a user calls one run: a folder, ranks and process groups. A `Capture` of it is one
cycle of the profiler. Each rank of a capture has a `Host`: its methods write down, in order, what
the host does; `Capture.simulate()` then lets all hosts and GPU streams run.

What the simulation keeps to:
- A host does one thing after another. A launch takes LAUNCH_NS of it, and what was launched can
  start LATENCY_NS after the launch call's end.
- A stream is a queue: each activity starts when it can, when the one before it has ended, and
  when all that it was told to wait for (`wait`) has ended.
- The parts of a collective start on their own and end together: the transfer's time after the
  last part's start.
- A synchronising call returns SYNC_TAIL_NS after what it waits for has ended.
Nothing else takes time, so every figure can be worked out by hand.
"""
import contextlib

from gpu_streams import Activity, Group, Meeting, Slice, Stream
from nccl_calls import COLLECTIVES, collective_args, in_bytes

LAUNCH_NS = 4_000
LATENCY_NS = 2_000
CALL_NS = 1_000
SYNC_TAIL_NS = 3_000
COMPUTE_STREAM = 7


def ns(microseconds):
    return round(microseconds * 1000)


class Host:
    """One thread of a rank. Every method but `advance` writes down what it will do."""

    def __init__(self, capture, rank, tid, name, begin):
        self.capture, self.rank, self.tid, self.name = capture, rank, tid, name
        self.begin = self.now = begin
        self.program = []
        self.at = 0
        self.open = []  # slices that have begun, outermost first

    # What a scenario writes down.

    @contextlib.contextmanager
    def within(self, name, category="cpu_op", **args):
        """An operator or an annotation around what stands in the block."""
        self.program.append((self.begin_slice, (category, name, args)))
        yield
        self.program.append((self.end_slice, ()))

    def step(self, number):
        return self.within(f"ProfilerStep#{number}", "user_annotation")

    def annotation(self, name):
        return self.within(name, "user_annotation")

    def work(self, us, name=None, category="cpu_op"):
        """The host is busy; with a name that is an operator (or annotation) of its own."""
        if name is None:
            self.program.append((self.spend, (ns(us),)))
        else:
            with self.within(name, category):
                self.program.append((self.spend, (ns(us),)))

    def recorder(self, us, ahead_us=0, holds=True):
        """The profiler asks for a buffer, on no thread of the trace: for so long from now on, which
        this host is held up for, and so long before already."""
        self.program.append((self.record, (ns(us), ns(ahead_us), holds)))

    def until(self, us):
        """The host does nothing that was recorded until so long after the capture's begin."""
        self.program.append((self.wait_until, (self.capture.begin + ns(us),)))

    def kernel(self, name, us, stream=COMPUTE_STREAM, latency_us=None, **more):
        """`more`: op (an operator around the launch), kind, category, bytes, args."""
        latency = LATENCY_NS if latency_us is None else ns(latency_us)
        if more.get("op"):
            with self.within(more["op"]):
                self.program.append((self.launch, (name, ns(us), stream, latency, more)))
        else:
            self.program.append((self.launch, (name, ns(us), stream, latency, more)))

    def copy(self, us, to="DtoH (Device -> Pinned)", nbytes=4, stream=COMPUTE_STREAM,
             latency_us=None):
        self.kernel(f"Memcpy {to}", us, stream, latency_us, category="gpu_memcpy", kind="memory",
                    args={"bytes": nbytes})

    def collective(self, collective, group, us, stream, **more):
        """`more`: nelems, dtype, peer (rank), in_split, out_split, joined (False: the streams
        of computation and communication do not wait for each other), host_us."""
        self.program.append((self.meet, (collective, group, ns(us), stream, more)))

    def wait(self, stream, on):
        """What is launched into `stream` from now on starts after all that is in `on` now."""
        self.program.append((self.wait_event, (stream, on)))

    def sync(self, stream=COMPUTE_STREAM, call="cudaStreamSynchronize"):
        """None: of all streams of the rank."""
        self.program.append((self.begin_sync, (stream, call)))
        self.program.append((self.end_sync, ()))

    def item(self, stream=COMPUTE_STREAM, copy_us=2, latency_us=None):
        """tensor.item(): a copy to the host, and waiting for it."""
        with self.within("aten::item"), self.within("aten::_local_scalar_dense"):
            self.copy(copy_us, "DtoH (Device -> Pageable)", 4, stream, latency_us)
            self.sync(stream)

    # What then happens. Each returns False when it has to be tried again later.

    def advance(self):
        moved = False
        while self.at < len(self.program):
            action, arguments = self.program[self.at]
            if action(*arguments) is False:
                return moved
            self.at += 1
            moved = True
        return moved

    def begin_slice(self, category, name, args):
        slice_ = Slice(category, name, self.tid, self.now, args=dict(args))
        slice_.external = self.capture.next_id(self.rank, "external")
        self.capture.slices[self.rank].append(slice_)
        self.open.append(slice_)
        return slice_

    def end_slice(self):
        self.open.pop().end = self.now

    def spend(self, duration):
        self.now += duration

    def record(self, duration, ahead, holds):
        self.capture.overheads[self.rank].append(
            Slice("overhead", "Activity Buffer Request", 0, self.now - ahead, self.now + duration))
        self.now += duration if holds else 0

    def wait_until(self, moment):
        assert moment >= self.now, f"rank {self.rank} is already {self.now - moment} ns later"
        self.now = moment

    def external(self):
        return self.open[-1].external if self.open else None

    def call(self, name, duration, category="cuda_runtime"):
        """A call of the runtime, of this length; its slice."""
        slice_ = Slice(category, name, self.tid, self.now, self.now + duration, self.external(),
                       self.capture.next_id(self.rank, "correlation"))
        self.capture.slices[self.rank].append(slice_)
        self.now += duration
        return slice_

    def submit(self, call, name, duration, stream, latency, more):
        made = self.call(call, LAUNCH_NS,
                         "cuda_driver" if call.startswith("cu") and call[2].isupper()
                         else "cuda_runtime")
        queue = self.capture.stream(self.rank, stream)
        assert queue.owner in (None, self.tid), "a stream is launched into by one thread"
        queue.owner = self.tid
        activity = Activity(self.rank, stream, more.get("category", "kernel"), name, duration,
                            self.now + latency, more.get("kind", "compute"), made.correlation,
                            self.external(), args=dict(more.get("args", {})))
        activity.after = self.capture.take_waits(self.rank, stream)
        queue.queue.append(activity)
        return activity

    def launch(self, name, duration, stream, latency, more):
        calls = {"gpu_memcpy": "cudaMemcpyAsync", "gpu_memset": "cudaMemsetAsync"}
        call = calls.get(more.get("category"), "cudaLaunchKernel")
        self.submit(call, name, duration, stream, latency, more)

    def meet(self, collective, group, transfer, stream, more):
        joined = more.get("joined", True)
        words = COLLECTIVES[collective]
        args = collective_args(self.capture.job, collective, group, self.rank, more)
        seq = self.capture.next_seq(self.rank, group)
        if self.capture.job.with_seq:
            args["Seq"] = seq
        self.begin_slice("cpu_op", words[0], {})
        self.spend(ns(more.get("host_us", 0)))
        self.begin_slice("cpu_op", "record_param_comms", args)
        if joined:
            self.wait_event(stream, COMPUTE_STREAM)
        on_gpu = {key: value for key, value in args.items() if key != "Rank"}
        part = self.submit("cuLaunchKernelEx", words[2], 0, stream, LATENCY_NS,
                           {"kind": "communication", "args": on_gpu})
        part.meeting = self.capture.meeting(collective, group, self.rank, transfer, more)
        part.meeting.parts[self.rank] = part
        self.end_slice()
        self.end_slice()
        if joined:
            self.wait_event(COMPUTE_STREAM, stream)

    def wait_event(self, stream, on):
        self.call("cudaEventRecord", CALL_NS)
        self.call("cudaStreamWaitEvent", CALL_NS)
        last = self.capture.stream(self.rank, on).last()
        if last is not None:
            self.capture.waits.setdefault((self.rank, stream), []).append(last)

    def begin_sync(self, stream, call):
        streams = self.capture.streams[self.rank]
        chosen = streams.values() if stream is None else [self.capture.stream(self.rank, stream)]
        self.awaited = [queue.last() for queue in chosen if queue.last() is not None]
        self.awaiting = self.call(call, 0)

    def end_sync(self):
        if any(activity.end is None for activity in self.awaited):
            return False
        self.now = max([self.now] + [activity.end for activity in self.awaited])
        self.awaiting.work_end = self.now
        self.now += SYNC_TAIL_NS
        self.awaiting.end = self.now
        return True


class Capture:
    """One cycle of the profiler, over all ranks of a job."""

    def __init__(self, job, begin_ns, first_pid):
        self.job, self.begin, self.first_pid = job, begin_ns, first_pid
        ranks = range(job.world_size)
        self.slices = {rank: [] for rank in ranks}
        self.overheads = {rank: [] for rank in ranks}  # what the profiler took time for
        self.streams = {rank: {} for rank in ranks}
        self.hosts = {}
        self.waits = {}
        self.counts = {}
        self.meetings = {}
        self.missing = set()  # ranks whose file was lost
        self.clock_steps = {}  # rank: (ns after the begin, by how many ns its clock is set then)

    def host(self, rank, begin_us=0):
        """The rank's main thread."""
        if rank not in self.hosts:
            pid = self.pid(rank)
            self.hosts[rank] = Host(self, rank, pid, "python", self.begin + ns(begin_us))
        return self.hosts[rank]

    def thread(self, rank, name):
        """Another thread of the rank, which launches nothing."""
        tid = self.pid(rank) + 1
        return self.hosts.setdefault((rank, name), Host(self, rank, tid, name, self.begin))

    def every_host(self):
        return [self.host(rank) for rank in range(self.job.world_size)]

    def pid(self, rank):
        return self.first_pid + 7 * rank

    def stream(self, rank, number):
        return self.streams[rank].setdefault(number, Stream())

    def take_waits(self, rank, stream):
        return self.waits.pop((rank, stream), [])

    def next_id(self, rank, what):
        return self.job.count((self.first_pid, rank, what))

    def next_seq(self, rank, group):
        return self.job.count((self.first_pid, rank, "seq", group.name))

    def meeting(self, collective, group, rank, transfer, more):
        """The collective that this is a part of: the n-th of its group (and of its two ranks)."""
        ranks, way = group.ranks, "all"
        if collective in ("send", "recv"):
            ends = (rank, more["peer"]) if collective == "send" else (more["peer"], rank)
            ranks, way = tuple(sorted(ends)), ends
        count_key = (rank, group.name, way)
        number = self.counts[count_key] = self.counts.get(count_key, 0) + 1
        key = (group.name, way, number)
        found = self.meetings.setdefault(
            key, Meeting(key, collective, group, ranks, transfer, in_bytes(more)))
        assert way != "all" or found.collective == collective, f"{key}: two kinds of collective"
        found.transfer = max(found.transfer, transfer)
        return found

    def simulate(self):
        streams = lambda: [s for of_rank in self.streams.values() for s in of_rank.values()]
        while True:
            moved = [host.advance() for host in self.hosts.values()]
            moved += [stream.advance() for stream in streams()]
            if not any(moved):
                break
        stuck = [host.rank for host in self.hosts.values() if host.at < len(host.program)]
        stuck += [s.queue[s.done].name for s in streams() if s.done < len(s.queue)]
        assert not stuck, f"deadlock: {stuck}"
        return self

    def activities(self, rank):
        return [a for stream in self.streams[rank].values() for a in stream.queue]

    def recorded_ranks(self):
        return [rank for rank in range(self.job.world_size) if rank not in self.missing]


class Job:
    """What a user calls one run: its ranks, its communicators and its captures."""

    def __init__(self, folder, world_size, groups=(), **options):
        self.folder, self.world_size = folder, world_size
        self.groups = [Group("0", "default_pg", tuple(range(world_size)))] + list(groups)
        self.with_names = options.get("with_names", True)
        self.with_seq = options.get("with_seq", False)
        self.gpu_name = options.get("gpu_name", "NVIDIA H200")
        self.file_name = options.get("file_name", "job")  # RANK in it is the rank
        self.gpu_recorded = options.get("gpu_recorded", True)
        self.host_recorded = options.get("host_recorded", True)
        self.captures = []
        self.counters = {}

    def count(self, key):
        self.counters[key] = self.counters.get(key, 0) + 1
        return self.counters[key]

    def capture(self, begin_s, first_pid=2675):
        """A cycle of the profiler that begins so many seconds after JOBS_BEGIN_NS. Another
        first_pid is another start of the same script: all its counters begin anew."""
        made = Capture(self, JOBS_BEGIN_NS + round(begin_s * 1e9), first_pid)
        self.captures.append(made)
        return made

    def group(self, description):
        return next(group for group in self.groups if group.description == description)


JOBS_BEGIN_NS = 1_795_308_770_000_000_000
