-- title: What a step has more of than the others
--
-- By name how much longer kernels (`of` kernel) or slices of the host (`of` host) took in a step
-- than in the median of all steps of the capture, rank by rank: what all ranks have more of makes
-- the step long, and nobody need be late. Slices of the host count where they are the innermost of
-- their kind, without calls that wait for the GPU. The first row is the step itself. Left out is
-- what takes less than a twentieth of it.
--
-- param:  step     int(count)  = null   The step; the longest when null.
-- param:  of       text        = kernel kernel or host.
-- param:  run      text        = null   This run only; all of them when null.
-- param:  capture  int(count)  = null   This capture of a run only, by its number; all when null.
--
-- column: run        text        The run: one training job that was recorded.
-- column: capture    int(count)  The capture, by its number in the run.
-- column: step       int(count)  The step.
-- column: kind       text        step, kernel, communication (a kernel, by `kind_rules`), or the
--                                kind of slice: annotation, function, operator, module or call.
-- column: name       text        Its name; NULL of the step.
-- column: ranks      int(count)  Ranks that have it in the step.
-- column: least_ms   real(ms)    So much more of it the rank has that has least more; 0 where a
--                                rank has none.
-- column: most_ms    real(ms)    And the one that has most more:
-- column: most_rank  int(id)     this.
--
-- empty:  There is no such step.

WITH recorded AS MATERIALIZED (
  SELECT trace_id, run_id, run, capture_id, capture, rank FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
lasted AS MATERIALIZED (
  SELECT r.trace_id, s.step, max(s.dur_ns) AS ns
  FROM recorded r JOIN steps s ON s.trace_id = r.trace_id GROUP BY r.trace_id, s.step
),
asked AS MATERIALIZED (
  SELECT coalesce(:step, (SELECT step FROM lasted ORDER BY ns DESC, step LIMIT 1)) AS step
),
counted AS (
  SELECT trace_id, count(*) AS steps FROM lasted GROUP BY trace_id
),
least AS (
  SELECT max(ns) / 20 AS ns FROM lasted WHERE step = (SELECT step FROM asked)
),
ran AS MATERIALIZED (
  SELECT u.trace_id, u.step, u.kernel AS name, sum(u.gpu_ns) AS ns
  FROM kernel_uses u
  WHERE :of = 'kernel' AND u.trace_id IN (SELECT trace_id FROM recorded) AND u.step IS NOT NULL
    AND u.kernel IS NOT NULL
  GROUP BY u.trace_id, u.step, u.kernel
),
held AS MATERIALIZED (
  SELECT u.trace_id, u.step, u.kind, u.name, sum(u.self_ns) AS ns
  FROM host_uses u
  WHERE :of = 'host' AND u.trace_id IN (SELECT trace_id FROM recorded) AND u.step IS NOT NULL
    AND u.name IS NOT NULL
  GROUP BY u.trace_id, u.step, u.kind, u.name
),
used AS (
  SELECT trace_id, step, 'kernel' AS kind, name, ns FROM ran
  WHERE name IN (SELECT r.name FROM ran r, least l
                 WHERE r.step = (SELECT step FROM asked) AND r.ns >= l.ns)
  UNION ALL
  SELECT trace_id, step, kind, name, ns FROM held
  WHERE (kind, name) IN (SELECT h.kind, h.name FROM held h, least l
                         WHERE h.step = (SELECT step FROM asked) AND h.ns >= l.ns)
    AND (kind <> 'call' OR name NOT IN (SELECT name FROM sync_uses WHERE name IS NOT NULL))
  UNION ALL
  SELECT trace_id, step, 'step', NULL, ns FROM lasted
),
sorted AS (  -- steps without it come first
  SELECT u.*, c.steps - count(*) OVER of_name
           + row_number() OVER (PARTITION BY u.trace_id, u.kind, u.name ORDER BY u.ns) AS place,
         (c.steps + 1) / 2 AS middle
  FROM used u JOIN counted c ON c.trace_id = u.trace_id
  WINDOW of_name AS (PARTITION BY u.trace_id, u.kind, u.name)
),
of_rank AS (
  SELECT trace_id, kind, name, ifnull(max(ns) FILTER (WHERE place = middle), 0) AS median_ns,
         max(ns) FILTER (WHERE step = (SELECT step FROM asked)) AS ns
  FROM sorted GROUP BY trace_id, kind, name
),
compared AS (
  SELECT r.run_id, r.run, r.capture, r.rank, o.kind, o.name, o.ns - o.median_ns AS ns,
         row_number() OVER (PARTITION BY r.capture_id, o.kind, o.name
                            ORDER BY o.ns - o.median_ns DESC, r.rank) AS place
  FROM of_rank o JOIN recorded r ON r.trace_id = o.trace_id
  WHERE o.ns IS NOT NULL
),
has_step AS (
  SELECT r.run, r.capture, count(*) AS ranks
  FROM recorded r JOIN lasted l ON l.trace_id = r.trace_id
  WHERE l.step = (SELECT step FROM asked) GROUP BY r.run, r.capture
)
SELECT
  c.run,
  c.capture,
  (SELECT step FROM asked) AS step,
  iif(c.kind = 'kernel'
      AND 'communication' = (SELECT u.kind FROM kind_rules u WHERE instr(lower(c.name), u.pattern)
                             ORDER BY length(u.pattern) DESC LIMIT 1),
      'communication', c.kind) AS kind,
  c.name,
  count(*) AS ranks,
  iif(count(*) < h.ranks, min(min(c.ns), 0), min(c.ns)) / 1e6 AS least_ms,
  max(c.ns) / 1e6 AS most_ms,
  max(c.rank) FILTER (WHERE c.place = 1) AS most_rank
FROM compared c JOIN has_step h ON h.run = c.run AND h.capture = c.capture
GROUP BY c.run_id, c.capture, c.kind, c.name
ORDER BY c.run_id, c.capture, c.kind <> 'step', least_ms DESC, most_ms DESC, kind, c.name
LIMIT 24;
