-- title: Which calls wait for the GPU, and did it stall for them
--
-- One row for each place in the code that calls something which returns when the GPU is done
-- (cudaStreamSynchronize, cudaDeviceSynchronize, cudaMemcpy without Async ...): the host's time in
-- it, and how long nothing ran on the GPU meanwhile, as nothing could be launched. A call that
-- waits long and stalls nothing costs nothing: the host was ahead. What the host does after the
-- call, until the GPU has work again, is not the call's time: after_ms has it, and `gpu_gaps` the
-- name of it. Gaps count with the thread whose launch ended them.
--
-- param:  limit    int(rows)   = 30    Rows returned at most for a run, the longest stalls first.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them together when null.
-- param:  step     ints(count) = null  Calls that start in these steps; all when null.
--
-- column: run          text        The run: one training job that was recorded.
-- column: call         text        The runtime call.
-- column: op           text        The outermost operator around it (aten::item, aten::nonzero).
-- column: function     text        The innermost Python function around it, where there are stacks.
-- column: annotation   text        The innermost annotation around it.
-- column: calls        int(count)  How many calls.
-- column: host_ms      real(ms)    The host was in them.
-- column: stalls       int(count)  Times that the GPU ran dry in one of them: gaps that began in it
--                                  and outlasted it.
-- column: stalled_ms   real(ms)    Nothing ran on the GPU, and the host was in one of them. What of
--                                  it lies before the call's work had ended is idle_sync_ms of
--                                  `time_partition`.
-- column: stalled_pct  real(pct)   stalled_ms of the spans of the run's GPUs; of that rank and
--                                  step.
-- column: after_ms     real(ms)    Of stalls what comes after the call: the host did something else
--                                  then.
-- column: ranks        int(count)  Ranks that do it.
--
-- about:  the host
-- lead:   call, op, calls, stalls, stalled_ms, stalled_pct
-- plot:   bar stalled_ms by run, call, op, function, annotation
-- empty:  No call waits for the GPU, or the trace has no runtime calls.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
span AS MATERIALIZED (
  SELECT t.run, sum(p.end_ns - p.start_ns) AS span_ns
  FROM step_uses p JOIN trace t ON t.trace_id = p.trace_id
  WHERE :step IS NULL OR p.step IN (SELECT value FROM json_each(:step))
  GROUP BY t.run
),
use AS MATERIALIZED (
  SELECT t.run, u.* FROM sync_uses u JOIN trace t ON t.trace_id = u.trace_id
  WHERE :step IS NULL OR u.step IN (SELECT value FROM json_each(:step))
),
summed AS (
  SELECT u.run, u.name, s.op, s.function, s.annotation, sum(u.calls) AS calls,
         sum(u.total_ns) AS total_ns, sum(u.stalls) AS stalls, sum(u.stalled_ns) AS stalled_ns,
         sum(u.after_ns) AS after_ns, count(DISTINCT u.rank) AS ranks
  FROM use u LEFT JOIN call_sites s ON s.path_id = u.path_id
  GROUP BY u.run, u.name, s.op, s.function, s.annotation
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY run ORDER BY stalled_ns DESC, total_ns DESC, name, op,
                               function, annotation) AS place
  FROM summed
)
SELECT
  u.run,
  u.name AS call,
  u.op,
  u.function,
  u.annotation,
  u.calls,
  u.total_ns / 1e6 AS host_ms,
  u.stalls,
  u.stalled_ns / 1e6 AS stalled_ms,
  100.0 * u.stalled_ns / nullif(p.span_ns, 0) AS stalled_pct,
  u.after_ns / 1e6 AS after_ms,
  u.ranks
FROM placed u LEFT JOIN span p ON p.run = u.run
WHERE u.place <= coalesce(:limit, 30) OR :limit < 0
ORDER BY u.run, u.place;
