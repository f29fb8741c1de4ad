-- title: How much slower the job is than if all its ranks were alike
--
-- The job is replayed (as by what_if) with every operation taking what its like takes on other
-- ranks and in other steps: the mean of the same kernel or copy, the median of the same transfer
-- and of the same stretch of the host between two launches. The slowdown is what the steps took
-- over what they would take then: 1 where all are alike, 1.5 where stragglers cost half as much
-- again. Of a rank or a kind of work: as if all but this one were ideal, so that it is what this
-- one alone costs; these do not add up. Below 1: it is quicker than its peers.
--
-- A host is delayed here and there, and the median is less than the mean: where steps wait for
-- the host, the ideal is quicker than any rank. What a rank does that no other does stays as it
-- is: a pipeline's stage with more layers is not made shorter. With two ranks the ideal is between
-- them.
--
-- param:  part     text        = null  job, kind, rank or step: these rows only; all when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run        text         The run: one training job that was recorded.
-- column: capture    int(count)   The capture, by its number in the run.
-- column: part       text         job: all of it; kind, rank, step: this alone.
-- column: kind       text         compute, communication, memory or host.
-- column: rank       int(id)      The rank.
-- column: step       int(count)   The step.
-- column: taken_ms   real(ms)     The job and a step: as recorded. A kind or rank: what all steps
--                                 would take if only this were as recorded, all else ideal.
-- column: ideal_ms   real(ms)     What they would take if all were ideal; a step: this step.
-- column: slowdown   real(count)  taken_ms over ideal_ms.
-- column: unknown    text         Why there is no slowdown: nothing to compare with.
--
-- about:  what to do
-- lead:   part, kind, rank, step, slowdown, taken_ms, ideal_ms
-- plot:   bar slowdown by capture, part, kind, rank, step
-- empty:  There is no launch, GPU activity or step in that capture and run.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH job AS MATERIALIZED (
  SELECT c.capture_id,
    CASE
      WHEN (SELECT count(DISTINCT t.rank) FROM traces t WHERE t.capture_id = c.capture_id) < 2
        THEN 'one rank: no other to compare it with'
      WHEN NOT EXISTS (SELECT 1 FROM traces t JOIN kernel_uses k ON k.trace_id = t.trace_id
                       WHERE t.capture_id = c.capture_id AND k.kernel IS NOT NULL
                       GROUP BY k.kernel HAVING count(DISTINCT t.rank) > 1)
        THEN 'no GPU activity is on two ranks'
    END AS unknown
  FROM captures c
  WHERE (:run IS NULL OR c.run = :run) AND (:capture IS NULL OR c.capture = :capture)
),
kind(kind) AS (VALUES ('compute'), ('communication'), ('memory'), ('host')),
variant AS MATERIALIZED (
  SELECT capture_id, 'recorded' AS part, NULL AS kind, NULL AS rank, '[]' AS changes FROM job
  UNION ALL
  SELECT capture_id, 'ideal', NULL, NULL, '[{"ideal":"all"}]' FROM job WHERE unknown IS NULL
  UNION ALL
  SELECT capture_id, 'kind', kind, NULL,
    (SELECT json_group_array(json_object('ideal', o.kind)) FROM kind o WHERE o.kind <> k.kind)
  FROM job CROSS JOIN kind k WHERE unknown IS NULL AND ifnull(:part, 'kind') = 'kind'
  UNION ALL
  SELECT DISTINCT j.capture_id, 'rank', NULL, t.rank,
    json_array(json_object('ideal', 'all', 'except_rank', t.rank))
  FROM job j JOIN traces t ON t.capture_id = j.capture_id
  WHERE unknown IS NULL AND ifnull(:part, 'rank') = 'rank'
  ORDER BY 1, 4  -- ranks in their order are replayed together
),
replayed AS MATERIALIZED (
  SELECT v.capture_id, v.part, v.kind, v.rank, s.step, s.dur_ns
  FROM variant v CROSS JOIN replay_steps(v.capture_id, v.changes) s
),
whole AS MATERIALIZED (
  SELECT capture_id, part, kind, rank, sum(dur_ns) AS dur_ns FROM replayed GROUP BY 1, 2, 3, 4
),
found AS (
  SELECT w.capture_id, iif(w.part = 'recorded', 'job', w.part) AS part, w.kind, w.rank,
    NULL AS step, w.dur_ns AS taken_ns, i.dur_ns AS ideal_ns
  FROM whole w LEFT JOIN whole i ON i.capture_id = w.capture_id AND i.part = 'ideal'
  WHERE w.part <> 'ideal'
  UNION ALL
  SELECT r.capture_id, 'step', NULL, NULL, r.step, r.dur_ns, i.dur_ns
  FROM replayed r JOIN replayed i
    ON i.capture_id = r.capture_id AND i.part = 'ideal' AND i.step = r.step
  WHERE r.part = 'recorded'
)
SELECT c.run, c.capture, f.part, f.kind, f.rank, f.step, f.taken_ns / 1e6 AS taken_ms,
  f.ideal_ns / 1e6 AS ideal_ms, 1.0 * f.taken_ns / nullif(f.ideal_ns, 0) AS slowdown,
  CASE WHEN j.unknown IS NOT NULL THEN j.unknown
       WHEN f.ideal_ns = 0 THEN 'the ideal takes no time' END AS unknown
FROM found f JOIN job j ON j.capture_id = f.capture_id
     JOIN captures c ON c.capture_id = f.capture_id
WHERE :part IS NULL OR f.part = :part OR j.unknown IS NOT NULL
ORDER BY c.run_id, c.capture, f.part <> 'job', f.part, f.step, slowdown DESC, f.rank, f.kind;
