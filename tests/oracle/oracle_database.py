"""A database and canned queries that say what the oracle says, under the public names: for tests of
the comparison."""
import json
import os
import sqlite3

import identity_oracle
import partition_oracle
import trace_oracle as oracle

FIRST_CAPTURE_ID = 101


def plain(value):
    """JSON text with every number as it was."""
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(k) + ":" + plain(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(plain, value)) + "]"
    return oracle.text_of(value) if oracle.is_number(value) else json.dumps(value)


def write_events(table, job):
    text = oracle.text_of
    table("traces", "trace_id path rank events skipped_events complete base_time_ns header run capture",
          [(n, t.path, t.rank, t.events, 0, 1, t.base_ns, plain(t.header), t.run, t.capture)
           for n, t in enumerate(job.traces)])
    table("processes", "rank pid name", [(t.rank, pid, name) for t in job.traces
                                         for pid, names in t.process_names.items() for name in names])
    table("threads", "rank pid tid name", [(t.rank, *key, name) for t in job.traces
                                           for key, names in t.thread_names.items() for name in names])
    table("slices", "rank category name ts_ns dur_ns pid tid correlation external_id args",
          [(t.rank, s.category, s.name, s.ts, s.dur, text(s.pid), text(s.tid), text(s.args.get("correlation")),
            text(s.args.get("External id")), plain(s.args)) for t in job.traces for s in t.slices])
    table("instants", "rank phase name ts_ns", [(t.rank, *point) for t in job.traces for point in t.points])
    for name, which in (("counters", "counters"), ("flows", "flows"), ("memory_events", "memory")):
        table(name, "rank name ts_ns", [(t.rank, *row) for t in job.traces for row in getattr(t, which)])
    table("issues", "trace_id kind count", [(n, "unmatched", t.unmatched + len(t.negative))
                                            for n, t in enumerate(job.traces) if t.unmatched + len(t.negative)])


def write_identity(table, job):
    times = {t: identity_oracle.time_of(t) for t in job.traces}
    size = max(t.world_size for t in job.traces)
    captures = {n: [t for t in job.traces if t.capture == n] for n in {t.capture for t in job.traces}}
    table("runs", "run world_size ranks captures start_ns end_ns",
          [(job.run, size, len(job.ranks), len(captures), job.start, max(end for _, end in times.values()))])
    table("captures", "capture_id run capture ranks start_ns end_ns",
          [(FIRST_CAPTURE_ID - 1 + n, job.run, n, len(of), min(times[t][0] for t in of), max(times[t][1] for t in of))
           for n, of in captures.items()])
    table("ranks", "run rank world_size traces slices",
          [(job.run, rank, size, len(mine), sum(len(t.slices) for t in mine))
           for rank in job.ranks for mine in [[t for t in job.traces if t.rank == rank]]])
    groups = list(job.groups)
    words = {g: min((d for d in job.groups[g] if d), default=None) for g in groups}
    table("process_groups", "group_id run name description size ranks parallelism",
          [(n, job.run, g.name, words[g], len(g.ranks), str(list(g.ranks)),
            identity_oracle.parallelism(words[g])) for n, g in enumerate(groups)])


def write_gpu(table, job):
    number = {t: n for n, t in enumerate(job.traces)}
    groups = list(job.groups)
    table("device_uses", "trace_id rank device start_ns end_ns compute_ns communication_ns overlap_ns "
          "exposed_communication_ns exposed_memory_ns idle_ns",
          [(number[t], t.rank, device, *(row[part] for part in (
              "start", "end", "compute", "comm", "overlap", "exposed_comm", "exposed_memory", "idle")))
           for (t, device), row in job.trace_devices.items()])
    table("busy_segments", "trace_id device ts_ns dur_ns kinds",
          [(number[t], device, start, end - start, ("compute" in held) + 2 * ("communication" in held)
            + 4 * ("memory" in held)) for t, device in job.trace_devices
           for start, end, held in oracle.elementary(
               job.by_kind([a for a in t.activities if a.device == device])) if held])
    table("step_uses", "trace_id device step start_ns end_ns compute_ns exposed_pipeline_ns "
          "exposed_data_ns exposed_tensor_ns exposed_expert_ns exposed_context_ns exposed_other_ns "
          "exposed_memory_ns idle_host_ns idle_sync_ns idle_dependency_ns idle_unknown_ns",
          [(number[t], device, step, start, end, *parts)
           for t, device, step, start, end, parts in partition_oracle.partition(job)])
    table("rank_clocks", "trace_id rank reference_rank offset_ns drift_ppb",
          [(number[t], t.rank, min(o.rank for o in job.traces if o.capture == t.capture), 0, 0) for t in job.traces])
    table("kernels", "rank device stream name kind ts_ns dur_ns correlation launch_ts_ns step bytes",
          [(a.rank, a.device, a.stream, a.name, a.kind, a.ts, a.dur, a.correlation, a.launch_ts, a.step, a.bytes)
           for a in job.activities])
    table("steps", "rank step ts_ns dur_ns", [(t.rank, *step) for t in job.traces for step in t.steps])
    parts = ("activities", "start", "end", "busy", "compute", "comm", "memory")
    columns = "device stream activities start_ns end_ns busy_ns compute_ns communication_ns memory_ns"
    table("streams", "run rank " + columns, [
        (job.run, *key, *(row[part] for part in parts)) for key, row in job.streams.items()])
    table("stream_uses", "trace_id " + columns, [
        (number[key[0]], *key[1:], *(row[part] for part in parts))
        for key, row in job.trace_streams.items()])
    table("collectives", "trace_id rank group_id ordinal collective dtype in_bytes out_bytes ts_ns dur_ns "
          "peer capture_id",
          [(number[p.activity.trace], p.rank, groups.index(p.group) if p.group else None,
            None if p.ordinal is None else p.ordinal + 1, p.collective, p.dtype, p.in_bytes, p.out_bytes,
            p.ts, p.dur, p.peer, FIRST_CAPTURE_ID - 1 + p.activity.trace.capture) for p in job.parts])


def write_answers(table, job):
    parts = "span compute comm overlap exposed_comm exposed_memory idle".split()
    table("q_overlap", "run rank device " + " ".join(p + "_ms" for p in parts) + " overlap_pct",
          [(job.run, *key, *(row[p] / 1e6 for p in parts),
            100.0 * row["overlap"] / row["comm"] if row["comm"] else None)
           for key, row in job.devices.items()])
    table("q_stream_utilization", "run rank device stream activities busy_ms utilization_pct compute_ms "
          "comm_ms memory_ms",
          [(job.run, *key, row["activities"], row["busy"] / 1e6,
            100.0 * row["busy"] / job.devices[key[:2]]["span"] if job.devices[key[:2]]["span"] else None,
            row["compute"] / 1e6, row["comm"] / 1e6, row["memory"] / 1e6) for key, row in job.streams.items()])
    matched = [c for c in job.collectives if c.matched]
    table("q_nccl_stalls", "run capture collective group_name group_ranks ordinal step bytes start_ms "
          "culprit_rank total_wait_ms max_wait_ms transfer_ms cause",
          [(job.run, c.capture, c.parts[0].collective, c.group.name, str(list(c.group.ranks)),
            c.parts[0].ordinal, c.parts[0].activity.step,
            c.parts[0].in_bytes, (c.first_start - job.start) / 1e6, c.culprit, c.total_wait / 1e6, c.max_wait / 1e6,
            c.transfer / 1e6, "") for c in matched])
    table("q_nccl_stall_ranks", "run rank collectives times_last caused_wait_ms suffered_wait_ms",
          [(job.run, rank, row["collectives"], row["times_last"], row["caused_wait"] / 1e6, row["suffered_wait"] / 1e6)
           for rank, row in job.stall_ranks(lambda c: c.matched).items()])


def write_database(job, path, folder):
    db = sqlite3.connect(path)

    def table(name, columns, rows):
        db.execute(f"CREATE TABLE {name} ({', '.join(columns.split())})")
        marks = ", ".join("?" for _ in columns.split())
        db.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)

    for write in (write_events, write_identity, write_gpu, write_answers):
        write(table, job)
    db.commit()
    db.close()
    for name in ("overlap", "stream_utilization", "nccl_stalls", "nccl_stall_ranks"):
        with open(os.path.join(folder, name + ".sql"), "w") as handle:
            handle.write(f"-- {name}\nSELECT * FROM q_{name} WHERE :rank IS NULL OR 0;\n-- end\n")
