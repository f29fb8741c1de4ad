-- title: Kernels of each layer of a model
--
-- One row for each layer of a rank's model: the outermost nn.Module on a kernel's path whose class
-- is a layer's. Of a layer's class are two modules or more that the same code calls one after the
-- other, and they contain modules (Qwen3DecoderLayer_0, Qwen3DecoderLayer_1 ...); the number is
-- the profiler's, by first call. Kernels of graphs have the modules of their capture, kernels of a
-- backward pass those of the forward operator. What is in no such module stands in one row without
-- a layer. Wants a trace with modules: with_stack=True, or with_modules=True.
--
-- param:  limit    int(rows)   = 500   Rows returned at most for a run, by rank and layer.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  step     ints(count) = null  Launched in these steps only; in all when null.
--
-- column: run             text        The run: one training job that was recorded.
-- column: rank            int(id)     The rank.
-- column: class           text        The layer's class; NULL: in no layer.
-- column: layer           int(count)  Its number.
-- column: kernels         int(count)  Kernels, copies and fills launched in it.
-- column: names           int(count)  Of so many names.
-- column: gpu_ms          real(ms)    Their durations, summed.
-- column: share_pct       real(pct)   Of those of all kernels of the rank.
-- column: comm_ms         real(ms)    Of gpu_ms, communication kernels.
-- column: over_median_pct real(pct)   gpu_ms beyond the median of the class's layers, of that.
-- column: top_name        text        The kernel with the most time in it.
-- column: top_ms          real(ms)    Its time.
-- column: reason          text        Why kernels are in no layer.
--
-- about:  inference
-- lead:   rank, layer, kernels, gpu_ms, share_pct, over_median_pct, top_name
-- plot:   bar gpu_ms by run, rank, class, layer
-- empty:  No GPU activity is in the database.

WITH RECURSIVE trace AS MATERIALIZED (
  SELECT trace_id, run, run_id, rank FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
path AS MATERIALIZED (  -- also those of files of captures, which are no traces
  SELECT path_id, parent_id, trace_id, CASE kind WHEN 'module' THEN name END AS module,
         CASE kind WHEN 'module' THEN rtrim(name, '0123456789') END AS class
  FROM call_paths
),
nested (path_id, class) AS (  -- the class of the nearest module upwards
  SELECT path_id, class FROM path WHERE parent_id IS NULL
  UNION ALL
  SELECT p.path_id, coalesce(p.class, n.class)
  FROM nested n CROSS JOIN path p ON p.parent_id = n.path_id
),
holder AS MATERIALIZED (  -- classes that contain modules
  SELECT DISTINCT p.trace_id, n.class
  FROM path p JOIN nested n ON n.path_id = p.parent_id
  WHERE p.module IS NOT NULL AND n.class IS NOT NULL
),
layer_class AS MATERIALIZED (
  SELECT DISTINCT p.trace_id, p.class
  FROM path p JOIN holder h ON h.trace_id = p.trace_id AND h.class = p.class
  WHERE p.parent_id IS NOT NULL
  GROUP BY p.parent_id, p.class HAVING count(DISTINCT p.module) > 1
),
layered (path_id, layer) AS (
  SELECT p.path_id, CASE WHEN c.class IS NOT NULL THEN p.module END
  FROM path p LEFT JOIN layer_class c ON c.trace_id = p.trace_id AND c.class = p.class
  WHERE p.parent_id IS NULL
  UNION ALL
  SELECT p.path_id, coalesce(l.layer, (SELECT p.module FROM layer_class c
                                       WHERE c.trace_id = p.trace_id AND c.class = p.class))
  FROM layered l CROSS JOIN path p ON p.parent_id = l.path_id
),
layer AS MATERIALIZED (
  SELECT l.path_id, l.layer
  FROM layered l WHERE l.layer IS NOT NULL
  UNION ALL  -- in a module, and in no layer
  SELECT n.path_id, '' FROM nested n JOIN layered l ON l.path_id = n.path_id
  WHERE n.class IS NOT NULL AND l.layer IS NULL
),
used AS MATERIALIZED (
  SELECT t.run_id, t.run, t.rank, coalesce(nullif(l.layer, ''), nullif(f.layer, '')) AS layer,
         a.name_id, a.kind, count(*) AS kernels, sum(a.dur_ns) AS gpu_ns,
         count(l.layer) + count(f.layer) AS in_modules
  FROM activities a JOIN tracks k ON k.track_id = a.track_id
  JOIN trace t ON t.trace_id = k.trace_id
  LEFT JOIN launches u ON u.slice_id = a.slice_id
  LEFT JOIN layer l ON l.path_id = u.path_id LEFT JOIN layer f ON f.path_id = u.forward_path_id
  WHERE a.dur_ns >= 0 AND (:step IS NULL OR a.step IN (SELECT value FROM json_each(:step)))
  GROUP BY t.run_id, t.run, t.rank, 4, a.name_id, a.kind
),
named AS (
  SELECT u.*, n.name, row_number() OVER (PARTITION BY u.run, u.rank, u.layer
                                         ORDER BY u.gpu_ns DESC, n.name, u.kind) AS place
  FROM used u JOIN names n ON n.name_id = u.name_id
),
summed AS (
  SELECT run_id, run, rank, layer, substr(rtrim(layer, '0123456789'), 12) AS class,
         CAST(substr(layer, length(rtrim(layer, '0123456789')) + 1) AS INTEGER) AS number,
         sum(kernels) AS kernels, sum(in_modules) AS in_modules, count(DISTINCT name) AS names,
         sum(gpu_ns) AS gpu_ns,
         sum(CASE kind WHEN 1 THEN gpu_ns ELSE 0 END) AS comm_ns,
         max(CASE place WHEN 1 THEN name END) AS top_name,
         max(CASE place WHEN 1 THEN gpu_ns END) AS top_ns
  FROM named GROUP BY run_id, run, rank, layer
),
placed AS (
  SELECT *, sum(gpu_ns) OVER (PARTITION BY run, rank) AS whole_ns,
         row_number() OVER (PARTITION BY run, rank, class ORDER BY gpu_ns, number) AS turn,
         count(*) OVER (PARTITION BY run, rank, class) AS layers,
         count(layer) OVER (PARTITION BY run, rank) AS known,
         row_number() OVER (PARTITION BY run ORDER BY rank, layer IS NULL, class, number) AS place
  FROM summed
),
middle AS (
  SELECT run, rank, class, avg(gpu_ns) AS median_ns FROM placed
  WHERE layer IS NOT NULL AND turn BETWEEN (layers + 1) / 2 AND (layers + 2) / 2
  GROUP BY run, rank, class
)
SELECT
  p.run,
  p.rank,
  rtrim(p.class, '_') AS class,
  p.number AS layer,
  p.kernels,
  p.names,
  p.gpu_ns / 1e6 AS gpu_ms,
  100.0 * p.gpu_ns / nullif(p.whole_ns, 0) AS share_pct,
  p.comm_ns / 1e6 AS comm_ms,
  100.0 * (p.gpu_ns - m.median_ns) / nullif(m.median_ns, 0) AS over_median_pct,
  p.top_name,
  p.top_ns / 1e6 AS top_ms,
  CASE
    WHEN p.layer IS NOT NULL THEN NULL
    WHEN p.known > 0 THEN 'launched in no layer'
    WHEN p.in_modules > 0 THEN 'no class of modules on their paths is a layer''s'
    ELSE 'launched in no module' END AS reason
FROM placed p LEFT JOIN middle m ON m.run = p.run AND m.rank = p.rank AND m.class = p.class
WHERE p.place <= coalesce(:limit, 500) OR :limit < 0
ORDER BY p.run_id, p.place;
