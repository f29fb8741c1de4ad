-- title: Which rank held up each step, by how much, and why
--
-- The ranks of a job end a step together, so its duration tells nothing of who was slow: the waits
-- do. The slowest rank of a step is the one at which most of the step's waits have their root (see
-- `nccl_stall_roots`); its cause is the one of most of these. Nobody is slow, and the cause is
-- schedule, where stages of a pipeline wait for each other as the order of their work has it, and
-- no rank has a twentieth of the waits. A step is that in which the last rank to start launched
-- the collective; collectives outside of steps have a row with step NULL. Step numbers that repeat
-- in another capture are other steps.
--
-- Where samples of nvidia-smi, dmon or gpustat say that the clock of a slow device was 5 % or more
-- below that of its peers (the middle one of the other ranks), the cause's name begins with that:
-- by the samples within the step, where there are none by those next to it. It takes that both GPUs
-- are known: see rank_gpus.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run               text        The run: one training job that was recorded.
-- column: capture           int(count)  The capture: its number in the run.
-- column: step              int(count)  The step.
-- column: ranks             int(count)  Ranks of the capture that have it.
-- column: step_ms           real(ms)    The longest duration of the step over the ranks.
-- column: slowest_rank      int(id)     The root of most of its waits; NULL: nobody (schedule), or
--                                       nobody tells, as ranks are missing.
-- column: late_ms           real(ms)    By how much: the longest wait of a rank with that root.
-- column: caused_wait_ms    real(ms)    Waits of all ranks with that root, summed.
-- column: share_pct         real(pct)   Of all waits of the step.
-- column: cause             text        host, device or schedule: the cause of most of them; NULL:
--                                       the trace does not tell.
-- column: cause_name        text        The operator, annotation, Python frame or kernel, 80
--                                       characters of it; before it a clock below that of others.
--                                       Where ranks are missing, the collective in which it was.
-- column: cause_wait_ms     real(ms)    Waits that have this cause.
-- column: total_wait_ms     real(ms)    All waits of the step, summed.
-- column: clock_below_pct   real(pct)   How far the clock of its GPU was below that of its peers;
--                                       NULL: not known.
--
-- about:  steps and GPU time
-- lead:   step, step_ms, slowest_rank, late_ms, share_pct, cause, cause_name
-- plot:   bar late_ms by run, capture, step, slowest_rank, cause_name
-- empty:  Nobody waited: no collective has two of its ranks in a capture (ingest the other ranks'
--         traces too), or all of them started together.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH recorded AS MATERIALIZED (
  SELECT trace_id, capture_id, run_id, run, capture, rank FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
stall AS (
  SELECT m.capture_id, m.step, c.root_rank, c.root_cause, c.root_name, c.root_short, m.wait_ns,
         m.max_wait_ns
  FROM matched_collectives m JOIN collective_causes c ON c.slice_id = m.slice_id
  WHERE NOT m.is_estimate AND m.wait_ns > 0
    AND m.capture_id IN (SELECT capture_id FROM recorded)
),
by_cause AS (
  SELECT capture_id, step, root_rank, root_cause, root_name, root_short, sum(wait_ns) AS wait_ns,
         sum(sum(wait_ns)) OVER of_rank AS rank_wait_ns,
         max(max(max_wait_ns)) OVER of_rank AS rank_max_ns,
         sum(sum(wait_ns)) OVER (PARTITION BY capture_id, step) AS step_wait_ns
  FROM stall GROUP BY capture_id, step, root_rank, root_cause, root_name
  WINDOW of_rank AS (PARTITION BY capture_id, step, root_rank)
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY capture_id, step
                               ORDER BY CASE WHEN root_cause IS 'schedule' THEN 1
                                          ELSE iif(20 * rank_wait_ns >= step_wait_ns, 0, 2) END,
                                 rank_wait_ns DESC, root_rank, wait_ns DESC, root_cause,
                                 root_name) AS place
  FROM by_cause
),
lasted AS (
  SELECT r.capture_id, s.step, count(DISTINCT r.rank) AS ranks, max(s.dur_ns) AS dur_ns,
         min(s.ts_ns) AS start_ns, max(s.ts_ns + s.dur_ns) AS end_ns
  FROM steps s JOIN recorded r ON r.trace_id = s.trace_id GROUP BY r.capture_id, s.step
),
clock AS MATERIALIZED (
  SELECT run_id, rank, at_ns, mhz, period_ns FROM rank_clock_samples
  WHERE run_id IN (SELECT run_id FROM recorded)
),
clock_of AS (
  SELECT l.capture_id, l.step, c.rank,
         coalesce(max(CASE WHEN c.at_ns BETWEEN l.start_ns AND l.end_ns THEN c.mhz END),
                  max(c.mhz)) AS mhz
  FROM lasted l JOIN recorded r ON r.capture_id = l.capture_id
  JOIN clock c ON c.run_id = r.run_id AND c.rank = r.rank
    AND c.at_ns BETWEEN l.start_ns - c.period_ns AND l.end_ns + c.period_ns
  GROUP BY l.capture_id, l.step, c.rank
),
peer AS (
  SELECT p.capture_id, p.step, p.root_rank, c.mhz,
         row_number() OVER (PARTITION BY p.capture_id, p.step ORDER BY c.mhz) AS place,
         count(*) OVER (PARTITION BY p.capture_id, p.step) AS peers
  FROM placed p JOIN clock_of c ON c.capture_id = p.capture_id AND c.step = p.step
    AND c.rank <> p.root_rank
  WHERE p.place = 1
),
clocked AS (
  SELECT m.capture_id, m.step, 100.0 * (m.mhz - c.mhz) / m.mhz AS below_pct
  FROM peer m JOIN clock_of c ON c.capture_id = m.capture_id AND c.step = m.step
    AND c.rank = m.root_rank
  WHERE m.place = (m.peers + 1) / 2 AND m.mhz > 0
),
named AS (
  SELECT DISTINCT capture_id, run_id, run, capture FROM recorded
)
SELECT
  n.run,
  n.capture,
  p.step,
  l.ranks,
  l.dur_ns / 1e6 AS step_ms,
  p.root_rank AS slowest_rank,
  p.rank_max_ns / 1e6 AS late_ms,
  p.rank_wait_ns / 1e6 AS caused_wait_ms,
  100.0 * p.rank_wait_ns / p.step_wait_ns AS share_pct,
  p.root_cause AS cause,
  CASE WHEN p.root_cause = 'device' AND k.below_pct >= 5 AND p.root_name <> 'an idle GPU'
    THEN printf('clock %.0f %% below its peers: ', k.below_pct) ELSE '' END
    || p.root_short AS cause_name,
  p.wait_ns / 1e6 AS cause_wait_ms,
  p.step_wait_ns / 1e6 AS total_wait_ms,
  k.below_pct AS clock_below_pct
FROM placed p JOIN named n ON n.capture_id = p.capture_id
LEFT JOIN lasted l ON l.capture_id = p.capture_id AND l.step = p.step
LEFT JOIN clocked k ON k.capture_id = p.capture_id AND k.step = p.step
WHERE p.place = 1
ORDER BY n.run_id, n.capture, p.step;
