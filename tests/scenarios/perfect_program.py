"""Stands for the program and knows the truth: the checks must accept what it says.

It answers the names of the contract alone, each scenario's own tables from a database in memory.
What needs a judgement (recommendations, critical_path, what-if, doctor) it does not answer.
"""
import collections
import json
import sqlite3

import idle_checks
import truth
from program import Program, ProgramFailed

TABLES = {
    "runs": "run_id, run, path, world_size, ranks, captures, start_ns, end_ns",
    "traces": "trace_id, run, capture, path, rank",
    "ranks": "run, rank, world_size",
    "process_groups": "group_id, run, name, description, parallelism, size, ranks",
    "collectives": "slice_id, run, rank, group_id, collective, in_bytes, out_bytes, ts_ns, dur_ns",
    "kernels": "slice_id, run, rank, stream, name, kind, ts_ns, dur_ns",
    "steps": "run, rank, step, ts_ns, dur_ns",
    "collective_splits": "slice_id, run, rank, peer, in_bytes, out_bytes"}
ELEMENT_BYTES = 2


def ms(ns):
    return ns / 1_000_000


class PerfectProgram(Program):
    """Of Program only what runs no process."""

    def __init__(self, scenario, parallelism):
        super().__init__("", "")
        self.jobs, self.parallelism = scenario.jobs, parallelism
        self.database = sqlite3.connect(":memory:")
        self.database.row_factory = sqlite3.Row
        for name, columns in TABLES.items():
            self.database.execute(f"CREATE TABLE {name} ({columns})")
        self.next_id = 0
        for job in self.jobs:
            self.add_job(job)

    def add(self, table, *values):
        marks = ", ".join("?" * len(values))
        self.database.execute(f"INSERT INTO {table} VALUES ({marks})", values)

    def new_id(self):
        self.next_id += 1
        return self.next_id

    def add_job(self, job):
        run = job.folder.replace("/", " ")
        end = max(truth.last_end(capture) for capture in job.captures)
        self.add("runs", self.new_id(), run, job.folder, job.world_size, job.world_size,
                 len(job.captures), job.captures[0].begin, end)
        groups = {}
        for group in job.groups:
            groups[group] = self.new_id()
            self.add("process_groups", groups[group], run, group.name, group.description,
                     self.parallelism.get(group.description, "other"), len(group.ranks),
                     str(list(group.ranks)))
        for rank in range(job.world_size):
            self.add("ranks", run, rank, job.world_size)
        for number, capture in enumerate(job.captures):
            for rank in capture.recorded_ranks():
                self.add("traces", self.new_id(), run, number + 1,
                         f"{job.folder}/rank{rank}.{number}.json", rank)
                self.add_rank(run, capture, rank, groups)

    def add_rank(self, run, capture, rank, groups):
        for activity in capture.activities(rank) if capture.job.gpu_recorded else ():
            number = self.new_id()
            times = (activity.start, activity.end - activity.start)
            self.add("kernels", number, run, rank, activity.stream, activity.name, activity.kind,
                     *times)
            if activity.meeting is not None:
                args = activity.args
                self.add("collectives", number, run, rank, groups[activity.meeting.group],
                         args["Collective name"], args["In msg nelems"] * ELEMENT_BYTES,
                         args["Out msg nelems"] * ELEMENT_BYTES, *times)
                self.add_splits(number, run, rank, activity.meeting.group, args)
        for slice_ in capture.slices[rank]:
            if slice_.name.startswith("ProfilerStep#"):
                self.add("steps", run, rank, int(slice_.name.split("#")[1]), slice_.start,
                         slice_.end - slice_.start)

    def add_splits(self, number, run, rank, group, args):
        sent, got = (json.loads(args[f"{side} split size"]) for side in ("In", "Out"))
        for peer, rows, out_rows in zip(group.ranks, sent, got):
            self.add("collective_splits", number, run, rank, peer,
                     args["In msg nelems"] * ELEMENT_BYTES * rows // sum(sent),
                     args["Out msg nelems"] * ELEMENT_BYTES * out_rows // sum(got))

    def run(self, *arguments):
        raise ProgramFailed(f"no answer to {' '.join(arguments)}")

    def sql(self, text):
        return [dict(row) for row in self.database.execute(text)]

    def rows(self, *arguments):
        query, filters = arguments[0], dict(a.split("=", 1) for a in arguments[2::2])
        answers = {"overlap": self.overlap, "stream_utilization": self.stream_utilization,
                   "nccl_stalls": self.nccl_stalls, "nccl_stall_ranks": self.nccl_stall_ranks,
                   "time_partition": self.time_partition, "gpu_gaps": self.gpu_gaps,
                   "expert_imbalance": self.expert_imbalance}
        if query not in answers:
            raise ProgramFailed(f"no answer to {query}")
        rows = []
        for job in self.jobs:
            if filters.get("run", job.folder.replace("/", " ")) != job.folder.replace("/", " "):
                continue
            for row in answers[query](job, filters.get("capture")):
                rows.append({"run": job.folder.replace("/", " "), **row})
        return rows

    @staticmethod
    def overlap(job, capture):
        for rank in range(job.world_size):
            if capture is None:
                times = truth.overlap_of_rank(job, rank)
            else:
                chosen = job.captures[int(capture) - 1]
                times = truth.overlap_of(chosen.activities(rank))
            if times and job.gpu_recorded:
                row = {"rank": rank, "device": str(rank % 8)}
                row.update({f"{name}_ms": ms(value) for name, value in times.items()})
                row["overlap_pct"] = 100 * times["overlap"] / times["comm"] if times["comm"] else 0
                yield row

    @staticmethod
    def stream_utilization(job, _):
        for rank in range(job.world_size if job.gpu_recorded else 0):
            span = truth.overlap_of_rank(job, rank).get("span")
            for stream, want in truth.streams_of_rank(job, rank).items():
                if want["activities"]:
                    yield {"rank": rank, "stream": str(stream), "activities": want["activities"],
                           "utilization_pct": 100 * want["busy"] / span,
                           **{f"{name}_ms": ms(want[name])
                              for name in ("busy", "compute", "comm", "memory")}}

    @staticmethod
    def nccl_stalls(job, _):
        for meeting in truth.matched(job) if job.gpu_recorded else ():
            stall = truth.stall_of(meeting)
            yield {"collective": meeting.collective, "group_ranks": str(list(meeting.ranks)),
                   "step": truth.step_of(job, meeting), "bytes": meeting.in_bytes,
                   "culprit_rank": min(stall["culprits"]),
                   "total_wait_ms": ms(stall["total_wait"]),
                   "max_wait_ms": ms(stall["max_wait"]), "transfer_ms": ms(stall["transfer"])}

    @staticmethod
    def expert_imbalance(job, _):
        """As long as a rank computes by its tokens alone."""
        for step, found in truth.expert_loads(job).items():
            load = found["load"]
            most = max(load, key=load.get)
            yield {"step": step, "collectives": found["count"], "unclear": 0, "most_rank": most,
                   "imbalance": load[most] * len(load) / sum(load.values()),
                   "most_share_pct": 100 * load[most] / sum(load.values()),
                   "most_bytes": load[most], "wait_ms": ms(found["wait"]),
                   "explained_ms": ms(found["wait"]), "explained_pct": 100, "unknown": None}

    @staticmethod
    def nccl_stall_ranks(job, _):
        for rank, row in truth.stall_ranks(job).items() if job.gpu_recorded else ():
            yield {"rank": rank, "collectives": row["collectives"],
                   "times_last": row["times_last"], "caused_wait_ms": ms(row["caused_wait"]),
                   "suffered_wait_ms": ms(row["suffered_wait"])}

    @staticmethod
    def time_partition(job, _):
        """Not by step: nothing asks for that."""
        for capture, rank in idle_checks.recorded(job):
            sums = truth.idle_sums(capture, rank)
            yield {"rank": rank, **{f"idle_{cause}_ms": ms(ns) for cause, ns in sums.items()}}

    @staticmethod
    def gpu_gaps(job, _):
        for capture, rank in idle_checks.recorded(job):
            for start, end, sync in idle_checks.gaps_of(capture, rank):
                lengths = collections.Counter()
                for at, until, cause, names in truth.idle_pieces(capture, rank):
                    if start <= at < end and cause == "host" and names:
                        lengths[names[-1]] += until - at
                name, length = max(lengths.items(), key=lambda item: item[1], default=(None, 0))
                yield {"rank": rank, "gap_ms": ms(end - start), "sync_ms": ms(sync),
                       "cause": "sync" if 2 * sync >= end - start else "host",
                       "host_name": name, "host_name_ms": ms(length)}
