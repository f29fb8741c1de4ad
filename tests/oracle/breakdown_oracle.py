"""What the queries on where the time goes must say, worked out from the traces of trace_oracle.py.

One function a query, of its name: all rows, in order, each with all columns. Everything is looked
for in everything; ns stay integers up to the division that makes milliseconds of them.
"""
import collections
import fractions
import functools

import trace_oracle as oracle
from identity_oracle import parallelism

ANY = object()                # a value that only the database can tell, as an id


def ms(ns):
    return None if ns is None else ns / 1_000_000


def pct(part, whole):
    return float(fractions.Fraction(100 * part) / whole) if whole else None


def median(numbers):
    ordered = sorted(numbers)
    return fractions.Fraction(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2], 2)


def number_first(text):
    """Devices and streams in the order of their numbers, then of their texts."""
    digits = ""
    for letter in text:
        if not letter.isdigit():
            break
        digits += letter
    return int(digits or 0), text


def grouped(things, key):
    found = collections.defaultdict(list)
    for thing in things:
        found[key(thing)].append(thing)
    return found


def has_capture(query):
    """Marks a query whose rows are each of one capture: its number in the run comes first."""
    query.has_capture = True
    return query


def by_capture(query):
    """A query that says of each capture what it would say if there were no other."""
    @has_capture
    @functools.wraps(query)
    def every(job, **parameters):
        for number, capture in job.captures().items() or [(job.traces[0].capture, job)]:
            yield from ((number, *row) for row in query(capture, **parameters))
    return every


@has_capture
def step_times(job):
    for trace in sorted(job.traces, key=lambda trace: (trace.capture, trace.rank)):
        steps = sorted(trace.steps, key=lambda step: step[1])
        for number, start, dur in steps:
            middle = median([step[2] for step in steps])
            launched = [a for a in trace.activities if a.step == number]
            first = min((a.ts for a in launched), default=None)
            last = max((a.end for a in launched), default=None)
            figures = (None,) * 4
            if first is not None:
                device = min((a.device for a in launched if a.ts == first), key=number_first)
                ran = [(max(a.ts, start), min(a.end, first)) for a in trace.activities
                       if a.device == device and a.ts < first and a.end > start]
                busy = oracle.measure({"busy": ran})[frozenset({"busy"})]
                figures = (ms(last - first), ms(first - start), ms(first - start - busy),
                           ms(last - start - dur))
            yield (trace.capture, trace.rank, number, ms(start - job.start), ms(dur),
                   float(middle / 1_000_000), pct(dur - middle, middle), len(launched), *figures)


def kernels_top(job, rank=None, step=None):
    chosen = [a for a in job.activities if rank in (None, a.rank) and step in (None, a.step)]
    whole = sum(a.dur for a in chosen)
    rows = []
    for (name, kind), ran in grouped(chosen, lambda a: (a.name, a.kind)).items():
        durations = sorted(a.dur for a in ran)
        by_rank = {of: sum(a.dur for a in ran if a.rank == of) for of in {a.rank for a in ran}}
        most = min(by_rank, key=lambda of: (-by_rank[of], of))
        least = min(by_rank, key=lambda of: (by_rank[of], of))
        rows.append((name, kind, durations, most, by_rank[most], least, by_rank[least],
                     len(by_rank)))
    order = ("compute", "communication", "memory")
    rows.sort(key=lambda row: (-sum(row[2]), row[0].encode(), order.index(row[1])))
    above = 0
    for name, kind, durations, most, most_ns, least, least_ns, ranks in rows:
        total = sum(durations)
        above += total
        yield (name, kind, len(durations), ms(total), pct(total, whole), pct(above, whole),
               total / len(durations) / 1e6, ms(durations[0]),
               ms(durations[(len(durations) - 1) // 2]), ms(durations[-1]), ranks,
               most, ms(most_ns), least, ms(least_ns))


def memcpy_summary(job, rank=None, step=None):
    copies = [a for a in job.activities if a.kind == "memory" and rank in (None, a.rank)
              and step in (None, a.step)]
    rows = []
    for (of, device, name), ran in grouped(copies, lambda a: (a.rank, a.device, a.name)).items():
        total = sum(a.dur for a in ran)
        sized = [a for a in ran if a.bytes is not None]
        moved = sum(a.bytes for a in sized) if sized else None
        time = sum(a.dur for a in sized)
        calls = [call_of(a) for a in ran if a.launches]
        rows.append((of, number_first(device), -total, name.encode(), (
            of, device, name, len(ran), ms(total), moved,
            moved / time if sized and time else None,
            min((a.bytes for a in sized), default=None),
            max((a.bytes for a in sized), default=None), ms(max(a.dur for a in ran)),
            ms(sum(call.dur for call in calls)) if calls else None,
            int("pageable" in name.lower()))))
    return [row[-1] for row in sorted(rows)]


@functools.cache
def calls_of(trace):
    """{correlation: its runtime calls, the first to start first}."""
    calls = [piece for piece in trace.slices
             if piece.source == "X" and oracle.is_launch_category(piece.category)
             and piece.args.get("correlation") is not None]
    calls.sort(key=lambda piece: piece.ts)
    return grouped(calls, lambda piece: oracle.text_of(piece.args["correlation"]))


def call_of(activity):
    """The runtime call that launched it: of several of its correlation the first."""
    return calls_of(activity.trace)[activity.correlation][0]


def cut(activities, start, end):
    """{kind: intervals} of what of the activities lies in a stretch of time."""
    sets = {"compute": [], "communication": [], "memory": []}
    for activity in activities:
        if activity.ts < end and activity.end > start and activity.kind != "waiting":
            sets[activity.kind].append((max(activity.ts, start), min(activity.end, end)))
    return sets


@has_capture
def overlap_by_step(job):
    devices = grouped(job.activities, lambda a: (a.trace, a.device))
    for trace, device in sorted(devices, key=lambda key: (
            key[0].rank, number_first(key[1]), key[0].capture)):
        activities = devices[trace, device]
        starts = grouped([a for a in activities if a.step is not None], lambda a: a.step)
        cuts = sorted((min(a.ts for a in ran), step) for step, ran in starts.items())
        cuts.insert(0, (min(a.ts for a in activities), None))
        ends = [start for start, _ in cuts[1:]] + [max(a.end for a in activities)]
        for (start, step), end in zip(cuts, ends):
            if step is None and end == start:
                continue
            lengths = oracle.measure(cut(activities, start, end))

            def total(condition):
                return sum(ns for held, ns in lengths.items() if condition(held))

            comm = total(lambda held: "communication" in held)
            both = total(lambda held: {"compute", "communication"} <= held)
            yield (trace.capture, trace.rank, device, step, ms(start - job.start), ms(end - start),
                   ms(total(lambda held: "compute" in held)), ms(comm), ms(both), pct(both, comm),
                   ms(comm - both), ms(total(lambda held: held == {"memory"})),
                   ms(end - start - total(bool)))


def names_of(job, group):
    """All names and all descriptions that the traces give a group; which one is kept is open."""
    if group is None:
        return {None}, {None}
    return {group.name}, (job.groups[group] - {None} or {None})


def overlap_by_group(job, rank=None, step=None):
    parts = {id(part.activity): part for part in job.parts}
    kernels = [a for a in job.activities if a.kind == "communication" and rank in (None, a.rank)
               and step in (None, a.step)]
    rows = []
    for (of, device), ran in grouped(kernels, lambda a: (a.rank, a.device)).items():
        # Captures do not overlap, so what ran in one does not cover what ran in another.
        computing = [(a.ts, a.end) for a in job.activities
                     if a.kind == "compute" and (a.rank, a.device) == (of, device)]
        for group, its in grouped(ran, lambda a: parts[id(a)].group if id(a) in parts
                                  else None).items():
            lengths = oracle.measure({"comm": [(a.ts, a.end) for a in its],
                                      "compute": computing})
            comm = sum(ns for held, ns in lengths.items() if "comm" in held)
            both = sum(ns for held, ns in lengths.items() if len(held) == 2)
            ranks = None if group is None else "[" + ",".join(map(str, group.ranks)) + "]"
            exposed = comm - both
            names, descriptions = names_of(job, group)
            rows.append((of, number_first(device), -exposed, ranks or "", str(names), (
                of, device, {parallelism(text) for text in descriptions}, names, descriptions,
                ranks, len(its), ms(comm), ms(both), pct(both, comm), ms(exposed),
                pct(exposed, job.devices[of, device]["span"]))))
    return [row[-1] for row in sorted(rows)]


def waits_for_gpu(name):
    copies = "Memcpy" in name or "Memset" in name
    return name.startswith(("cu", "hip")) and (
        "Synchronize" in name or (copies and "Async" not in name))


def gaps(activities):
    """Stretches between the first start and the last end in which nothing runs."""
    reached = None
    for activity in sorted((a for a in activities if a.dur > 0), key=lambda a: a.ts):
        if reached is not None and activity.ts > reached:
            yield reached, activity.ts
        reached = activity.end if reached is None else max(reached, activity.end)


@functools.cache
def waits_of(trace):
    return [piece for piece in trace.slices
            if oracle.is_launch_category(piece.category) and waits_for_gpu(piece.name)]


def gap_parts(start, end, ended):
    """The causes of a gap in order, [(cause, start, end)], and the call that waits for the GPU in which
    the thread was at its end, or else at its start. `ended`: the activity that ended it."""
    if ended.launch_ts is None:
        return [(None, start, end)], None
    call = call_of(ended)
    waits = [piece for piece in waits_of(ended.trace)
             if piece.pid == call.pid and piece.tid == call.tid and piece.dur > 0]
    cause = "dependency" if ended.launch_ts < start else "host"
    around = [piece for piece in waits if piece.ts < end < piece.ts + piece.dur]
    if not around:
        before = [piece for piece in waits if piece.ts <= start < piece.ts + piece.dur]
        return [(cause, start, end)], min(before, key=lambda piece: piece.ts, default=None)
    first = min(around, key=lambda piece: piece.ts)
    parts = [(cause, start, max(first.ts, start)), ("sync", max(first.ts, start), end)]
    return [part for part in parts if part[2] > part[1]], first


LONG_NS = 250_000                  # shorter slices of the host are not looked at
NAMED_NS = 20_000                  # shorter pieces of gaps get no name


def longest_of_thread(slices, start, end):
    """(name, ns) of what a thread was in longest; of a name the longest slice, and an annotation around
    it that is at most a quarter longer, give the text."""
    cuts = sorted({start, end, *(t for s in slices for t in (s.ts, s.ts + s.dur) if start < t < end)})
    own = collections.Counter()
    for at, until in zip(cuts, cuts[1:]):
        inside = [(s.ts, -s.dur, place, s) for place, s in enumerate(slices)
                  if s.ts <= at and s.ts + s.dur >= until]
        if inside:
            own[max(inside)[-1]] += until - at
    names = collections.Counter()
    for piece, ns in own.items():
        names[piece.name, piece.category] += ns
    if not names:
        return None, 0
    most = max(names.values())
    named = max((piece for piece in own if names[piece.name, piece.category] == most),
                key=lambda piece: own[piece])
    around = [s for s in slices if s.category == "user_annotation" and s.ts <= named.ts
              and s.ts + s.dur >= named.ts + named.dur and s.dur <= named.dur + named.dur // 4]
    if named.category != "user_annotation" and around:
        return min(around, key=lambda s: s.dur).name, most
    return named.name, most


@functools.cache
def long_slices(trace):
    found = collections.defaultdict(list)
    for piece in trace.slices:
        if piece.dur >= LONG_NS and not piece.name.startswith("ProfilerStep#"):
            found[piece.pid, piece.tid].append(piece)
    return found


def host_did(trace, call, start, end):
    """(name, ns) in a stretch of time; of another thread that runs steps where the launching one tells
    less than half."""
    others = {(s.pid, s.tid) for s in trace.slices if s.name.startswith("ProfilerStep#")
              and s.category == "user_annotation"} - {(call.pid, call.tid)}
    told = []
    for thread in [(call.pid, call.tid), *sorted(others)]:
        within = [s for s in long_slices(trace)[thread] if s.ts < end and s.ts + s.dur > start
                  and (thread not in others or s.ts + s.dur <= end)]
        if any(a.ts < b.ts < a.ts + a.dur < b.ts + b.dur for a in within for b in within):
            return ANY, ANY  # asynchronous ones do not nest: which is innermost is a matter of taste
        name, ns = longest_of_thread(within, start, end)
        if ns >= LONG_NS or (name is not None and 4 * ns >= end - start):
            told.append((name, ns))
            if 2 * ns >= end - start:
                return name, ns
    return told[0] if told else (None, None)


@has_capture
def gpu_gaps(job, limit=100):
    rows = []
    for (trace, device), ran in grouped(job.activities, lambda a: (a.trace, a.device)).items():
        idle = job.devices[trace.rank, device]["idle"]
        for start, end in gaps(ran):
            ended = min((a for a in ran if a.ts == end and a.dur > 0), key=lambda a: a.order)
            rows.append((start - end, trace.rank, number_first(device), start,
                         (device, start, end, idle, ended)))
    in_order = sorted(rows, key=lambda row: row[:4])[:limit]
    for place, (_, rank, _, _, (device, start, end, idle, ended)) in enumerate(in_order):
        parts, call = gap_parts(start, end, ended)
        sync = sum(until - at for cause, at, until in parts if cause == "sync")
        name = name_ns = None
        if place < 100 and parts[0][0] == "host" and parts[0][2] - parts[0][1] >= NAMED_NS:
            name, name_ns = host_did(ended.trace, call_of(ended), *parts[0][1:])
        cause = parts[0][0] if 2 * sync < end - start else "sync"
        yield (ended.trace.capture, rank, device, ms(start - job.start), ms(end - start), pct(end - start, idle), cause,
               None if ended.launch_ts is None else ms(ended.launch_ts - start), ms(sync),
               None if call is None else call.name, name, name_ns if name in (None, ANY) else ms(name_ns),
               ended.name, ended.step, ANY)


@functools.cache
def memory_events(trace):
    """[(device type, device, ts, bytes, allocated, reserved)], from the file once more."""
    document = oracle.parse_json(oracle.read_text(trace.path))
    events = document if isinstance(document, list) else document.get("traceEvents") or []
    found = []
    for event in events:
        if event.get("name") == "[memory]" and event.get("ph") in ("i", "I"):
            args = event.get("args") or {}
            found.append((*(oracle.whole_number(args.get(key)) for key in ("Device Type", "Device Id")),
                          trace.absolute(event["ts"]),
                          *(oracle.whole_number(args.get(key))
                            for key in ("Bytes", "Total Allocated", "Total Reserved"))))
    return found


def memory_peak(job):
    found = collections.defaultdict(list)
    for trace in job.traces:
        for kind, device, *event in memory_events(trace):
            found[trace.rank, kind, device].append((*event, trace))
    for key, events in sorted(found.items()):
        taken = [size for _, size, _, _, _ in events if (size or 0) > 0]
        given = [size for _, size, _, _, _ in events if (size or 0) < 0]
        peak = max((event[2] or 0 for event in events), default=0)
        most = max((event[3] or 0 for event in events), default=0)
        ts = step = reserved = unused = None
        if peak > 0:
            ts, _, _, reserved, trace = min((event for event in events if event[2] == peak),
                                            key=lambda event: event[0])
            step = max(trace.steps_at(ts), default=None)
            unused = None if reserved is None else pct(reserved - peak, reserved)
        yield (*key, peak or None, None if ts is None else ms(ts - job.start), step, reserved, unused,
               most or None, len(taken), len(given), sum(taken), max(taken, default=None))


def launch_latency(job, rank=None, step=None):
    launched = [a for a in job.activities if a.launches and rank in (None, a.rank)
                and step in (None, a.step)]
    rows = []
    for (of, device, stream), ran in grouped(launched,
                                             lambda a: (a.rank, a.device, a.stream)).items():
        waits = sorted(a.ts - a.launch_ts for a in ran)

        def reached(percent):
            return ms(waits[-(-percent * len(waits) // 100) - 1])

        rows.append((of, number_first(device), number_first(stream), (
            of, device, stream, len(ran), ms(waits[0]), reached(5), reached(50), reached(95),
            ms(waits[-1]), sum(waits) / len(waits) / 1e6, ANY)))
    return [row[-1] for row in sorted(rows)]
