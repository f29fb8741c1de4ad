-- title: Communication kernels, and for whom each of them waited
--
-- One row for each communication kernel, by the aligned clocks. It waits until the last rank of its
-- collective has come; who is to blame for that is the rank at which the chain of waits begins, as
-- in `nccl_stall_roots`.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run          text        The run: one training job that was recorded.
-- column: rank         int(id)     The rank.
-- column: device       text        The GPU, as the trace calls it.
-- column: start_ns     int(ns)     Start since the first event of the run, by the aligned clocks.
-- column: dur_ns       int(ns)     How long.
-- column: parallelism  text        Of its group: tensor, pipeline, data, expert, context or other.
-- column: wait_ns      int(ns)     From its start to the last rank's; NULL: no partner is known.
-- column: root_rank    int(id)     At which the wait begins; NULL: a pipeline's schedule, nobody
--                                  waited, or not known.
-- column: root_cause   text        host, device or schedule.
-- column: root_name    text        What that was.
--
-- empty:  No communication kernel is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH recorded AS MATERIALIZED (
  SELECT trace_id, run_id, run, rank, run_start_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
part AS MATERIALIZED (
  SELECT p.slice_id, p.capture_id, p.group_id, p.pair, p.by_seq, p.match_no, p.rank,
         p.aligned_ts_ns
  FROM recorded r JOIN collectives p ON p.trace_id = r.trace_id
),
met AS MATERIALIZED (
  SELECT capture_id, group_id, pair, by_seq, match_no, max(aligned_ts_ns) AS last_ns
  FROM part WHERE group_id IS NOT NULL
  GROUP BY capture_id, group_id, pair, by_seq, match_no HAVING min(rank) < max(rank)
),
rooted AS MATERIALIZED (
  SELECT p.capture_id, p.group_id, p.pair, p.by_seq, p.match_no, c.root_rank, c.root_cause,
         c.root_short
  FROM part p JOIN collective_causes c ON c.slice_id = p.slice_id
),
known AS MATERIALIZED (
  SELECT p.slice_id, p.group_id, m.last_ns - p.aligned_ts_ns AS wait_ns, o.root_rank,
         o.root_cause, o.root_short
  FROM part p LEFT JOIN met m ON m.capture_id = p.capture_id AND m.group_id = p.group_id
    AND m.pair = p.pair AND m.by_seq = p.by_seq AND m.match_no = p.match_no
  LEFT JOIN rooted o ON o.capture_id = p.capture_id AND o.group_id = p.group_id
    AND o.pair = p.pair AND o.by_seq = p.by_seq AND o.match_no = p.match_no
)
SELECT
  r.run,
  r.rank,
  t.device,
  a.aligned_ts_ns - r.run_start_ns AS start_ns,
  a.dur_ns,
  ifnull(g.parallelism, 'other') AS parallelism,
  k.wait_ns,
  iif(k.wait_ns > 0, k.root_rank, NULL) AS root_rank,
  iif(k.wait_ns > 0, k.root_cause, NULL) AS root_cause,
  iif(k.wait_ns > 0, k.root_short, NULL) AS root_name
FROM recorded r JOIN tracks t ON t.trace_id = r.trace_id
JOIN activity_times a ON a.track_id = t.track_id AND a.kind = 1 AND a.dur_ns > 0
LEFT JOIN known k ON k.slice_id = a.slice_id
LEFT JOIN process_groups g ON g.group_id = k.group_id
ORDER BY r.trace_id, t.device, start_ns, a.slice_id;
