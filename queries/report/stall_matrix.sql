-- title: Who waits for whom in collectives
--
-- For each two ranks of a run how long the one waited in collectives that the other was the last to
-- start. Counted are collectives that at least two ranks of a capture took part in, by the aligned
-- clocks. The waits of all rows of a waiting_rank are its suffered_wait_ms of `nccl_stall_ranks`,
-- those of a last_rank its caused_wait_ms.
--
-- param:  limit    int(rows)   = null  Rows of a run at most, the longest waits first; all if null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run           text        The run: one training job that was recorded.
-- column: waiting_rank  int(id)     The rank that waited.
-- column: last_rank     int(id)     The last to start; the lowest of those at the same ns.
-- column: collectives   int(count)  Collectives in which it waited for that rank.
-- column: wait_ms       real(ms)    Its waits in them, summed.
-- column: max_wait_ms   real(ms)    The longest of them.
--
-- empty:  Nobody waited: no collective has two of its ranks in a capture (ingest the other ranks'
--         traces too), or all of them started together.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH judged AS MATERIALIZED (
  SELECT t.run_id, m.last_rank, m.last_start_ns - zero_ns AS last_ns, p.capture_id, p.group_id,
         p.pair, p.by_seq, p.match_no
  FROM matched_collectives m CROSS JOIN origin CROSS JOIN collectives p ON p.slice_id = m.slice_id
  CROSS JOIN traces t ON t.trace_id = m.trace_id
  WHERE NOT m.is_estimate AND (:run IS NULL OR t.run = :run)
    AND (:capture IS NULL OR t.capture = :capture)
),
waited AS (
  SELECT j.run_id, q.rank AS waiting_rank, j.last_rank,
         j.last_ns - (q.aligned_ts_ns - zero_ns) AS wait_ns
  FROM judged j CROSS JOIN origin
  CROSS JOIN collectives q ON q.capture_id = j.capture_id AND q.group_id = j.group_id
    AND q.pair = j.pair AND q.by_seq = j.by_seq AND q.match_no = j.match_no
),
summed AS (
  SELECT run_id, waiting_rank, last_rank, count(*) AS collectives, sum(wait_ns) AS wait_ns,
         max(wait_ns) AS max_wait_ns,
         row_number() OVER (PARTITION BY run_id
                            ORDER BY sum(wait_ns) DESC, waiting_rank, last_rank) AS place
  FROM waited
  WHERE wait_ns > 0
  GROUP BY run_id, waiting_rank, last_rank
)
SELECT
  r.run,
  s.waiting_rank,
  s.last_rank,
  s.collectives,
  s.wait_ns / 1e6 AS wait_ms,
  s.max_wait_ns / 1e6 AS max_wait_ms
FROM summed s JOIN runs r ON r.run_id = s.run_id
WHERE :limit IS NULL OR :limit < 0 OR s.place <= :limit
ORDER BY s.run_id, s.place;
