-- title: Who waits for whom in collectives
--
-- For each two ranks how long the one waited in collectives that the other was the last to start.
-- Counted are collectives that at least two ranks of the database took part in, by the aligned
-- clocks. The waits of all rows of a waiting_rank are its suffered_wait_ms of `nccl_stall_ranks`,
-- those of a last_rank its caused_wait_ms.
--
-- param:  limit  int(rows)  = null  Rows returned at most, the longest waits first; all when null.
--
-- column: waiting_rank  int(id)     The rank that waited.
-- column: last_rank     int(id)     The last to start; the lowest of those at the same ns.
-- column: collectives   int(count)  Collectives in which it waited for that rank.
-- column: wait_ms       real(ms)    Its waits in them, summed.
-- column: max_wait_ms   real(ms)    The longest of them.
--
-- empty:  Nobody waited: no collective has two of its ranks in the database (ingest the other
--         ranks' traces too), or all of them started together.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH judged AS MATERIALIZED (
  SELECT m.last_rank, m.last_start_ns - zero_ns AS last_ns, p.group_id, p.pair, p.by_seq,
         p.match_no
  FROM matched_collectives m CROSS JOIN origin CROSS JOIN collectives p ON p.slice_id = m.slice_id
  WHERE NOT m.is_estimate
),
waited AS (
  SELECT q.rank AS waiting_rank, j.last_rank,
         j.last_ns - (q.aligned_ts_ns - zero_ns) AS wait_ns
  FROM judged j CROSS JOIN origin
  CROSS JOIN collectives q ON q.group_id = j.group_id AND q.pair = j.pair
    AND q.by_seq = j.by_seq AND q.match_no = j.match_no
)
SELECT
  waiting_rank,
  last_rank,
  count(*) AS collectives,
  sum(wait_ns) / 1e6 AS wait_ms,
  max(wait_ns) / 1e6 AS max_wait_ms
FROM waited
WHERE wait_ns > 0
GROUP BY waiting_rank, last_rank
ORDER BY sum(wait_ns) DESC, waiting_rank, last_rank
LIMIT coalesce(:limit, -1);
