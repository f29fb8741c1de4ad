-- Samples of GPUs, and which rank computes on which of them.

CREATE VIEW gpu_moments AS
-- One GPU at one time: what a line of nvidia-smi, dmon or gpustat is of.
--   run: a name in runs; NULL: the file lies beside several runs, and none of them alone was at
--     work then
--   host: the machine, as the file, its name or the run tells
--   gpu: the number that the tool gives it; negative, and the file's own, where it gives a uuid or
--     bus id instead: nobody knows which rank's that is
--   at_ns: Unix time; NULL where the zone, the date or the time is unknown
--   time_source: zone given, guessed by load (against the kernels), guessed by log (the zone of one
--     of the same job, whose iterations are profiled steps), zone unknown, date unknown, no times
--   local_ns: what the file says, as if local time were UTC
--   source_id: in sources
--   moment: its number in the source, from 1
--   run_id: in runs
SELECT coalesce(r.run, j.run) AS run, coalesce(z.host, s.host) AS host, m.gpu,
       m.local_ns - z.utc_offset_ns AS at_ns, z.time_source, m.local_ns, m.source_id, m.moment,
       coalesce(s.run_id, d.run_id) AS run_id
FROM _gpu_moment m JOIN _gpu_sample_zone z ON z.source_id = m.source_id
     JOIN _source s ON s.source_id = m.source_id
     LEFT JOIN _run r ON r.run_id = s.run_id
     LEFT JOIN _gpu_sample_run d ON s.run_id IS NULL
       AND m.local_ns - z.utc_offset_ns BETWEEN d.start_ns AND d.end_ns
     LEFT JOIN _run j ON j.run_id = d.run_id;

CREATE VIEW gpu_samples AS
-- A value of a GPU at a time, as nvidia-smi, dmon or gpustat has it. A text has a row where it
-- differs from the one before.
--   run: as in gpu_moments
--   host: the machine, as the file, its name or the run tells
--   gpu: as in gpu_moments
--   at_ns: Unix time; NULL where the zone, the date or the time is unknown
--   name: of the value, as the tool calls it
--   value: the number, Active as 1 and Not Active as 0; or the text
--   unit: as the tool writes it; nvidia-smi's MiB are MB in dmon and gpustat
--   quantity: what it is, in words that the tools share: utilization, memory_used, memory_total,
--     power, sm_clock, memory_clock, temperature, throttle.*, throttle_mask; NULL: of one tool
--   time_source: as in gpu_moments
--   local_ns: what the file says, as if local time were UTC
--   source_id: in sources
--   moment: in gpu_moments: the values of one line
--   run_id: in runs
SELECT m.run, m.host, m.gpu, m.at_ns, n.name, v.value, n.unit, n.quantity, m.time_source,
       m.local_ns, m.source_id, m.moment, m.run_id
FROM gpu_moments m
     JOIN _gpu_sample v ON v.source_id = m.source_id AND v.moment = m.moment
     JOIN _gpu_sample_name n ON n.source_id = v.source_id AND n.name_id = v.name_id;

CREATE VIEW rank_gpus AS
-- Which GPU of which machine a rank computes on, where its traces tell it and no other rank's the
-- same.
--   run: a name in runs
--   rank: of that run
--   host: the machine; NULL: no trace names it, but all ranks of the job are there with GPUs of
--     different numbers
--   gpu: the device on which its kernels ran longest
--   is_only_host: 1: all ranks of the run that were recorded are on this machine
--   run_id: in runs
WITH used AS (
  SELECT t.run_id, t.rank, max(t.host) AS host, max(t.world_size) AS world_size, u.device,
         row_number() OVER (PARTITION BY t.run_id, t.rank
                            ORDER BY sum(u.compute_ns) DESC, u.device) AS place
  FROM _device_use u JOIN _trace t ON t.trace_id = u.trace_id
  GROUP BY t.run_id, t.rank, u.device
),
placed AS (
  SELECT run_id, rank, host, world_size, device,
         count(*) OVER (PARTITION BY run_id, host, device) AS sharing
  FROM used WHERE place = 1
),
job AS (
  SELECT run_id, count(*) AS ranks, count(host) AS told, count(DISTINCT host) AS hosts,
         count(DISTINCT device) AS devices, max(world_size) AS world_size
  FROM placed GROUP BY run_id
)
SELECT r.run, p.rank, p.host, p.device AS gpu,
       CASE WHEN j.hosts = 1 AND j.told = j.ranks THEN 1
            WHEN j.told = 0 AND j.ranks = j.world_size AND j.devices = j.ranks THEN 1
            ELSE 0 END AS is_only_host,
       p.run_id
FROM placed p JOIN job j ON j.run_id = p.run_id LEFT JOIN _run r ON r.run_id = p.run_id
WHERE p.sharing = 1 AND (p.host IS NOT NULL OR j.told = 0 AND j.ranks = j.world_size
                         AND j.devices = j.ranks);

CREATE VIEW rank_clock_samples AS
-- SM clocks at times that are known, of GPUs of which it is known whose they are.
--   run_id: in runs
--   rank: of that run: the one that computes on the GPU
--   at_ns: Unix time
--   mhz: the clock
--   period_ns: how far apart the samples of this GPU are in the file, on average; 0 of a single one
SELECT g.run_id, g.rank, s.at_ns, s.value AS mhz,
       (max(s.at_ns) OVER of_gpu - min(s.at_ns) OVER of_gpu)
         / CASE WHEN count(*) OVER of_gpu > 1 THEN count(*) OVER of_gpu - 1 ELSE 1 END AS period_ns
FROM gpu_samples s CROSS JOIN rank_gpus g  -- in this order
WHERE g.run_id = s.run_id AND g.gpu = s.gpu
  AND (g.host = s.host OR g.is_only_host AND (s.host IS NULL OR g.host IS NULL))
  AND s.quantity = 'sm_clock' AND s.at_ns IS NOT NULL AND typeof(s.value) <> 'text'
  AND CAST(s.value AS TEXT) GLOB '[-0-9]*'  -- DuckDB has other names of types
WINDOW of_gpu AS (PARTITION BY g.run_id, s.source_id, s.gpu);
