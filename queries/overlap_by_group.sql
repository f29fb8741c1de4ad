-- title: Is communication hidden behind computation, by group
--
-- One row for each communicator that a GPU of a run takes part in, over the run's captures: how
-- long its kernels ran, and how much of that some compute kernel ran too. Groups that communicate
-- at one time count in each, so exposed_comm of the groups may add up to more than that of
-- `overlap`. What is exposed may be waiting (see `nccl_stalls`) or transfer.
--
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  step     ints(count) = null  Only what was launched in these steps; all when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run                text        The run: one training job that was recorded.
-- column: rank               int(id)     The rank.
-- column: device             text        The GPU, as the trace calls it.
-- column: parallelism        text        tensor, pipeline, data, expert, context or other: by
--                                        group_description and the table parallelism_rules.
-- column: group_name         text        The communicator's name in the trace; NULL with the two
--                                        below: kernels of which the trace tells no group.
-- column: group_description  text        What the job calls it.
-- column: group_ranks        text        Its ranks, sorted.
-- column: kernels            int(count)  Its communication kernels.
-- column: comm_ms            real(ms)    Some of them ran.
-- column: overlap_ms         real(ms)    And some compute kernel too.
-- column: overlap_pct        real(pct)   overlap_ms of comm_ms.
-- column: exposed_comm_ms    real(ms)    And no compute kernel.
-- column: exposed_span_pct   real(pct)   exposed_comm_ms of the GPU's spans in the captures.
--
-- about:  steps and GPU time
-- lead:   rank, parallelism, group_description, comm_ms, overlap_pct, exposed_comm_ms,
--         exposed_span_pct
-- plot:   bar exposed_comm_ms by run, rank, device, parallelism, group_description,
--         group_ranks
-- empty:  No communication kernel is in the database, or none of that rank and step.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH recorded AS MATERIALIZED (
  SELECT trace_id, run_id, run, rank FROM traces
  WHERE (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
    AND (:run IS NULL OR run = :run)
    AND (:capture IS NULL OR capture = :capture)
),
kernel AS (
  SELECT t.trace_id, t.device, p.group_id, p.ts_ns AS start_ns,
         p.ts_ns + ifnull(p.dur_ns, 0) AS end_ns
  FROM collectives p CROSS JOIN activities g ON g.slice_id = p.slice_id
  CROSS JOIN tracks t ON t.track_id = g.track_id
  WHERE ifnull(p.dur_ns, 0) >= 0 AND p.trace_id IN (SELECT trace_id FROM recorded)
    AND (:step IS NULL OR p.step IN (SELECT value FROM json_each(:step)))
),
reached AS (  -- until: the latest end of an earlier kernel of the group
  SELECT *, max(end_ns) OVER (PARTITION BY trace_id, device, group_id ORDER BY start_ns, end_ns
                              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
  FROM kernel
),
piece AS MATERIALIZED (  -- what a kernel adds to the union
  SELECT trace_id, device, group_id, max(start_ns, ifnull(until_ns, start_ns)) AS start_ns,
         max(end_ns, ifnull(until_ns, end_ns)) AS end_ns
  FROM reached
),
in_time AS (
  SELECT trace_id, device, NULL AS group_id, ts_ns AS at_ns, dur_ns AS both_ns, NULL AS sign
  FROM busy_segments WHERE kinds & 3 = 3 AND trace_id IN (SELECT trace_id FROM recorded)
  UNION ALL SELECT trace_id, device, group_id, start_ns, 0, -1 FROM piece WHERE end_ns > start_ns
  UNION ALL SELECT trace_id, device, group_id, end_ns, 0, 1 FROM piece WHERE end_ns > start_ns
),
passed AS (  -- time until here in which computation and communication run, of the whole GPU
  SELECT trace_id, device, group_id, sign,
         sum(both_ns) OVER so_far
           - max(0, ifnull(max(iif(sign IS NULL, at_ns + both_ns, NULL)) OVER so_far - at_ns, 0))
           AS both_ns
  FROM in_time
  WINDOW so_far AS (PARTITION BY trace_id, device ORDER BY at_ns, sign IS NOT NULL
                    ROWS UNBOUNDED PRECEDING)
),
overlapped AS (
  SELECT trace_id, device, group_id, sum(sign * both_ns) AS overlap_ns
  FROM passed WHERE sign IS NOT NULL GROUP BY trace_id, device, group_id
),
used AS (
  SELECT trace_id, device, group_id, count(*) AS kernels, sum(end_ns - start_ns) AS comm_ns
  FROM piece GROUP BY trace_id, device, group_id
),
summed AS (  -- over the captures of a run
  SELECT r.run_id, r.run, r.rank, u.device, u.group_id, sum(u.kernels) AS kernels,
         sum(u.comm_ns) AS comm_ns, sum(ifnull(o.overlap_ns, 0)) AS overlap_ns
  FROM used u JOIN recorded r ON r.trace_id = u.trace_id
  LEFT JOIN overlapped o ON o.trace_id = u.trace_id AND o.device = u.device
    AND o.group_id IS u.group_id
  GROUP BY r.run_id, r.rank, u.device, u.group_id
),
spanned AS (
  SELECT r.run_id, r.rank, d.device, sum(d.end_ns - d.start_ns) AS span_ns
  FROM device_uses d JOIN recorded r ON r.trace_id = d.trace_id
  GROUP BY r.run_id, r.rank, d.device
)
SELECT
  u.run,
  u.rank,
  u.device,
  coalesce(n.parallelism, 'other') AS parallelism,
  n.name AS group_name,
  n.description AS group_description,
  n.ranks AS group_ranks,
  u.kernels,
  u.comm_ns / 1e6 AS comm_ms,
  u.overlap_ns / 1e6 AS overlap_ms,
  100.0 * u.overlap_ns / nullif(u.comm_ns, 0) AS overlap_pct,
  (u.comm_ns - u.overlap_ns) / 1e6 AS exposed_comm_ms,
  100.0 * (u.comm_ns - u.overlap_ns) / nullif(d.span_ns, 0) AS exposed_span_pct
FROM summed u
JOIN spanned d ON d.run_id = u.run_id AND d.rank = u.rank AND d.device = u.device
LEFT JOIN process_groups n ON n.group_id = u.group_id
ORDER BY u.run_id, u.rank, CAST(u.device AS INTEGER), u.device,
  u.comm_ns - u.overlap_ns DESC, n.ranks, u.group_id;
