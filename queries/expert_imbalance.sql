-- title: Which expert rank gets most, and who waits for it
--
-- One row for each step of a capture and group with all-to-alls of uneven sizes (all_to_allv), as a
-- mixture of experts has: on the way there each rank sends its tokens to the ranks of their
-- experts, on the way back it gets the results. An expert rank's load is what it receives on the
-- way there and sends on the way back, both in bytes. Which way one goes shows in its sizes alone:
-- there all ranks send as much and receive differently, back it is the other way round. Where each
-- rank sends what it receives both are the same. All other all-to-alls are `unclear`, and left out
-- of the load: the trace does not tell their direction. `collective_splits` has the bytes to and
-- from each peer.
--
-- What explains a wait: on the way back ranks wait for the one that computes longest. Of such a
-- wait for the rank with the most load its surplus explains what its surplus in bytes takes at the
-- other ranks' speed, in compute time since the all-to-all before it in this group; no more than
-- that rank computed longer, and no more than the wait. What is left has other causes: see
-- `nccl_stalls`.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  step     ints(count) = null  These steps only; all of them when null.
--
-- column: run                text        The run: one training job that was recorded.
-- column: capture            int(count)  The capture, by its number in the run.
-- column: step               int(count)  The number in ProfilerStep#N; NULL: outside any.
-- column: group_name         text        The communicator, as the trace calls it.
-- column: group_description  text        Its description.
-- column: group_ranks        text        Its ranks.
-- column: collectives        int(count)  All-to-alls that at least one rank of the database is in.
-- column: unclear            int(count)  Of them those whose direction the trace does not tell.
-- column: imbalance          real(count)  The largest load over the mean: 1 is even. NULL, as
--                                        what follows but wait_ms: not known; `unknown` says why.
-- column: worst_imbalance    real(count)  The same of the most uneven single all-to-all.
-- column: most_rank          int(id)     The rank with the most load; NULL: all have the same.
-- column: most_share_pct     real(pct)   Its share of the load.
-- column: most_bytes         int(bytes)  Its load.
-- column: mean_bytes         real(bytes)  The load of a rank, on average.
-- column: wait_ms            real(ms)    Waits of all ranks, summed over the all-to-alls whose
--                                        ranks are all in the database.
-- column: explained_ms       real(ms)    Of it what most_rank's surplus explains; NULL where
--                                        nothing was computed before a way back.
-- column: explained_pct      real(pct)   Of wait_ms; NULL where nobody waited.
-- column: own_explained_ms   real(ms)    As explained_ms, of whichever rank has most load in each
--                                        all-to-all.
-- column: unknown            text        Why there is no imbalance: ranks missing (of the group,
--                                        in the database), sizes missing (in the trace), direction
--                                        unclear (of all of them).
--
-- about:  communication
-- lead:   step, group_description, most_rank, imbalance, most_share_pct, wait_ms, explained_pct
-- plot:   bar imbalance by step, group_description
-- empty:  No all-to-all of uneven sizes (all_to_allv) is in the database. Experts that exchange
--         tokens by kernels of their own (DeepEP, NVSHMEM) do not tell sizes.

WITH part AS MATERIALIZED (
  SELECT c.slice_id, c.capture_id, c.group_id, c.pair, c.by_seq, c.match_no, c.trace_id, c.rank,
         t.device, c.step,
         c.in_bytes, c.out_bytes, c.ts_ns, c.ts_ns + ifnull(c.dur_ns, 0) AS end_ns,
         c.aligned_ts_ns AS start_ns,
         max(c.ts_ns + ifnull(c.dur_ns, 0)) OVER (
           PARTITION BY c.group_id, c.trace_id, t.device, c.step ORDER BY c.ts_ns, c.slice_id
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
  FROM collectives c JOIN activity_times a ON a.slice_id = c.slice_id
  JOIN tracks t ON t.track_id = a.track_id
  WHERE c.collective = 'all_to_allv' AND c.group_id IS NOT NULL
    AND (:step IS NULL OR c.step IN (SELECT value FROM json_each(:step)))
    AND c.trace_id IN (SELECT trace_id FROM traces WHERE (:run IS NULL OR run = :run)
                         AND (:capture IS NULL OR capture = :capture))
),
exchange AS MATERIALIZED (
  SELECT p.capture_id, p.group_id, p.pair, p.by_seq, p.match_no, max(p.step) AS step,
         count(*) = count(DISTINCT p.rank) AND count(*) = max(g.size) AS is_whole,
         count(p.in_bytes) = count(*) AND count(p.out_bytes) = count(*) AS is_sized,
         max(p.in_bytes) = min(p.in_bytes) AS sends_evenly,
         max(p.out_bytes) = min(p.out_bytes) AS receives_evenly,
         sum(p.in_bytes = p.out_bytes) = count(*) AS is_symmetric,
         sum(p.start_ns - o.zero_ns) AS sum_ns, max(p.start_ns - o.zero_ns) * count(*) AS all_ns
  FROM part p CROSS JOIN origin o JOIN process_groups g ON g.group_id = p.group_id
  GROUP BY p.capture_id, p.group_id, p.pair, p.by_seq, p.match_no
),
told AS MATERIALIZED (  -- way: 1 there, 2 back, 3 either; NULL: not told
  SELECT *, row_number() OVER (ORDER BY capture_id, group_id, pair, by_seq, match_no) AS number,
         CASE WHEN NOT is_whole OR NOT is_sized THEN NULL
              WHEN is_symmetric OR (sends_evenly AND receives_evenly) THEN 3
              WHEN sends_evenly THEN 1
              WHEN receives_evenly THEN 2 END AS way,
         iif(is_whole, all_ns - sum_ns, 0) AS wait_ns
  FROM exchange
),
load AS MATERIALIZED (
  SELECT e.number, e.capture_id, e.group_id, e.step, e.way, p.trace_id, p.rank, p.device, p.ts_ns,
         p.before_ns, p.start_ns,
         iif(e.way = 2, p.in_bytes, p.out_bytes) AS bytes
  FROM told e JOIN part p ON p.capture_id = e.capture_id AND p.group_id = e.group_id
    AND p.pair = e.pair AND p.by_seq = e.by_seq AND p.match_no = e.match_no
  WHERE e.way IS NOT NULL
),
of_rank AS (
  SELECT capture_id, group_id, step, rank, sum(bytes) AS bytes
  FROM load GROUP BY capture_id, group_id, step, rank
),
of_group AS MATERIALIZED (
  SELECT capture_id, group_id, step, max(bytes) AS most_bytes, min(bytes) AS least_bytes,
         avg(bytes) AS mean_bytes, sum(bytes) AS all_bytes
  FROM of_rank GROUP BY capture_id, group_id, step
),
most AS MATERIALIZED (
  SELECT o.capture_id, o.group_id, o.step, min(o.rank) AS rank
  FROM of_rank o JOIN of_group g ON g.capture_id = o.capture_id AND g.group_id = o.group_id
    AND g.step IS o.step
  WHERE o.bytes = g.most_bytes AND g.most_bytes > g.least_bytes
  GROUP BY o.capture_id, o.group_id, o.step
),
worst AS (
  SELECT capture_id, group_id, step, max(ratio) AS ratio
  FROM (SELECT capture_id, group_id, step, 1.0 * max(bytes) / nullif(avg(bytes), 0) AS ratio
        FROM load GROUP BY number)
  GROUP BY capture_id, group_id, step
),
back AS MATERIALIZED (  -- a rank's part of a way back, and how long it computed before that
  SELECT l.*,
         ifnull((SELECT sum(max(0, min(b.end_ns, l.ts_ns) - max(b.ts_ns, l.before_ns)))
                 FROM busy_segments b
                 WHERE b.trace_id = l.trace_id AND b.device = l.device AND b.kinds & 1
                   AND b.ts_ns >= ifnull((SELECT max(f.ts_ns) FROM busy_segments f
                                          WHERE f.trace_id = l.trace_id AND f.device = l.device
                                            AND f.ts_ns <= l.before_ns), l.before_ns)
                   AND b.ts_ns < l.ts_ns), 0) AS compute_ns
  FROM load l WHERE l.way = 2 AND l.before_ns IS NOT NULL
),
lead AS MATERIALIZED (  -- with the most load: of the step, and of each all-to-all by itself
  SELECT DISTINCT b.number, m.rank, 1 AS of_step
  FROM back b JOIN most m ON m.capture_id = b.capture_id AND m.group_id = b.group_id
    AND m.step IS b.step
  UNION ALL
  SELECT b.number, min(b.rank), 0
  FROM back b JOIN (SELECT number, max(bytes) AS bytes FROM back GROUP BY number) t
    ON t.number = b.number AND t.bytes = b.bytes
  GROUP BY b.number
),
speed AS MATERIALIZED (  -- of all ranks but that
  SELECT l.number, l.of_step, l.rank, sum(b.compute_ns) AS compute_ns, sum(b.bytes) AS bytes
  FROM lead l JOIN back b ON b.number = l.number AND b.rank <> l.rank
  GROUP BY l.number, l.of_step
),
explained AS (
  SELECT f.capture_id, f.group_id, f.step,
         sum(n.ns) FILTER (WHERE n.of_step) AS ns, sum(n.ns) FILTER (WHERE NOT n.of_step) AS own_ns
  FROM (SELECT s.number, s.of_step,
               sum(max(0, min(f.start_ns - w.start_ns, f.compute_ns - w.compute_ns,
                              CAST(round(1.0 * (f.bytes - w.bytes) * s.compute_ns / s.bytes)
                                   AS INTEGER)))) AS ns
        FROM speed s JOIN back f ON f.number = s.number AND f.rank = s.rank
        JOIN back w ON w.number = s.number AND w.rank <> s.rank
        WHERE s.compute_ns > 0 AND s.bytes > 0
        GROUP BY s.number, s.of_step) n
  JOIN (SELECT DISTINCT number, capture_id, group_id, step FROM back) f ON f.number = n.number
  GROUP BY f.capture_id, f.group_id, f.step
),
summed AS (
  SELECT capture_id, group_id, step, count(*) AS collectives,
         sum(way IS NULL AND is_whole AND is_sized) AS unclear, sum(wait_ns) AS wait_ns,
         min(is_whole) AS is_whole, min(is_sized) AS is_sized, count(way) AS told
  FROM told GROUP BY capture_id, group_id, step
),
answer AS (
  SELECT s.*, CASE WHEN NOT s.is_whole THEN 'ranks missing' WHEN NOT s.is_sized THEN 'sizes missing'
                   WHEN s.told = 0 THEN 'direction unclear' END AS unknown
  FROM summed s
)
SELECT
  c.run,
  c.capture,
  a.step,
  n.name AS group_name,
  n.description AS group_description,
  n.ranks AS group_ranks,
  a.collectives,
  a.unclear,
  iif(a.unknown IS NULL, g.most_bytes / nullif(g.mean_bytes, 0), NULL) AS imbalance,
  iif(a.unknown IS NULL, w.ratio, NULL) AS worst_imbalance,
  iif(a.unknown IS NULL, m.rank, NULL) AS most_rank,
  iif(a.unknown IS NULL, 100.0 * g.most_bytes / nullif(g.all_bytes, 0), NULL) AS most_share_pct,
  iif(a.unknown IS NULL, g.most_bytes, NULL) AS most_bytes,
  iif(a.unknown IS NULL, g.mean_bytes, NULL) AS mean_bytes,
  a.wait_ns / 1e6 AS wait_ms,
  iif(a.unknown IS NULL, iif(m.rank IS NULL, 0, x.ns), NULL) / 1e6 AS explained_ms,
  iif(a.unknown IS NULL, 100.0 * iif(m.rank IS NULL, 0, x.ns) / nullif(a.wait_ns, 0), NULL)
    AS explained_pct,
  iif(a.unknown IS NULL, x.own_ns, NULL) / 1e6 AS own_explained_ms,
  a.unknown
FROM answer a JOIN captures c ON c.capture_id = a.capture_id
JOIN process_groups n ON n.group_id = a.group_id
LEFT JOIN of_group g ON g.capture_id = a.capture_id AND g.group_id = a.group_id
  AND g.step IS a.step
LEFT JOIN most m ON m.capture_id = a.capture_id AND m.group_id = a.group_id AND m.step IS a.step
LEFT JOIN worst w ON w.capture_id = a.capture_id AND w.group_id = a.group_id AND w.step IS a.step
LEFT JOIN explained x ON x.capture_id = a.capture_id AND x.group_id = a.group_id
  AND x.step IS a.step
ORDER BY c.run, c.capture, a.step, n.description, n.name, n.ranks, a.group_id;
