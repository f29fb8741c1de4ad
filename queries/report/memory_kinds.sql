-- title: What memory was held for when most of it was
--
-- From the memory timelines that PyTorch's profiler exports (export_memory_timeline): the moment
-- at which tensors of all categories together held most, on the rank where that was most.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run       text        The run: one training job that was recorded.
-- column: rank      int(id)     The rank, where the file's name tells it.
-- column: category  text        Such as parameter, activation, gradient.
-- column: bytes     int(bytes)  What its tensors held.
-- column: share_pct real(pct)   Of all categories.
--
-- empty:  No memory timeline is in the database: ingest what export_memory_timeline wrote.

WITH placed AS (
  SELECT *, row_number() OVER (PARTITION BY run ORDER BY total_bytes DESC, source_id, moment) AS n
  FROM memory_categories WHERE :run IS NULL OR run = :run
),
peak AS MATERIALIZED (SELECT * FROM placed WHERE n = 1 AND total_bytes > 0),
category(run, rank, total_bytes, category, bytes) AS (
  SELECT run, rank, total_bytes, 'parameters', parameter_bytes FROM peak
  UNION ALL SELECT run, rank, total_bytes, 'states of optimizers', optimizer_state_bytes FROM peak
  UNION ALL SELECT run, rank, total_bytes, 'inputs', input_bytes FROM peak
  UNION ALL SELECT run, rank, total_bytes, 'temporaries', temporary_bytes FROM peak
  UNION ALL SELECT run, rank, total_bytes, 'activations', activation_bytes FROM peak
  UNION ALL SELECT run, rank, total_bytes, 'gradients', gradient_bytes FROM peak
  UNION ALL SELECT run, rank, total_bytes, 'what autograd holds', autograd_detail_bytes FROM peak
  UNION ALL SELECT run, rank, total_bytes, 'of no category', unknown_bytes FROM peak
)
SELECT run, rank, category, bytes, 100.0 * bytes / total_bytes AS share_pct
FROM category WHERE bytes > 0
ORDER BY run, bytes DESC, category;
