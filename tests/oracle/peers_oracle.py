"""What put a rank behind whose device was at work: README.md has the rule, stall_oracle.py the rest.

Sums over all activities and slices of the job, anew for every step and group.
"""
import collections
import functools

import trace_oracle as oracle
from host_oracle import OPERATOR, host_kind
from identity_oracle import parallelism

HOST_NS_MIN = 250_000   # of a shorter wait what the host did is not told
ALONE_PARTS = 10        # what a stage alone runs counts from this part of its work on

# Of a rank in a step, by how many ns it took longer, and for what: see README.md.
Longer = collections.namedtuple("Longer", "total most most_name alone alone_name least least_name "
                                          "work")


def middle(values):
    """Of two in the middle the lower."""
    return sorted(values)[(len(values) - 1) // 2]


def at_most(candidates):
    """The most that is above 0, and its name: of several the first."""
    ns, name = max(((ns, name) for name, ns in sorted(candidates)), key=lambda one: one[0], default=(0, None))
    return (ns, name) if ns > 0 else (0, None)


def others_take(name, steps, stall, job):
    """What the other ranks take for a slice of the host of this name in these steps, on average."""
    total = calls = 0
    thread = lambda piece: (oracle.text_of(piece.pid), oracle.text_of(piece.tid))
    for trace in job.traces:
        if trace.rank == stall.last.rank or trace.capture != stall.collective.capture:
            continue
        alike = [piece for piece in trace.slices if piece.name == name
                 and not oracle.is_gpu_category(piece.category)
                 and piece.category not in ("gpu_user_annotation", "async")
                 and (trace.steps_at(piece.ts) or [None])[0] in steps]
        for piece in alike:
            calls += 1
            if not any(other is not piece and thread(other) == thread(piece) and other.ts <= piece.ts
                       and piece.ts + piece.dur <= other.ts + other.dur for other in alike):
                total += piece.dur
    return total // calls if calls else 0


def host_did_more(stalls, stall, since, in_all=False):
    """Than the hosts of the other parts on average, until each launched its own; None: not known. In all:
    no matter whether it was in anything."""
    if stall.range.end - stall.range.start < 4 * HOST_NS_MIN or stall.last.activity.launch_ts is None:
        return None
    others = sorted((part for part in stall.collective.parts
                     if part is not stall.last and part.activity.launch_ts is not None), key=lambda part: part.rank)
    work = [host_work(stalls, part, since(stall, part.activity.trace), in_all, False) for part in others[:16]]
    if not work:
        return None
    return host_work(stalls, stall.last, since(stall, None), in_all, True) - sum(work) // len(work)


def by_host_unnamed(stalls, stall):
    """Kind and name of the cause, where nothing is known to be."""
    for said, since in stall.unnamed if stall.carried is None else ():
        more = host_did_more(stalls, stall, since, True)
        if more is not None and 2 * more >= stall.range.end - stall.range.start:
            return "host", said
    return None, None


def host_work(stalls, part, start, in_all, with_launches):
    """ns in which the part's thread or one that runs steps was in a slice, and in none that waits; in all: in
    which none of them was in one that waits for the device."""
    trace, end = part.activity.trace, part.activity.launch_ts
    slices, stepping, _ = stalls._threads(trace)

    def waits(name):
        launches = name.startswith(("cu", "hip")) and ("Launch" in name or "Async" in name)
        return stalls.waits(name) or (launches and not with_launches and not in_all)

    within = [[s for s in slices[thread] if s.ts < end and s.ts + s.dur > start]
              for thread in stepping | {stalls._calls(trace)[part.activity.correlation, end]}]
    moments = sorted({max(start, min(end, at)) for of_thread in within for s in of_thread
                      for at in (s.ts, s.ts + s.dur)})
    total = max(0, end - start) if in_all else 0
    for from_ns, to_ns in zip(moments, moments[1:]):
        opened = [[s for s in of_thread if s.ts <= from_ns and s.ts + s.dur >= to_ns] for of_thread in within]
        waiting = [any(waits(s.name) for s in here) for here in opened]
        if in_all and any(waiting):
            total -= to_ns - from_ns
        elif not in_all and any(here and not wait for here, wait in zip(opened, waiting)):
            total += to_ns - from_ns
    return total


class Peers:
    def __init__(self, stalls, job):
        self.stalls, self.job = stalls, job
        self.kernels = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
        self.counts = collections.Counter()
        for activity in job.activities:
            step = (activity.trace.capture, activity.step)
            if activity.kind != "communication":
                self.kernels[step][activity.rank][activity.name] += max(activity.dur, 0)
        self.every = collections.defaultdict(collections.Counter)     # communication as well
        for activity in job.activities:
            key = (activity.trace.capture, activity.step, activity.name)
            self.every[key][activity.rank] += max(activity.dur, 0)
            self.counts[key, activity.rank] += 1
        self.stages = {(part.rank, part.peer) for part in job.parts
                       if part.peer is not None and part.pair is not None and part.peer != part.rank}
        for group, texts in stalls.groups.items():
            if any(parallelism(text) == "pipeline" for text in texts):
                self.stages |= {(one, other) for one in group.ranks for other in group.ranks if one != other}

    # -- what took longer than on the others

    @functools.lru_cache(maxsize=None)
    def longer(self, capture, step, group, rank, of_host=False):
        """None: there is nobody to compare with."""
        found = self._operators(capture, step) if of_host else self.kernels.get((capture, step), {})
        others = [found[other] for other in group.ranks if other != rank and other in found]
        if rank not in found or not others:
            return None
        own, names = found[rank], {name for one in (found[rank], *others) for name in one}
        theirs = {name: [one[name] for one in others] for name in names}
        totals = [sum(one.values()) for one in others]
        work = sum(own.values())
        lone = [(name, own[name]) for name in names if middle(theirs[name]) == 0 and own[name] > 0]
        most, most_name = at_most((name, own[name] - middle(theirs[name])) for name in names)
        least, least_name = at_most((name, own[name] - min(theirs[name])) for name in names)
        return Longer(work - middle(totals), most, most_name, sum(ns for _, ns in lone), at_most(lone)[1],
                      max(work - min(totals), least), least_name, work)

    @functools.lru_cache(maxsize=None)
    def _operators(self, capture, step):
        """{rank: {name: ns}} of calls that are within none of their name."""
        found = {}
        for trace in self.job.traces:
            if trace.capture != capture:
                continue
            by_name = collections.defaultdict(list)
            for piece in trace.slices:
                if host_kind(piece.category, piece.name) == OPERATOR and \
                        (trace.steps_at(piece.ts) or [None])[0] == step:
                    by_name[piece.name, self.stalls._thread(piece)].append(piece)
            sums = collections.Counter()
            for (name, _), pieces in by_name.items():
                reached = None
                for piece in sorted(pieces, key=lambda one: (one.ts, -one.dur)):
                    sums[name] += 0
                    if reached is None or piece.ts >= reached:
                        sums[name] += piece.dur
                        reached = piece.ts + piece.dur
            if any(number == step for number, _, _ in trace.steps):
                found[trace.rank] = sums
        return found

    # -- the verdict

    def judge(self, stall):
        last, late = stall.last, stall.range.end - stall.range.start
        step, capture, group = last.activity.step, stall.collective.capture, stall.collective.group
        explains = lambda ns: 2 * ns >= late
        longer = self.longer(capture, step, group, last.rank)
        if longer is None:
            return
        if any((last.rank, other) in self.stages for other in group.ranks):
            self._judge_stage(stall, longer, explains)
            return
        named = stall.cause.activity
        if named.kind != "communication" and explains(self._named(stall)):
            return
        if longer.most_name is not None and self._is_before(stall, longer, explains):
            self._blame(stall, longer.most_name)
        elif step is None or self._by_earlier(stall, explains) or named.kind == "communication":
            pass
        elif longer.least_name is not None and explains(longer.least):
            self._blame(stall, longer.least_name)
        else:
            held = self.longer(capture, step, group, last.rank, True)
            idle = explains(stall.idle) and held is not None and held.most_name is not None and \
                late >= HOST_NS_MIN
            by_host = idle and explains(held.most)
            stall.cause = stall.cause._replace(kind="host" if by_host else None,
                                               name=held.most_name if by_host else None)

    @staticmethod
    def _is_before(stall, longer, explains):
        """What ran after it came made it no later: sums are of the whole step."""
        if not explains(max(longer.total, longer.most)):
            return False
        came, step = stall.last.activity, stall.last.activity.step
        begins = lambda number: min((ts for n, ts, _ in came.trace.steps if n == number), default=None)
        if step is None or begins(step) is None:
            return True
        end = begins(step + 2)
        alike = [one for one in came.trace.activities
                 if one.device == came.device and one.name == longer.most_name and one.dur > 0
                 and one.ts >= begins(step) and (end is None or one.ts < end)]
        if not alike:
            return True
        taken = sum(one.dur for one in alike if one.ts < came.ts)
        if explains(longer.most) and explains(taken):
            return True
        rest = longer.total - longer.most if explains(longer.most) else longer.total
        return explains(rest) and taken > 0

    @staticmethod
    def _blame(stall, name):
        stall.cause = stall.cause._replace(name=name)

    def _judge_stage(self, stall, longer, explains):
        last, name = stall.last, stall.cause.name
        sums = self.every[stall.collective.capture, last.activity.step, name]
        if last.rank not in sums:
            return
        others = [ns for rank, ns in sums.items()
                  if rank != last.rank and rank in stall.collective.group.ranks]
        if explains(sums[last.rank] - (middle(others) if others else 0)):
            return
        alone = min(longer.alone, longer.total)
        if longer.alone_name is not None and alone >= longer.work // ALONE_PARTS and explains(alone):
            self._blame(stall, longer.alone_name)
        else:
            stall.cause = stall.cause._replace(kind="schedule")

    def _named(self, stall):
        """By how much all kernels of the name took longer than as many of the others'."""
        last, name = stall.last, stall.cause.name
        key = (stall.collective.capture, last.activity.step, name)
        others = [rank for rank in self.every[key]
                  if rank != last.rank and rank in stall.collective.group.ranks]
        calls = sum(self.counts[key, rank] for rank in others)
        mean = sum(self.every[key][rank] for rank in others) // calls if calls else 0
        return max(sum(lengths) - mean * len(lengths) for lengths in (stall.near, stall.named))

    def _by_earlier(self, stall, explains):
        """What it waited for, or was late for, before."""
        last, step = stall.last, stall.last.activity.step
        trace, together = last.activity.trace, self.stalls._together(stall)
        begins = lambda number: min((ts for n, ts, _ in trace.steps if n == number), default=float("-inf"))
        before = self.longer(stall.collective.capture, step - 1, stall.collective.group, last.rank)
        if together < begins(step) and before is not None and before.most_name is not None and \
                explains(max(before.total, before.most)):
            self._blame(stall, before.most_name)
            return True
        late = [(time, own, due_to, amount) for of, time, own, due_to, amount in self.stalls.late
                if of is trace and time < stall.range.end]
        waits = collections.defaultdict(list)
        for time, own, due_to, amount in sorted(late, key=lambda one: one[0]):
            if own is not due_to and time > max(together, begins(step - 1)):
                waits[due_to.rank].append((amount, own, due_to))
        if waits and explains(sum(amount for of_rank in waits.values() for amount, *_ in of_rank)):
            most = max(sorted(waits), key=lambda rank: sum(amount for amount, *_ in waits[rank]))
            _, own, due_to = max(waits[most], key=lambda one: one[0])
            stall.cause = stall.cause._replace(kind="upstream", name=self.stalls._title(own), upstream=due_to)
            return True
        earlier = [(time, own) for time, own, due_to, amount in late
                   if own is due_to and time > begins(step) and explains(amount)]
        if earlier:
            stall.carried = self.stalls.of_part[id(max(earlier, key=lambda one: one[0])[1])]
        return bool(earlier)
