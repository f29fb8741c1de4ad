-- title: Clock corrections longer than the capture
--
-- The ends of matched collectives tell how the clocks of ranks differ. A correction that is longer
-- than the whole capture cannot be of clocks alone: it is refused, and times stay as they are.
--
-- meaning: Collectives of this rank are matched with others than those that it took part in, or its
--   host's clock is so far off that its traces only seem to overlap with the others': what
--   `nccl_stalls` and `nccl_stall_ranks` say of waits between it and other ranks is not to be
--   trusted. Figures of each rank by itself hold.
-- advice: See whether its trace is of the same job and start as the others'; if not, ingest it
--   again with a name of its own (--run NAME). If it is, set the clocks (NTP) and record again.
--
-- column: severity        text        Always finding.
-- column: run             text        The run.
-- column: capture         int(count)  The capture: its number in the run.
-- column: rank            int(id)     The rank.
-- column: count           int(count)  1: this rank.
-- column: clock           text        Its clock: the host, or the rank where none is known.
-- column: reference_rank  int(id)     The rank whose clock is the measure.
-- column: refused_ms      real(ms)    The correction that was refused.
-- column: capture_ms      real(ms)    How long the capture is.
-- column: path            text        The rank's file.
--
-- empty:  No correction of clocks was refused.

SELECT
  'finding' AS severity,
  t.run,
  t.capture,
  t.rank,
  1 AS count,
  c.clock,
  c.reference_rank,
  c.refused_ns / 1e6 AS refused_ms,
  (r.end_ns - r.start_ns) / 1e6 AS capture_ms,
  t.path
FROM rank_clocks c
JOIN traces t ON t.trace_id = c.trace_id
JOIN captures r ON r.capture_id = t.capture_id
WHERE c.refused_ns <> 0
ORDER BY t.run_id, t.capture, t.rank;
