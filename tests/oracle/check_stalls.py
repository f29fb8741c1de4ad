"""Compares the queries on stalls with stall_oracle.py: all rows of each. run_oracle.py has the sets; the
clocks of their traces must agree.
"""
import collections

import check_breakdown
import stall_oracle

FACTORS = (("allreduce", lambda n: 2 * (n - 1) / n), ("allgather", lambda n: (n - 1) / n),
           ("reducescatter", lambda n: (n - 1) / n), ("alltoall", lambda n: (n - 1) / n),
           ("gather", lambda n: (n - 1) / n), ("scatter", lambda n: (n - 1) / n),
           ("broadcast", lambda n: 1), ("reduce", lambda n: 1), ("send", lambda n: 1),
           ("recv", lambda n: 1))


def ms(ns):
    return None if ns is None else ns / 1e6


def shown(group):
    return str(list(group.ranks)).replace(" ", "")


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


def differences_of(name, theirs, ours):
    theirs = collections.Counter(map(rounded, theirs))
    ours = collections.Counter(map(rounded, ours))
    for row in sorted((ours - theirs).elements(), key=str):
        yield f"{name}: only in the database: {row}"
    for row in sorted((theirs - ours).elements(), key=str):
        yield f"{name}: only in the oracle:   {row}"


class Expected:
    """What each query says of a run: rows of the columns below, but run."""

    def __init__(self, job):
        self.job = job
        self.stalls = stall_oracle.Stalls(job)
        self.alone = [part for c in job.collectives if not c.matched for part in c.parts]
        self.guessed = [part for c in job.collectives if job.is_estimate(c) for part in c.parts]

    def shortest(self, part):
        return min(other.dur for other in self.job.parts
                   if (other.group, other.collective, other.in_bytes, other.out_bytes) ==
                   (part.group, part.collective, part.in_bytes, part.out_bytes))

    def nccl_stalls(self):
        for collective in self.stalls.collectives:
            stall = next((s for s in self.stalls.of_part.values() if s.collective is collective), None)
            last = collective.last
            why = (None,) * 5 if stall is None else (
                stall.cause.kind, shortened(stall.cause.name), self.root_rank(stall),
                self.root_kind(stall), shortened(stall.root.cause.name))
            yield (collective.capture, last.collective, value(last.group.name), shown(last.group),
                   last.ordinal + 1, collective.culprit, ms(collective.total_wait),
                   ms(collective.max_wait), ms(collective.transfer), *why, collective.first_rank,
                   len(collective.parts), 0)
        for part in self.guessed:
            shortest = self.shortest(part)
            yield (part.activity.trace.capture, part.collective, value(part.group.name), shown(part.group),
                   part.ordinal + 1, None, ms(part.dur - shortest), ms(part.dur - shortest),
                   ms(shortest), *(None,) * 5, part.rank, 1, 1)

    @staticmethod
    def root_kind(stall):
        return None if stall.root.cause.kind == "upstream" else stall.root.cause.kind

    @staticmethod
    def root_rank(stall):
        """Nobody was late where a pipeline's schedule has it so, or a rank that was not recorded may have been."""
        cause = stall.root.cause
        unrecorded = cause.kind == "upstream" and cause.upstream is None
        return None if cause.kind == "schedule" or unrecorded else stall.root.last.rank

    def nccl_stall_roots(self):
        rows = collections.defaultdict(list)
        for stall in self.stalls.of_part.values():
            rows[self.root_rank(stall), self.root_kind(stall), stall.root.cause.name].append(stall)
        total = sum(stall.wait_ns for stall in self.stalls.of_part.values())
        for key, stalls in rows.items():
            waited = sum(stall.wait_ns for stall in stalls)
            direct = sum(stall.wait_ns for stall in stalls if stall.last.rank == key[0])
            yield (*key[:2], shortened(key[2]), len(stalls), ms(waited), 100 * waited / total,
                   ms(max(stall.collective.max_wait for stall in stalls)), ms(direct))

    def root_waits(self):
        """Part by part: each waits for the root of the chain that its collective's last is in."""
        rows = collections.defaultdict(list)
        for stall in self.stalls.of_part.values():
            for part in stall.collective.parts:
                wait = stall.collective.last_start - part.ts
                if wait > 0:
                    rows[self.root_rank(stall), part.rank].append(wait)
        for (root, rank), waits in rows.items():
            yield root, rank, len(waits), ms(sum(waits)), ms(max(waits))

    def rank_grid(self):
        rows = {trace.rank: [0, 0] for trace in self.job.traces}
        for root, rank, _, wait, _ in self.root_waits():
            rows[rank][1] += wait
            if root is not None:
                rows[root][0] += wait
        return [(rank, *waits) for rank, waits in rows.items()]

    def straggler_steps(self):
        steps = collections.defaultdict(list)
        for stall in self.stalls.of_part.values():
            steps[stall.collective.capture, stall.last.activity.step].append(stall)
        for place, stalls in steps.items():
            sums, causes = collections.Counter(), collections.Counter()
            for stall in stalls:
                rank = self.root_rank(stall)
                sums[rank] += stall.wait_ns
                causes[rank, self.root_kind(stall), stall.root.cause.name] += stall.wait_ns
            total = sum(sums.values())
            rank = max(sums, key=lambda r: (
                1 if r is None else 2 * (20 * sums[r] >= total), sums[r], -(r or 0)))
            cause = max((key for key in causes if key[0] == rank), key=lambda key: causes[key])
            late = max(s.collective.max_wait for s in stalls if self.root_rank(s) == rank)
            yield (*place, rank, ms(late), ms(sums[rank]), 100 * sums[rank] / total, cause[1],
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
            if collective.culprit is not None:
                row = rows[collective.culprit]
                row[1] += 1
                row[2] += collective.total_wait
        for stall in self.stalls.of_part.values():
            if self.root_rank(stall) is not None:
                rows[self.root_rank(stall)][5] += stall.wait_ns
        for part in self.guessed:
            rows[part.rank][6] += part.dur - self.shortest(part)
        for rank, (met, last, caused, own, lone, rooted, guessed) in rows.items():
            yield rank, met, last, ms(caused), ms(own), lone, ms(rooted), ms(guessed)

    def nccl_bandwidth(self):
        kinds = collections.defaultdict(list)
        for collective in self.stalls.collectives:
            kinds[self.kind(collective.last), 0].append(collective.transfer)
        for part in self.guessed:
            kinds[self.kind(part), 1].append(part.dur)
        for ((name, dtype, size, group), guessed), times in kinds.items():
            times = sorted(time for time in times if time > 0)
            if not size or not times:
                continue
            plain = name.lower().replace("_", "")
            factor = next((f(len(group.ranks)) for word, f in FACTORS if word in plain), None)
            speeds = [size / time for time in (times[0], times[len(times) // 2], times[-1])]
            yield (name, dtype, size, shown(group), len(times), *speeds,
                   *(None if factor is None else speed * factor for speed in speeds), guessed)

    @staticmethod
    def kind(part):
        name = "sendrecv" if part.collective in ("send", "recv") else part.collective
        sizes = [size for size in (part.in_bytes, part.out_bytes) if size is not None]
        return name, part.dtype, max(sizes, default=None), part.group

    def nccl_unmatched(self):
        rows = collections.Counter()
        for activity in self.job.activities:
            part = self.stalls.part_of.get(id(activity))
            collective = self.stalls.collective_of.get(id(part))
            if activity.kind != "communication" or (collective is not None and collective.matched):
                continue
            group = None if part is None else part.group
            capture = activity.trace.capture
            present = {trace.rank for trace in self.job.traces if trace.capture == capture}
            if group is None:
                reason = "no group"
            elif len(group.ranks) == 1:
                reason = "group of one"
            elif (part.peer is not None and part.peer not in present) or (
                    len(present & set(group.ranks)) < 2):
                reason = "ranks missing"
            else:
                reason = "no counterpart"
            rows[capture, activity.rank, None if group is None else shown(group), reason] += 1
        return [(*key, count) for key, count in rows.items()]


PARAMETERS = {"report/root_waits": {"roots": -1}}
COLUMNS = {
    "nccl_stalls": "capture collective group_name group_ranks ordinal culprit_rank total_wait_ms "
                   "max_wait_ms transfer_ms cause cause_name root_rank root_cause root_name "
                   "first_rank ranks_met is_estimate",
    "nccl_stall_ranks": "rank collectives times_last caused_wait_ms suffered_wait_ms unmatched "
                        "root_wait_ms estimated_wait_ms",
    "nccl_stall_roots": "root_rank root_cause root_name collectives total_wait_ms share_pct "
                        "max_wait_ms direct_wait_ms",
    "report/root_waits": "root_rank waiting_rank collectives wait_ms max_wait_ms",
    "report/rank_grid": "rank rooted_wait_ms waited_ms",
    "straggler_steps": "capture step slowest_rank late_ms caused_wait_ms share_pct cause cause_name "
                       "cause_wait_ms total_wait_ms",
    "nccl_bandwidth": "collective dtype bytes group_ranks collectives best_algbw_gbps "
                      "median_algbw_gbps worst_algbw_gbps best_busbw_gbps median_busbw_gbps "
                      "worst_busbw_gbps is_estimate",
    "nccl_unmatched": "capture rank group_ranks reason kernels",
}


def summed(rows):
    """nccl_unmatched tells kinds of collectives apart, the oracle does not."""
    sums = collections.Counter()
    for row in rows:
        sums[row[:-1]] += row[-1]
    return [(*key, count) for key, count in sums.items()]


def compare(options, database, jobs):
    """(differences, collectives)"""
    differences = []
    expected = {id(job): Expected(job) for job in jobs}
    for query, columns in COLUMNS.items():
        if options.query not in (None, query):
            continue
        for job, (header, rows) in check_breakdown.answers(options.program, database, query,
                                                           PARAMETERS.get(query, {}), jobs):
            if id(job) not in expected:            # a capture
                continue
            lacking = {"run", *columns.split()} - set(header)
            if lacking:
                differences.append(f"{query}: lacks the columns {sorted(lacking)}")
                continue
            if {row[header.index("run")] for row in rows} - {job.run}:
                differences.append(f"{query}: rows of another run than {job.run}")
            places = [header.index(column) for column in columns.split()]
            ours = [tuple(value(row[place]) for place in places) for row in rows]
            if query == "nccl_unmatched":
                ours = summed(ours)
            differences += differences_of(query, list(getattr(expected[id(job)], query.split("/")[-1])()), ours)
    return differences, sum(len(one.stalls.collectives) for one in expected.values())
