"""What the queries that share out a GPU's time must say, as in breakdown_oracle.py: instant by
instant, everything looked for in everything.
"""
import breakdown_oracle as base
from breakdown_oracle import grouped, ms, number_first, pct

KINDS = ("pipeline", "data", "tensor", "expert", "other")
SHOWN = ("tensor", "pipeline", "data", "expert", "other")
CAUSES = ("host", "sync", "dependency", None)


def kind_of_group(trace, part):
    """By all that this trace says of the group."""
    if part is None or part.group is None:
        return "other"
    said = set()
    for activity_part in trace.parts_of_groups:
        if activity_part.group == part.group:
            args = trace.collective_args(activity_part.activity)
            said.add(str(args.get("Process Group Description") or ""))
    for entry in trace.groups():
        if base.oracle.ranks_from(entry.get("ranks")) == part.group:
            said.add(str(entry.get("pg_desc") or ""))
    return base.parallelism(", ".join(sorted(said)))


def exposed_by_kind(activities, kinds, start, end):
    """{kind: ns} of communication alone; of several kinds that which ends last."""
    inside = [a for a in activities if a.ts < end and a.end > start and a.dur > 0]
    cuts = sorted({start, end} | {t for a in inside for t in (a.ts, a.end) if start < t < end})
    found = dict.fromkeys(KINDS, 0)
    for at, until in zip(cuts, cuts[1:]):
        runs = [a for a in inside if a.ts <= at and a.end > at]
        if any(a.kind == "compute" for a in runs):
            continue
        ends = {}
        for a in runs:
            if a.kind == "communication":
                kind = kinds[id(a)]
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
    for from_ns, to_ns in gaps(activities):
        inside = min(to_ns, end) - max(from_ns, start)
        if inside <= 0:
            continue
        enders = [a for a in activities if a.ts == to_ns and a.dur > 0]
        cause = None
        if enders:
            first = min(enders, key=lambda a: (a.launch_ts is None, a.launch_ts or 0))
            cause = base.gap_cause(from_ns, first)[0]
        found[cause] += inside
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


def time_partition(job, rank=None, step=None):
    zero = base.first_of_all(job)
    parts = {id(part.activity): part for part in job.parts}
    for trace in job.traces:
        trace.parts_of_groups = [part for part in job.parts if part.activity.trace is trace]
    rows = []
    devices = grouped([a for a in job.activities if rank in (None, a.rank)],
                      lambda a: (job.traces.index(a.trace), a.device))
    for (number, device), ran in devices.items():
        trace = job.traces[number]
        known = {}
        kinds = {}
        for a in ran:
            if a.kind == "communication":
                part = parts.get(id(a))
                group = part.group if part else None
                if group not in known:
                    known[group] = kind_of_group(trace, part)
                kinds[id(a)] = known[group]
        for start, end, of_step in stretches(ran):
            if step is not None and of_step != step:
                continue
            lengths = base.oracle.measure(base.cut(ran, start, end))
            compute = sum(ns for held, ns in lengths.items() if "compute" in held)
            memory = sum(ns for held, ns in lengths.items() if held == {"memory"})
            exposed = exposed_by_kind(ran, kinds, start, end)
            idle = idle_by_cause(ran, start, end)
            parted = compute + sum(exposed.values()) + memory + sum(idle.values())
            assert parted == end - start, (trace.rank, device, of_step, parted, end - start)
            rows.append(((trace.rank, number_first(device), start, of_step is not None,
                          of_step or 0),
                         (trace.rank, device, of_step, ms(start - zero), ms(end - start),
                          ms(compute), *(ms(exposed[kind]) for kind in SHOWN), ms(memory),
                          *(ms(idle[cause]) for cause in CAUSES), ms(sum(idle.values())),
                          pct(compute, end - start))))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]
