-- title: Is communication hidden behind computation, by group
--
-- One row for each communicator that a GPU takes part in: how long its kernels ran, and how much
-- of that some compute kernel ran too. Groups that communicate at one time count in each, so
-- exposed_comm of the groups may add up to more than that of `overlap`. What is exposed may be
-- waiting (see `nccl_stalls`) or transfer.
--
-- param:  rank  int(id)     = null  This rank only; all of them when null.
-- param:  step  int(count)  = null  Only what was launched in this step; all when null.
--
-- column: rank               int(id)     The rank.
-- column: device             text        The GPU, as the trace calls it.
-- column: parallelism        text        tensor, pipeline, data, expert or other: by the words in
--                                        group_description, of several the first of pipeline,
--                                        data, tensor, expert.
-- column: group_name         text        The communicator's name in the trace; NULL with the two
--                                        below: kernels of which the trace tells no group.
-- column: group_description  text        What the job calls it.
-- column: group_ranks        text        Its ranks, sorted.
-- column: kernels            int(count)  Its communication kernels.
-- column: comm_ms            real(ms)    Some of them ran.
-- column: overlap_ms         real(ms)    And some compute kernel too.
-- column: overlap_pct        real(pct)   overlap_ms of comm_ms.
-- column: exposed_comm_ms    real(ms)    And no compute kernel.
-- column: exposed_span_pct   real(pct)   exposed_comm_ms of the GPU's span.
--
-- plot:   bar exposed_comm_ms by rank, device, parallelism, group_ranks
-- empty:  No communication kernel is in the database, or none of that rank and step.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH kernel AS (
  SELECT t.rank, t.device, p.group_id, p.ts_ns AS start_ns,
         p.ts_ns + ifnull(p.dur_ns, 0) AS end_ns
  FROM collectives p CROSS JOIN activities g ON g.slice_id = p.slice_id
  CROSS JOIN tracks t ON t.track_id = g.track_id
  WHERE ifnull(p.dur_ns, 0) >= 0 AND (:rank IS NULL OR t.rank = :rank)
    AND (:step IS NULL OR p.step = :step)
),
reached AS (  -- until: the latest end of an earlier kernel of the group
  SELECT *, max(end_ns) OVER (PARTITION BY rank, device, group_id ORDER BY start_ns, end_ns
                              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
  FROM kernel
),
piece AS MATERIALIZED (  -- what a kernel adds to the union
  SELECT rank, device, group_id, max(start_ns, ifnull(until_ns, start_ns)) AS start_ns,
         max(end_ns, ifnull(until_ns, end_ns)) AS end_ns
  FROM reached
),
in_time AS (
  SELECT rank, device, NULL AS group_id, ts_ns AS at_ns, dur_ns AS both_ns, NULL AS sign
  FROM busy_segments WHERE kinds & 3 = 3 AND (:rank IS NULL OR rank = :rank)
  UNION ALL SELECT rank, device, group_id, start_ns, 0, -1 FROM piece WHERE end_ns > start_ns
  UNION ALL SELECT rank, device, group_id, end_ns, 0, 1 FROM piece WHERE end_ns > start_ns
),
passed AS (  -- time until here in which computation and communication run, of the whole GPU
  SELECT rank, device, group_id, sign,
         sum(both_ns) OVER so_far
           - max(0, ifnull(max(iif(sign IS NULL, at_ns + both_ns, NULL)) OVER so_far - at_ns, 0))
           AS both_ns
  FROM in_time
  WINDOW so_far AS (PARTITION BY rank, device ORDER BY at_ns, sign IS NOT NULL
                    ROWS UNBOUNDED PRECEDING)
),
overlapped AS (
  SELECT rank, device, group_id, sum(sign * both_ns) AS overlap_ns
  FROM passed WHERE sign IS NOT NULL GROUP BY rank, device, group_id
),
used AS (
  SELECT rank, device, group_id, count(*) AS kernels, sum(end_ns - start_ns) AS comm_ns
  FROM piece GROUP BY rank, device, group_id
)
SELECT
  u.rank,
  u.device,
  coalesce(n.parallelism, 'other') AS parallelism,
  n.name AS group_name,
  n.description AS group_description,
  n.ranks AS group_ranks,
  u.kernels,
  u.comm_ns / 1e6 AS comm_ms,
  ifnull(o.overlap_ns, 0) / 1e6 AS overlap_ms,
  100.0 * ifnull(o.overlap_ns, 0) / nullif(u.comm_ns, 0) AS overlap_pct,
  (u.comm_ns - ifnull(o.overlap_ns, 0)) / 1e6 AS exposed_comm_ms,
  100.0 * (u.comm_ns - ifnull(o.overlap_ns, 0)) / nullif(d.end_ns - d.start_ns, 0)
    AS exposed_span_pct
FROM used u
JOIN device_uses d ON d.rank = u.rank AND d.device = u.device
LEFT JOIN overlapped o ON o.rank = u.rank AND o.device = u.device AND o.group_id IS u.group_id
LEFT JOIN process_groups n ON n.group_id = u.group_id
ORDER BY u.rank, CAST(u.device AS INTEGER), u.device,
  u.comm_ns - ifnull(o.overlap_ns, 0) DESC, n.ranks, u.group_id;
