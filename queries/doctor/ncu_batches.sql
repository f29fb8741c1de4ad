-- title: Batches of Nsight Compute with gaps or doubles
--
-- A job is profiled in batches of kernels (--launch-skip), one file each, which are put one behind
-- the other in the order of their names. Where the numbers in the names or the ids in the files
-- leave something out, or have it twice, that is said here; of batches whose names have no numbers
-- only that one is shorter than the others.
--
-- meaning: Behind a gap that no number tells of, kernels have lower numbers than in the job, and do
--   not match those of files with other metrics. GPU time is too short by what is missing, and too
--   long by what is there twice.
-- advice: Profile the missing batch, or take the double file out of the folder and ingest anew.
--
-- column: severity      text        finding, or note where nothing may be missing.
-- column: run           text        The run.
-- column: rank          int(id)     The rank, where the file's name tells it.
-- column: count         int(count)  How many kernels.
-- column: trouble       text        What is the matter.
-- column: first_kernel  int(id)     The first of them, as a number in ncu_kernels.
-- column: path          text        The file, or that in front of a gap.
-- column: source_id     int(id)     Its number in sources.
--
-- empty:  Batches of Nsight Compute have neither gaps nor doubles.

WITH placed AS (
  SELECT *, last_kernel - first_kernel + 1 AS span,
         lead(first_kernel) OVER series AS next_kernel,
         lead(name_number) OVER series AS next_number
  FROM ncu_files
  WINDOW series AS (PARTITION BY run, rank, metric_set ORDER BY batch)
),
told AS (
  SELECT 'finding' AS severity, *, 'a batch is missing behind this one' AS trouble,
         next_kernel - last_kernel - 1 AS n, last_kernel + 1 AS at
  FROM placed WHERE next_kernel > last_kernel + 1
  UNION ALL
  SELECT 'finding', *, 'its last kernels are in the next file as well',
         last_kernel - next_kernel + 1, next_kernel
  FROM placed WHERE next_kernel <= last_kernel
  UNION ALL
  SELECT 'finding', *, 'the next file has the same number in its name', span, first_kernel
  FROM placed WHERE next_number = name_number
  UNION ALL
  SELECT 'note', *, 'it is shorter than other batches', full_kernels - span, last_kernel + 1
  FROM placed WHERE next_kernel = last_kernel + 1 AND span < full_kernels
  UNION ALL
  SELECT 'finding', *, 'ids are left out in the file', missing_ids, NULL
  FROM placed WHERE missing_ids > 0
  UNION ALL
  SELECT 'finding', *, 'ids are in the file twice', double_ids, NULL
  FROM placed WHERE double_ids > 0
)
SELECT
  severity,
  run,
  rank,
  n AS count,
  trouble,
  at AS first_kernel,
  path,
  source_id
FROM told
ORDER BY severity, run, rank, metric_set, batch, trouble, source_id;
