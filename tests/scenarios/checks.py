"""Checks that hold the program's answers against the truth about a scenario.

A check has a name, the sentence of the contract that it tests, and a function that takes the
program (with the scenario in its database) and yields a line for every difference.
Times are compared in whole nanoseconds.
"""
import collections
import dataclasses
import json

import truth


@dataclasses.dataclass
class Check:
    name: str
    contract: str
    compare: object


@dataclasses.dataclass
class Without:
    """The same jobs without a cause, and what `tracedb what-if --without` calls that."""
    causes: list  # any of them
    jobs: list


@dataclasses.dataclass
class Scenario:
    name: str
    says: str  # what happens in it
    jobs: list
    truth: dict  # what a perfect analysis says, as a person would write it down
    checks: list = dataclasses.field(default_factory=list)
    other_files: dict = dataclasses.field(default_factory=dict)  # path -> text
    ingests: list = None  # what each ingest command is given; None: each job's folder by itself
    without: list = dataclasses.field(default_factory=list)  # what a replay has to come to
    late: dict = None  # rank, step and cause of who makes the others wait; None: nobody
    cannot_tell: bool = False  # what was recorded does not tell what or who it was

    def commands(self):
        return self.ingests or [[job.folder] for job in self.jobs]


def as_ns(milliseconds):
    return None if milliseconds is None else round(milliseconds * 1_000_000)


def field(row, name):
    if name not in row:
        raise KeyError(f"no column {name} (there are: {', '.join(row)})")
    return row[name]


def differences(what, want, have):
    """One line for each name that differs between two dicts."""
    for name, value in want.items():
        if have.get(name) != value:
            yield f"{what}: {name} is {have.get(name)}, the truth is {value}"


def by_rank(rows):
    found = {}
    for row in rows:
        found.setdefault(field(row, "rank"), []).append(row)
    return found


def multiset_differences(what, want, have):
    for item, count in (want - have).items():
        yield f"{what}: {count} x missing: {item}"
    for item, count in (have - want).items():
        yield f"{what}: {count} x that is not so: {item}"


# --- Checks that every scenario can have. -------------------------------------------------------


def overlap(jobs):
    def compare(program):
        for job in jobs:
            rows = by_rank(program.rows_of("overlap", job, jobs))
            want_ranks = {r for c in job.captures for r in c.recorded_ranks() if c.activities(r)}
            if set(rows) != want_ranks or any(len(found) != 1 for found in rows.values()):
                yield (f"{job.folder}: rows a rank: { {r: len(f) for r, f in rows.items()} }, "
                       f"the truth is one for each of {sorted(want_ranks)}")
                continue
            for rank, [row] in sorted(rows.items()):
                want = truth.overlap_of_rank(job, rank)
                have = {name: as_ns(field(row, f"{name}_ms")) for name in want}
                yield from differences(f"{job.folder}, rank {rank}, ns", want, have)
                share = 100 * want["overlap"] / want["comm"] if want["comm"] else None
                if share is not None and abs((field(row, "overlap_pct") or 0) - share) > 1e-9:
                    yield f"{job.folder}, rank {rank}: overlap_pct is {row['overlap_pct']}"
    return Check("overlap", "Per rank and device: span, compute, comm, overlap, exposed_comm, "
                 "exposed_memory, idle; captures sum up, the time between them belongs to nobody",
                 compare)


def stream_utilization(jobs):
    def compare(program):
        for job in jobs:
            rows = {}
            for row in program.rows_of("stream_utilization", job, jobs):
                rows.setdefault((field(row, "rank"), str(field(row, "stream"))), []).append(row)
            want_rows = {(rank, str(stream)): (figures, truth.overlap_of_rank(job, rank)["span"])
                         for rank in range(job.world_size)
                         for stream, figures in truth.streams_of_rank(job, rank).items()
                         if figures["activities"]}
            if set(rows) != set(want_rows) or any(len(found) != 1 for found in rows.values()):
                yield f"{job.folder}: streams {sorted(rows)}, the truth is {sorted(want_rows)}"
                continue
            for key, (want, span) in want_rows.items():
                row = rows[key][0]
                have = {name: as_ns(field(row, f"{name}_ms"))
                        for name in ("busy", "compute", "comm", "memory")}
                have["activities"] = field(row, "activities")
                yield from differences(f"{job.folder}, rank {key[0]}, stream {key[1]}", want, have)
                if abs(field(row, "utilization_pct") - 100 * want["busy"] / span) > 1e-9:
                    yield (f"{job.folder}, rank {key[0]}, stream {key[1]}: utilization_pct is "
                           f"{row['utilization_pct']}, the truth is {100 * want['busy'] / span}")
    return Check("stream_utilization", "utilization_pct of a stream = 100*busy/span of its rank "
                 "and device; spans are those within captures", compare)


def stall_items(rows):
    """What nccl_stalls says, without the rows where nobody waited."""
    return [{"culprit": field(row, "culprit_rank"),
             "total_wait": as_ns(field(row, "total_wait_ms")),
             "max_wait": as_ns(field(row, "max_wait_ms")),
             "transfer": as_ns(field(row, "transfer_ms"))}
            for row in rows if as_ns(field(row, "total_wait_ms"))]


def as_item(stall, culprit):
    return (f"culprit {culprit}, waits {stall['total_wait']} ns (longest {stall['max_wait']}), "
            f"transfer {stall['transfer']} ns")


def nccl_stalls(jobs, may_be_unmatched=False):
    """may_be_unmatched: what cannot be told apart may be left out, but nothing wrong be said."""
    def compare(program):
        for job in jobs:
            have = collections.Counter(
                as_item(stall, stall["culprit"])
                for stall in stall_items(program.rows_of("nccl_stalls", job, jobs)))
            want = collections.Counter()
            for stall in truth.stalls(job):
                if stall["total_wait"]:
                    culprit = next((c for c in sorted(stall["culprits"])
                                    if have[as_item(stall, c)] > want[as_item(stall, c)]),
                                   min(stall["culprits"]))
                    want[as_item(stall, culprit)] += 1
            if may_be_unmatched:
                want = want & have
            yield from multiset_differences(job.folder, want, have)
    return Check("nccl_stalls", "One collective = the parts of all ranks with the same "
                 "communicator and Seq (or ordinal), within a run; wait = latest start - own "
                 "start; the last is the culprit; transfer = the shortest duration", compare)


def nccl_stall_ranks(jobs):
    def compare(program):
        for job in jobs:
            rows = by_rank(program.rows_of("nccl_stall_ranks", job, jobs))
            for rank, want in truth.stall_ranks(job).items():
                if len(rows.get(rank, ())) != 1:
                    yield f"{job.folder}, rank {rank}: {len(rows.get(rank, ()))} rows, not one"
                    continue
                [row] = rows[rank]
                have = {"collectives": field(row, "collectives"),
                        "times_last": field(row, "times_last"),
                        "caused_wait": as_ns(field(row, "caused_wait_ms")),
                        "suffered_wait": as_ns(field(row, "suffered_wait_ms"))}
                ties = truth.ties_of_rank(job, rank)
                if want["times_last"] < have["times_last"] <= want["times_last"] + ties:
                    have["times_last"] = want["times_last"]  # `nobody_last_in_a_tie` asks this
                yield from differences(f"{job.folder}, rank {rank}", want, have)
    return Check("nccl_stall_ranks", "Wait of a rank = latest start over the ranks - its own "
                 "start (0 for the last one); the last to arrive is the culprit", compare)


def nobody_last_in_a_tie(jobs):
    def compare(program):
        for job in jobs:
            rows = by_rank(program.rows_of("nccl_stall_ranks", job, jobs))
            for rank, want in truth.stall_ranks(job).items():
                have = sum(field(row, "times_last") for row in rows.get(rank, ()))
                if have != want["times_last"]:
                    yield (f"{job.folder}, rank {rank}: times_last is {have}, but others waited "
                           f"for it {want['times_last']} times")
    return Check("nobody_last_in_a_tie", "The last to arrive is the culprit: where all arrive at "
                 "once there is none", compare)


def runs(jobs):
    def compare(program):
        rows = {row["run"]: row for row in program.sql("SELECT * FROM runs")}
        if len(rows) != len(jobs):
            yield f"{len(rows)} runs ({', '.join(map(str, rows))}), the truth is {len(jobs)}"
            return
        names = program.run_names(jobs)
        for job in jobs:
            row = rows[names[job.folder]]
            begun = [c for c in job.captures if c.recorded_ranks()]
            want = {"world_size": job.world_size, "captures": len(begun)}
            yield from differences(job.folder, want, {key: field(row, key) for key in want})
            if not begun[0].begin <= field(row, "start_ns") <= field(row, "end_ns"):
                yield f"{job.folder}: the run is from {row['start_ns']} to {row['end_ns']}"
    return Check("runs", "A run is one job: one input folder, unless folders below it hold the "
                 "same ranks again; a later ingest of the same folder joins its run", compare)


def captures(jobs):
    def compare(program):
        rows = program.sql("SELECT run, capture, rank, path FROM traces")
        have = collections.Counter()
        cycles = {}
        for row in rows:
            cycles.setdefault((row["run"], row["capture"]), []).append(row["rank"])
        have.update(tuple(sorted(ranks)) for ranks in cycles.values())
        want = collections.Counter(tuple(capture.recorded_ranks())
                                   for job in jobs for capture in job.captures)
        yield from multiset_differences("ranks of a capture", want, have)
    return Check("captures", "A capture is one profiler cycle of a run: the traces of its ranks "
                 "whose times overlap", compare)


def steps(jobs):
    """Their absolute times tell the runs apart: steps need no column for it."""
    def compare(program):
        have = collections.Counter((row["rank"], row["step"], row["ts_ns"], row["dur_ns"])
                                   for row in program.sql("SELECT * FROM steps"))
        want = collections.Counter((rank, *step) for job in jobs for rank in range(job.world_size)
                                   for step in truth.steps_of_rank(job, rank))
        yield from multiset_differences("(rank, step, ts_ns, dur_ns)", want, have)
    return Check("steps", "steps: a ProfilerStep of a rank; step numbers that repeat in another "
                 "capture are other steps", compare)


def basics(jobs):
    return [runs(jobs), captures(jobs), overlap(jobs), stream_utilization(jobs),
            nccl_stalls(jobs), nccl_stall_ranks(jobs), steps(jobs)]


# --- Checks of some scenarios. ------------------------------------------------------------------


def parse_ranks(value):
    return tuple(json.loads(value)) if isinstance(value, str) else tuple(value)


def communicators(jobs, parallelism):
    """Every communicator that was used is a row of its own; `parallelism`: by description."""
    def compare(program):
        for job in jobs:
            have = {}
            rows = program.rows_of("SELECT * FROM process_groups", job, jobs)
            for row in rows:
                key = (str(field(row, "name")), parse_ranks(field(row, "ranks")))
                have.setdefault(key, []).append(row)
            used = {m.group for capture in job.captures for m in capture.meetings.values()}
            for group in sorted(used, key=lambda g: g.name):
                found = have.get((group.name, group.ranks), [])
                if len(found) != 1:
                    yield (f"{job.folder}: {len(found)} rows for {group.name} "
                           f"({group.description}) of {group.ranks}")
                    continue
                want = {"description": group.description, "size": len(group.ranks)}
                if group.description in parallelism:
                    want["parallelism"] = parallelism[group.description]
                yield from differences(f"{job.folder}: {group.description}", want,
                                       {key: field(found[0], key) for key in want})
    return Check("communicators", "A communicator is (run, process group name, sorted ranks); "
                 "its parallelism is that of its own description", compare)


def parts_by_communicator(jobs):
    def compare(program):
        for job in jobs:
            rows = program.rows_of("SELECT c.*, g.name AS of_group FROM collectives c "
                                   "JOIN process_groups g USING (group_id)", job, jobs)
            have = collections.Counter((row["rank"], row["of_group"], row["collective"])
                                       for row in rows)
            want = collections.Counter(
                (rank, meeting.group.name, part.args["Collective name"])
                for capture in job.captures for meeting in capture.meetings.values()
                for rank, part in meeting.parts.items() if rank in capture.recorded_ranks())
            yield from multiset_differences(f"{job.folder}: (rank, group, collective)", want, have)
    return Check("parts_by_communicator", "collectives: one rank's part in a communication "
                 "kernel, with the communicator that it belongs to", compare)


def exposed_by_parallelism(jobs, parallelism):
    """The program says which kernel serves which parallelism; the times are added up here."""
    def compare(program):
        for job in jobs:
            parts = program.rows_of(
                "SELECT c.*, g.parallelism AS serves FROM collectives c "
                "JOIN process_groups g USING (group_id)", job, jobs)
            kernels = by_rank(program.rows_of("SELECT * FROM kernels WHERE kind = 'compute'",
                                              job, jobs))
            for rank in range(job.world_size):
                compute = [(k["ts_ns"], k["ts_ns"] + k["dur_ns"]) for k in kernels.get(rank, ())]
                have = {}
                for part in parts:
                    if part["rank"] == rank:
                        have.setdefault(part["serves"], []).append(
                            (part["ts_ns"], part["ts_ns"] + part["dur_ns"]))
                have = {serves: truth.without(found, compute) for serves, found in have.items()}
                want = truth.exposed_by_parallelism(job, rank, parallelism)
                yield from differences(f"{job.folder}, rank {rank}, exposed ns",
                                       {**dict.fromkeys(have, None), **want}, have)
    return Check("exposed_by_parallelism", "parallelism (tensor, pipeline, data, expert, context, "
                 "other) is that of the communicator's own description", compare)


def stall_details(jobs):
    """What stands beside the times in nccl_stalls: all-reduces, so that bytes are in = out."""
    def compare(program):
        for job in jobs:
            have = collections.Counter(
                (field(row, "collective"), parse_ranks(field(row, "group_ranks")),
                 field(row, "step"), field(row, "bytes"))
                for row in program.rows_of("nccl_stalls", job, jobs))
            want = collections.Counter(
                (meeting.collective, meeting.ranks, truth.step_of(job, meeting), meeting.in_bytes)
                for meeting in truth.matched(job))
            yield from multiset_differences(f"{job.folder}: (collective, ranks, step, bytes)",
                                            want, have)
    return Check("stall_details", "nccl_stalls: collective, group_ranks, step, bytes; a GPU "
                 "activity belongs to the step in which it was launched", compare)


def kinds(jobs, expected):
    """expected: kernel name -> kind."""
    def compare(program):
        have = {}
        for row in program.sql("SELECT DISTINCT name, kind FROM kernels"):
            have.setdefault(row["name"], []).append(row["kind"])
        for name, kind in expected.items():
            if have.get(name) != [kind]:
                yield f"{name}: {have.get(name)}, the truth is {kind}"
    return Check("kinds", "kind: communication, memory, waiting (neither), compute = every other "
                 "kernel; the names are in the contract", compare)
