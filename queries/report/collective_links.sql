-- title: Which communication kernels are parts of one collective
--
-- For the arrows of a timeline: parts with the same number are one collective.
--
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  from_ms  real(ms)    = null  Parts that start before are left out; none when null.
-- param:  to_ms    real(ms)    = null  Parts that start after are left out; none when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run         text        The run: one training job that was recorded.
-- column: slice_id    int(id)     The part, as in slices.
-- column: collective  int(id)     The collective: the least slice_id of its parts.
--
-- empty:  No collective has two of its ranks in that time, rank, capture and run.

WITH part AS (
  SELECT r.run_id, r.run, p.slice_id, p.aligned_ts_ns - r.run_start_ns AS start_ns,
         min(p.slice_id) OVER w AS collective, count(*) OVER w AS parts
  FROM traces r JOIN collectives p ON p.trace_id = r.trace_id
  WHERE p.group_id IS NOT NULL AND (:run IS NULL OR r.run = :run)
    AND (:capture IS NULL OR r.capture = :capture)
    AND (:rank IS NULL OR r.rank IN (SELECT value FROM json_each(:rank)))
  WINDOW w AS (PARTITION BY p.capture_id, p.group_id, p.pair, p.by_seq, p.match_no)
)
SELECT run, slice_id, collective
FROM part
WHERE parts > 1 AND (:from_ms IS NULL OR start_ns >= CAST(:from_ms * 1e6 AS INTEGER))
  AND (:to_ms IS NULL OR start_ns <= CAST(:to_ms * 1e6 AS INTEGER))
ORDER BY run_id, slice_id;
