-- title: Which rank held up each step, by how much, and why
--
-- The ranks of a job end a step together, so its duration tells nothing of who was slow: the waits
-- do. The slowest rank of a step is the one at which most of the step's waits have their root (see
-- `nccl_stall_roots`); its cause is the one of most of these. A step is that in which the last rank
-- to start launched the collective; collectives outside of steps have a row with step NULL.
--
-- column: step              int(count)  The step.
-- column: ranks             int(count)  Ranks of the database that have it.
-- column: step_ms           real(ms)    The longest duration of the step over the ranks.
-- column: slowest_rank      int(id)     The root of most of its waits.
-- column: late_ms           real(ms)    By how much: the longest wait of a rank with that root.
-- column: caused_wait_ms    real(ms)    Waits of all ranks with that root, summed.
-- column: share_pct         real(pct)   Of all waits of the step.
-- column: cause             text        host or device: the cause of most of them; NULL: the trace
--                                       does not tell.
-- column: cause_name        text        The operator, annotation, Python frame or kernel; 80
--                                       characters of it.
-- column: cause_wait_ms     real(ms)    Waits that have this cause.
-- column: total_wait_ms     real(ms)    All waits of the step, summed.
--
-- plot:   bar late_ms by step, slowest_rank, cause_name
-- empty:  Nobody waited: no collective has two of its ranks in the database (ingest the other
--         ranks' traces too), or all of them started together.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH stall AS (
  SELECT m.step, c.root_rank, c.root_cause, c.root_name, c.root_short, m.wait_ns, m.max_wait_ns
  FROM matched_collectives m JOIN collective_causes c ON c.slice_id = m.slice_id
  WHERE NOT m.is_estimate AND m.wait_ns > 0
),
by_cause AS (
  SELECT step, root_rank, root_cause, root_name, root_short, sum(wait_ns) AS wait_ns,
         sum(sum(wait_ns)) OVER (PARTITION BY step, root_rank) AS rank_wait_ns,
         max(max(max_wait_ns)) OVER (PARTITION BY step, root_rank) AS rank_max_ns,
         sum(sum(wait_ns)) OVER (PARTITION BY step) AS step_wait_ns
  FROM stall GROUP BY step, root_rank, root_cause, root_name
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY step ORDER BY rank_wait_ns DESC, root_rank,
                               wait_ns DESC, root_cause, root_name) AS place
  FROM by_cause
),
lasted AS (
  SELECT step, count(DISTINCT rank) AS ranks, max(dur_ns) AS dur_ns FROM steps GROUP BY step
)
SELECT
  p.step,
  l.ranks,
  l.dur_ns / 1e6 AS step_ms,
  p.root_rank AS slowest_rank,
  p.rank_max_ns / 1e6 AS late_ms,
  p.rank_wait_ns / 1e6 AS caused_wait_ms,
  100.0 * p.rank_wait_ns / p.step_wait_ns AS share_pct,
  p.root_cause AS cause,
  p.root_short AS cause_name,
  p.wait_ns / 1e6 AS cause_wait_ms,
  p.step_wait_ns / 1e6 AS total_wait_ms
FROM placed p LEFT JOIN lasted l ON l.step = p.step
WHERE p.place = 1
ORDER BY p.step;
