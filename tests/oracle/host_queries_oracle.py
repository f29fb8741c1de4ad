"""What the queries on the host must say, worked out from the traces of host_oracle.py.

One function a query, of its name: all rows, in order, each with all columns. A job is a list of
(rank, HostTrace).
"""
import collections
import json
import math

from breakdown_oracle import ms, pct, waits_for_gpu
from host_oracle import ANNOTATION, CALL, FUNCTION, MODULE, MODULE_PREFIX, OPERATOR

USES = 8
CALLS, TOTAL, SELF, ACTIVITIES, GPU, SELF_GPU, BACKWARD, SELF_BACKWARD = range(USES)


def text_order(name):
    """As SQLite sorts: NULL first, then by bytes."""
    return (name is not None, (name or "").encode())


def chosen(job, rank):
    return [(of, trace) for of, trace in job if rank in (None, of)]


def gpu_time(job, rank, step):
    """Of all activities, however they were launched."""
    return sum(activity.dur for _, trace in chosen(job, rank) for activity in trace.activities
               if step in (None, activity.step))


class Use:
    """All calls of one name."""

    def __init__(self):
        self.sums = [0] * USES
        self.total_of = collections.Counter()   # {rank: host ns}
        self.shapes, self.callers = set(), set()

    def add(self, rank, shape, much):
        self.sums = [one + more for one, more in zip(self.sums, much)]
        self.total_of[rank] += much[TOTAL]
        if much[CALLS]:
            self.callers.add(rank)
            if shape is not None:
                self.shapes.add(shape)


def uses(job, kinds, rank, step):
    """{(kind, name): Use}"""
    found = collections.defaultdict(Use)
    for of, trace in chosen(job, rank):
        for (at, kind, (name, _), shape), much in trace.host_rows.items():
            if kind in kinds and step in (None, at):
                found[kind, name].add(of, shape, much)
    return found


def ops_top(job, limit=30, rank=None, step=None):
    whole = gpu_time(job, rank, step)
    found = uses(job, (OPERATOR,), rank, step).items()
    ordered = sorted(found, key=lambda use: (-use[1].sums[SELF_GPU] - use[1].sums[SELF],
                                             text_order(use[0][1])))
    for (_, name), use in ordered[:limit]:
        s = use.sums
        yield (name, s[CALLS], ms(s[TOTAL]), ms(s[SELF]), ms(s[GPU]), ms(s[SELF_GPU]),
               pct(s[SELF_GPU], whole), ms(s[BACKWARD]), s[ACTIVITIES], len(use.shapes),
               len(use.callers))


def module_time(job, kind=None, limit=40, rank=None, step=None):
    whole = gpu_time(job, rank, step)
    kinds = {None: (FUNCTION, MODULE), "function": (FUNCTION,), "module": (MODULE,)}[kind]
    found = uses(job, kinds, rank, step).items()
    ordered = sorted(found, key=lambda use: (-use[1].sums[GPU] - use[1].sums[BACKWARD],
                                             -use[1].sums[SELF], -use[0][0], text_order(use[0][1])))
    for (of_kind, name), use in ordered[:limit]:
        s = use.sums
        yield ("module" if of_kind == MODULE else "function", name.removeprefix(MODULE_PREFIX),
               s[CALLS], ms(s[GPU]), ms(s[BACKWARD]), pct(s[GPU] + s[BACKWARD], whole),
               ms(s[SELF_GPU]), ms(s[SELF_BACKWARD]), ms(s[TOTAL]), ms(s[SELF]), s[ACTIVITIES],
               len(use.callers))


def annotations(job, limit=50, rank=None, step=None):
    found = uses(job, (ANNOTATION,), rank, step).items()
    ordered = sorted(found, key=lambda use: (-use[1].sums[TOTAL], text_order(use[0][1])))
    for (_, name), use in ordered[:limit]:
        s, totals = use.sums, use.total_of
        most = min(totals, key=lambda of: (-totals[of], of))
        least = min(totals, key=lambda of: (totals[of], of))
        yield (name, s[CALLS], ms(s[TOTAL]), s[TOTAL] / s[CALLS] / 1e6 if s[CALLS] else None,
               ms(s[SELF]), ms(s[GPU]), ms(s[SELF_GPU]), ms(s[BACKWARD]), s[ACTIVITIES],
               len(totals), most, ms(totals[most]), least, ms(totals[least]))


def kernels_by_op(job, limit=30, rank=None, step=None):
    whole = gpu_time(job, rank, step)
    found = collections.defaultdict(lambda: [0, 0, set()])
    for of, trace in chosen(job, rank):
        for activity in trace.activities:
            if step not in (None, activity.step):
                continue
            operators = [next((piece.label[0] for piece in reversed(path or ())
                               if piece.kind == OPERATOR), None)
                         for path in (activity.path, activity.forward_path)]
            row = found[(*operators, activity.label[0])]
            row[0] += 1
            row[1] += activity.dur
            row[2].add(of)
    ordered = sorted(found.items(), key=lambda row: (
        -row[1][1], text_order(row[0][2]), text_order(row[0][0]), text_order(row[0][1])))
    for names, (count, gpu_ns, ranks) in ordered[:limit]:
        yield (*names, count, ms(gpu_ns), pct(gpu_ns, whole), gpu_ns / count / 1e6, len(ranks))


# -- calls that wait for the GPU

def waits(trace):
    return [piece for piece in trace.slices if piece.kind == CALL and waits_for_gpu(piece.label[0])]


def name_around(call, kind, outermost):
    names = [piece.label[0] for piece in call.around if piece.kind == kind]
    return (names[0] if outermost else names[-1]) if names else None


def by_device(trace):
    found = collections.defaultdict(list)
    for activity in trace.activities:
        found[activity.track[0]].append(activity)
    return found.values()


def gaps(activities):
    """(start, end) of nothing that lasts, between the first start and an activity."""
    busy = sorted((a.ts, a.ts + a.dur) for a in activities if a.dur > 0)
    reached = min(a.ts for a in activities)
    for start, end in busy:
        if start > reached:
            yield reached, start
        reached = max(reached, end)


def parts_in_calls(start, end, calls):
    """(call, ns in it, ns after it or None) of the calls in which some of a gap lies; what is in several is in
    the one that began first."""
    reached = start
    for call in sorted(calls, key=lambda piece: piece.ts):
        began, reached = reached, max(reached, min(call.end, end))
        inside = reached - max(began, call.ts)
        if call.dur > 0 and inside > 0:
            outlasted = call.ts <= start and began == start and call.end <= end
            yield call, inside, end - call.end if outlasted else None


def stalls(trace):
    """(call, ns in it, ns after it or None) of each gap: of the thread of the launch that ended it."""
    waiting = collections.defaultdict(list)
    for piece in waits(trace):
        waiting[piece.thread].append(piece)
    for activities in by_device(trace):
        starting = collections.defaultdict(list)
        for activity in activities:
            if activity.dur > 0 and activity.call:
                starting[activity.ts].append(activity.call)
        for start, end in gaps(activities):
            if starting[end]:
                first = min(starting[end], key=lambda call: call.ts)
                yield from parts_in_calls(start, end, waiting[first.thread])


def spans(trace, step):
    """ns of the GPUs: with a step from its first activity to that of the next, else all."""
    total = 0
    for activities in by_device(trace):
        starts = collections.defaultdict(list)
        for activity in activities:
            if activity.step is not None:
                starts[activity.step].append(activity.ts)
        cuts = sorted((min(all_of), of) for of, all_of in starts.items())
        last = max(a.ts + a.dur for a in activities)
        if step is None:
            total += last - min(a.ts for a in activities)
        for place, (start, of) in enumerate(cuts):
            if of == step:
                end = cuts[place + 1][0] if place + 1 < len(cuts) else last
                total += end - start
    return total


def sync_points(job, limit=30, rank=None, step=None):
    found = collections.defaultdict(lambda: [0, 0, 0, 0, 0, set()])
    span = 0
    for of, trace in chosen(job, rank):
        span += spans(trace, step)

        def row_of(call):
            return found[call.label[0], name_around(call, OPERATOR, True),
                         name_around(call, FUNCTION, False), name_around(call, ANNOTATION, False)]

        for call in waits(trace):
            if step in (None, trace.step_at(call.ts)):
                row = row_of(call)
                row[0] += 1
                row[1] += call.dur
                row[5].add(of)
        for call, inside, after in stalls(trace):
            if step in (None, trace.step_at(call.ts)):
                row = row_of(call)
                row[2] += after is not None
                row[3] += inside
                row[4] += after or 0
    ordered = sorted(found.items(), key=lambda row: (
        -row[1][3], -row[1][1], *map(text_order, row[0])))
    for names, (calls, host_ns, stalled, stalled_ns, after_ns, ranks) in ordered[:limit]:
        yield (*names, calls, ms(host_ns), stalled, ms(stalled_ns), pct(stalled_ns, span),
               ms(after_ns), len(ranks))


# Which arg is the first operand.
MATRICES = {"aten::mm": 0, "aten::_scaled_mm": 0, "aten::_int_mm": 0, "aten::bmm": 0,
            "aten::addmm": 1, "aten::_addmm_activation": 1, "aten::baddbmm": 1}
CAUSAL = {"flash": (4, 11), "efficient": (6, 11), "cudnn": (6, 14)}  # forward, backward


def shown(*sizes):
    return [json.dumps(one, separators=(",", ":")) for one in sizes]


def matrix_work(name, dims, _):
    first = MATRICES[name]
    a, b = [*dims[first:first + 2], None, None][:2]
    sizes = isinstance(a, list) and isinstance(b, list) and len(a) in (2, 3) and len(b) >= len(a)
    count = 2 * math.prod(a) * b[len(a) - 1] if sizes else 0
    return ("matmul", count, " x ".join(shown(a, b)), first) if count > 0 else None


def attention_work(name, dims, given):
    backward = name.endswith("_backward")
    q, k, v = dims[int(backward):int(backward) + 3]
    places = next(CAUSAL[kind] for kind in CAUSAL if f"_{kind}_attention" in name)
    causal = given[places[backward]] == "True"
    pairs = sum(min(row + 1, k[2]) if causal else k[2] for row in range(q[2]))
    # Forward: scores, output; backward: scores again, and gradients of q, k, v and of the scores.
    widths = [q[3], v[3]] if not backward else [q[3], q[3], q[3], v[3], v[3]]
    of_q, of_k = shown(q, k)
    return ("attention", sum(2 * q[0] * q[1] * pairs * width for width in widths),
            f"q {of_q} k {of_k}" + (" causal" if causal else ""), int(backward))


def flops(job, limit=40, rank=None, step=None):
    """Products and attention; the fixtures and random jobs have no convolution."""
    found = collections.defaultdict(lambda: [0, 0])
    for _, trace in chosen(job, rank):
        for (at, kind, (name, _), shape), much in trace.host_rows.items():
            work = (matrix_work if name in MATRICES else attention_work
                    if name.startswith("aten::_scaled_dot_product_") else None)
            if kind != OPERATOR or step not in (None, at) or work is None or not much[GPU]:
                continue
            args = json.loads(shape or "{}")
            if "Input Dims" not in args:
                continue
            made = work(name, args["Input Dims"], args.get("Concrete Inputs"))
            if made:
                of_kind, count, sizes, first = made
                row = found[of_kind, name, sizes, args["Input type"][first], count]
                row[0] += much[CALLS]
                row[1] += much[GPU]
    whole = gpu_time(job, rank, step)
    ordered = sorted(found.items(), key=lambda row: (-row[1][1], *map(text_order, row[0][1:4])))
    for (of_kind, name, sizes, dtype, count), (calls, gpu_ns) in ordered[:limit]:
        yield (of_kind, name, sizes, dtype, calls, ms(gpu_ns), pct(gpu_ns, whole), count / 1e9,
               count * calls / gpu_ns / 1e3, None)
