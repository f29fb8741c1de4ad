-- title: How the clocks of the ranks compare, and corrections
--
-- One row for each rank in a capture. All ranks leave a collective together, so the ends of matched
-- collectives tell how their clocks differ: one offset for each host (for each rank where the trace
-- names no host), and a drift where it shows. A correction is made only when it is clear: at least
-- 0.05 ms and three times the residual; and never a longer one than the capture, which is refused.
-- `ts_ns` stays as the trace has it everywhere; `aligned_ts_ns` of `collectives` and the waits of
-- `nccl_stalls` are corrected: ts_ns + offset + (ts_ns - middle) * drift. `tracedb align` works it
-- out anew, as every ingest does.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run              text         The run: one training job that was recorded.
-- column: capture          int(count)   The capture: its number in the run.
-- column: rank             int(id)      The rank.
-- column: clock            text         The host, or the rank where none is known: ranks of one
--                                       clock have one correction. NULL: compared with no other
--                                       rank (8 collectives in common are needed).
-- column: reference_rank   int(id)      Whose clock is the measure. Ranks of different references
--                                       cannot be compared with one another.
-- column: is_corrected     int(0..1)    1: its times are corrected.
-- column: offset_ms        real(ms)     What is added to its times, in the middle of the capture.
-- column: drift_ppm        real(count)  What is added for each second from there, in us.
-- column: middle_ms        real(ms)     That middle by its own clock, since its first event
--                                       in the capture.
-- column: residual_p95_ms  real(ms)     95 % of the ends agree better with those of other clocks.
-- column: refused_ms       real(ms)     A correction that was refused; 0: none.
--
-- about:  clocks
-- lead:   rank, clock, offset_ms, drift_ppm, residual_p95_ms, is_corrected
-- plot:   bar offset_ms by run, capture, rank, clock
-- empty:  The database holds no trace.

SELECT
  t.run,
  t.capture,
  t.rank,
  c.clock,
  c.reference_rank,
  ifnull(c.offset_ns <> 0 OR c.drift_ppb <> 0, 0) AS is_corrected,
  c.offset_ns / 1e6 AS offset_ms,
  c.drift_ppb / 1e3 AS drift_ppm,
  (c.origin_ns - t.start_ns) / 1e6 AS middle_ms,
  c.residual_p95_ns / 1e6 AS residual_p95_ms,
  c.refused_ns / 1e6 AS refused_ms
FROM traces t
LEFT JOIN rank_clocks c ON c.trace_id = t.trace_id
WHERE (:run IS NULL OR t.run = :run) AND (:capture IS NULL OR t.capture = :capture)
ORDER BY t.run_id, t.capture, t.rank, t.trace_id;
