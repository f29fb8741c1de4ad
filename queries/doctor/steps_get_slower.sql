-- title: Steps get slower in the course of a run
--
-- All steps of a run in the order of time, over its captures, but the last one of each, which
-- nobody knows the end of; at least min_steps. They get slower where the median of the last third
-- is min_pct or more above that of the first third, and that is no chance: Spearman's rank
-- correlation r of length and order, times the root of the number of steps less one, is 2.7 or more
-- (chance has that in one run of 300), or each of the last third is longer than each of the first
-- (of five and five steps, one of 252). A slow first step, noise and lengths that go up and down
-- give no row.
--
-- What grows is the part that passes the same test of chance, has a quarter of it, and grows most:
-- computation (of the rank that computes longest), waiting for the host (of the rank whose GPU is
-- idle longest), or communication that is not hidden (of the rank that has least of it: others may
-- wait for a slow rank in theirs).
--
-- meaning: What a step takes is not the same early and late: figures over all steps are a mixture,
--   and two runs are compared fairly only at the same steps.
-- advice: Computation: clocks and temperatures of the GPUs (throttling, `gpu_samples`), sequences
--   that get longer. Communication: other jobs on the network, links that retry. Host: memory that
--   fills, lists and logs that grow, garbage collection, data loading.
--
-- param:  min_steps  int(count) = 9   Fewer steps have no trend.
-- param:  min_pct    real(pct)  = 5   What grows less is left out.
--
-- column: severity       text        Always finding.
-- column: run            text        The run.
-- column: count          int(count)  Steps.
-- column: part           text        What grows: computation, communication or host; NULL: none of
--                                    them by itself.
-- column: rank           int(id)     The rank of whose computation or host that is, where it grows
--                                    more than twice as much as on the middle one of all ranks;
--                                    NULL: no one rank.
-- column: first_ms       real(ms)    Median length of the first third of the steps.
-- column: last_ms        real(ms)    Of the last third.
-- column: part_first_ms  real(ms)    Median of the part in the first third.
-- column: part_last_ms   real(ms)    In the last third.
--
-- empty:  No run has steps that get slower by more than chance and min_pct.

WITH used AS MATERIALIZED (
  SELECT t.run_id, u.rank, t.capture_id, u.step, min(u.start_ns) AS start_ns,
         max(u.end_ns - u.start_ns) AS span_ns, max(u.compute_ns) AS computation_ns,
         max(u.idle_host_ns) AS host_ns,
         max(u.exposed_pipeline_ns + u.exposed_data_ns + u.exposed_tensor_ns
             + u.exposed_expert_ns + u.exposed_context_ns + u.exposed_other_ns) AS communication_ns
  FROM step_uses u JOIN traces t ON t.trace_id = u.trace_id
  WHERE u.step IS NOT NULL
  GROUP BY t.run_id, t.capture_id, u.step, u.rank
),
step AS MATERIALIZED (
  SELECT *, row_number() OVER w AS place, count(*) OVER (PARTITION BY run_id) AS steps,
         count(*) OVER (PARTITION BY run_id) / 3 AS third
  FROM (SELECT run_id, capture_id, step, min(start_ns) AS start_ns, max(span_ns) AS span_ns,
               max(computation_ns) AS computation_ns, max(host_ns) AS host_ns,
               min(communication_ns) AS communication_ns,
               row_number() OVER (PARTITION BY capture_id ORDER BY step DESC) = 1 AS is_last
        FROM used GROUP BY run_id, capture_id, step)
  WHERE NOT is_last
  WINDOW w AS (PARTITION BY run_id ORDER BY start_ns, capture_id, step)
),
time (run_id, part, capture_id, step, place, steps, third, ns) AS (
  SELECT run_id, 'step', capture_id, step, place, steps, third, span_ns FROM step
  UNION ALL
  SELECT run_id, 'computation', capture_id, step, place, steps, third, computation_ns FROM step
  UNION ALL SELECT run_id, 'host', capture_id, step, place, steps, third, host_ns FROM step
  UNION ALL
  SELECT run_id, 'communication', capture_id, step, place, steps, third, communication_ns FROM step
),
ranked AS (  -- equal times have the mean of their places
  SELECT t.*, rank() OVER w + (count(*) OVER (PARTITION BY run_id, part, ns) - 1) / 2.0 AS by_ns,
         row_number() OVER (PARTITION BY run_id, part, place > third, place > steps - third
                            ORDER BY ns) AS in_third
  FROM time t WHERE steps >= coalesce(:min_steps, 9)
  WINDOW w AS (PARTITION BY run_id, part ORDER BY ns)
),
trend AS MATERIALIZED (
  SELECT run_id, part, max(steps) AS steps,
         max(iif(place <= third AND in_third = (third + 1) / 2, ns, NULL)) AS first_ns,
         max(iif(place > steps - third AND in_third = (third + 1) / 2, ns, NULL)) AS last_ns,
         max(third) >= 5 AND min(iif(place > steps - third, ns, NULL))
                               > max(iif(place <= third, ns, NULL)) AS is_apart,
         sum((place - (steps + 1) / 2.0) * (by_ns - (steps + 1) / 2.0)) AS both,
         sum((place - (steps + 1) / 2.0) * (place - (steps + 1) / 2.0)) AS by_place,
         sum((by_ns - (steps + 1) / 2.0) * (by_ns - (steps + 1) / 2.0)) AS by_length
  FROM ranked GROUP BY run_id, part
),
growing AS (  -- both / root(by_place * by_length) is r
  SELECT * FROM trend
  WHERE last_ns > first_ns AND both > 0
    AND (is_apart OR both * both * (steps - 1) >= 2.7 * 2.7 * by_place * by_length)
),
grows AS (
  SELECT s.run_id, s.steps, s.first_ns, s.last_ns, p.part, p.first_ns AS part_first_ns,
         p.last_ns AS part_last_ns,
         row_number() OVER (PARTITION BY s.run_id ORDER BY p.last_ns - p.first_ns DESC, p.part)
           AS turn
  FROM growing s LEFT JOIN growing p ON p.run_id = s.run_id AND p.part <> 'step'
    AND 4 * (p.last_ns - p.first_ns) >= s.last_ns - s.first_ns
  WHERE s.part = 'step' AND 100.0 * (s.last_ns - s.first_ns) >= coalesce(:min_pct, 5) * s.first_ns
),
of_rank AS (  -- by how much the part grows on each rank, on average
  SELECT g.run_id, u.rank,
         avg(iif(s.place > s.steps - s.third, iif(g.part = 'host', u.host_ns, u.computation_ns),
                 NULL))
           - avg(iif(s.place <= s.third, iif(g.part = 'host', u.host_ns, u.computation_ns), NULL))
           AS ns
  FROM grows g JOIN step s ON s.run_id = g.run_id
  JOIN used u ON u.run_id = s.run_id AND u.capture_id = s.capture_id AND u.step = s.step
  WHERE g.turn = 1 AND g.part IN ('computation', 'host')
  GROUP BY g.run_id, u.rank
),
one_rank AS (  -- the middle one: of two the lower
  SELECT run_id, max(iif(turn = ranks, rank, NULL)) AS rank,
         max(iif(turn = ranks, ns, NULL)) AS most_ns,
         max(iif(turn = (ranks + 1) / 2, ns, NULL)) AS middle_ns
  FROM (SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY ns, rank) AS turn,
               count(*) OVER (PARTITION BY run_id) AS ranks
        FROM of_rank WHERE ns IS NOT NULL)
  GROUP BY run_id HAVING count(*) > 1
)
SELECT
  'finding' AS severity,
  r.run,
  g.steps AS count,
  g.part,
  iif(o.most_ns > 2 * o.middle_ns, o.rank, NULL) AS rank,
  g.first_ns / 1e6 AS first_ms,
  g.last_ns / 1e6 AS last_ms,
  g.part_first_ns / 1e6 AS part_first_ms,
  g.part_last_ns / 1e6 AS part_last_ms
FROM grows g JOIN runs r ON r.run_id = g.run_id
LEFT JOIN one_rank o ON o.run_id = g.run_id
WHERE g.turn = 1
ORDER BY g.run_id;
