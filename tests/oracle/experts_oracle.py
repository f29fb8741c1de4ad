"""What expert_imbalance and collective_splits must say, worked out from the traces of
trace_oracle.py: everything is looked for in everything, fractions are exact.
"""
import collections
import fractions
import json

import trace_oracle as oracle
from breakdown_oracle import grouped, has_capture, ms, names_of, pct

THERE, BACK, EITHER = "there", "back", "either"


def way_of(collective):
    """Which way an all-to-all goes; None: its sizes do not tell."""
    sent = {part.in_bytes for part in collective.parts}
    received = {part.out_bytes for part in collective.parts}
    if all(part.in_bytes == part.out_bytes for part in collective.parts) or \
            len(sent) == len(received) == 1:
        return EITHER
    if len(sent) == 1:
        return THERE
    return BACK if len(received) == 1 else None


def load_of(part, way):
    return part.in_bytes if way == BACK else part.out_bytes


def is_sized(collective):
    return all(None not in (part.in_bytes, part.out_bytes) for part in collective.parts)


def step_of(collective):
    return max((part.activity.step for part in collective.parts
                if part.activity.step is not None), default=None)


def computed_before(job, part):
    """Computing between a part and the one before it in its group and step; None: it is the
    first."""
    ends = [other.ts + other.dur for other in job.parts
            if other.activity.trace is part.activity.trace and other.group == part.group
            and other.collective == "all_to_allv" and other.activity.step == part.activity.step
            and other.activity.device == part.activity.device
            and (other.ts, other.ordinal) < (part.ts, part.ordinal)]
    if not ends:
        return None
    first = max(ends)
    return oracle.union_length([(max(a.ts, first), min(a.end, part.ts)) for a in job.activities
                                if a.rank == part.rank and a.device == part.activity.device
                                and a.kind == "compute" and a.end > first and a.ts < part.ts])


def rounded(number):
    return int(number + fractions.Fraction(1, 2))


def explained_by(rank, parts, computed):
    """ns that the others wait for a rank for its surplus, in one way back; None: not told."""
    others = [other for other in parts if other != rank]
    time = sum(computed[other] for other in others)
    size = sum(parts[other].in_bytes for other in others)
    if not time or not size:
        return None
    total = 0
    for other in others:
        surplus = parts[rank].in_bytes - parts[other].in_bytes
        total += max(0, min(parts[rank].ts - parts[other].ts, computed[rank] - computed[other],
                            rounded(fractions.Fraction(surplus * time, size))))
    return total


def known_sum(values):
    known = [value for value in values if value is not None]
    return sum(known) if known else None


@has_capture
def expert_imbalance(job, step=None):
    found = [c for c in job.collectives if any(part.collective == "all_to_allv"
                                               for part in c.parts)]
    if step is not None:
        found = [c for c in found if step_of(c) == step]
    rows = []
    for (capture, number, group), its in grouped(
            found, lambda c: (c.capture, step_of(c), c.group)).items():
        names, descriptions = names_of(job, group)
        rows.append((capture, (number is not None, number), group.ranks, group.name,
                     (capture, number, names, descriptions, json.dumps(group.ranks).replace(" ", ""),
                      len(its), *row_of(job, its))))
    return [row[-1] for row in sorted(rows, key=lambda row: row[:4])]


def row_of(job, its):
    wait = ms(sum(c.total_wait for c in its if c.complete))
    ways = {c: way_of(c) for c in its if c.complete and is_sized(c)}
    unclear = sum(way is None for way in ways.values())
    unknown = None
    if not all(c.complete for c in its):
        unknown = "ranks missing"
    elif not all(map(is_sized, its)):
        unknown = "sizes missing"
    elif unclear == len(its):
        unknown = "direction unclear"
    if unknown:
        return (unclear, None, None, None, None, None, None, wait, None, None, None, unknown)
    loads, worst = collections.Counter(), 0
    for collective, way in ways.items():
        if way is not None:
            single = {part.rank: load_of(part, way) for part in collective.parts}
            loads.update(single)
            if sum(single.values()):
                worst = max(worst, fractions.Fraction(max(single.values()) * len(single),
                                                      sum(single.values())))
    most, all_of = max(loads.values()), sum(loads.values())
    rank = None if most == min(loads.values()) else min(r for r in loads if loads[r] == most)
    explained, own = explanations(job, ways, rank)
    if rank is None:
        explained = 0
    whole = sum(c.total_wait for c in its)
    return (unclear, float(fractions.Fraction(most * len(loads), all_of)) if all_of else None,
            float(worst) if worst else None, rank, pct(most, all_of), most, all_of / len(loads),
            wait, ms(explained), None if explained is None else pct(explained, whole), ms(own), None)


def explanations(job, ways, rank):
    """ns of waits that the surplus of the rank explains, and that of whichever has most."""
    explained, own = [], []
    for collective, way in ways.items():
        parts = {part.rank: part for part in collective.parts}
        if way != BACK:
            continue
        computed = {of: computed_before(job, part) for of, part in parts.items()}
        parts = {of: part for of, part in parts.items() if computed[of] is not None}
        if rank in parts:
            explained.append(explained_by(rank, parts, computed))
        if parts:
            largest = max(part.in_bytes for part in parts.values())
            leader = min(of for of, part in parts.items() if part.in_bytes == largest)
            own.append(explained_by(leader, parts, computed))
    return known_sum(explained), known_sum(own)


def list_of(value, size):
    """Split sizes as numbers; None: they say nothing."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if not isinstance(value, list) or len(value) != size or not value:
        return None
    numbers = [oracle.whole_number(number) for number in value]
    return numbers if all(number is not None and number >= 0 for number in numbers) else None


def shares(total, rows):
    """Bytes of each peer; None where rows do not divide them."""
    if rows is None or total is None:
        return None
    if not sum(rows):
        return [0 for _ in rows] if total == 0 else None
    return None if total % sum(rows) else [total // sum(rows) * count for count in rows]


def collective_splits(job):
    """(rank, ts, peer, in_rows, out_rows, in_bytes, out_bytes), sorted."""
    rows = []
    for part in job.parts:
        if part.collective not in ("all_to_allv", "all_to_all") or part.group is None:
            continue
        args = part.activity.args
        sent, got = (list_of(args.get(f"{side} split size"), len(part.group.ranks))
                     for side in ("In", "Out"))
        if sent is None and got is None:
            continue
        nothing = [None] * len(part.group.ranks)
        rows += zip([part.rank] * len(part.group.ranks), [part.ts] * len(part.group.ranks), part.group.ranks,
                    sent or nothing, got or nothing, shares(part.in_bytes, sent) or nothing,
                    shares(part.out_bytes, got) or nothing)
    return sorted(rows, key=lambda row: row[:3])
