#!/usr/bin/env python3
"""Lets the program ingest jobs of several ranks, and compares its queries on stalls with
stall_oracle.py.

    python3 check_stalls.py --program P [--fixtures DIR] [--only NAME] [--show 5] [FOLDER...]

A set is a folder of fixtures, some of its ranks, one of them alone, one with 64 ranks made of
seqpar, a random job of make_cases, or a FOLDER given. One line a set, the differences below it, at
the end `N passed, N failed`; exit 1 if any failed.
"""
import collections
import csv
import functools
import io
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_cases  # noqa: E402
import make_ranks  # noqa: E402
import stall_oracle  # noqa: E402
import trace_oracle as oracle  # noqa: E402
from run_oracle import traces_in  # noqa: E402
from run_sets import run_sets  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SETS = (("megatron", None), ("megatron", (4, 5)), ("megatron", (0, 1, 4, 5, 6)), ("megatron", (3,)),
        ("seqpar", None), ("seqpar", (0, 2, 3)), ("ddp", None), ("legacy", None))
FACTORS = (("allreduce", lambda n: 2 * (n - 1) / n), ("allgather", lambda n: (n - 1) / n),
           ("reducescatter", lambda n: (n - 1) / n), ("alltoall", lambda n: (n - 1) / n),
           ("gather", lambda n: (n - 1) / n), ("scatter", lambda n: (n - 1) / n),
           ("broadcast", lambda n: 1), ("reduce", lambda n: 1), ("send", lambda n: 1),
           ("recv", lambda n: 1))


def ask(program, database, query):
    done = subprocess.run([program, "-q", "--db", database, "query", query], check=True,
                          stdout=subprocess.PIPE, text=True, encoding="utf-8")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def ms(ns):
    return None if ns is None else ns / 1e6


def shortened(name):
    return name if name is None or len(name) <= 80 else name[:77] + "..."


def value(text):
    """As in the oracle: NULL is None, numbers are numbers."""
    if text == "":
        return None
    try:
        return float(text)
    except ValueError:
        return text


def rounded(row):
    return tuple(float(f"{v:.9g}") if isinstance(v, (int, float)) else v for v in row)


def compare(name, theirs, ours):
    theirs = collections.Counter(map(rounded, theirs))
    ours = collections.Counter(map(rounded, ours))
    for row in sorted((ours - theirs).elements(), key=str):
        yield f"{name}: only in the database: {row}"
    for row in sorted((theirs - ours).elements(), key=str):
        yield f"{name}: only in the oracle:   {row}"


class Expected:
    def __init__(self, job):
        self.job = job
        self.groups = {}
        for trace in job.traces:
            for group in trace.groups():
                self._add(oracle.ranks_from(group.get("ranks")), group.get("pg_desc"))
        for part in job.parts:
            args = part.activity.trace.collective_args(part.activity)
            self._add(part.group, args.get("Process Group Description"))
        self.stalls = stall_oracle.Stalls(job, {g: ", ".join(d) for g, d in self.groups.items()})
        self.alone = [part for c in job.collectives if not c.matched for part in c.parts]

    def _add(self, ranks, description):
        if ranks is not None and description:
            names = self.groups.setdefault(ranks, [])
            if description not in names:
                names.append(description)

    def shortest(self, part):
        return min(other.dur for other in self.job.parts
                   if (other.group, other.collective, other.in_bytes, other.out_bytes) ==
                   (part.group, part.collective, part.in_bytes, part.out_bytes))

    def nccl_stalls(self):
        for collective in self.stalls.collectives:
            stall = next((s for s in self.stalls.of_part.values() if s.collective is collective), None)
            last = min((p for p in collective.parts if p.ts == collective.last_start),
                       key=lambda p: p.rank)
            first = min(p.rank for p in collective.parts if p.ts == collective.first_start)
            why = (None,) * 5 if stall is None else (
                stall.cause.kind, shortened(stall.cause.name), stall.root.last.rank,
                self.root_kind(stall), shortened(stall.root.cause.name))
            yield (last.collective, str(list(last.group)).replace(" ", ""), last.ordinal + 1,
                   last.rank, ms(collective.total_wait), ms(collective.max_wait),
                   ms(collective.transfer), *why, first, len(collective.parts), 0)
        for part in self.alone:
            if len(part.group) > 1:
                shortest = self.shortest(part)
                yield (part.collective, str(list(part.group)).replace(" ", ""), part.ordinal + 1, None,
                       ms(part.dur - shortest), ms(part.dur - shortest), ms(shortest),
                       *(None,) * 5, part.rank, 1, 1)

    @staticmethod
    def root_kind(stall):
        return None if stall.root.cause.kind == "upstream" else stall.root.cause.kind

    def nccl_stall_roots(self):
        rows = collections.defaultdict(list)
        for stall in self.stalls.of_part.values():
            rows[stall.root.last.rank, self.root_kind(stall), stall.root.cause.name].append(stall)
        total = sum(stall.wait_ns for stall in self.stalls.of_part.values())
        for key, stalls in rows.items():
            waited = sum(stall.wait_ns for stall in stalls)
            direct = sum(stall.wait_ns for stall in stalls if stall.last.rank == key[0])
            yield (*key[:2], shortened(key[2]), len(stalls), ms(waited), 100 * waited / total,
                   ms(max(stall.collective.max_wait for stall in stalls)), ms(direct))

    def straggler_steps(self):
        steps = collections.defaultdict(list)
        for stall in self.stalls.of_part.values():
            steps[stall.last.activity.step].append(stall)
        for step, stalls in steps.items():
            sums, causes = collections.Counter(), collections.Counter()
            for stall in stalls:
                rank = stall.root.last.rank
                sums[rank] += stall.wait_ns
                causes[rank, self.root_kind(stall), stall.root.cause.name] += stall.wait_ns
            rank = max(sums, key=lambda r: (sums[r], -r))
            cause = max((key for key in causes if key[0] == rank), key=lambda key: causes[key])
            late = max(s.collective.max_wait for s in stalls if s.root.last.rank == rank)
            total = sum(sums.values())
            yield (step, rank, ms(late), ms(sums[rank]), 100 * sums[rank] / total, cause[1],
                   shortened(cause[2]), ms(causes[cause]), ms(total))

    def nccl_stall_ranks(self):
        rows = collections.defaultdict(lambda: [0] * 7)
        for activity in self.job.activities:
            if activity.kind == "communication":
                part = self.stalls.part_of.get(id(activity))
                collective = self.stalls.collective_of.get(id(part))
                row = rows[activity.rank]
                if collective is None or not collective.matched:
                    row[4] += 1
                else:
                    row[0] += 1
                    row[3] += collective.last_start - part.ts
        for collective in self.stalls.collectives:
            row = rows[collective.culprit]
            row[1] += 1
            row[2] += collective.total_wait
        for stall in self.stalls.of_part.values():
            rows[stall.root.last.rank][5] += stall.wait_ns
        for part in self.alone:
            if len(part.group) > 1:
                rows[part.rank][6] += part.dur - self.shortest(part)
        for rank, (met, last, caused, own, lone, rooted, guessed) in rows.items():
            yield rank, met, last, ms(caused), ms(own), lone, ms(rooted), ms(guessed)

    def nccl_bandwidth(self):
        kinds = collections.defaultdict(list)
        for collective in self.stalls.collectives:
            part = min((p for p in collective.parts if p.ts == collective.last_start),
                       key=lambda p: p.rank)
            kinds[self.kind(part), 0].append(collective.transfer)
        for part in self.alone:
            if len(part.group) > 1:
                kinds[self.kind(part), 1].append(part.dur)
        for ((name, dtype, size, group), guessed), times in kinds.items():
            times = sorted(time for time in times if time > 0)
            if not size or not times:
                continue
            plain = name.lower().replace("_", "")
            factor = next((f(len(group)) for word, f in FACTORS if word in plain), None)
            speeds = [size / time for time in (times[0], times[len(times) // 2], times[-1])]
            yield (name, dtype, size, str(list(group)).replace(" ", ""), len(times), *speeds,
                   *(None if factor is None else speed * factor for speed in speeds), guessed)

    @staticmethod
    def kind(part):
        name = "sendrecv" if part.collective in ("send", "recv") else part.collective
        sizes = [size for size in (part.in_bytes, part.out_bytes) if size is not None]
        return name, part.dtype, max(sizes, default=None), part.group

    def nccl_unmatched(self):
        present = {trace.rank for trace in self.job.traces}
        rows = collections.Counter()
        for activity in self.job.activities:
            part = self.stalls.part_of.get(id(activity))
            collective = self.stalls.collective_of.get(id(part))
            if activity.kind != "communication" or (collective is not None and collective.matched):
                continue
            group = None if part is None else part.group
            if group is None:
                reason = "no group"
            elif len(group) == 1:
                reason = "group of one"
            elif (part.peer is not None and part.peer not in present) or (
                    len(present & set(group)) < 2):
                reason = "ranks missing"
            else:
                reason = "no counterpart"
            rows[activity.rank, None if group is None else str(list(group)).replace(" ", ""),
                 reason] += 1
        return [(*key, count) for key, count in rows.items()]


COLUMNS = {
    "nccl_stalls": "collective group_ranks ordinal culprit_rank total_wait_ms max_wait_ms transfer_ms "
                   "cause cause_name root_rank root_cause root_name first_rank ranks_met is_estimate",
    "nccl_stall_ranks": "rank collectives times_last caused_wait_ms suffered_wait_ms unmatched "
                        "root_wait_ms estimated_wait_ms",
    "nccl_stall_roots": "root_rank root_cause root_name collectives total_wait_ms share_pct "
                        "max_wait_ms direct_wait_ms",
    "straggler_steps": "step slowest_rank late_ms caused_wait_ms share_pct cause cause_name "
                       "cause_wait_ms total_wait_ms",
    "nccl_bandwidth": "collective dtype bytes group_ranks collectives best_algbw_gbps "
                      "median_algbw_gbps worst_algbw_gbps best_busbw_gbps median_busbw_gbps "
                      "worst_busbw_gbps is_estimate",
    "nccl_unmatched": "rank group_ranks reason kernels",
}


def summed(rows):
    """nccl_unmatched tells kinds of collectives apart, the oracle does not."""
    sums = collections.Counter()
    for row in rows:
        sums[row[:-1]] += row[-1]
    return [(*key, count) for key, count in sums.items()]


@functools.lru_cache(maxsize=8)
def parsed(path):
    """A trace is in several sets that follow each other."""
    return oracle.Trace(path)


def check_set(options, name, paths):
    with tempfile.TemporaryDirectory(prefix="tracedb-stalls-") as folder:
        database = os.path.join(folder, "trace.db")
        # One by one and in reverse: the causes are worked out again and again.
        for chosen in ([paths] if len(paths) > 8 else [[path] for path in reversed(paths)]):
            subprocess.run([options.program, "-q", "--db", database, "ingest", *chosen], check=True)
        expected = Expected(oracle.Job([parsed(path) for path in paths]))
        differences = []
        for query, columns in COLUMNS.items():
            ours = [tuple(value(row[column]) for column in columns.split())
                    for row in ask(options.program, database, query)]
            if query == "nccl_unmatched":
                ours = summed(ours)
            differences += compare(query, list(getattr(expected, query)()), ours)
    print(f"{'FAIL' if differences else 'ok  '} {name} ({len(paths)} traces, "
          f"{len(expected.stalls.collectives)} collectives)")
    for line in differences[:options.show]:
        print("     " + line)
    if len(differences) > options.show:
        print(f"     ... and {len(differences) - options.show} more")
    sys.stdout.flush()
    return not differences


def sets(options, folder):
    for name, ranks in SETS:
        paths = traces_in(os.path.join(options.fixtures, name))
        if ranks is not None:
            paths = [path for path in paths
                     if any(os.path.basename(path).startswith(f"rank{rank}.") for rank in ranks)]
        yield name + ("" if ranks is None else f" {ranks}"), paths
    made = os.path.join(folder, "many")
    if options.only in "64 ranks":
        seqpar = traces_in(os.path.join(options.fixtures, "seqpar"))
        yield "64 ranks", make_ranks.make_ranks(seqpar, made, 16)
    for seed in range(1, options.seeds + 1):
        made = os.path.join(folder, f"seed{seed}")
        os.makedirs(made)
        yield f"seed {seed}", make_cases.write(made, seed)
    for given in options.paths:
        yield given, traces_in(given)


def main():
    return run_sets("Compare the queries on stalls with an oracle.", sets, check_set, 6)


if __name__ == "__main__":
    sys.exit(main())
