-- title: Which ranks make the others wait in collectives
--
-- For each rank of a run, over its captures: in how many collectives it took part, in how many it
-- was the last to start, what wait that caused the others, how much wait has its root in it (it may
-- be the last because it waited for another itself), and how long it waited itself. Where all start
-- at once none is the last. Counted are collectives that at least two ranks of a capture took part
-- in; `nccl_stalls` lists them. Estimated are the waits in those without a partner: what they took
-- longer than the shortest of their kind.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run                text        The run: one training job that was recorded.
-- column: rank               int(id)     The rank.
-- column: collectives        int(count)  Collectives it took part in that have a partner.
-- column: times_last         int(count)  Of these, those in which it was the last to start.
-- column: caused_wait_ms     real(ms)    Waits of the others, summed, where it was the last.
-- column: suffered_wait_ms   real(ms)    Its own waits, summed.
-- column: unmatched          int(count)  Communication kernels without a partner in their capture.
-- column: root_wait_ms       real(ms)    Waits of all ranks, summed, whose chain ends at this rank;
--                                        none that a pipeline's schedule has (`nccl_stall_roots`).
-- column: estimated_wait_ms  real(ms)    Its own waits in those without a partner, an estimate.
--
-- about:  communication
-- lead:   rank, collectives, caused_wait_ms, root_wait_ms, suffered_wait_ms, times_last, unmatched
-- plot:   bar caused_wait_ms by run, rank
-- empty:  No communication kernel is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH recorded AS MATERIALIZED (
  SELECT trace_id, capture_id, run_id, run, rank FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
instance AS (
  SELECT capture_id, group_id, pair, by_seq, match_no, max(aligned_ts_ns) AS last_ns,
         min(rank) < max(rank) AS is_met
  FROM collectives WHERE group_id IS NOT NULL
  GROUP BY capture_id, group_id, pair, by_seq, match_no
),
part AS (
  SELECT c.trace_id, i.is_met, iif(i.is_met, i.last_ns - c.aligned_ts_ns, 0) AS wait_ns
  FROM instance i CROSS JOIN collectives c ON c.capture_id = i.capture_id
    AND c.group_id = i.group_id AND c.pair = i.pair AND c.by_seq = i.by_seq
    AND c.match_no = i.match_no
  UNION ALL
  SELECT trace_id, 0, 0 FROM collectives WHERE group_id IS NULL
),
suffered AS (
  SELECT trace_id, sum(is_met) AS collectives, sum(wait_ns) AS wait_ns,
         sum(NOT is_met) AS unmatched
  FROM part GROUP BY trace_id
),
judged AS (
  SELECT m.capture_id, m.is_estimate, m.first_rank, m.last_rank, m.wait_ns, c.root_rank
  FROM matched_collectives m LEFT JOIN collective_causes c ON c.slice_id = m.slice_id
),
caused AS (
  SELECT capture_id, last_rank AS rank, count(*) AS times_last, sum(wait_ns) AS wait_ns
  FROM judged WHERE NOT is_estimate GROUP BY capture_id, last_rank
),
rooted AS (
  SELECT capture_id, root_rank AS rank, sum(wait_ns) AS wait_ns
  FROM judged WHERE NOT is_estimate GROUP BY capture_id, root_rank
),
estimated AS (
  SELECT capture_id, first_rank AS rank, sum(wait_ns) AS wait_ns
  FROM judged WHERE is_estimate GROUP BY capture_id, first_rank
)
SELECT
  t.run,
  t.rank,
  sum(s.collectives) AS collectives,
  sum(ifnull(c.times_last, 0)) AS times_last,
  sum(ifnull(c.wait_ns, 0)) / 1e6 AS caused_wait_ms,
  sum(s.wait_ns) / 1e6 AS suffered_wait_ms,
  sum(s.unmatched) AS unmatched,
  sum(ifnull(r.wait_ns, 0)) / 1e6 AS root_wait_ms,
  sum(ifnull(e.wait_ns, 0)) / 1e6 AS estimated_wait_ms
FROM suffered s
JOIN recorded t ON t.trace_id = s.trace_id
LEFT JOIN caused c ON c.capture_id = t.capture_id AND c.rank = t.rank
LEFT JOIN rooted r ON r.capture_id = t.capture_id AND r.rank = t.rank
LEFT JOIN estimated e ON e.capture_id = t.capture_id AND e.rank = t.rank
GROUP BY t.run_id, t.run, t.rank
ORDER BY t.run_id, caused_wait_ms DESC, t.rank;
