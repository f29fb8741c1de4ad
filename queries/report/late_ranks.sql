-- title: Who came late, and what held it up
--
-- One row for each slice of the host, or kernel, at which waits in collectives begin: the chains of
-- `nccl_stall_roots`, one cause at a time, by the aligned clocks. A host that was late in pieces
-- too short to name one has a row for each step.
--
-- param:  limit    int(rows)   = 40    Rows of a run at most, the longest waits first; all if null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run            text        The run: one training job that was recorded.
-- column: rank           int(id)     The rank that came late.
-- column: step           int(count)  The first step with a collective that waited.
-- column: cause          text        host or device.
-- column: name           text        The slice of the host, or the kernel.
-- column: start_ms       real(ms)    Its start since the first event of the run, aligned; NULL of
--                                    pieces.
-- column: dur_ms         real(ms)    How long it was; NULL of pieces.
-- column: collectives    int(count)  Collectives that waited for it, directly or in a chain.
-- column: late_ms        real(ms)    How late the rank was for the one with the longest wait.
-- column: total_wait_ms  real(ms)    All waits because of it, summed over ranks.
-- column: held_step      int(count)  The step in which the slice began or the kernel was launched:
--                                    at the end of a step it is the next one's collective that
--                                    waits. NULL: outside steps, or pieces.
--
-- empty:  Nobody came late, or no collective has two of its ranks in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH recorded AS MATERIALIZED (
  SELECT trace_id, run_id, run, rank, run_start_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
rooted AS (
  SELECT o.trace_id, o.cause, o.cause_slice_id, o.cause_name, c.step, c.wait_ns,
         c.start_ns - c.first_start_ns AS late_ns
  FROM recorded r JOIN collective_causes c ON c.trace_id = r.trace_id
  JOIN collective_causes o ON o.slice_id = c.root_id
  WHERE c.root_rank IS NOT NULL
    AND (o.cause_slice_id IS NOT NULL OR (o.cause = 'host' AND o.cause_name IS NOT NULL))
),
summed AS (
  SELECT trace_id, cause, cause_slice_id, cause_name, min(step) AS step, count(*) AS collectives,
         sum(wait_ns) AS wait_ns, max(late_ns) AS late_ns
  FROM rooted GROUP BY trace_id, cause_slice_id, iif(cause_slice_id IS NULL, step, NULL)
),
placed AS (
  SELECT s.*, r.run_id, row_number() OVER (PARTITION BY r.run_id
                                 ORDER BY s.wait_ns DESC, s.cause_slice_id, s.trace_id,
                                          s.step) AS place
  FROM summed s JOIN recorded r ON r.trace_id = s.trace_id
),
shown AS MATERIALIZED (
  SELECT * FROM placed WHERE :limit IS NULL OR :limit < 0 OR place <= :limit
),
marked AS MATERIALIZED (
  SELECT trace_id, step, ts_ns, end_ns FROM steps
  WHERE trace_id IN (SELECT trace_id FROM shown)
),
timed AS (  -- one by one: each is looked up by its number
  SELECT p.*,
         (SELECT l.aligned_ts_ns FROM aligned_slices l
          WHERE l.slice_id = p.cause_slice_id) AS ts_ns,
         (SELECT l.dur_ns FROM aligned_slices l WHERE l.slice_id = p.cause_slice_id) AS dur_ns,
         CASE WHEN p.cause = 'device'
              THEN (SELECT k.step FROM kernels k WHERE k.slice_id = p.cause_slice_id)
              ELSE (SELECT m.step FROM marked m
                    WHERE m.trace_id = p.trace_id
                      AND (SELECT l.ts_ns FROM slices l WHERE l.slice_id = p.cause_slice_id)
                          BETWEEN m.ts_ns AND m.end_ns - 1
                    ORDER BY m.ts_ns DESC LIMIT 1) END AS held_step
  FROM shown p
)
SELECT
  r.run,
  r.rank,
  p.step,
  p.cause,
  p.cause_name AS name,
  (p.ts_ns - r.run_start_ns) / 1e6 AS start_ms,
  p.dur_ns / 1e6 AS dur_ms,
  p.collectives,
  p.late_ns / 1e6 AS late_ms,
  p.wait_ns / 1e6 AS total_wait_ms,
  p.held_step
FROM timed p JOIN recorded r ON r.trace_id = p.trace_id
ORDER BY r.run_id, p.place;
