"""What the queries of queries/report must say, worked out from the traces of trace_oracle.py by brute
force: one function a query, all rows, in order, each with all columns.
"""
import collections
import json
from decimal import ROUND_HALF_UP, Decimal

from breakdown_oracle import by_capture, grouped, median, memory_events, ms, number_first, pct
from identity_oracle import time_of

KINDS = ("compute", "communication", "memory")


def rounded(ns, digits):
    """ns as ms, rounded as a person does."""
    return float((Decimal(ns) / 1_000_000).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def busiest(job, streams):
    """The streams with the most busy time, by name; those of all GPU activities."""
    order = sorted(job.streams, key=lambda key: (-job.streams[key]["busy"], key[0],
                                                 *number_first(key[1]), key[2]))
    return order[:streams]


def by_name(keys):
    return sorted(keys, key=lambda key: (key[0], *number_first(key[1]), *number_first(key[2])))


@by_capture
def stream_heat(job, bins=160, streams=400):
    if not job.activities:
        return
    first = min(a.ts for a in job.activities)
    piece = max(-(-(max(a.end for a in job.activities) - first) // bins), 1)
    ran = grouped(job.activities, lambda a: (a.rank, a.device, a.stream))
    for key in by_name(busiest(job, streams)):
        shares, busy = [], 0
        in_time = sorted(((a.ts, a.end) for a in ran[key]), key=lambda span: span[0])
        for at in range(bins):
            begin, end = first + at * piece, first + (at + 1) * piece
            covered, free = 0, begin
            for first_ns, last_ns in in_time:
                until = min(last_ns, end)
                if until > free:
                    covered += max(0, until - max(first_ns, free))
                    free = until
            busy += covered
            shares.append((200 * covered + piece) // (2 * piece))
        yield (*key, ms(first - job.start), ms(piece), ms(busy),
               json.dumps(shares, separators=(",", ":")))


@by_capture
def timeline(job, per_stream=500, streams=400):
    ran = grouped(job.activities, lambda a: (a.rank, a.device, a.stream))
    for key in by_name(busiest(job, streams)):
        activities = sorted(ran[key], key=lambda a: a.ts)
        begin = job.streams[key]["start"]
        length = max((job.streams[key]["end"] - begin) // max(per_stream, 1) + 1, 1)
        pieces = collections.defaultdict(list)
        for place, a in enumerate(activities):
            is_whole = len(activities) <= per_stream
            pieces[a.kind, place if is_whole else (a.ts - begin) // length].append(a)
        rows = []
        for (kind, _), all_of in pieces.items():
            start, end = min(a.ts for a in all_of), max(a.end for a in all_of)
            longest = max(a.dur for a in all_of)
            names = {a.name for a in all_of if a.dur == longest}
            rows.append((start, KINDS.index(kind), (
                *key, kind, rounded(start - job.start, 4), rounded(end - start, 4), len(all_of),
                rounded(sum(a.dur for a in all_of), 4), names)))
        # Of one kind and start the query has them in the order of their rows.
        yield from (row for _, _, row in sorted(rows, key=lambda row: row[:2]))


@by_capture
def memory_line(job, bins=200):
    begin = min(time_of(trace)[0] for trace in job.traces)
    piece = (last_of_all(job) - begin) // max(bins, 1) + 1
    found = collections.defaultdict(list)
    for trace in job.traces:
        for kind, device, ts, _, allocated, reserved in memory_events(trace):
            if allocated is not None:
                found[trace.rank, kind, device].append((ts, allocated, reserved))
    for key, events in sorted(found.items()):
        if max(allocated for _, allocated, _ in events) <= 0:
            continue
        pieces = grouped(sorted(events, key=lambda event: event[0]),
                         lambda event: (event[0] - begin) // piece)
        for _, all_of in sorted(pieces.items()):
            reserved = [event[2] for event in all_of if event[2] is not None]
            yield (*key, rounded(all_of[0][0] - job.start, 3), min(event[1] for event in all_of),
                   max(event[1] for event in all_of), max(reserved, default=None))


def last_of_all(job):
    ends = []
    for trace in job.traces:
        ends += [piece.ts + piece.dur for piece in trace.slices]
        ends += [piece.ts for piece in trace.negative]
        ends += [ts for _, _, ts in trace.points]
        ends += [ts for _, ts in trace.counters + trace.flows]
    return max(ends)


def headline(job):
    """All but the straggler, which stall_oracle.py has."""
    def total(name):
        return sum(device[name] for device in job.devices.values())

    if job.devices:
        for figure in ("compute", "exposed_comm", "idle"):
            yield (figure, pct(total(figure), total("span")), ms(total(figure)), None, "overlap")
    steps = [(dur, trace.rank) for trace in job.traces for _, _, dur in trace.steps]
    if steps:
        middle = median([dur for dur, _ in steps])
        longest = max(dur for dur, _ in steps)
        ranks = {rank for dur, rank in steps if dur == longest}
        yield ("step", pct(longest - middle, middle), float(middle / 1_000_000), ranks,
               "step_times")
