-- title: How much of each GPU's memory was used at most
--
-- From samples (nvidia-smi, dmon, gpustat: all processes of the GPU), from the profiler's memory
-- events (profile_memory=True: what the caching allocator took from the GPU, in the recorded
-- window), from memory snapshots (the same, at the dump), and from training logs (max reserved, of
-- ranks whose GPU is known). How much there is, a sample says or a
-- trace's header. Memory grows at most as the batch does; what is short, samples miss.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run               text        The run; NULL: samples beside several, at no run's time.
-- column: rank              int(id)     The rank, where it is known whose GPU it is.
-- column: host              text        The machine, where it is known.
-- column: gpu               int(id)     The GPU's number; negative: it has none (gpu_moments).
-- column: source            text        From where: the tool, memory events, memory snapshot, log.
-- column: peak_used_bytes   int(bytes)  The most that was used.
-- column: total_bytes       int(bytes)  What there is; NULL: nothing tells.
-- column: free_bytes        int(bytes)  Of that, never used.
-- column: used_pct          real(pct)   The most that was used, of what there is.
-- column: batch_times       int(count)  So many times the batch would fit, with 5 % to spare; 1: no
--                                       larger one for certain.
-- column: advice            text        What to do about it; NULL: nothing.
--
-- about:  memory
-- lead:   rank, gpu, used_pct, batch_times, advice
-- plot:   bar used_pct by run, source, host, gpu, rank
-- empty:  Nothing tells how much memory was used: ingest samples of nvidia-smi beside the traces,
--         or record with profile_memory=True.

WITH device AS MATERIALIZED (  -- of the headers
  SELECT t.run_id, t.run, t.rank, max(t.host) AS host,
         json_extract(d.value, '$.id') AS device,
         max(json_extract(d.value, '$.totalGlobalMem')) AS total_bytes
  FROM traces t
  CROSS JOIN json_each(CASE WHEN json_valid(t.header) THEN t.header END, '$.deviceProperties') d
  WHERE (:run IS NULL OR t.run = :run) AND d.type = 'object'
  GROUP BY t.run_id, t.run, t.rank, json_extract(d.value, '$.id')
),
sampled AS (
  SELECT s.run_id, s.run, s.host, s.gpu, src.kind AS source,
         max(CASE s.quantity WHEN 'memory_used' THEN s.value END) * 1048576 AS used_bytes,
         max(CASE s.quantity WHEN 'memory_total' THEN s.value END) * 1048576 AS total_bytes
  FROM gpu_samples s JOIN sources src ON src.source_id = s.source_id
  WHERE s.quantity IN ('memory_used', 'memory_total') AND typeof(s.value) <> 'text'
    AND (:run IS NULL OR s.run = :run)
  GROUP BY s.run_id, s.run, s.host, s.gpu, src.kind
),
sampled_of AS (  -- of whom, and the total from a header where no sample has it
  SELECT s.run, g.rank, coalesce(s.host, g.host) AS host, s.gpu, s.source, s.used_bytes,
         coalesce(s.total_bytes, (SELECT max(d.total_bytes) FROM device d
                                  WHERE d.run_id = s.run_id AND d.device = s.gpu
                                    AND d.rank = g.rank)) AS total_bytes
  FROM sampled s
  LEFT JOIN rank_gpus g ON g.run_id = s.run_id AND g.gpu = s.gpu
    AND (g.host = s.host OR g.is_only_host AND (s.host IS NULL OR g.host IS NULL))
),
reserved AS (  -- device_type 1 is CUDA, and what PyTorch calls so
  SELECT t.run_id, t.run, t.rank, m.device_id, max(p.max_reserved) AS used_bytes
  FROM memory_pieces p JOIN memory_devices m ON m.args_id = p.args_id
  JOIN traces t ON t.trace_id = p.trace_id
  WHERE m.device_type = 1 AND p.max_reserved > 0 AND (:run IS NULL OR t.run = :run)
  GROUP BY t.run_id, t.run, t.rank, m.device_id
),
dumped AS (
  SELECT m.run, m.rank, m.device, max(m.total_bytes) AS used_bytes
  FROM (SELECT run, rank, device, source_id, sum(total_bytes) AS total_bytes
        FROM memory_segments WHERE :run IS NULL OR run = :run
        GROUP BY run, rank, device, source_id) m
  GROUP BY m.run, m.rank, m.device
),
logged AS (
  SELECT l.run_id, l.run, l.rank, max(l.mb) * 1048576 AS used_bytes FROM log_memory l
  WHERE l.name = 'max reserved' AND l.rank IS NOT NULL AND (:run IS NULL OR l.run = :run)
  GROUP BY l.run_id, l.run, l.rank
),
used AS (
  SELECT run, rank, host, gpu, source, used_bytes, total_bytes FROM sampled_of
  UNION ALL
  SELECT r.run, r.rank, d.host, r.device_id, 'memory events', r.used_bytes, d.total_bytes
  FROM reserved r LEFT JOIN device d ON d.run_id = r.run_id AND d.rank = r.rank
    AND d.device = r.device_id
  UNION ALL
  SELECT m.run, m.rank, d.host, m.device, 'memory snapshot', m.used_bytes, d.total_bytes
  FROM dumped m LEFT JOIN device d ON d.run = m.run AND d.rank = m.rank AND d.device = m.device
  UNION ALL
  SELECT l.run, l.rank, g.host, g.gpu, 'log', l.used_bytes, d.total_bytes
  FROM logged l LEFT JOIN rank_gpus g ON g.run_id = l.run_id AND g.rank = l.rank
  LEFT JOIN device d ON d.run_id = l.run_id AND d.rank = l.rank AND d.device = g.gpu
),
told AS (
  SELECT *, max(CAST(0.95 * total_bytes / nullif(used_bytes, 0) AS INTEGER), 1) AS batch_times
  FROM used WHERE used_bytes IS NOT NULL
)
SELECT
  run,
  rank,
  host,
  gpu,
  source,
  CAST(used_bytes AS INTEGER) AS peak_used_bytes,
  CAST(total_bytes AS INTEGER) AS total_bytes,
  CAST(total_bytes - used_bytes AS INTEGER) AS free_bytes,
  100.0 * used_bytes / total_bytes AS used_pct,
  batch_times,
  CASE WHEN batch_times >= 2 AND run IS NOT NULL
    AND (rank IS NOT NULL  -- else not of one that nobody used, nor of one that may be another job's
         OR ifnull(gpu, 0) >= 0 AND 100 * used_bytes >= total_bytes)
    THEN printf('only %.0f %% of the memory is used: a batch %dx as large should fit',
                100.0 * used_bytes / total_bytes, batch_times) END AS advice
FROM told
ORDER BY run, source, host, gpu, rank;
