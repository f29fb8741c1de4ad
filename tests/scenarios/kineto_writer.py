"""Writes the captures of a job as Kineto does: one <name>.rankN.pt.trace.json for each rank.

Written anew the bytes are the same. Times are decimal microseconds after `baseTimeNanoseconds`.
"""
import hashlib
import json
import os

BASE_NS = 1_790_857_026_000_000_000
DEVICE = {"totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0,
          "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
          "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132}
CBIDS = {"cudaLaunchKernel": 211, "cudaMemcpyAsync": 41, "cudaMemsetAsync": 51,
         "cuLaunchKernelEx": 652, "cudaEventRecord": 135, "cudaStreamWaitEvent": 147,
         "cudaStreamSynchronize": 131, "cudaDeviceSynchronize": 165}
LAUNCH_SHAPE = {"registers per thread": 96, "shared memory": 0, "blocks per SM": 1,
                "warps per SM": 4.0, "grid": [132, 1, 1], "block": [128, 1, 1],
                "est. achieved occupancy %": 50}


def microseconds(ns):
    """A time or a length in decimal microseconds, as Kineto writes it."""
    assert ns >= 0
    return f"{ns // 1000}.{ns % 1000:03d}"


def event_text(event):
    # Times are texts until here: a double would not keep them.
    text = json.dumps(event)
    for key in ("ts", "dur"):
        if key in event:
            text = text.replace(f'"{key}": "{event[key]}"', f'"{key}": {event[key]}', 1)
    return text


class RankFile:
    """The trace of a rank in a capture."""

    def __init__(self, capture, rank):
        self.capture, self.rank, self.job = capture, rank, capture.job
        self.pid = capture.pid(rank)
        self.begin = capture.hosts[rank].begin
        self.events = []
        self.ev_idx = 0

    def header(self):
        mine = [group for group in self.job.groups if self.rank in group.ranks]
        config = [{"pg_name": group.name, "pg_desc": group.description,
                   "backend_config": "cuda:nccl", "pg_size": len(group.ranks),
                   "ranks": list(group.ranks)} for group in mine]
        # A node has eight devices.
        devices = [{"id": at, "name": self.job.gpu_name, **DEVICE}
                   for at in range(min(8, self.job.world_size))]
        seed = f"{self.job.folder} {self.capture.begin} {self.capture.first_pid} {self.rank}"
        header = {"schemaVersion": 1, "deviceProperties": devices,
                  "trace_id": hashlib.md5(seed.encode()).hexdigest().upper(),
                  "record_shapes": 1}
        header["distributedInfo"] = {
            "backend": "nccl", "rank": self.rank, "world_size": self.job.world_size,
            "pg_count": len(config), "pg_config": config, "nccl_version": "2.28.9"}
        header.update({"cuda_driver_version": 13000, "cuda_runtime_version": 13000,
                       "cupti_version": 130001, "displayTimeUnit": "ms",
                       "baseTimeNanoseconds": BASE_NS})
        return header

    def shown(self, moment):
        """What the rank's clock shows then, after BASE_NS."""
        at, by = self.capture.clock_steps.get(self.rank, (0, 0))
        return moment - BASE_NS + (by if moment >= self.capture.begin + at else 0)

    def times(self, start, end):
        # A clock that is set meanwhile changes no length: it is measured.
        return {"ts": microseconds(self.shown(start)), "dur": microseconds(end - start)}

    def name_rows(self):
        ts = {"ts": microseconds(self.shown(self.begin))}
        row = lambda what, pid, tid, **args: self.events.append(
            {"name": what, "ph": "M", **ts, "pid": pid, "tid": tid, "args": args})
        row("process_name", self.pid, 0, name="python")
        row("process_labels", self.pid, 0, labels="CPU")
        row("process_sort_index", self.pid, 0, sort_index=self.pid)
        for gpu in range(16):
            row("process_name", gpu, 0, name="python")
            row("process_labels", gpu, 0, labels=f"GPU {gpu}")
            row("process_sort_index", gpu, 0, sort_index=5000000 + gpu)
        for stream in sorted(self.capture.streams[self.rank]):
            row("thread_name", self.device(), stream, name=f"stream {stream} ")
            row("thread_sort_index", self.device(), stream, sort_index=stream)
        host = self.capture.hosts[self.rank]
        row("thread_name", self.pid, host.tid, name=f"thread {host.tid} ({host.name})")
        row("thread_sort_index", self.pid, host.tid, sort_index=host.tid)

    def device(self):
        return self.rank % 8

    def host_row(self, slice_):
        args = {}
        if slice_.external is not None:
            args["External id"] = slice_.external
        if slice_.category in ("cuda_runtime", "cuda_driver"):
            args.update({"cbid": CBIDS[slice_.name], "correlation": slice_.correlation})
        else:
            args.update({"Record function id": slice_.external, **slice_.args,
                         "Ev Idx": self.ev_idx})
            self.ev_idx += 1
        self.events.append({"ph": "X", "cat": slice_.category, "name": slice_.name,
                            "pid": self.pid, "tid": slice_.tid,
                            **self.times(slice_.start, slice_.end), "args": args})

    def overhead_row(self, slice_):
        self.events.append({"ph": "X", "cat": slice_.category, "name": slice_.name, "pid": -1,
                            "tid": 0, **self.times(slice_.start, slice_.end)})

    def gpu_row(self, activity, launched_at):
        place = {"pid": self.device(), "tid": activity.stream}
        times = self.times(activity.start, activity.end)
        args = {} if activity.external is None else {"External id": activity.external}
        if activity.category == "kernel":
            args["queued"] = 0
        args.update({"device": self.device(), "context": 1, "stream": activity.stream,
                     "correlation": activity.correlation})
        if activity.category == "kernel":
            args.update(LAUNCH_SHAPE)
        elif "bytes" in activity.args:
            args["memory bandwidth (GB/s)"] = activity.args["bytes"] / max(1, activity.dur)
        args.update(activity.args)
        self.events.append({"ph": "X", "cat": activity.category, "name": activity.name,
                            **place, **times, "args": args})
        if not self.job.host_recorded:
            return
        arrow = {"id": activity.correlation, "cat": "ac2g", "name": "ac2g"}
        self.events.append({"ph": "s", **arrow, "pid": self.pid, "tid": launched_at.tid,
                            "ts": microseconds(self.shown(launched_at.start))})
        self.events.append({"ph": "f", **arrow, **place, "ts": times["ts"], "bp": "e"})
        if activity.meeting is not None:
            # Kineto's annotation of the GPU is a little longer than what it stands around.
            self.events.append({"ph": "X", "cat": "gpu_user_annotation",
                                "name": f"nccl:{activity.args['Collective name']}", **place,
                                **self.times(activity.start - 1, activity.end + 1),
                                "args": {"External id": activity.external}})

    def closing_rows(self):
        begin = microseconds(self.shown(self.begin))
        ends = [s.end for s in self.capture.slices[self.rank]]
        ends += [a.end for a in self.capture.activities(self.rank)]
        end = max(ends + [self.begin])
        self.events.append({"ph": "X", "cat": "Trace", "ts": begin,
                            "dur": microseconds(self.shown(end) - self.shown(self.begin)),
                            "pid": "Spans", "tid": "PyTorch Profiler",
                            "name": "PyTorch Profiler (0)", "args": {"Op count": 0}})
        self.events.append({"name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g",
                            "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": begin})
        self.events.append({"name": "Record Window End", "ph": "i", "s": "g", "pid": "",
                            "tid": "", "ts": microseconds(self.shown(end))})

    def text(self):
        slices = self.capture.slices[self.rank]
        for slice_ in slices if self.job.host_recorded else ():
            self.host_row(slice_)
        for slice_ in self.capture.overheads[self.rank] if self.job.host_recorded else ():
            self.overhead_row(slice_)
        calls = {slice_.correlation: slice_ for slice_ in slices if slice_.correlation}
        if self.job.gpu_recorded:
            for activity in sorted(self.capture.activities(self.rank), key=lambda a: a.start):
                self.gpu_row(activity, calls[activity.correlation])
        self.name_rows()
        self.closing_rows()
        head = json.dumps(self.header(), indent=2)[:-2]
        rows = ",\n".join("  " + event_text(event) for event in self.events)
        return f'{head},\n  "traceEvents": [\n{rows}\n  ],\n  "traceName": "trace.json"\n}}\n'


def write_job(job, folder):
    """Writes the files of all captures; numbered where there are several."""
    for number, capture in enumerate(job.captures):
        for rank in capture.recorded_ranks():
            cycle = f".{number + 1}" if len(job.captures) > 1 else ""
            name = f"{job.file_name}.rank{rank}{cycle}.pt.trace.json".replace("RANK", str(rank))
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(RankFile(capture, rank).text())
