-- What Nsight Compute has written of kernels. A job is often profiled in pieces: in batches of
-- kernels (--launch-skip), one GPU at a time, some metrics at a time. Here the pieces are one.

CREATE VIEW _ncu_lane AS
-- The kernels of one process in a file, and which they are in their rank's order. Files with the
-- same metrics (or the tables of a file that was put together of several) are batches, one after
-- the other by their names (batch_10 after batch_9); files with other metrics begin anew with the
-- same kernels. ncu counts ids from 0 in every report: where the
-- ids of a batch do not begin anew, they are those of the rank; else batches are put one behind the
-- other, and where their names count by one, or by the kernels in each, a batch that is missing
-- leaves its place empty.
WITH told AS (
  SELECT p.source_id, p.process, p.kernels, p.first_id, s.run_id, f.name_order, f.name_number,
         f.double_ids, p.process_id, p.process_name, p.host, p.device, p.cc,
         coalesce(s.run_id, -1000000000000 - s.source_id) AS run_key, s.rank AS file_rank,
         p.metric_set,
         CASE WHEN c.processes > 1 THEN p.place END AS place,
         CASE WHEN c.processes = 1 AND f.double_ids = 0 THEN 1 ELSE 0 END AS has_ids,
         CASE WHEN c.processes = 1 AND f.double_ids = 0 THEN p.last_id
              ELSE p.first_id + p.kernels - 1 END AS last_id
  FROM _ncu_process p JOIN _source s ON s.source_id = p.source_id
       JOIN _ncu_file f ON f.source_id = p.source_id
       JOIN (SELECT source_id, table_no, count(*) AS processes FROM _ncu_process
             GROUP BY source_id, table_no) c
         ON c.source_id = p.source_id AND c.table_no = p.table_no
),
ranked AS (
  SELECT *, coalesce(file_rank, place) AS rank,
         row_number() OVER (PARTITION BY run_key, file_rank, place, metric_set
                            ORDER BY name_order, source_id, process) AS batch,
         count(*) OVER (PARTITION BY run_key, file_rank, place, metric_set) AS batches,
         min(first_id) OVER (PARTITION BY run_key, file_rank, place, metric_set) AS least_id,
         min(has_ids) OVER (PARTITION BY run_key, file_rank, place, metric_set) AS have_ids,
         lag(last_id) OVER (PARTITION BY run_key, file_rank, place, metric_set
                            ORDER BY name_order, source_id, process) AS last_before,
         lag(first_id) OVER (PARTITION BY run_key, file_rank, place, metric_set
                             ORDER BY name_order, source_id, process) AS first_before,
         lag(name_number) OVER (PARTITION BY run_key, file_rank, place, metric_set
                                ORDER BY name_order, source_id, process) AS number_before
  FROM told
),
sized AS (
  SELECT *, CASE WHEN have_ids = 1 THEN last_id - least_id + 1 ELSE kernels END AS size,
         CASE WHEN last_before >= first_id AND first_before >= first_id THEN 1 ELSE 0 END
           AS begins_anew,
         name_number - number_before AS number_step
  FROM ranked
),
series AS (
  SELECT run_key, coalesce(file_rank, -1) AS rank_key, coalesce(place, -1) AS place_key, metric_set,
         max(begins_anew) AS begins_anew,
         min(number_step) AS number_step, count(number_step) AS steps, min(name_number) AS first,
         min(CASE WHEN batch < batches THEN size END) AS least_size,
         max(CASE WHEN batch < batches THEN size END) AS full_size,
         max(CASE WHEN batch = batches THEN size END) AS last_size, max(batches) AS batches
  FROM sized GROUP BY run_key, file_rank, place, metric_set
)
SELECT z.*,
       CASE WHEN z.have_ids = 1 AND e.begins_anew = 0 THEN z.least_id ELSE
         CASE WHEN e.least_size = e.full_size AND e.last_size <= e.full_size
                   AND e.steps = e.batches - 1 AND e.number_step IN (1, e.full_size)
              THEN (z.name_number - e.first) * (e.full_size / e.number_step)
              ELSE sum(z.size) OVER (PARTITION BY z.run_key, z.file_rank, z.place, z.metric_set
                                     ORDER BY z.batch ROWS UNBOUNDED PRECEDING) - z.size
         END END AS first_kernel,
       e.full_size
FROM sized z CROSS JOIN series e  -- in this order: SQLite makes an index of all four for e
WHERE e.run_key = z.run_key AND e.rank_key = coalesce(z.file_rank, -1)
      AND e.place_key = coalesce(z.place, -1) AND e.metric_set = z.metric_set;

CREATE VIEW ncu_files AS
-- A file of kernels that Nsight Compute has profiled, one row a process in it.
--   run: a name in runs
--   rank: of the process, where the file's name tells it, or there are several processes in it:
--     then as their process ids come
--   path: as it was given to ingest
--   batch: which of the files with the same metrics of the rank it is, by name, from 1
--   first_kernel: its first in ncu_kernels
--   kernels: how many
--   last_kernel: its last
--   full_kernels: how many a batch has, other than the last
--   metric_set: of the metrics that ncu was asked for; files with the same are batches
--   name_number: the last number in the file's name that is no rank
--   page: raw or details
--   process_id: of the process
--   device: a number, or a name
--   empty_cells: metrics without a value in some kernel, in the whole file: they have no row
--   decimal_mark: of its numbers; NULL where no number told
--   decimal_evidence: the number that told
--   unread_numbers: numbers of the file that can be read in two ways, or not in its locale: they
--     have no value, and stand as written
--   missing_ids: ids left out between two kernels of the file
--   double_ids: kernels of the file whose id is not above that of the one before
--   source_id: in sources
SELECT r.run, l.rank, s.path, l.batch,
       l.first_kernel + CASE WHEN l.have_ids = 1 THEN l.first_id - l.least_id ELSE 0 END
         AS first_kernel,
       l.kernels,
       l.first_kernel + CASE WHEN l.have_ids = 1 THEN l.last_id - l.least_id ELSE l.kernels - 1 END
         AS last_kernel,
       l.full_size AS full_kernels, l.metric_set, l.name_number, f.page, l.process_id, l.device,
       f.empty_cells, f.decimal_mark, f.decimal_evidence, f.unread_numbers, f.missing_ids,
       f.double_ids, l.source_id
FROM _ncu_lane l JOIN _source s ON s.source_id = l.source_id
     JOIN _ncu_file f ON f.source_id = l.source_id LEFT JOIN _run r ON r.run_id = l.run_id;

CREATE VIEW _ncu_kernel_place AS
-- A row of _ncu_kernel: which kernel of its rank it is.
SELECT k.source_id, k.kernel, l.run_key, l.run_id, l.rank, l.place, l.process_id, l.process_name,
       l.host, l.device, l.cc,
       l.first_kernel + CASE WHEN l.have_ids = 1 THEN k.id - l.least_id ELSE k.position END
         AS ordinal,
       k.id, k.name_id, k.grid, k.block, k.context, k.stream, k.kernel_time, k.duration,
       k.duration_unit, k.dur_ns
FROM _ncu_kernel k JOIN _ncu_lane l ON l.source_id = k.source_id AND l.process = k.process;

CREATE VIEW ncu_kernels AS
-- A kernel that Nsight Compute has profiled, whatever number of files have metrics of it: rows
-- of one rank, ordinal and name are one kernel.
--   run: a name in runs
--   rank: as in ncu_files
--   kernel: its number in the order of its rank, over all batches
--   name: as ncu writes it, which shortens types
--   grid: blocks, as [x,y,z]
--   block: threads of a block, as [x,y,z]
--   dur_ns: gpu__time_duration.sum; of a kernel that was replayed alone
--   duration: the same as written
--   duration_unit: of duration
--   kind: compute, communication or memory, by kind_rules
--   base_name: of the function alone
--   device: a number, or a name
--   cc: compute capability
--   context: number of the CUDA context
--   stream: number of the stream
--   host: the machine's name
--   process_id: of the profiled process
--   process_name: of the same
--   kernel_time: when it ran, in older files: local time as written
--   id: as its first file has it
--   files: how many have metrics of it
--   source_id: the first of them, in sources
--   run_id: in runs
WITH merged AS (  -- of a duration the first file that has one
  SELECT p.run_key, p.run_id, p.rank, p.place, p.ordinal, n.name,
         min(p.source_id * 4294967296 + p.kernel) AS first_row,
         min(CASE WHEN p.dur_ns IS NULL THEN NULL
                  ELSE p.source_id * 4294967296 + p.kernel END) AS timed_row,
         count(DISTINCT p.source_id) AS files
  FROM _ncu_kernel_place p
       JOIN _ncu_kernel_name n ON n.source_id = p.source_id AND n.name_id = p.name_id
  GROUP BY p.run_key, p.run_id, p.rank, p.place, p.ordinal, n.name
)
SELECT r.run, m.rank, m.ordinal AS kernel, m.name, k.grid, k.block, t.dur_ns, t.duration,
       t.duration_unit,
       ifnull((SELECT u.kind FROM kind_rules u WHERE instr(lower(m.name), u.pattern) > 0
               ORDER BY length(u.pattern) DESC, u.pattern LIMIT 1), 'compute') AS kind,
       n.base_name, c.device, c.cc, k.context, k.stream, c.host, c.process_id, c.process_name,
       k.kernel_time, k.id, m.files, k.source_id, m.run_id
FROM merged m
     JOIN _ncu_kernel k ON k.source_id = m.first_row >> 32
                        AND k.kernel = m.first_row % 4294967296
     LEFT JOIN _ncu_kernel t ON t.source_id = m.timed_row >> 32
                             AND t.kernel = m.timed_row % 4294967296
     JOIN _ncu_process c ON c.source_id = k.source_id AND c.process = k.process
     JOIN _ncu_kernel_name n ON n.source_id = k.source_id AND n.name_id = k.name_id
     LEFT JOIN _run r ON r.run_id = m.run_id;

CREATE VIEW ncu_metrics AS
-- A metric of a kernel in ncu_kernels.
--   run: a name in runs
--   rank: as in ncu_files
--   kernel: as in ncu_kernels
--   name: of the kernel
--   metric: as in the file: dram__bytes_read.sum
--   section: of --page details
--   value: its number, in the unit as written; NULL where it is none
--   unit: as written
--   value_si: the number in base units
--   unit_si: of value_si: s, byte, hz, byte/s; as unit where that is one
--   value_text: as written
--   source_id: in sources
SELECT r.run, p.rank, p.ordinal AS kernel, k.name, n.metric, n.section, m.value, n.unit,
       ifnull(m.value_si, @double:m.value@) AS value_si, n.unit_si,
       ifnull(m.text, CAST(m.value AS TEXT)) AS value_text, m.source_id
FROM _ncu_metric m
     JOIN _ncu_metric_name n ON n.source_id = m.source_id AND n.metric_id = m.metric_id
     JOIN _ncu_kernel_place p ON p.source_id = m.source_id AND p.kernel = m.kernel
     JOIN _ncu_kernel_name k ON k.source_id = p.source_id AND k.name_id = p.name_id
     LEFT JOIN _run r ON r.run_id = p.run_id;

CREATE VIEW ncu_rules AS
-- What a rule of Nsight Compute says of a kernel, in files of --page details.
--   run: a name in runs
--   rank: as in ncu_files
--   kernel: as in ncu_kernels
--   name: of the kernel
--   section: of the report
--   rule: its name
--   type: OPT: something to do; INF, WRN, ...
--   description: its text
--   speedup_type: global, local or none
--   speedup_pct: what it estimates
--   source_id: in sources
SELECT r.run, p.rank, p.ordinal AS kernel, k.name, u.section, u.rule, u.type, u.description,
       u.speedup_type, u.speedup AS speedup_pct, u.source_id
FROM _ncu_rule u JOIN _ncu_kernel_place p ON p.source_id = u.source_id AND p.kernel = u.kernel
     JOIN _ncu_kernel_name k ON k.source_id = p.source_id AND k.name_id = p.name_id
     LEFT JOIN _run r ON r.run_id = p.run_id;

CREATE VIEW ncu_metric_descriptions AS
-- What a metric means, as ncu --query-metrics prints it.
--   run: a name in runs
--   metric: without its last parts: dram__bytes_read
--   type: Counter, Ratio or Throughput
--   unit: of its values
--   description: its text
--   parts: what is to be put behind it, such as .sum, where the file lists that
--   device: of which GPU the list is
--   source_id: in sources
SELECT s.run, d.metric, d.type, d.unit, d.description, d.parts, d.device, d.source_id
FROM _ncu_metric_description d JOIN sources s ON s.source_id = d.source_id;

CREATE VIEW ncu_trace_kernels AS
-- A kernel in ncu_kernels and the same in a trace of its run: the n-th of the rank with this
-- function, grid and block in both. Of files that tell no rank, the trace of the lowest one.
--   run: a name in runs
--   rank: as in ncu_files
--   kernel: as in ncu_kernels
--   slice_id: in kernels
--   trace_rank: of the trace
WITH counted AS (
  SELECT p.run_id, r.run, p.rank, p.ordinal, n.base_name, p.grid, p.block,
         coalesce(p.rank, (SELECT min(t.rank) FROM _trace t WHERE t.run_id = p.run_id))
           AS trace_rank,
         row_number() OVER (PARTITION BY p.run_id, p.rank, n.base_name, p.grid, p.block
                            ORDER BY p.ordinal) AS nth
  FROM (SELECT run_id, rank, ordinal, source_id, name_id, grid, block,
               row_number() OVER (PARTITION BY run_id, rank, place, ordinal
                                  ORDER BY source_id, kernel) AS turn
        FROM _ncu_kernel_place) p
       JOIN _ncu_kernel_name n ON n.source_id = p.source_id AND n.name_id = p.name_id
       JOIN _run r ON r.run_id = p.run_id
  WHERE p.turn = 1
),
traced AS (
  SELECT t.run_id, t.rank, s.id, n.short, a.grid, a.block,
         row_number() OVER (PARTITION BY t.run_id, t.rank, n.short, a.grid, a.block
                            ORDER BY s.ts + c.base_ns, s.id) AS nth
  FROM _gpu_slice s JOIN _track c ON c.id = s.track JOIN _trace t ON t.trace_id = c.trace_id
       JOIN _nsight_name n ON n.event_name = s.event_name
       JOIN _args_text a ON a.id = s.args_text
  WHERE s.kind <> 2 AND t.run_id IN (SELECT run_id FROM counted)
)
SELECT c.run, c.rank, c.ordinal AS kernel, s.id AS slice_id, c.trace_rank
FROM counted c CROSS JOIN traced s  -- in this order: most databases have none of the former
WHERE s.run_id = c.run_id AND s.rank = c.trace_rank AND s.short = c.base_name
      AND s.grid = c.grid AND s.block = c.block AND s.nth = c.nth;
