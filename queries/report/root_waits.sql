-- title: Who waits for whom in collectives, by where the waits begin
--
-- For each rank at which waits begin (the ends of the chains of `nccl_stall_roots`, not the rank
-- that happened to start last) how long each other rank waited because of it. Counted are
-- collectives that at least two ranks of a capture took part in, by the aligned clocks. Waits that
-- nobody is to blame for (a pipeline's schedule, or where the trace does not tell) have a
-- root_rank of NULL. The waits of all rows of a run add up to those of `nccl_stall_roots`.
--
-- param:  roots    int(count)  = 16    Ranks of a run at which waits begin: those with the longest.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run           text        The run: one training job that was recorded.
-- column: root_rank     int(id)     The rank at which the chain begins. NULL: nobody is late, or
--                                   nobody tells who.
-- column: waiting_rank  int(id)     The rank that waited.
-- column: collectives   int(count)  Collectives in which it waited because of that rank.
-- column: wait_ms       real(ms)    Its waits in them, summed.
-- column: max_wait_ms   real(ms)    The longest of them.
--
-- empty:  Nobody waited: no collective has two of its ranks in a capture (ingest the other ranks'
--         traces too), or all of them started together.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH judged AS MATERIALIZED (
  SELECT t.run_id, c.root_rank, m.last_start_ns - zero_ns AS last_ns, p.capture_id, p.group_id,
         p.pair, p.by_seq, p.match_no
  FROM matched_collectives m CROSS JOIN origin CROSS JOIN collectives p ON p.slice_id = m.slice_id
  CROSS JOIN traces t ON t.trace_id = m.trace_id
  LEFT JOIN collective_causes c ON c.slice_id = m.slice_id
  WHERE NOT m.is_estimate AND m.wait_ns > 0 AND (:run IS NULL OR t.run = :run)
    AND (:capture IS NULL OR t.capture = :capture)
),
waited AS (
  SELECT j.run_id, j.root_rank, q.rank AS waiting_rank,
         j.last_ns - (q.aligned_ts_ns - zero_ns) AS wait_ns
  FROM judged j CROSS JOIN origin
  CROSS JOIN collectives q ON q.capture_id = j.capture_id AND q.group_id = j.group_id
    AND q.pair = j.pair AND q.by_seq = j.by_seq AND q.match_no = j.match_no
),
summed AS MATERIALIZED (
  SELECT run_id, root_rank, waiting_rank, count(*) AS collectives, sum(wait_ns) AS wait_ns,
         max(wait_ns) AS max_wait_ns,
         sum(sum(wait_ns)) OVER (PARTITION BY run_id, root_rank) AS root_ns
  FROM waited
  WHERE wait_ns > 0
  GROUP BY run_id, root_rank, waiting_rank
),
placed AS (
  SELECT *, dense_rank() OVER (PARTITION BY run_id ORDER BY root_rank IS NULL, root_ns DESC,
                               root_rank) AS place
  FROM summed
)
SELECT
  r.run,
  p.root_rank,
  p.waiting_rank,
  p.collectives,
  p.wait_ns / 1e6 AS wait_ms,
  p.max_wait_ns / 1e6 AS max_wait_ms
FROM placed p JOIN runs r ON r.run_id = p.run_id
WHERE p.root_rank IS NULL OR :roots < 0 OR p.place <= coalesce(:roots, 16)
ORDER BY p.run_id, p.place, p.wait_ns DESC, p.waiting_rank;
