-- title: Which kernels follow each other, and the gaps between them
--
-- One row for each sequence of `length` GPU activities that come one after the other, by start, in
-- a stream, known by their names, most gap time first. What repeats often with short kernels and
-- gaps gains from fusion (torch.compile, fused optimizers) or CUDA graphs. Training repeats itself:
-- one step of each run is looked at, of all ranks. Occurrences may overlap: `a a a a` holds
-- `a a a` twice.
--
-- param:  length      int(count)  = 3     Activities in a sequence, 2 or more.
-- param:  max_gap_us  real(us)    = 100   Longer gaps are waits: such occurrences do not count.
-- param:  step        int(count)  = null  The step in which they were launched; null: the middle
--                                         one of the run's captures; -1, or without steps:
--                                         everything.
-- param:  min_times   int(count)  = 2     Sequences that occur less often are left out.
-- param:  limit       int(rows)   = 20    Rows returned at most for a run.
-- param:  run         text        = null  This run only; all of them when null.
-- param:  capture     int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank        ints(id)    = null  These ranks only; all of them when null.
--
-- column: run             text        The run: one training job that was recorded.
-- column: capture         int(count)  The capture, by its number in the run; NULL: all that have
--                                     the step.
-- column: names           text        The activities, with ' > ' between them.
-- column: step            int(count)  The step; NULL: everything.
-- column: times           int(count)  How often the sequence occurs.
-- column: ranks           int(count)  On how many ranks.
-- column: busy_ms         real(ms)    Sum of the durations of its activities.
-- column: gap_ms          real(ms)    Sum of the times between the end of one of its activities and
--                                     the start of the next.
-- column: mean_gap_us     real(us)    Mean of these times.
-- column: gap_pct         real(pct)   gap_ms of gap_ms and busy_ms.
-- column: first_rank      int(id)     The lowest rank that has it.
-- column: first_start_ms  real(ms)    Its first start there, since the first event of the run.
--
-- about:  kernels and operators
-- empty:  No sequence occurs that often: set min_times=1, or another step.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown
-- lead:   names, times, ranks, busy_ms, gap_ms, gap_pct

WITH trace AS MATERIALIZED (
  SELECT trace_id, run, capture, rank, run_start_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
taken AS (  -- in the order of time
  SELECT run, capture, step, row_number() OVER (PARTITION BY run ORDER BY capture, step) AS place,
         count(*) OVER (PARTITION BY run) AS steps
  FROM (SELECT DISTINCT t.run, t.capture, s.step
        FROM steps s JOIN trace t ON t.trace_id = s.trace_id)
),
chosen AS MATERIALIZED (  -- capture: NULL any
  SELECT r.run, max(coalesce(:length, 3), 2) AS length,
         CASE WHEN :step = -1 THEN NULL ELSE coalesce(:step, m.step) END AS step,
         coalesce(:capture, iif(:step IS NULL, m.capture, NULL)) AS capture
  FROM (SELECT DISTINCT run FROM trace) r
  LEFT JOIN taken m ON m.run = r.run AND m.place = (m.steps - 1) / 2 + 1
),
of_name AS MATERIALIZED (  -- one number for a name, in all traces; +: they are many, look them up
  SELECT name_id AS id, min(name_id) OVER (PARTITION BY name) AS number FROM names
  WHERE +name_id IN (SELECT name_id FROM activity_times)
),
lane AS MATERIALIZED (  -- stream: one number for a stream of a trace; step: NULL all
  SELECT k.track_id, k.base_ns, t.run, t.rank, c.step,
         min(k.track_id) OVER (PARTITION BY k.trace_id, k.device, k.stream) AS stream
  FROM tracks k JOIN trace t ON t.trace_id = k.trace_id JOIN chosen c ON c.run = t.run
  WHERE k.stream IS NOT NULL AND (:rank IS NULL OR t.rank IN (SELECT value FROM json_each(:rank)))
    AND (c.capture IS NULL OR c.capture = t.capture)
),
activity AS MATERIALIZED (
  SELECT g.slice_id AS id, w.stream, w.run, w.rank, n.number, g.ts + w.base_ns AS start_ns,
         ifnull(g.dur_ns, 0) AS dur
  FROM activities g CROSS JOIN of_name n ON n.id = g.name_id
  CROSS JOIN lane w ON w.track_id = g.track_id
  WHERE (g.step IN (SELECT step FROM chosen) OR EXISTS (SELECT 1 FROM chosen WHERE step IS NULL))
    AND (w.step IS NULL OR g.step = w.step) AND ifnull(g.dur_ns, 0) >= 0
),
ran AS (
  SELECT *, max(0, start_ns - lag(start_ns + dur, 1, start_ns)
                                OVER (PARTITION BY stream ORDER BY start_ns, id)) AS gap
  FROM activity
),
placed AS (
  SELECT run, rank, start_ns, group_concat(number) OVER w AS key, count(*) OVER w AS activities,
         sum(dur) OVER w AS busy_ns, sum(gap) OVER w - gap AS gap_ns,
         sum(gap > 1000 * coalesce(:max_gap_us, 100)) OVER w
           - (gap > 1000 * coalesce(:max_gap_us, 100)) AS waits
  FROM ran
  WINDOW w AS (PARTITION BY stream ORDER BY start_ns, id
               ROWS BETWEEN CURRENT ROW AND  -- no function may stand here, a CASE may
                 CASE WHEN :length IS NULL THEN 2 WHEN :length < 2 THEN 1 ELSE :length - 1 END
                 FOLLOWING)
),
by_rank AS MATERIALIZED (
  SELECT run, key, rank, count(*) AS times, sum(busy_ns) AS busy_ns, sum(gap_ns) AS gap_ns,
         min(start_ns) AS first_ns
  FROM placed WHERE activities = max(coalesce(:length, 3), 2) AND waits = 0
  GROUP BY run, key, rank
),
counted AS (
  SELECT run, key, sum(times) AS times, count(*) AS ranks, sum(busy_ns) AS busy_ns,
         sum(gap_ns) AS gap_ns, min(rank) AS first_rank
  FROM by_rank GROUP BY run, key HAVING sum(times) >= coalesce(:min_times, 2)
),
named AS (
  SELECT c.*,
         (SELECT group_concat(name, ' > ')
          FROM (SELECT l.name FROM json_each('[' || c.key || ']') j
                JOIN names l ON l.name_id = j.value ORDER BY j.key)) AS names
  FROM counted c
),
ordered AS (
  SELECT *, row_number() OVER (PARTITION BY run ORDER BY gap_ns DESC, times DESC, names) AS place
  FROM named
)
SELECT
  n.run,
  c.capture,
  n.names,
  c.step,
  n.times,
  n.ranks,
  n.busy_ns / 1e6 AS busy_ms,
  n.gap_ns / 1e6 AS gap_ms,
  1.0 * n.gap_ns / n.times / (c.length - 1) / 1e3 AS mean_gap_us,
  100.0 * n.gap_ns / nullif(n.gap_ns + n.busy_ns, 0) AS gap_pct,
  n.first_rank,
  (b.first_ns - (SELECT min(t.run_start_ns) FROM trace t WHERE t.run = n.run)) / 1e6
    AS first_start_ms
FROM ordered n JOIN chosen c ON c.run = n.run
JOIN by_rank b ON b.run = n.run AND b.key = n.key AND b.rank = n.first_rank
WHERE n.place <= coalesce(:limit, 20) OR :limit < 0
ORDER BY n.run, n.place;
