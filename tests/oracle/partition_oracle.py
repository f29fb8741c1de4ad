"""What the queries that share out a GPU's time must say, as in breakdown_oracle.py: instant by
instant, everything looked for in everything.
"""
import collections
import functools

import breakdown_oracle as base
from breakdown_oracle import grouped, has_capture, ms, number_first, pct
from identity_oracle import parallelism

KINDS = ("pipeline", "data", "tensor", "expert", "context", "other")
CAUSES = ("host", "sync", "dependency", None)


def kinds_of(job):
    """{communication kernel: parallelism of its communicator, or of that of all messages in its batch}"""
    of_group = {group: {parallelism(text) for text in texts if text} or {"other"}
                for group, texts in job.groups.items()}
    assert all(len(kinds) == 1 for kinds in of_group.values()), of_group
    return {id(part.activity): min(of_group[group]) for part in job.parts
            for group in [part.group or part.batch_group] if group}


def exposed_by_kind(activities, kinds, start, end):
    """{kind: ns} of communication alone; of several kinds that which ends last."""
    inside = [a for a in activities if a.ts < end and a.end > start and a.dur > 0
              and a.kind in ("compute", "communication")]
    cuts = sorted({start, end} | {t for a in inside for t in (a.ts, a.end) if start < t < end})
    found = dict.fromkeys(KINDS, 0)
    coming, runs = collections.deque(sorted(inside, key=lambda a: a.ts)), []
    for at, until in zip(cuts, cuts[1:]):
        while coming and coming[0].ts <= at:
            runs.append(coming.popleft())
        runs = [a for a in runs if a.end > at]
        if any(a.kind == "compute" for a in runs):
            continue
        ends = {}
        for a in runs:
            if a.kind == "communication":
                kind = kinds.get(id(a), "other")
                ends[kind] = max(ends.get(kind, a.end), a.end)
        if ends:
            last = max(ends, key=lambda kind: (ends[kind], -KINDS.index(kind)))
            found[last] += until - at
    return found


def gaps(activities):
    """Those of breakdown_oracle, and where the first or the last activities are without length."""
    lasting = [a for a in activities if a.dur > 0]
    first, last = min(a.ts for a in activities), max(a.end for a in activities)
    if not lasting:
        return [(first, last)]
    return [(first, min(a.ts for a in lasting)), *base.gaps(activities),
            (max(a.end for a in lasting), last)]


def idle_by_cause(activities, start, end):
    """{cause: ns} of the gaps, as far as they lie in a stretch of time."""
    found = dict.fromkeys(CAUSES, 0)
    starting = grouped([a for a in activities if a.dur > 0], lambda a: a.ts)
    for from_ns, to_ns in gaps(activities):
        if min(to_ns, end) <= max(from_ns, start):
            continue
        enders = starting.get(to_ns)
        parts = [(None, from_ns, to_ns)]
        if enders:
            first = min(enders, key=lambda a: (a.launch_ts is None, a.launch_ts or 0))
            parts, _ = base.gap_parts(from_ns, to_ns, first)
        for cause, part_ns, part_end_ns in parts:
            found[cause] += max(0, min(part_end_ns, end) - max(part_ns, start))
    return found


def stretches(activities):
    """(start, end, step): from the first activity of a step to that of the next."""
    starts = grouped([a for a in activities if a.step is not None], lambda a: a.step)
    cuts = sorted((min(a.ts for a in ran), step) for step, ran in starts.items())
    first = min(a.ts for a in activities)
    if not cuts or cuts[0][0] > first:
        cuts.insert(0, (first, None))
    ends = [start for start, _ in cuts[1:]] + [max(a.end for a in activities)]
    return [(start, end, step) for (start, step), end in zip(cuts, ends)]


@functools.cache
def partition(job):
    """[(trace, device, step, start, end, (compute, exposed of KINDS, memory, idle of CAUSES))]"""
    kinds, rows = kinds_of(job), []
    for (trace, device), ran in grouped(job.activities, lambda a: (a.trace, a.device)).items():
        for start, end, step in stretches(ran):
            lengths = base.oracle.measure(base.cut(ran, start, end))
            compute = sum(ns for held, ns in lengths.items() if "compute" in held)
            memory = sum(ns for held, ns in lengths.items() if held == {"memory"})
            exposed = exposed_by_kind(ran, kinds, start, end)
            idle = idle_by_cause(ran, start, end)
            parts = (compute, *(exposed[kind] for kind in KINDS), memory,
                     *(idle[cause] for cause in CAUSES))
            assert sum(parts) == end - start, (trace.rank, device, step, parts, end - start)
            rows.append((trace, device, step, start, end, parts))
    return rows


@has_capture
def time_partition(job, rank=None, step=None):
    rows = []
    for trace, device, of_step, start, end, parts in partition(job):
        if rank not in (None, trace.rank) or step not in (None, of_step):
            continue
        compute, *exposed, memory, host, sync, dependency, unknown = parts
        rows.append(((trace.rank, number_first(device), start, of_step is not None, of_step or 0), {
            "capture": trace.capture, "rank": trace.rank, "device": device, "step": of_step,
            "start_ms": ms(start - job.start), "span_ms": ms(end - start), "compute_ms": ms(compute),
            **{f"exposed_{kind}_ms": ms(ns) for kind, ns in zip(KINDS, exposed)},
            "exposed_memory_ms": ms(memory), "idle_host_ms": ms(host), "idle_sync_ms": ms(sync),
            "idle_dependency_ms": ms(dependency), "idle_other_ms": ms(unknown),
            "all_idle_ms": ms(host + sync + dependency + unknown),
            "compute_pct": pct(compute, end - start)}))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]
