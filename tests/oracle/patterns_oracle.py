"""What the queries on patterns over time must say, worked out like breakdown_oracle.py."""
import collections
import fractions
import itertools
import re

import trace_oracle as oracle
from breakdown_oracle import ANY, by_capture, grouped, has_capture, memory_events, ms, number_first, pct
from identity_oracle import parallelism, time_of


@by_capture
def memory_timeline(job, bins=200, rank=None):
    chosen = [trace for trace in job.traces if rank in (None, trace.rank)]
    if not chosen:
        return
    first = min(time_of(trace)[0] for trace in chosen)
    step = (max(time_of(trace)[1] for trace in chosen) - first) // bins + 1
    events = [((trace.rank, kind, device, (event[0] - first) // step), event)
              for trace in chosen for kind, device, *event in memory_events(trace)]
    for (of, kind, device, number), its in sorted(grouped(events, lambda e: e[0]).items()):
        in_time = sorted((event for _, event in its), key=lambda event: event[0])
        row = [of, kind, device, ms(first + number * step - job.start), ms(step), len(its)]
        for column in (2, 3):
            values = [event[column] for event in in_time]
            row += [min(values), max(values), values[-1]]
        yield row


def queue_depth(job, moments=10000, full=1024, rank=None):
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
            most, None if when is None else ms(when - job.start), *shares)))
    return [row[-1] for row in sorted(rows)]


def depths_at(intervals, first, step):
    """The depth at each moment from the first that finds something in the queue to the last."""
    changes = collections.Counter()                # {number of a moment: by how much the depth changes}
    for start, end in intervals:
        numbers = -((first - start) // step), -((first - end) // step)
        if numbers[0] < numbers[1]:
            changes[numbers[0]] += 1
            changes[numbers[1]] -= 1
    if not changes:
        return []
    numbers = range(min(changes), max(changes))
    depths = itertools.accumulate(changes[number] for number in numbers)
    return [(first + number * step, depth) for number, depth in zip(numbers, depths)]


def pieces(activities):
    """The busy time of a GPU, cut where the kinds of what runs change: (start, end) in time."""
    changes = grouped([(at, kind, sign) for a in activities if a.dur > 0
                       for at, kind, sign in ((a.ts, a.kind, 1), (a.end, a.kind, -1))],
                      lambda change: change[0])
    running = collections.Counter()
    start, held = None, frozenset()
    for at in sorted(changes):
        for _, kind, sign in changes[at]:
            running[kind] += sign
        now = frozenset(kind for kind, count in running.items() if count)
        if now != held:
            if held:
                yield start, at
            start, held = at, now


def short_stretches(ran, shorter_ns):
    """(length, -start, idle ns, names of what starts in it)"""
    run = []
    for piece in [*pieces(ran), None]:
        if piece is not None and piece[1] - piece[0] < shorter_ns:
            run.append(piece)
            continue
        if len(run) > 1:
            start, end = run[0][0], run[-1][1]
            idle = end - start - sum(piece_end - at for at, piece_end in run)
            yield end - start, -start, idle, [a.name for a in ran if start <= a.ts < end]
        run = []


def small_kernels(job, max_us=10, min_kernels=10, idle_pct=50, rank=None):
    devices = grouped(job.activities, lambda a: (a.rank, a.device))
    for of, device in sorted(devices, key=lambda key: (key[0], number_first(key[1]))):
        if rank not in (None, of):
            continue
        ran = devices[of, device]
        short = [a for a in ran if a.dur < 1000 * max_us]
        stretches = [stretch for in_capture in grouped(ran, lambda a: a.trace).values()
                     for stretch in short_stretches(in_capture, 1000 * max_us)
                     if len(stretch[3]) >= min_kernels and 100 * stretch[2] >= idle_pct * stretch[0]]
        whole = job.devices[of, device]
        longest = max(stretches, default=None)
        yield (of, device, len(ran), len(short), pct(len(short), len(ran)),
               pct(sum(a.dur for a in short), sum(a.dur for a in ran)), len(stretches),
               sum(len(names) for *_, names in stretches), ms(sum(s[0] for s in stretches)),
               pct(sum(s[0] for s in stretches), whole["span"]),
               ms(sum(s[2] for s in stretches)),
               pct(sum(s[2] for s in stretches), whole["idle"]),
               *((None,) * 5 if longest is None else
                 (ms(-longest[1] - job.start), ms(longest[0]), ms(longest[2]), len(longest[3]),
                  most_frequent(longest[3]))))


def most_frequent(names):
    counts = sorted(collections.Counter(names).items(),
                    key=lambda item: (-item[1], item[0].encode()))
    return ", ".join(f"{times} x {name}" for name, times in counts[:3])


def kernel_judged(name):
    """(work, tensor cores, could use) of a compute kernel; None: it multiplies no matrices."""
    text = name.lower()

    def has(*signs):
        return any(re.search(sign, text) for sign in signs)

    if has("splitk.*reduce", "dot_do_o", "convert_dq", "flash_.*combine", "flash_bwd_preprocess",
           "nchwtonhwc", "nhwctonchw", "^triton_(poi|red|per)_"):
        return None
    if has("sdpa", "fmha", "flash", "attention", "attn_"):
        work = "attention"
    elif has("fprop", "[dw]grad", "conv[123]d", "convol", "cudnn", "depthwise", "winograd"):
        work = "convolution"
    else:
        work = "product"
    if has("simt", "_ffma", "fmha_cutlass.*_sm[56]\\d"):
        return work, "no", 1
    if has("tensorop", "[gw]mma", "tcgen05", "::umma", "[hibd]mma_", "xmma.*(tensor\\d|warpgroup)",
           "[hsd]884", "[hscd]1688", "[hs]16816", "[is]16832", "i8816", "[his]64x\\d.*x\\d.*gemm",
           "nvjet", "deep_gemm::.*gemm", "flash_[fb]wd", "fmha_cutlass.*f16.*_sm[789]\\d",
           "fmha_cutlass.*f32.*_sm8\\d", "cijk_.*_mi\\d.*x\\d", "mfma"):
        return work, "yes", 1
    if has("gemmsn_"):
        return work, "no", 1
    if has("(^|[^s])gemv", "depthwise"):
        return work, "no", 0
    if has("(^|[^a-z])sgemm", "[^a-z]hgemm", "scudnn"):
        return work, "no", 1
    if has("[^a-z][dcz]gemm"):
        return work, "no", None
    if has("gemm", "cijk_", "cutlass", "xmma", "conv[123]d", "convol", "fprop", "[dw]grad",
           "winograd", "fmha", "sdpa", "attention", "attn_[fb]wd", "^triton_(tem_|b?mm)"):
        return work, "unknown", None
    return None


def tensor_core_use(job, rank=None):
    for of, ran in sorted(grouped(job.activities, lambda a: a.rank).items()):
        if rank not in (None, of):
            continue
        judged = [(a, kernel_judged(a.name)) for a in ran if a.kind == "compute"]
        judged = [(a, verdict) for a, verdict in judged if verdict is not None]

        def time(*which):
            return sum(a.dur for a, verdict in judged if verdict[1] in which)

        names = grouped(judged, lambda pair: (pair[0].name, pair[1]))
        rows = [(-sum(a.dur for a, _ in its), name.encode(), name, verdict, len(its))
                for (name, verdict), its in names.items()]
        for total, _, name, verdict, count in sorted(rows):
            yield (of, name, *verdict, ANY, count, ms(-total),
                   pct(-total, time("yes", "no", "unknown")), pct(-total, sum(a.dur for a in ran)),
                   pct(time("yes"), time("yes", "no")), ANY)


def pipeline_messages(job):
    return [part for part in job.parts if part.group is not None
            and any(parallelism(text) == "pipeline" for text in job.groups[part.group])]


def waits_of_collectives(job):
    """{communication kernel: (until when it waits for other ranks, whether one is another stage)}"""
    stages = collections.defaultdict(set)          # {rank: ranks of its pipeline groups}
    for group, texts in job.groups.items():
        if any(parallelism(text) == "pipeline" for text in texts):
            for rank in group.ranks:
                stages[rank] |= set(group.ranks) - {rank}
    pipeline = {id(part) for part in pipeline_messages(job)}
    return {id(part.activity): (min(collective.last_start, part.ts + part.dur),
                                bool(stages[part.rank] & set(part.group.ranks)))
            for collective in job.collectives if collective.matched for part in collective.parts
            if id(part) not in pipeline}


def bubbles(ran, pipeline, waits, start, end):
    """(wait for another stage, idle, other waits) between two times."""
    sets = {"pipeline": [], "other": [], "work": [], "communication": []}
    for a in ran:
        first, last = max(a.ts, start), min(a.end, end)
        if last <= first:
            continue
        sets["communication" if a.kind == "communication" else "work"].append((first, last))
        if id(a) in pipeline:
            sets["pipeline"].append((first, last))
        until, is_stage = waits.get(id(a), (start, False))
        if min(until, end) > first:
            sets["pipeline" if is_stage else "other"].append((first, min(until, end)))
    sets["stretch"] = [(start, end)] if end > start else []
    lengths = oracle.measure(sets)
    alone = {held: ns for held, ns in lengths.items() if "work" not in held}
    return (sum(ns for held, ns in alone.items() if "pipeline" in held),
            lengths[frozenset({"stretch"})],
            sum(ns for held, ns in alone.items() if "other" in held and "pipeline" not in held))


@has_capture
def pipeline_bubbles(job, rank=None):
    untold = {part.activity.trace for part in job.parts  # in batches with several ranks
              if part.group is None and part.collective in ("send", "recv", "sendrecv")}
    messages = [part for part in pipeline_messages(job) if part.activity.trace not in untold]
    pipeline = {id(part.activity) for part in messages}
    waits = waits_of_collectives(job)
    rows = []
    places = grouped([part for part in messages if part.activity.step is not None],
                     lambda part: (part.rank, part.activity.device,
                                   job.traces.index(part.activity.trace), part.activity.step))
    for (of, device, trace, step), parts in places.items():
        if rank not in (None, of):
            continue
        ran = [a for a in job.traces[trace].activities if a.device == device]
        launched = [a for a in ran if a.step == step]
        start, end = min(a.ts for a in launched), max(a.end for a in launched)
        stages = max(len(part.group.ranks) for part in parts)
        ways = [(part, way) for part in parts if part.peer is not None for way in ("send", "recv")
                if part.goes_both_ways or part.collective == way]
        forward = [part for part, way in ways if (part.peer > of if way == "send" else part.peer < of)]
        backward = [part for part, way in ways if (part.peer < of if way == "send" else part.peer > of)]
        kinds = grouped(ways, lambda one: (one[0].group, one[1], one[0].peer))
        microbatches = max(map(len, kinds.values()), default=None)
        cool = min(end, max((p.ts + p.dur for p in forward), default=end))
        steady = min(cool, min((p.ts + p.dur for p in backward), default=cool))
        wait, idle, other = bubbles(ran, pipeline, waits, start, end)
        phases = [sum(bubbles(ran, pipeline, waits, *cut)[:2])
                  for cut in ((start, steady), (steady, cool), (cool, end))]
        work = end - start - wait - idle - other
        ideal = None if microbatches is None else fractions.Fraction(stages - 1, microbatches)
        rows.append((of, number_first(device), start, trace, step, (
            job.traces[trace].capture, of, device, step,
            max(part.group.ranks.index(of) for part in parts), stages, microbatches,
            *map(ms, (end - start, work, wait + idle, wait, idle, other)),
            *((None,) * 3 if microbatches is None else map(ms, phases)), pct(wait + idle, work),
            None if ideal is None else float(100 * ideal),
            None if ideal is None else float((wait + idle - work * ideal) / 1_000_000))))
    return [row[-1] for row in sorted(rows)]


@has_capture
def kernel_sequences(job, length=3, step=None, min_times=2, max_gap_us=100, limit=20, rank=None):
    steps = sorted({(trace.capture, number) for trace in job.traces for number, _, _ in trace.steps})
    capture = job.traces[0].capture if job.whole else None
    if step is None and steps:
        capture, step = steps[(len(steps) - 1) // 2]
    elif step == -1:
        step = None
    chosen = [a for a in job.activities if step in (None, a.step) and rank in (None, a.rank)
              and capture in (None, a.trace.capture)]
    found = collections.defaultdict(list)          # {names: [(rank, start, busy, gap)]}
    for ran in grouped(chosen, lambda a: (job.traces.index(a.trace), a.device,
                                             a.stream)).values():
        in_time = sorted(ran, key=lambda a: (a.ts, a.order))
        for place in range(len(in_time) - length + 1):
            its = in_time[place:place + length]
            gaps = [max(0, later.ts - earlier.end) for earlier, later in zip(its, its[1:])]
            if max(gaps) <= 1000 * max_gap_us:
                found[tuple(a.name for a in its)].append(
                    (its[0].rank, its[0].ts, sum(a.dur for a in its), sum(gaps)))
    rows = []
    for names, its in found.items():
        if len(its) >= min_times:
            gap, busy = sum(one[3] for one in its), sum(one[2] for one in its)
            text = " > ".join(names)
            rows.append((-gap, -len(its), text.encode(), (
                capture, text, step, len(its), len({one[0] for one in its}), ms(busy), ms(gap),
                gap / len(its) / (length - 1) / 1e3, pct(gap, gap + busy), min(its)[0],
                ms(min(its)[1] - job.start))))
    return [row[-1] for row in sorted(rows)[:limit]]
