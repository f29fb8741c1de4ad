"""What the queries on patterns over time must say, worked out like breakdown_oracle.py."""
import functools

from breakdown_oracle import ANY, first_of_all, grouped, memory_events, ms, number_first, pct


@functools.cache
def time_of(trace):
    """(first start, last end) of the events of a trace."""
    starts = [piece.ts for piece in trace.slices + trace.negative]
    ends = [piece.ts + max(piece.dur, 0) for piece in trace.slices + trace.negative]
    points = [ts for _, _, ts in trace.points] + [ts for _, ts in trace.counters + trace.flows]
    return min(starts + points), max(ends + points)


def memory_timeline(job, bins=200, rank=None):
    zero = first_of_all(job)
    chosen = [trace for trace in job.traces if rank in (None, trace.rank)]
    if not chosen:
        return
    first = min(time_of(trace)[0] for trace in chosen)
    step = (max(time_of(trace)[1] for trace in chosen) - first) // bins + 1
    events = [((trace.rank, kind, device, (event[0] - first) // step), event)
              for trace in chosen for kind, device, *event in memory_events(trace)]
    for (of, kind, device, number), its in sorted(grouped(events, lambda e: e[0]).items()):
        in_time = sorted((event for _, event in its), key=lambda event: event[0])
        row = [of, kind, device, ms(first + number * step - zero), ms(step), len(its)]
        for column in (2, 3):
            values = [event[column] for event in in_time]
            row += [min(values), max(values), values[-1]]
        yield row


def queue_depth(job, moments=10000, full=1024, rank=None):
    zero = first_of_all(job)
    launched = [a for a in job.activities if a.launches and rank in (None, a.rank)]
    rows = []
    for (of, device, stream), ran in grouped(launched,
                                             lambda a: (a.rank, a.device, a.stream)).items():
        span = waited = 0
        depths = []                                # (moment, depth)
        for trace in job.traces:
            its = [(a.launch_ts, max(a.end, a.launch_ts)) for a in ran if a.trace is trace]
            if not its:
                continue
            first, last = time_of(trace)
            step = (last - first) // moments + 1
            span += max(end for _, end in its) - min(start for start, _ in its)
            waited += sum(end - start for start, end in its)
            depths += depths_at(its, first, step)
        seen = [depth for _, depth in depths]
        most = max(seen, default=None)
        when = min((at for at, depth in depths if depth == most), default=None)
        shares = [pct(sum(map(test, seen)), len(seen)) for test in (
            lambda depth: depth == 0, lambda depth: depth == 1, lambda depth: depth >= full)]
        rows.append((of, number_first(device), number_first(stream), (
            of, device, stream, len(ran), ms(span), waited / span if span else None, len(seen),
            most, None if when is None else ms(when - zero), *shares)))
    return [row[-1] for row in sorted(rows)]


def depths_at(intervals, first, step):
    """The depth at each moment from the first that finds something in the queue to the last."""
    seen = {}
    for start, end in intervals:
        for number in range(-((first - start) // step), -((first - end) // step)):
            seen[number] = seen.get(number, 0) + 1
    if not seen:
        return []
    return [(first + number * step, seen.get(number, 0))
            for number in range(min(seen), max(seen) + 1)]
