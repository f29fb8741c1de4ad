-- title: How long each step would take without a cause
--
-- The recorded dependencies of all ranks are replayed with changes: launches, the order of streams,
-- waits, matched collectives. Nothing changed gives the recorded times back; what is changed gives
-- what the step would take, which is never more than waits added up would say. `tracedb what-if`
-- asks this with options in place of JSON.
--
-- Changes are a JSON array of objects. By name, like or glob, with rank, step and kind (compute,
-- communication, memory, waiting, host), and a factor (0 where none is said: as if it took no
-- time): GPU activities and the host's slices. {"rank_late": 5}: what takes longer on rank 5 than
-- on the others does not make it late for collectives; several are looked at together, as they may
-- hide each other. {"transfers": "data", "factor": 0.5} (or
-- "all"): of collectives of this parallelism, once all ranks have come; with "pair": "2>3" of
-- messages from rank 2 to 3 only. {"waits": "pipeline"}:
-- nobody waits for others there; {"waits": "sync"}: the host does not wait for its GPU.
-- {"short_host": 0}: what the host needs between launches that are less than 0.25 ms apart;
-- {"held_by": "x"}: the host in slices of that name, between two that are further apart.
-- {"recorder": 0}: the profiler holds up no thread (its `overhead` slices; see critical_path).
-- {"launch_latency_ns": 0}: at most. {"balance": "ranks"}: every rank computes as long, in each
-- step; "stages": every stage of a pipeline does, and its ranks stay unlike. {"slice": 17,
-- "shorten_ns": 1000}: one slice. {"ideal": "all"} (compute, communication, memory, host), with
-- rank, except_rank and step: each takes what its like takes on other ranks and in other steps (see
-- slowdown).
-- Of a database of summaries (`tracedb gather`) collectives alone are replayed, and all that a rank
-- does between two of them is one piece: rank_late, transfers, waits of a parallelism, and names
-- and the kind of collectives' kernels can be changed there. What a late rank does that is like
-- nothing on others is an error there, where it makes a difference; with {"untold": "stays"} it
-- stays as it is (no less is gained), with {"untold": "goes"} it takes no time.
--
-- param:  changes  text        = []    What is changed; nothing: the recorded times.
-- param:  step     ints(count) = null  These steps only; all when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run        text        The run: one training job that was recorded.
-- column: capture    int(count)  The capture, by its number in the run.
-- column: step       int(count)  The step; NULL where the capture has none.
-- column: before_ms  real(ms)    What it took: from the end of the step before, on all ranks, to
--                                its own.
-- column: after_ms   real(ms)    What it would take.
-- column: gain_ms    real(ms)    The difference. Below 0: work moved here from a step before that
--                                gained more.
-- column: gain_pct   real(pct)   Of what it took.
--
-- about:  what to do
-- plot:   bar gain_ms by capture, step
-- empty:  There is no launch, GPU activity or step in that step, capture and run.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH asked AS MATERIALIZED (
  SELECT run_id, run, capture, capture_id FROM captures
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
before AS MATERIALIZED (
  SELECT c.capture_id, s.step, s.dur_ns FROM asked c CROSS JOIN replay_steps(c.capture_id, '[]') s
),
after AS MATERIALIZED (
  SELECT c.capture_id, s.step, s.dur_ns
  FROM asked c CROSS JOIN replay_steps(c.capture_id, :changes) s
)
SELECT
  c.run,
  c.capture,
  b.step,
  b.dur_ns / 1e6 AS before_ms,
  a.dur_ns / 1e6 AS after_ms,
  (b.dur_ns - a.dur_ns) / 1e6 AS gain_ms,
  100.0 * (b.dur_ns - a.dur_ns) / nullif(b.dur_ns, 0) AS gain_pct
FROM asked c JOIN before b ON b.capture_id = c.capture_id
JOIN after a ON a.capture_id = b.capture_id AND a.step IS b.step
WHERE :step IS NULL OR b.step IN (SELECT value FROM json_each(:step))
ORDER BY c.run_id, c.capture, b.step;
