-- title: Collectives of each step, as compare takes them
--
-- One row for each kind of collective in each step: those of one name, size and parallelism; over
-- all ranks.
--
-- param:  run    text       = null  This run only; all of them when null.
-- param:  whole  int(0..1)  = 0     1: what is in no step, too.
--
-- column: run          text        The run: one training job that was recorded.
-- column: capture      int(count)  The capture: its number in the run.
-- column: step         int(count)  The step.
-- column: collective   text        Such as allreduce.
-- column: parallelism  text        Of its communicator: tensor, pipeline, data, and so on.
-- column: group_ranks  int(count)  How many ranks the communicator has.
-- column: bytes        int(bytes)  The larger of sent and received.
-- column: parts        int(count)  Kernels, of all ranks.
-- column: gpu_ms       real(ms)    Sum of their durations, waiting included.
--
-- empty:  No step with a collective is in the database.

SELECT
  t.run,
  t.capture,
  c.step,
  c.collective,
  g.parallelism,
  g.size AS group_ranks,
  max(ifnull(c.in_bytes, 0), ifnull(c.out_bytes, 0)) AS bytes,
  count(*) AS parts,
  sum(c.dur_ns) / 1e6 AS gpu_ms
FROM collectives c JOIN traces t ON t.trace_id = c.trace_id
     LEFT JOIN process_groups g ON g.group_id = c.group_id
WHERE (c.step IS NOT NULL OR :whole) AND c.collective IS NOT NULL AND c.dur_ns >= 0
  AND (:run IS NULL OR t.run = :run)
GROUP BY t.run_id, t.capture, c.step, c.collective, g.parallelism, g.size,
  max(ifnull(c.in_bytes, 0), ifnull(c.out_bytes, 0))
ORDER BY t.run_id, t.capture, c.step, c.collective, g.parallelism, bytes;
