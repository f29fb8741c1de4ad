"""Checks of idle time: whose it is, piece by piece, and what the host did meanwhile."""
import collections

import truth
from checks import Check, as_ns, differences, field, multiset_differences

CONTRACT = ("Idle belongs to a cause by what the host did in that time, piece by piece: inside a "
            "synchronising call whose work had not ended: sync; after it: host, named by what the "
            "host then did. A gap may have several causes")


def recorded(job):
    """(capture, rank) of what has GPU activities."""
    return [(capture, rank) for capture in job.captures for rank in capture.recorded_ranks()
            if capture.activities(rank)]


def time_partition(jobs):
    def compare(program):
        for job in jobs:
            have = collections.defaultdict(collections.Counter)
            for row in program.rows_of("time_partition", job, jobs):
                for cause in ("host", "sync", "dependency"):
                    have[field(row, "rank")][cause] += as_ns(field(row, f"idle_{cause}_ms"))
            want = collections.defaultdict(collections.Counter)
            for capture, rank in recorded(job):
                want[rank].update(truth.idle_sums(capture, rank))
            for rank, sums in want.items():
                yield from differences(f"{job.folder}, rank {rank}, idle ns", sums, have[rank])
    return Check("time_partition", CONTRACT, compare)


def gaps_of(capture, rank):
    """(start, end, how much of it is sync) of each gap."""
    gaps = []
    for start, end, cause, _ in truth.idle_pieces(capture, rank):
        sync = end - start if cause == "sync" else 0
        if gaps and gaps[-1][1] == start:
            start, _, before = gaps.pop()
            sync += before
        gaps.append((start, end, sync))
    return gaps


def gpu_gaps(jobs):
    def compare(program):
        for job in jobs:
            rows = program.rows_of("gpu_gaps", job, jobs)
            have = collections.Counter(
                (field(row, "rank"), as_ns(field(row, "gap_ms")), as_ns(field(row, "sync_ms")))
                for row in rows)
            want = collections.Counter(
                (rank, end - start, sync) for capture, rank in recorded(job)
                for start, end, sync in gaps_of(capture, rank))
            if sum(want.values()) > 100:  # the query's limit
                want = want & have
            yield from multiset_differences(f"{job.folder}: (rank, ns, of it sync)", want, have)
    return Check("gpu_gaps", CONTRACT, compare)


def named_gaps(jobs, name, count, least_ns):
    """So many gaps have this name, and so long was the host in it in each."""
    def compare(program):
        found = [as_ns(field(row, "host_name_ms")) for job in jobs
                 for row in program.rows_of("gpu_gaps", job, jobs)
                 if field(row, "host_name") == name and field(row, "cause") == "host"]
        if len(found) != count or min(found) < least_ns:
            yield f"{name}: {found} ns, the truth is {count} times {least_ns} or more"
    return Check("named_gaps", CONTRACT, compare)


def stalled(jobs, least_ns, most_ns):
    """How long nothing ran on the GPUs while the hosts were in calls that wait."""
    def compare(program):
        found = sum(as_ns(field(row, "stalled_ms")) for job in jobs
                    for row in program.rows_of("sync_points", job, jobs))
        if not least_ns <= found <= most_ns:
            yield f"{found} ns, the truth is between {least_ns} and {most_ns}"
    return Check("sync_points", CONTRACT, compare)


def pipeline_bubbles(jobs, lost_most_ns):
    """Of every stage and step; what is lost beyond the ideal is known to be little."""
    def compare(program):
        for job in jobs:
            rows = program.rows_of("pipeline_bubbles", job, jobs)
            have = {(field(row, "rank"), field(row, "step")): as_ns(field(row, "bubble_ms"))
                    for row in rows}
            want = {(rank, step): truth.bubbles_of_step(capture, rank, step)
                    for capture, rank in recorded(job) for step in truth.step_ends(capture)}
            yield from differences(f"{job.folder}: bubble ns of (rank, step)", want, have)
            for row in rows:
                lost = as_ns(field(row, "lost_ms"))
                if lost > lost_most_ns:
                    yield f"rank {row['rank']}, step {row['step']}: {lost} ns are lost"
    return Check("pipeline_bubbles", "A bubble is time in which a stage has nothing to do: nothing "
                 "runs, or it waits for another stage", compare)


def starts_are_busy(jobs, steps):
    """Of these steps none begins with an idle GPU, however long its first work waits."""
    def compare(program):
        rows = [row for job in jobs for row in program.rows_of("step_times", job, jobs)
                if field(row, "step") in steps]
        if not rows:
            yield "no rows"
        for row in rows:
            idle = as_ns(field(row, "idle_before_ms"))
            if idle != 0:
                yield f"rank {field(row, 'rank')}, step {row['step']}: {idle} ns are idle"
    return Check("step_times", "Time from a step's start to its first work is not idle while the "
                 "GPU still works on the step before", compare)
