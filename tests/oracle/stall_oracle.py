"""What the queries on stalls must say, worked out from the traces of trace_oracle.py by brute force.

README.md has the definitions. Everything is looked for in everything: no index, no bound on what
is looked at, no table that one question leaves for the next.
"""
import collections
import functools

import trace_oracle as oracle
from peers_oracle import Peers, by_host_unnamed, host_did_more, others_take

HOST_NS_MIN = 250_000         # shorter slices of the host are not told apart
NAMED_NS_MIN = 20_000         # shorter waits get no name
LATE_NS_MIN = 50_000          # less puts nobody behind
WAITING_NS_MIN = 10_000       # shorter communication kernels only work

STREAM_WAITS = ("Memcpy", "Memset")
NOTHING_LONG = "host work in short pieces"
BACKWARD = "backward pass in short pieces"
IDLE = "an idle GPU"

Range = collections.namedtuple("Range", "start end")
Piece = collections.namedtuple("Piece", "activity range last")     # last: the part it waits for
UNRECORDED = object()          # as the last: it may wait for a rank that was not recorded
# activity: the kernel that named it, where the device was at work.
# What held a thread: the slice that names it, the one deepest in it, for how long, and all of its name.
# parts: (name, own time, slices) of what it did, calls that wait for the device left out.
OnThread = collections.namedtuple("OnThread", "named inner own_ns sum_ns is_backward parts", defaults=((),))
PARTS_MAX = 8
Cause = collections.namedtuple("Cause", "kind name upstream clear_ns activity", defaults=(None, 0, None))


def length(span):
    return span.end - span.start


def common(a, b):
    return max(0, min(a.end, b.end) - max(a.start, b.start))


def covered(spans, inside):
    """Length of the union of the spans inside another."""
    cut = sorted((max(s.start, inside.start), min(s.end, inside.end)) for s in spans
                 if common(s, inside) > 0)
    total, reached = 0, inside.start
    for start, end in cut:
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def waits_for_device(name):
    if not name.startswith(("cuda", "hip", "cu")):
        return False
    copies = any(word in name for word in STREAM_WAITS)
    return "Synchronize" in name or (copies and "Async" not in name)


class Stall:
    """A collective in which somebody waited."""

    def __init__(self, collective):
        self.collective = collective
        self.wait_ns = collective.total_wait
        self.last = collective.last
        self.range = Range(collective.first_start, collective.last_start)
        self.cause = None
        self.carried = None
        # Of a device at work: how long each kernel of the name took that ran in the stretch, and since
        # the ranks were last together; and how long nothing ran since.
        self.near = self.named = ()
        self.idle = 0
        self.unnamed = []  # what is said of a host that held it in nothing that has a name, and since when

    def __repr__(self):
        return f"{self.last.collective} of {self.collective.group}, {self.collective.key}"


class Stalls:
    waits = staticmethod(waits_for_device)

    def __init__(self, job):
        self.groups = job.groups
        self.collectives = [c for c in job.collectives if c.matched]
        self.collective_of = {id(part): c for c in job.collectives for part in c.parts}
        self.part_of = {id(part.activity): part for part in job.parts}
        self.of_part = {}
        for collective in self.collectives:
            if collective.total_wait > 0:
                stall = Stall(collective)
                self.of_part[id(stall.last)] = stall
        self.late = self._late()
        for stall in self.of_part.values():
            stall.cause = self._cause(stall)
        for stall in self.of_part.values():
            self._was_behind(stall, job)
        peers = Peers(self, job)
        for stall in self.of_part.values():
            if stall.carried is None and stall.cause.kind == "device" and stall.cause.activity is not None:
                peers.judge(stall)
                stall.cause = Cause(*by_host_unnamed(self, stall)) if stall.cause.kind is None else stall.cause
        for stall in self.of_part.values():
            origin = self._follow(stall, lambda s: s.carried)
            if origin is not stall:
                stall.cause = origin.cause
        for stall in self.of_part.values():
            stall.root = self._follow(stall, self._next)

    # -- chains

    def _next(self, stall):
        if stall.carried is not None:
            return stall.carried
        return self.of_part.get(id(stall.cause.upstream))

    @staticmethod
    def _follow(stall, following):
        met = [stall]
        while True:
            behind = following(met[-1])
            if behind is None or any(behind is one for one in met):
                return met[-1]
            met.append(behind)

    # -- causes

    def _cause(self, stall):
        launch = stall.last.activity.launch_ts
        late = launch is not None and 2 * (launch - stall.range.start) >= length(stall.range)
        if length(stall.range) < NAMED_NS_MIN:
            return Cause(None if launch is None else "host" if late else "device", None)
        if late:
            held = Range(stall.range.start, min(launch, stall.range.end))
            cause = self._by_host(stall, stall.last.activity, held)
        else:
            cause = self._by_device(stall, stall.range, launch is not None)
        if 2 * cause.clear_ns < length(stall.range):
            cause = self._by_what_was_before(stall, cause)
        return cause

    def _by_host(self, stall, launched, held):
        named, inner, own_ns, instead, _ = self._longest(stall.last.activity.trace, launched, held)
        if inner is not None and waits_for_device(inner.name):
            within = Range(max(named.ts, held.start), min(named.ts + named.dur, held.end))
            cause = self._by_device(stall, within, False)
            if cause.name != IDLE:
                return cause
        return Cause("host", instead if named is None else named.name, None, own_ns)

    def _by_device(self, stall, span, may_ask_host):
        pieces = self._pieces(stall.last.activity)
        work = [piece for piece in pieces if piece.last is None]
        busy = covered([piece.range for piece in work], span)
        held = covered([piece.range for piece in pieces], span)
        waiting, idle = held - busy, length(span) - held

        def longest(chosen):
            return max(chosen, key=lambda piece: (common(piece.range, span), -piece.range.start))

        if waiting > 0 and waiting >= busy and waiting >= idle:
            piece = longest([piece for piece in pieces if piece.last is not None])
            title, of = self._title(self.part_of[id(piece.activity)]), common(piece.range, span)
            return (Cause("upstream", title + ": ranks missing", None, of) if piece.last is UNRECORDED
                    else Cause("upstream", title, piece.last, of))
        if busy > 0 and busy >= idle:
            piece = longest(work)
            stall.near = stall.named = self._named(work, piece.activity.name, span)
            stall.idle = idle
            return Cause("device", piece.activity.name, None, common(piece.range, span), piece.activity)
        gap, behind = self._gap(pieces, span)
        launch = None if behind is None else behind.launch_ts
        if may_ask_host and launch is not None and 2 * (launch - gap.start) >= length(gap):
            return self._by_host(stall, behind, Range(gap.start, min(launch, gap.end)))
        if stall.last.activity.launch_ts is None:
            return Cause(None, None, None, length(gap))
        return Cause("device", IDLE, None, length(gap))

    @staticmethod
    def _named(work, name, span):
        return [length(piece.range) for piece in work
                if piece.activity.name == name and common(piece.range, span) > 0]

    def _earliest(self, stall, trace=None):
        trace, step = trace or stall.last.activity.trace, stall.last.activity.step
        if step is None:
            return max(self._together(stall), stall.range.start - 10 * length(stall.range))
        return max(self._together(stall), min((ts for number, ts, _ in trace.steps if number == step), default=0))

    def _was_behind(self, stall, job):
        """A device at work that its host had kept without work before: by what took it longer than others."""
        if stall.cause.activity is None or stall.cause.kind != "device" or stall.carried is not None:
            return
        step, start = stall.last.activity.step, self._earliest(stall)
        in_step, cause = Range(start, stall.range.end), None
        if in_step.start < stall.range.start:
            pieces = self._pieces(stall.last.activity)
            stall.named = self._named([piece for piece in pieces if piece.last is None], stall.cause.name, in_step)
            stall.idle = length(in_step) - covered([piece.range for piece in pieces], in_step)
            cause = self._held_before(stall, in_step, {step}, job, self._earliest)
        since = Range(self._since_step_before(stall), stall.range.end)
        if cause is None and since.start < min(start, stall.range.start):
            cause = self._held_before(stall, since, {step, step - 1}, job, self._since_step_before)
        stall.cause = cause or stall.cause

    def _since_step_before(self, stall, trace=None):
        trace, step = trace or stall.last.activity.trace, stall.last.activity.step
        begins = [] if step is None else [ts for number, ts, _ in trace.steps if number == step - 1]
        return max(self._together(stall), min(begins)) if begins else self._earliest(stall, trace)

    def _held_before(self, stall, before, steps, job, since):
        pieces = self._pieces(stall.last.activity)
        gap, after = self._gap(pieces, before)
        launch = None if after is None else after.launch_ts
        if launch is None or 2 * length(gap) < length(stall.range) or 2 * (launch - gap.start) < length(gap):
            return None
        held = Range(gap.start, min(launch, gap.end))
        named, inner, _, instead, parts = self._longest(stall.last.activity.trace, after, held)
        if inner is not None and waits_for_device(inner.name):
            return None
        explains = lambda ns: 2 * ns >= length(stall.range)
        if named is None:
            stall.unnamed.append((instead, since))
        more = host_did_more(self, stall, since)
        if more is not None and not explains(more):
            return None
        if named is not None and explains(named.dur - others_take(named.name, steps, stall, job)):
            return Cause("host", named.name)
        longer = [max(0, ns - slices * others_take(name, steps, stall, job)) for name, ns, slices in parts]
        if not explains(sum(longer)):
            return None
        if named is None:
            return Cause("host", instead)
        most = longer.index(max(longer))
        return Cause("host", parts[most][0] if most > 0 else named.name)

    def _by_what_was_before(self, stall, cause):
        earliest = self._earliest(stall)
        trace = stall.last.activity.trace
        least, most = length(stall.range) // 2, 2 * length(stall.range)
        found = [(-amount, time, own, last) for of, time, own, last, amount in self.late
                 if of is trace and earliest < time < stall.range.end
                 and least <= amount <= most and own is not stall.last]
        if not found:
            return cause
        _, _, own, last = min(found, key=lambda one: one[:2])
        if own is last:
            stall.carried = self.of_part[id(own)]
            return cause
        return Cause("upstream", self._title(own), last)

    def _late(self):
        """(trace, when, its part, the part it waited for or its own, by how much)"""
        rows = []
        for stall in self.of_part.values():
            for part in stall.collective.parts:
                mine = part is stall.last
                amount = length(stall.range) if mine else stall.range.end - part.ts
                if amount >= LATE_NS_MIN:
                    rows.append((part.activity.trace, stall.range.end, part, stall.last, amount))
        return rows

    def _together(self, stall):
        """When all ranks of the group were last seen inside one collective, before this one."""
        kind, number, *rest = stall.collective.key
        found = []
        for other in self.collectives:
            same = (other.capture, other.group, other.key[0], list(other.key[2:])) == (
                stall.collective.capture, stall.collective.group, kind, rest)
            all_in = all(part.ts + part.dur >= other.last_start for part in other.parts)
            if same and other.key[1] < number and all_in:
                found.append((other.key[1], other.last_start))
        return max(found)[1] if found else float("-inf")

    def _title(self, part):
        described = ", ".join(sorted(text for text in self.groups[part.group] if text))
        return part.collective + (f" of {described}" if described else "")

    # -- what a device did

    @functools.lru_cache(maxsize=None)
    def _pieces_of(self, trace, device):
        pieces = []
        for activity in trace.activities:
            if activity.device != device or activity.dur <= 0:
                continue
            whole = Range(activity.ts, activity.end)
            part = self.part_of.get(id(activity))
            collective = self.collective_of.get(id(part))
            until, then = activity.ts, None
            if collective is not None and activity.dur >= WAITING_NS_MIN:
                if collective.matched:
                    until = min(collective.last_start, activity.end)
                then = UNRECORDED if collective.lacks_ranks else None
            if until > activity.ts:
                pieces.append(Piece(activity, Range(activity.ts, until), collective.last))
                whole = Range(until, activity.end)
            if length(whole) > 0:
                pieces.append(Piece(activity, whole, then))
        return sorted(pieces, key=lambda piece: piece.range.start)

    def _pieces(self, activity):
        return [piece for piece in self._pieces_of(activity.trace, activity.device)
                if piece.activity is not activity]

    @staticmethod
    def _gap(pieces, span):
        best, behind, reached = Range(span.start, span.start), None, span.start
        for piece in pieces:
            if common(piece.range, span) <= 0:
                continue
            if max(piece.range.start, span.start) - reached > length(best):
                best, behind = Range(reached, piece.range.start), piece.activity
            reached = max(reached, min(piece.range.end, span.end))
        if span.end - reached > length(best):
            best, behind = Range(reached, span.end), None
        return best, behind

    # -- what a thread did

    @functools.lru_cache(maxsize=None)
    def _threads(self, trace):
        """{(pid, tid): its long slices, in order}, the threads that run steps, those that run operators."""
        threads, stepping, working = collections.defaultdict(list), set(), set()
        for piece in trace.slices:
            if piece.name.startswith("ProfilerStep#"):
                if oracle.STEP_NAME.match(piece.name) and piece.category == "user_annotation":
                    stepping.add(self._thread(piece))
            elif not oracle.is_gpu_category(piece.category) and piece.dur >= HOST_NS_MIN:
                threads[self._thread(piece)].append(piece)
                if piece.category == "cpu_op":
                    working.add(self._thread(piece))
        for slices in threads.values():
            slices.sort(key=lambda piece: (piece.ts, -piece.dur))
        return threads, stepping, working - stepping

    @functools.lru_cache(maxsize=None)
    def _calls(self, trace):
        return {(oracle.text_of(piece.args.get("correlation")), piece.ts): self._thread(piece)
                for piece in trace.slices if oracle.is_launch_category(piece.category)
                and isinstance(piece.args, dict)}

    @staticmethod
    def _thread(piece):
        return oracle.text_of(piece.pid), oracle.text_of(piece.tid)

    def _longest(self, trace, launched, held):
        """The slice that names what held the thread, the one deepest in it, for how long, what is said
        where no name has a quarter of that, and all that the thread did."""
        threads, stepping, working = self._threads(trace)
        own = self._calls(trace)[launched.correlation, launched.launch_ts]
        best = self._on_thread(threads[own], held)
        if 2 * best.own_ns < length(held):
            for thread in sorted(stepping - {own}, key=str) + sorted(working - {own}, key=str):
                over = [piece for piece in threads[thread] if piece.ts + piece.dur <= held.end]
                other = self._on_thread(over, held)
                clear = thread in stepping and 2 * other.own_ns >= length(held)
                if clear or other.sum_ns > best.sum_ns:
                    best = other
                if clear:
                    break
        instead = BACKWARD if best.is_backward else NOTHING_LONG
        if 2 * best.own_ns < length(held) and 4 * best.sum_ns < length(held):
            return None, None, best.own_ns, instead, best.parts
        return best.named, best.inner, best.own_ns, instead, best.parts

    @staticmethod
    def _on_thread(slices, held):
        slices = [piece for piece in slices if piece.ts < held.end and piece.ts + piece.dur > held.start]
        parent, alone = {}, {}
        for at, piece in enumerate(slices):
            span = Range(piece.ts, piece.ts + piece.dur)
            around = [i for i in range(at) if slices[i].ts + slices[i].dur > piece.ts]
            alone[at] = common(span, held)
            if around:
                parent[at] = around[-1]
                outer = slices[around[-1]]
                inside = Range(span.start, min(span.end, outer.ts + outer.dur))
                alone[around[-1]] -= common(inside, held)
        backward = any(piece.name.startswith("autograd::engine::evaluate_function:") for piece in slices)
        sums = collections.Counter()
        for at, piece in enumerate(slices):
            sums[piece.name, piece.category] += alone[at]
        if not sums or max(sums.values()) <= 0:
            return OnThread(None, None, 0, 0, backward)
        name = max(sums, key=lambda key: sums[key])
        chosen = max((at for at, piece in enumerate(slices) if (piece.name, piece.category) == name),
                     key=lambda at: alone[at])
        inner, named = slices[chosen], slices[chosen]
        at = chosen
        while inner.category != "user_annotation" and at in parent:
            at = parent[at]
            if slices[at].dur > inner.dur + inner.dur // 4:
                break
            if slices[at].category == "user_annotation":
                named = slices[at]
                break
        counts = collections.Counter((piece.name, piece.category) for piece in slices)
        parts = [(key[0], ns, counts[key]) for key, ns in sums.items() if ns > 0 and not waits_for_device(key[0])]
        parts.sort(key=lambda part: -part[1])
        return OnThread(named, inner, alone[chosen], sums[name], backward, parts[:PARTS_MAX])
