-- title: Where each rank stands in the job, and how it waits
--
-- A rank's places are those of the view rank_places. The waits are those of `nccl_stall_roots`:
-- rooted_wait_ms of all ranks because of this one, waited_ms its own.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run             text        The run: one training job that was recorded.
-- column: rank            int(id)     The rank.
-- column: tensor          int(count)  Its place in its tensor parallel group; NULL: in none that
--                                     has two ranks or more. So are the next ones.
-- column: context         int(count)  In its context parallel group.
-- column: pipeline        int(count)  In its pipeline: the stage.
-- column: data            int(count)  In its data parallel group.
-- column: expert          int(count)  In its expert parallel group.
-- column: rooted_wait_ms  real(ms)    Waits of all ranks that begin at this one, summed.
-- column: waited_ms       real(ms)    Its own waits in collectives, summed.
-- column: compute_ms      real(ms)    In which its GPUs computed.
--
-- empty:  No trace is in the database.

WITH recorded AS MATERIALIZED (
  SELECT trace_id, run_id, run, rank, capture_id FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
placed AS MATERIALIZED (
  SELECT run_id, rank, tensor, context, pipeline, data, expert FROM rank_places
  WHERE run_id IN (SELECT run_id FROM recorded)
),
judged AS MATERIALIZED (
  SELECT r.run_id, c.root_rank, m.wait_ns, m.last_start_ns - zero_ns AS last_ns, p.capture_id,
         p.group_id, p.pair, p.by_seq, p.match_no
  FROM recorded r CROSS JOIN origin CROSS JOIN matched_collectives m ON m.trace_id = r.trace_id
  CROSS JOIN collectives p ON p.slice_id = m.slice_id
  LEFT JOIN collective_causes c ON c.slice_id = m.slice_id
  WHERE NOT m.is_estimate AND m.wait_ns > 0
),
rooted AS MATERIALIZED (
  SELECT run_id, root_rank AS rank, sum(wait_ns) AS wait_ns FROM judged
  WHERE root_rank IS NOT NULL GROUP BY run_id, root_rank
),
waited AS MATERIALIZED (
  SELECT j.run_id, q.rank, sum(j.last_ns - (q.aligned_ts_ns - zero_ns)) AS wait_ns
  FROM judged j CROSS JOIN origin
  CROSS JOIN collectives q ON q.capture_id = j.capture_id AND q.group_id = j.group_id
    AND q.pair = j.pair AND q.by_seq = j.by_seq AND q.match_no = j.match_no
  WHERE j.last_ns > q.aligned_ts_ns - zero_ns
  GROUP BY j.run_id, q.rank
),
computed AS MATERIALIZED (
  SELECT r.run_id, r.rank, sum(u.compute_ns) AS compute_ns
  FROM recorded r JOIN device_uses u ON u.trace_id = r.trace_id GROUP BY r.run_id, r.rank
)
SELECT
  r.run,
  r.rank,
  p.tensor,
  p.context,
  p.pipeline,
  p.data,
  p.expert,
  ifnull(o.wait_ns, 0) / 1e6 AS rooted_wait_ms,
  ifnull(w.wait_ns, 0) / 1e6 AS waited_ms,
  ifnull(c.compute_ns, 0) / 1e6 AS compute_ms
FROM (SELECT DISTINCT run_id, run, rank FROM recorded) r
     LEFT JOIN placed p ON p.run_id = r.run_id AND p.rank = r.rank
     LEFT JOIN rooted o ON o.run_id = r.run_id AND o.rank = r.rank
     LEFT JOIN waited w ON w.run_id = r.run_id AND w.rank = r.rank
     LEFT JOIN computed c ON c.run_id = r.run_id AND c.rank = r.rank
ORDER BY r.run_id, r.rank;
