#!/usr/bin/env python3
"""How much slower a pipelined job is than if all its workers were alike: the slowdown S of "Understanding Stragglers
in Large Model Training Using What-if Analysis" (ByteDance, 2025), for the operations that they publish as Parquet.

    python3 slowdown_oracle.py FOLDER     of trace-NAME.parquet; prints S, and what of it comes from which operations

An operation is of a data parallel rank, a stage (of the pipeline), a step and a type, and has a number among its like,
by start. Its dependencies are those of data parallel rank 0 in the first step; README.md has them.
"""
import collections
import glob
import os
import statistics
import sys

FORWARD, BACKWARD = "forward-compute", "backward-compute"
GATHER, SCATTER, CLIP, OPTIMIZER = "params-all-gather", "grads-reduce-scatter", "optimizer-clip-main-grad", "optimizer"
NORM, EMBEDDING, COLLECTION = "layernorm-grads-all-reduce", "embedding-grads-all-reduce", "gc"
# {send or receive: (that of the other side, stages to it)}
PEERS = {"forward-send": ("forward-recv", 1), "forward-recv": ("forward-send", -1),
         "backward-send": ("backward-recv", -1), "backward-recv": ("backward-send", 1)}
COMMUNICATION = {*PEERS, GATHER, SCATTER, NORM, EMBEDDING, CLIP}
TYPES = COMMUNICATION | {FORWARD, BACKWARD, OPTIMIZER, COLLECTION}
NAMES = {kind: kind.split("-")[0] + "-pp-comm" for kind in PEERS}  # of types, in what is said of them
CLOCKS_AGREE_S = 0.01
WORST_PCT = 3

# dp, stage, rank, step, type, n: where it belongs; start and end in s
Operation = collections.namedtuple("Operation", "dp stage rank step type n start end")


def read(path):
    """Raises ImportError without pyarrow."""
    import pyarrow.parquet  # pylint: disable=import-outside-toplevel
    columns = pyarrow.parquet.read_table(path).to_pydict()
    names = ("dp_rank", "stage", "rank", "step", "optype", "seq_id", "start_ts", "duration")
    rows = zip(*(columns[name] for name in names))
    return [Operation(*row[:7], row[6] + row[7]) for row in rows]


class Job:
    """dependencies: {(stage, type, n): those before it}; groups: [those that end together]; values: {operation: s}
    that it takes: from the last start of its group where it has one, else from its own."""

    def __init__(self, operations):
        self.operations = operations
        self.steps = sorted({o.step for o in operations})
        self.dps, self.stages = (sorted({getattr(o, name) for o in operations}) for name in ("dp", "stage"))
        unknown = {o.type for o in operations} - TYPES
        assert not unknown, f"operations of types without a rule: {sorted(unknown)}"
        self.dependencies, self.groups = {}, []
        self.connect([o for o in operations if o.dp == self.dps[0] and o.step == self.steps[0]])
        self.order = self.topological()
        self.values = self.recorded()

    def connect(self, template):
        of = collections.defaultdict(list)  # {(stage, type): operations by start}
        for o in sorted(template, key=lambda o: (o.start, o.n, o.type)):
            of[o.stage, o.type].append(o)
            self.dependencies[o.stage, o.type, o.n] = []
        for stage in self.stages:
            compute = sorted(of[stage, FORWARD] + of[stage, BACKWARD], key=lambda o: (o.start, o.n, o.type))
            self.chain(compute)
            for kind in PEERS:
                self.connect_peers(stage, kind, of, compute)
            gathers, scatters = of[stage, GATHER], of[stage, SCATTER]
            self.chain(gathers + scatters)
            assert len(gathers) <= 1, "one all-gather of parameters a stage: model chunks have no rule"
            for gather in gathers:
                self.add(of[stage, FORWARD][0], gather)
            ends = of[stage, EMBEDDING] if stage in (self.stages[0], self.stages[-1]) else []
            self.chain([max(compute, key=lambda o: o.end), *of[stage, COLLECTION], *of[stage, NORM], *ends, *scatters,
                        *of[stage, CLIP], *of[stage, OPTIMIZER]])
        self.group(of)

    def add(self, after, before):
        self.dependencies[after.stage, after.type, after.n].append((before.stage, before.type, before.n))

    def chain(self, operations):
        for before, after in zip(operations, operations[1:]):
            self.add(after, before)

    def connect_peers(self, stage, kind, of, compute):
        """A receive comes after the computation of its direction before that which needs it, a send after its own."""
        moves = of[stage, kind]
        alike = sorted(of[stage, kind.split("-")[0] + "-compute"], key=lambda o: o.n)
        assert len(moves) in (0, len(alike)), "a send or receive without a computation has no rule"
        self.chain(moves)
        for n, move in enumerate(moves):
            if kind.endswith("send"):
                self.add(move, alike[n])
            else:
                self.add(alike[n], move)
                if n:
                    self.add(move, alike[n - 1])
        first = next(n for n, o in enumerate(compute) if o.type == BACKWARD)
        if kind.startswith("backward") and moves and first >= 2:
            self.add(moves[0], compute[first - 2])

    def group(self, of):
        """Of all data parallel ranks: gathers and scatters of a stage, clips of all; of each rank: a send and its
        receive, embeddings of the first and the last stage."""
        each = lambda names: [[(dp, *name) for name in names] for dp in self.dps]  # noqa: E731
        names = {key: [(*key, o.n) for o in found] for key, found in of.items()}
        for stage in self.stages:
            for name in names.get((stage, GATHER), []) + names.get((stage, SCATTER), []):
                self.groups.append(sum(each([name]), []))
            for kind in ("forward-send", "backward-send"):
                other, stages = PEERS[kind]
                for sent, received in zip(names.get((stage, kind), []), names.get((stage + stages, other), [])):
                    self.groups += each([sent, received])
        outer = sorted({self.stages[0], self.stages[-1]})
        self.groups += each([name for stage in outer for name in names[stage, EMBEDDING]])
        self.groups.append(sum(each([name for stage in self.stages for name in names[stage, CLIP]]), []))

    def topological(self):
        """[(operations of a group or one alone with those before each, is a group)]"""
        alone = {name for group in self.groups for name in group}
        units = [(group, True) for group in self.groups]
        units += [([(dp, *name)], False) for dp in self.dps for name in self.dependencies if (dp, *name) not in alone]
        before = [[(name, [(name[0], *d) for d in self.dependencies[name[1:]]]) for name in names]
                  for names, _ in units]
        unit_of = {name: n for n, (names, _) in enumerate(units) for name in names}
        left = [{unit_of[d] for _, ds in members for d in ds} for members in before]
        after = collections.defaultdict(list)
        for n, waits in enumerate(left):
            for other in waits:
                after[other].append(n)
        ready, order = [n for n, waits in enumerate(left) if not waits], []
        for n in ready:
            order.append((before[n], units[n][1]))
            for other in after[n]:
                left[other].remove(n)
                if not left[other]:
                    ready.append(other)
        assert len(order) == len(units), "operations wait for each other in a circle"
        return order

    def recorded(self):
        """A communication of a group moves data from the last start of the group to its own end; what was there
        before is waiting, which the replay works out anew."""
        group_of = {name: n for n, names in enumerate(self.groups) for name in names}
        last = {}
        for o in self.operations:
            group = group_of.get(name_of(o))
            if group is not None:
                last[o.step, group] = max(last.get((o.step, group), o.start), o.start)
        self.is_grouped = {o: name_of(o) in group_of for o in self.operations}
        values = {}
        for o in self.operations:
            value = o.end - (last[o.step, group_of[name_of(o)]] if self.is_grouped[o] else o.start)
            values[o] = 0.0 if self.is_grouped[o] and value <= -CLOCKS_AGREE_S else value
        return values

    def ideal(self):
        """Each as the mean of its type over all ranks, stages and steps; communication as the median."""
        of = collections.defaultdict(list)
        for o, value in self.values.items():
            of[o.type].append(value)
        typical = {kind: (statistics.median if kind in COMMUNICATION else statistics.fmean)(values)
                   for kind, values in of.items()}
        return {o: typical[o.type] for o in self.values}

    def step_times(self, values):
        """{step: s} of the replay; each operation as soon as it may."""
        by_step = collections.defaultdict(dict)
        for o, value in values.items():
            by_step[o.step][name_of(o)] = value
        return {step: self.replay(taken) for step, taken in by_step.items()}

    def replay(self, taken):
        ends = {}
        for members, is_group in self.order:
            starts = [max((ends[d] for d in before), default=0.0) for _, before in members]
            last = max(starts)
            for (name, _), start in zip(members, starts):
                ends[name] = (last if is_group else start) + taken[name]
        return max(end for name, end in ends.items() if name[2] == OPTIMIZER)


def name_of(o):
    return (o.dp, o.stage, o.type, o.n)


class Slowdown:
    """s: S; by_type, by_dp, by_stage, by_rank: {which: S with these as they were, all others ideal}; worst, last_stage:
    what of the slowdown goes (rem) and comes (add) with the worst of 100 ranks, three, and with the last stage."""

    def __init__(self, job):
        self.job, self.was, self.ideal = job, job.values, job.ideal()
        self.t_was, self.t_ideal = self.mean(self.was), self.mean(self.ideal)
        self.s = self.t_was / self.t_ideal
        self.by_step = {step: t / self.t_ideal for step, t in job.step_times(self.was).items()}
        self.by_type = self.by(lambda o: NAMES.get(o.type, o.type))
        self.by_dp, self.by_stage = self.by(lambda o: o.dp), self.by(lambda o: o.stage)
        places = {o.rank: (o.dp, o.stage) for o in self.was}
        self.by_rank = {rank: min(self.by_dp[dp], self.by_stage[stage]) for rank, (dp, stage) in sorted(places.items())}
        worst = sorted(self.by_rank, key=lambda rank: (-self.by_rank[rank], rank))
        worst = worst[:-(-len(worst) * WORST_PCT // 100)]
        self.worst = self.explain(lambda o: o.rank in worst)
        self.last_stage = self.explain(lambda o: o.stage == job.stages[-1])

    def mean(self, values):
        return statistics.fmean(self.job.step_times(values).values())

    def mixed(self, chosen, these, others):
        return self.mean({o: (these if chosen(o) else others)[o] for o in self.was})

    def by(self, key):
        return {which: self.mixed(lambda o, which=which: key(o) == which, self.was, self.ideal) / self.t_ideal
                for which in sorted({key(o) for o in self.was})}

    def explain(self, chosen):
        removed, added = self.mixed(chosen, self.ideal, self.was), self.mixed(chosen, self.was, self.ideal)
        lost = self.t_was - self.t_ideal
        return {"trem": removed, "tadd": added, "tori": self.t_was, "tideal": self.t_ideal,
                "rem": (self.t_was - removed) / lost, "add": (added - self.t_ideal) / lost}


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "trace-*.parquet"))):
        found = Slowdown(Job(read(path)))
        print(f"{os.path.basename(path)}: S = {found.s:.6f} ({found.t_was:.6f} s, ideal {found.t_ideal:.6f} s)")
        for what in ("by_type", "by_dp", "by_stage", "by_rank", "worst", "last_stage"):
            print(f"  {what}: " + ", ".join(f"{which} {value:.6f}" for which, value in getattr(found, what).items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
