-- title: Waits between ranks whose clocks were never compared
--
-- The clocks of hosts are compared by the ends of collectives that they share; 8 ends are needed.
-- Looked for are collectives with a wait between ranks of different hosts whose clocks could not be
-- compared, directly or over others.
--
-- meaning: Clocks of two hosts differ by milliseconds and more. Where nothing tells by how much,
--   times stay as they were recorded, and what `nccl_stalls`, `nccl_stall_ranks`, `straggler_steps`
--   and `recommendations` say of waits between these ranks may be their clocks' difference.
--   Figures of each rank by itself hold.
-- advice: Record more steps (active=3 or more), so that the hosts share more collectives.
--   `tracedb query clocks` shows which ranks were compared with which.
--
-- column: severity       text        Always finding. Traces that name no host are left aside: all
--                                    may be of one.
-- column: run            text        The run.
-- column: capture        int(count)  The capture: its number in the run.
-- column: count          int(count)  Collectives with a wait between such ranks.
-- column: clocks         int(count)  Clocks, or groups of compared ones, that these are between.
-- column: max_wait_ms    real(ms)    The longest such wait, as the clocks show it.
-- column: example_rank   int(id)     The lowest rank that takes part.
-- column: path           text        Its file.
--
-- empty:  No rank waits for one whose clock was not compared with its own.

WITH known AS MATERIALIZED (
  SELECT t.trace_id, t.run_id, t.run, t.capture_id, t.capture, t.rank, t.path,
         CASE WHEN c.trace_id IS NOT NULL THEN 'as rank ' || c.reference_rank
              ELSE 'host ' || t.host END AS clock
  FROM traces t LEFT JOIN rank_clocks c ON c.trace_id = t.trace_id
  WHERE t.host IS NOT NULL
),
several AS MATERIALIZED (  -- elsewhere no collective need be looked at
  SELECT capture_id FROM known GROUP BY capture_id HAVING min(clock) < max(clock)
),
waited AS MATERIALIZED (
  SELECT p.capture_id, p.group_id, p.pair, p.by_seq, p.match_no,
         max(p.aligned_ts_ns) - min(p.aligned_ts_ns) AS wait_ns
  FROM several s CROSS JOIN collectives p ON p.capture_id = s.capture_id
  CROSS JOIN known k ON k.trace_id = p.trace_id
  WHERE p.group_id IS NOT NULL
  GROUP BY p.capture_id, p.group_id, p.pair, p.by_seq, p.match_no
  HAVING min(k.clock) < max(k.clock) AND min(p.aligned_ts_ns) < max(p.aligned_ts_ns)
),
part AS MATERIALIZED (
  SELECT DISTINCT w.capture_id, p.trace_id
  FROM waited w CROSS JOIN collectives p ON p.capture_id = w.capture_id
    AND p.group_id = w.group_id AND p.pair = w.pair AND p.by_seq = w.by_seq
    AND p.match_no = w.match_no
),
found AS (
  SELECT capture_id, count(*) AS count, max(wait_ns) / 1e6 AS max_wait_ms
  FROM waited GROUP BY capture_id
),
taking AS (
  SELECT p.capture_id, count(DISTINCT k.clock) AS clocks, min(k.rank) AS rank
  FROM part p JOIN known k ON k.trace_id = p.trace_id GROUP BY p.capture_id
)
SELECT
  'finding' AS severity,
  k.run,
  k.capture,
  f.count,
  g.clocks,
  f.max_wait_ms,
  g.rank AS example_rank,
  k.path
FROM found f JOIN taking g ON g.capture_id = f.capture_id
JOIN known k ON k.capture_id = f.capture_id AND k.rank = g.rank
ORDER BY k.run_id, k.capture;
