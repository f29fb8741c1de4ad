-- title: Which collectives kept ranks waiting, for whom, and why
--
-- One row for each collective that at least two ranks of a capture took part in: parts belong
-- together when they are of one capture, have the same group and the same Seq, or without Seq the
-- same ordinal in that group (sends and receives: the same direction between the same two ranks). A
-- rank waits from its own start to the latest start; the rank that starts last is the culprit, and
-- where all start at once there is none. Starts are compared by the aligned clocks. The cause is
-- what the culprit did from the first start to its own: held on its host, busy on its device, or
-- waiting in another collective; `nccl_stall_roots` adds up where those chains end. The stages of a
-- pipeline wait for each other however equal they are: where a stage was busy, and no slower than
-- the others, the cause is its schedule.
--
-- A part without a partner in the database has a row too, is_estimate: its wait is what it took
-- longer than the shortest of the same collective, size and group. For whom, nobody can tell.
--
-- param:  limit    int(rows)   = null  Rows of a run at most, the worst first; all when null.
-- param:  rank     int(id)     = null  Only what this rank caused; all of them when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run                text        The run: one training job that was recorded.
-- column: capture            int(count)  The capture: its number in the run.
-- column: collective         text        What was done: allreduce, send and so on.
-- column: group_name         text        The communicator's name in the trace.
-- column: group_description  text        What the job calls it.
-- column: group_ranks        text        Its ranks, sorted.
-- column: ordinal            int(count)  It is the culprit's n-th in this group, from 1.
-- column: step               int(count)  Step in which the culprit launched it.
-- column: bytes              int(bytes)  The larger of input and output on the culprit.
-- column: start_ms           real(ms)    First start, since the first event of the run.
-- column: culprit_rank       int(id)     The last to start; of several at the same ns the
--                                        lowest. NULL: all started at once, or is_estimate.
-- column: total_wait_ms      real(ms)    Sum of the waits of all its ranks.
-- column: max_wait_ms        real(ms)    The longest of them.
-- column: transfer_ms        real(ms)    The shortest duration over its ranks.
-- column: cause              text        host: the culprit launched it late; device: in time, but
--                                        its stream was busy; schedule: busy too, with a kernel
--                                        that took the other ranks as long; upstream: it waited
--                                        in another collective. NULL: nobody waited, or no launch
--                                        is known.
-- column: cause_name         text        What held it: the host's operator, annotation or Python
--                                        frame; the kernel; that other collective; 80 characters
--                                        of it. NULL for waits under 0.02 ms.
-- column: root_rank          int(id)     The rank at the end of the chain of causes; NULL of
--                                        schedule: nobody was late.
-- column: root_cause         text        host, device or schedule, there.
-- column: root_name          text        What held that rank.
-- column: first_rank         int(id)     The first to start: it waited longest.
-- column: ranks_met          int(count)  How many of its ranks are in the database.
-- column: is_estimate        int(0..1)   1: a part without a partner; see above.
-- column: uncertain          int(0..1)   1: the longest wait is shorter than what the clocks of
--                                        the two ranks' hosts leave open (clock_pairs' p95).
--
-- plot:   bar total_wait_ms by run, capture, culprit_rank, step, collective,
--         cause_name
-- empty:  No collective is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH judged AS MATERIALIZED (
  SELECT m.*, row_number() OVER (PARTITION BY t.run_id ORDER BY m.wait_ns DESC, m.first_start_ns,
                                 g.ranks, m.ordinal, m.slice_id) AS place
  FROM matched_collectives m
  CROSS JOIN traces t ON t.trace_id = m.trace_id
  CROSS JOIN process_groups g ON g.group_id = m.group_id
  WHERE (:rank IS NULL OR m.last_rank = :rank) AND (:run IS NULL OR t.run = :run)
    AND (:capture IS NULL OR t.capture = :capture)
),
clock AS MATERIALIZED (
  SELECT t.capture_id, c.rank, c.clock FROM rank_clocks c JOIN traces t ON t.trace_id = c.trace_id
),
doubt AS MATERIALIZED (  -- either way round
  SELECT capture_id, clock_a, clock_b, max(residual_p95_ns) AS open_ns
  FROM (SELECT capture_id, clock_a, clock_b, residual_p95_ns FROM clock_residuals
        UNION ALL SELECT capture_id, clock_b, clock_a, residual_p95_ns FROM clock_residuals)
  GROUP BY capture_id, clock_a, clock_b
)
SELECT
  t.run,
  t.capture,
  m.collective,
  g.name AS group_name,
  g.description AS group_description,
  g.ranks AS group_ranks,
  m.ordinal,
  m.step,
  m.bytes,
  (m.first_start_ns - t.run_start_ns) / 1e6 AS start_ms,
  m.last_rank AS culprit_rank,
  m.wait_ns / 1e6 AS total_wait_ms,
  m.max_wait_ns / 1e6 AS max_wait_ms,
  m.transfer_ns / 1e6 AS transfer_ms,
  c.cause,
  c.cause_short AS cause_name,
  c.root_rank,
  c.root_cause,
  c.root_short AS root_name,
  m.first_rank,
  m.ranks_met,
  m.is_estimate,
  ifnull(d.open_ns > m.max_wait_ns, 0) AS uncertain
FROM judged m
CROSS JOIN traces t ON t.trace_id = m.trace_id
CROSS JOIN process_groups g ON g.group_id = m.group_id
LEFT JOIN collective_causes c ON c.slice_id = m.slice_id AND NOT m.is_estimate
LEFT JOIN clock a ON a.capture_id = m.capture_id AND a.rank = m.first_rank
LEFT JOIN clock b ON b.capture_id = m.capture_id AND b.rank = m.last_rank
LEFT JOIN doubt d ON d.capture_id = m.capture_id AND d.clock_a = a.clock AND d.clock_b = b.clock
WHERE :limit IS NULL OR :limit < 0 OR m.place <= :limit
ORDER BY t.run_id, m.place;
