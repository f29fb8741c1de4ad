-- title: What each GPU did over time, as it was sampled
--
-- From nvidia-smi, dmon or gpustat: means over bins of one length, of each file from its first
-- sample to its last. Reasons to run slower are those that some sample of the bin has, but that the
-- GPU was idle. The samples of files without times are numbered, and bins are of numbers.
--
-- param:  bins   int(count)  = 100          Bins, and so rows of a GPU, at most.
-- param:  value  text        = utilization  What the column value has, to be drawn: utilization,
--                                           memory_used, power, sm_clock, temperature ... (see
--                                           gpu_samples.quantity, or its name)
-- param:  run    text        = null         This run only; all samples when null.
-- param:  gpu    ints(id)    = null         These GPUs only.
--
-- column: run                text         The run; NULL: beside several, none alone at work.
-- column: kind               text         The tool.
-- column: host               text         The machine, where it is known.
-- column: gpu                int(id)      The number that the tool gives the GPU; negative: by
--                                         its uuid, in the order of the file (gpu_moments).
-- column: bin                int(count)   The number of the bin, from 0.
-- column: at_utc             text         Its first sample's time in UTC; NULL: unknown.
-- column: start_ms           real(ms)     The same since the file's first sample; NULL: no times.
-- column: samples            int(count)   Lines of the file.
-- column: utilization_pct    real(pct)    In which a kernel ran.
-- column: memory_used_bytes  int(bytes)   The most.
-- column: power_w            real(watts)  Mean.
-- column: sm_clock_mhz       real(mhz)    Mean.
-- column: temperature_c      real(celsius)  The most.
-- column: throttle           text         Reasons to run slower.
-- column: time_source        text         How times are known: zone given, guessed by load ...
-- column: value              real(count)  Mean of what was asked for; NULL: a text.
--
-- about:  logs, settings, GPU samples
-- lead:   host, gpu, at_utc, utilization_pct, memory_used_bytes, sm_clock_mhz, throttle
-- plot:   line value over bin by run, kind, gpu
-- empty:  There is no sample of a GPU: ingest what nvidia-smi --query-gpu=... --format=csv -l 1,
--         nvidia-smi dmon -o DT or gpustat -i wrote.

WITH file AS MATERIALIZED (
  SELECT m.source_id, s.kind, min(coalesce(m.at_ns, m.local_ns)) AS first_ns,
         max(coalesce(m.at_ns, m.local_ns)) AS last_ns, max(m.moment) AS moments,
         min(max(coalesce(:bins, 100), 1), 1000000) AS bins
  FROM gpu_moments m JOIN sources s ON s.source_id = m.source_id GROUP BY m.source_id
),
reason AS (
  SELECT column1 AS bit, column2 AS name
  FROM (VALUES (2, 'applications_clocks_setting'), (4, 'sw_power_cap'), (8, 'hw_slowdown'),
               (16, 'sync_boost'), (32, 'sw_thermal_slowdown'), (64, 'hw_thermal_slowdown'),
               (128, 'hw_power_brake_slowdown'), (256, 'display_clock_setting'))
),
sample AS (
  SELECT s.*, CASE WHEN typeof(s.value) <> 'text' THEN s.value END AS number, f.kind,
         coalesce(s.at_ns, s.local_ns) - f.first_ns AS since_ns,
         CASE WHEN f.first_ns IS NULL THEN (s.moment - 1) * f.bins / max(f.moments, 1)
           ELSE (coalesce(s.at_ns, s.local_ns) - f.first_ns)
                / ((f.last_ns - f.first_ns) / f.bins + 1) END AS bin
  FROM gpu_samples s JOIN file f ON f.source_id = s.source_id
  WHERE (:run IS NULL OR s.run = :run)
    AND (:gpu IS NULL OR s.gpu IN (SELECT value FROM json_each(:gpu)))
),
said AS (
  SELECT s.source_id, s.run, s.gpu, s.bin, substr(s.quantity, 10) AS reason FROM sample s
  WHERE s.quantity LIKE 'throttle.%' AND s.quantity <> 'throttle.gpu_idle' AND s.value > 0
    AND typeof(s.value) <> 'text'
  UNION
  SELECT s.source_id, s.run, s.gpu, s.bin, r.name FROM sample s JOIN reason r
  WHERE s.quantity = 'throttle_mask' AND typeof(s.value) = 'integer' AND s.value & r.bit
),
reasons AS MATERIALIZED (
  SELECT source_id, run, gpu, bin, group_concat(reason, ', ') AS throttle
  FROM (SELECT * FROM said ORDER BY source_id, run, gpu, bin, reason)
  GROUP BY source_id, run, gpu, bin
),
binned AS (
  SELECT source_id, run, kind, max(host) AS host, gpu, bin, min(at_ns) AS at_ns,
         min(since_ns) AS since_ns, count(DISTINCT moment) AS samples,
         avg(CASE quantity WHEN 'utilization' THEN number END) AS utilization,
         max(CASE quantity WHEN 'memory_used' THEN number END) AS memory_mib,
         avg(CASE quantity WHEN 'power' THEN number END) AS power,
         avg(CASE quantity WHEN 'sm_clock' THEN number END) AS sm_clock,
         max(CASE quantity WHEN 'temperature' THEN number END) AS temperature,
         max(time_source) AS time_source,
         avg(CASE WHEN quantity = coalesce(:value, 'utilization') OR name = :value
               THEN number END) AS value
  FROM sample
  WHERE quantity IN ('utilization', 'memory_used', 'power', 'sm_clock', 'temperature')
     OR quantity = :value OR name = :value
  GROUP BY source_id, run, gpu, bin
)
SELECT
  b.run,
  b.kind,
  b.host,
  b.gpu,
  b.bin,
  strftime('%Y-%m-%d %H:%M:%S', b.at_ns / 1000000000, 'unixepoch')
    || printf('.%03d', b.at_ns / 1000000 % 1000) AS at_utc,
  b.since_ns / 1e6 AS start_ms,
  b.samples,
  b.utilization AS utilization_pct,
  CAST(b.memory_mib * 1048576 AS INTEGER) AS memory_used_bytes,
  b.power AS power_w,
  b.sm_clock AS sm_clock_mhz,
  b.temperature AS temperature_c,
  r.throttle,
  b.time_source,
  b.value
FROM binned b LEFT JOIN reasons r ON r.source_id = b.source_id AND r.run IS b.run
  AND r.gpu IS b.gpu AND r.bin = b.bin
ORDER BY b.source_id, b.gpu, b.bin, b.run;
