"""What the SQL of nsight/ must say, which is written for Nsight Systems' exports, worked out from
the traces like breakdown_oracle.py: one function a file, of its name."""
import re

import trace_oracle as oracle
from breakdown_oracle import grouped

MEMORY_KINDS = ("Pageable", "Pinned", "Device", "Array", "Managed", "Unknown")


def whole(text):
    """As SQLite's CAST: the number in front."""
    return int(re.match(r"\s*[-+]?\d*", text or "").group() or 0)


def kernels(job):
    return [a for a in job.activities if a.kind != "memory"]


def memory(job):
    """(activity, name of the operation, source, target) of copies and fills."""
    letters = {"H": "Host", "D": "Device", "A": "Array", "P": "Peer"}
    for a in job.activities:
        if a.kind != "memory":
            continue
        if a.category_lower in ("gpu_memset", "memset"):
            where = re.search(r"\((.*?)\)", a.name)
            yield a, "memset", where.group(1) if where else None, None
            continue
        way = re.search(r"([HDAP])to([HDAP])", a.name)
        sides = re.search(r"\((.*?) -> (.*?)\)", a.name)
        if way is None:
            way = re.search(r"(Host|Device)To(Host|Device)", a.name)
            label = "-to-".join(way.groups()) if way else "Unknown"
        else:
            label = "-to-".join(letters[side] for side in way.groups())
        yield a, label, *(sides.groups() if sides else (None, None))


def calls(job):
    return [piece for trace in job.traces for piece in trace.slices
            if oracle.is_launch_category(piece.category)]


def correlation_of(call):
    return oracle.text_of(call.args.get("correlation")) if isinstance(call.args, dict) else None


def share(part, all_of_it):
    return round(100 * part / all_of_it, 1) if all_of_it else None


def by_name(pairs):
    """Rows of the sums: (name, duration) pairs."""
    everything = sum(dur for _, dur in pairs)
    rows = []
    for name, its in grouped(pairs, lambda pair: pair[0]).items():
        durations = [dur for _, dur in its]
        total = sum(durations)
        rows.append((-total, name.encode(), (
            share(total, everything), total, len(its), total / len(its), min(durations),
            max(durations), name)))
    return [row[-1] for row in sorted(rows)]


def cuda_gpu_kern_sum(job):
    return by_name([(a.name, a.dur) for a in kernels(job)])


def cuda_api_sum(job):
    return by_name([(piece.name, piece.dur) for piece in calls(job)])


def base_name(name):
    text = re.sub(r"^void ", "", name).replace("(anonymous namespace)", "")
    return re.split(r"[<(]", text)[0].split(":")[-1] or name


def sizes(value):
    found = [oracle.whole_number(one) for one in value] if isinstance(value, list) else []
    return tuple((found + [None] * 3)[:3])


def cuda_gpu_kern_gb_sum(job):
    groups = grouped(kernels(job), lambda a: (base_name(a.name), sizes(a.args.get("grid")),
                                              sizes(a.args.get("block"))))
    rows = []
    for (name, *both), ran in groups.items():
        grid, block = (" ".join(f"{size or 0:4d}" for size in one) for one in both)
        total = sum(a.dur for a in ran)
        rows.append((-total, len(ran), name.encode(), grid, block,
                     (total, len(ran), grid, block, name)))
    return [row[-1] for row in sorted(rows)]


def cuda_gpu_mem_time_sum(job):
    rows = []
    for label, its in grouped(memory(job), lambda row: row[1]).items():
        durations = [a.dur for a, *_ in its]
        told = [a.bytes for a, *_ in its if a.bytes is not None]
        name = "[CUDA memset]" if label == "memset" else f"[CUDA memcpy {label}]"
        rows.append((-sum(durations), name, (sum(durations), len(its), min(durations),
                                             max(durations), sum(told) if told else None, name)))
    return [row[-1] for row in sorted(rows)]


def nvtx_sum(job):
    ranges = [piece for trace in job.traces for piece in trace.slices
              if piece.category.lower() == "user_annotation"]
    rows = []
    for name, its in grouped(ranges, lambda piece: piece.name).items():
        durations = [piece.dur for piece in its]
        rows.append((-sum(durations), name.encode(), (
            sum(durations), len(its), max(durations), "PushPopRange", name)))
    return [row[-1] for row in sorted(rows)]


def cuda_kern_exec_sum(job):
    called = grouped(calls(job), lambda call: (id(call.trace), correlation_of(call)))
    groups = grouped([(a, call) for a in kernels(job) if a.correlation is not None
                      for call in called[id(a.trace), a.correlation]],
                     lambda pair: (pair[0].rank, whole(oracle.text_of(pair[1].pid)) & 0xffffff,
                                   whole(pair[0].device), pair[1].name, pair[0].name))
    rows = []
    for (rank, pid, device, call_name, name), pairs in groups.items():
        busy = sum(a.dur for a, _ in pairs)
        rows.append((rank, pid, device, -busy, call_name.encode(), name.encode(), (
            pid, rank, device, len(pairs), sum(call.dur for _, call in pairs),
            sum(a.ts - call.ts - call.dur for a, call in pairs), busy, call_name, name)))
    return [row[-1] for row in sorted(rows)]


def cuda_gpu_trace(job):

    def row(a, name, *cells):
        return (a.ts - job.start, a.dur, oracle.whole_number(a.args.get("correlation")), *cells,
                whole(a.device), oracle.whole_number(a.args.get("context")), whole(a.stream), name)

    rows = [row(a, a.name, sizes(a.args.get("grid"))[0], sizes(a.args.get("block"))[0],
                oracle.whole_number(a.args.get("registers per thread")),
                oracle.whole_number(a.args.get("shared memory")), None, None, None)
            for a in kernels(job)]
    for a, label, *sides in memory(job):
        sides = [side if side in MEMORY_KINDS else None for side in sides]
        rows.append(row(a, label, None, None, None, None, a.bytes, *sides))
    order = (0, 1, 13, 10, 12, 2, 7, 3, 4)
    return sorted(rows, key=lambda cells: [
        (cells[i] is not None, cells[i].encode() if isinstance(cells[i], str) else cells[i] or 0)
        for i in order])


def gpu_info(job):
    found = {}
    for trace in job.traces:
        for gpu in trace.header.get("deviceProperties") or []:
            found.setdefault(gpu["id"], gpu)
    for number, gpu in sorted(found.items()):
        threads, warp = gpu.get("maxThreadsPerMultiprocessor"), gpu.get("warpSize")
        yield (number, gpu["name"], gpu.get("totalGlobalMem"), gpu.get("numSms"), warp,
               threads // warp if threads and warp else None, gpu.get("computeMajor"),
               gpu.get("computeMinor"))
