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
-- the others, the cause is its schedule. A device that was busy with what it was given late is not
-- slow: where its host kept it without work before, in this step, and a slice of the host took so
-- much longer than on the other ranks that this is half of the wait, that slice is the cause.
-- Nor is one slow whose kernels took no longer than those of the group's other ranks: named is what
-- took longer by half of the wait, else what the culprit had waited for, or was late for, before.
--
-- A part without a partner in the database has a row too, is_estimate: its wait is what it took
-- longer than the shortest of the same collective, size and group. For whom, nobody can tell.
--
-- Records of NCCL Inspector, which a job writes without a profiler, have rows too: parts belong
-- together by communicator and sequence number (ordinal), and group_name is the communicator's id.
-- Verbose ones (NCCL_INSPECTOR_DUMP_VERBOSE=1) have starts. Ranks of one host share its clock,
-- those of several do not: then uncertain is 1. Where the start of a rank is unknown, durations
-- tell: a rank waits for as long as its part is longer than the shortest, is_estimate. Why a rank
-- was late they do not tell.
--
-- param:  limit    int(rows)   = null  Rows of a run at most, the worst first; all when null.
-- param:  rank     ints(id)    = null  Only what these ranks caused; all of them when null.
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
--                                        its stream was busy, for longer than others'; schedule:
--                                        busy too, with a kernel that took the other ranks as
--                                        long; upstream: it waited in another collective, or
--                                        may have, for ranks that were not recorded (`: ranks
--                                        missing` after its name). NULL: nobody waited, no
--                                        launch is known, or nothing took longer than on the
--                                        other ranks.
-- column: cause_name         text        What held it: the host's operator, annotation or Python
--                                        frame; the kernel; that other collective; 80 characters
--                                        of it. NULL for waits under 0.02 ms.
-- column: root_rank          int(id)     The rank at the end of the chain of causes; NULL of
--                                        schedule: nobody was late; and where it ends at ranks
--                                        that were not recorded.
-- column: root_cause         text        host, device or schedule, there; else NULL.
-- column: root_name          text        What held that rank.
-- column: first_rank         int(id)     The first to start: it waited longest.
-- column: ranks_met          int(count)  How many of its ranks are in the database.
-- column: is_estimate        int(0..1)   1: a part without a partner; see above.
-- column: uncertain          int(0..1)   1: the longest wait is shorter than what the clocks of
--                                        the two ranks' hosts leave open (clock_pairs' p95), or
--                                        (of 0.2 ms and more) twice as long as its parts differ in
--                                        length: their clocks do not agree (doctor/clock_jumps,
--                                        doctor/clocks_not_compared). Not told of messages,
--                                        broadcasts, reduces, gathers and scatters.
--
-- about:  communication
-- lead:   step, collective, culprit_rank, total_wait_ms, root_rank, root_name, group_description,
--   bytes, start_ms, cause, cause_name, max_wait_ms, ordinal, transfer_ms
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
  WHERE (:rank IS NULL OR m.last_rank IN (SELECT value FROM json_each(:rank)))
    AND (:run IS NULL OR t.run = :run)
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
),
shorter AS MATERIALIZED (  -- by the lengths of their parts, which no clock changes
  SELECT m.slice_id
  FROM judged m CROSS JOIN collectives p ON p.slice_id = m.slice_id
  CROSS JOIN collectives q ON q.capture_id = p.capture_id AND q.group_id = p.group_id
    AND q.pair = p.pair AND q.by_seq = p.by_seq AND q.match_no = p.match_no
  WHERE NOT m.is_estimate AND m.max_wait_ns >= 200000 AND p.pair = '' AND q.dur_ns >= 0
    AND lower(p.collective) NOT IN ('broadcast', '_broadcast', '_broadcast_oop', 'reduce',
                                    '_reduce', '_reduce_oop', 'gather', 'scatter')
  GROUP BY m.slice_id, m.max_wait_ns
  HAVING 2 * (max(q.dur_ns) - min(q.dur_ns)) <= m.max_wait_ns
),
part AS (  -- of NCCL Inspector
  SELECT
    i.run_id, i.run, i.communicator_id, i.comm_name, i.collective, i.sn, i.rank_bytes AS bytes,
    i.host, i.start_ns, i.exec_us, coalesce(i.world_rank, i.rank) AS rank,
    max(i.start_ns) OVER met AS last_ns, min(i.start_ns) OVER met AS first_ns,
    min(i.exec_us) OVER met AS shortest_us, sum(i.start_ns IS NULL) OVER met AS untimed
  FROM inspector_collectives i
  WHERE i.is_p2p = 0 AND :capture IS NULL AND (:run IS NULL OR i.run = :run)
  WINDOW met AS (PARTITION BY i.run_id, i.communicator_id, i.collective, i.sn)
),
whole AS MATERIALIZED (  -- all ranks' starts are known, or those of durations alone
  SELECT
    run_id, run, communicator_id, max(comm_name) AS comm_name, collective, sn,
    max(bytes) AS bytes, count(DISTINCT rank) AS ranks_met, count(DISTINCT host) AS hosts,
    max(untimed) > 0 AS is_estimate,
    iif(max(untimed) > 0, NULL, max(first_ns)) AS first_ns, min(shortest_us) AS shortest_us,
    iif(max(untimed) > 0, CAST(round(1000 * sum(exec_us - shortest_us)) AS INTEGER),
        sum(last_ns - start_ns)) AS wait_ns,
    iif(max(untimed) > 0, CAST(round(1000 * max(exec_us - shortest_us)) AS INTEGER),
        max(last_ns - start_ns)) AS max_wait_ns,
    iif(max(untimed) > 0 OR max(last_ns) = min(first_ns), NULL,
        min(iif(start_ns = last_ns, rank, NULL))) AS last_rank,
    iif(max(untimed) > 0, NULL, min(iif(start_ns = first_ns, rank, NULL))) AS first_rank
  FROM part
  GROUP BY run_id, run, communicator_id, collective, sn
  HAVING count(DISTINCT rank) > 1
),
reported AS (
  SELECT
    w.*, c.ranks,
    coalesce((SELECT min(t.run_start_ns) FROM traces t WHERE t.run_id = w.run_id),
             min(w.first_ns) OVER (PARTITION BY w.run_id)) AS run_start_ns,
    row_number() OVER (PARTITION BY w.run_id ORDER BY w.wait_ns DESC, w.first_ns,
                       w.communicator_id, w.collective, w.sn) AS place
  FROM whole w
  JOIN inspector_communicators c
    ON c.communicator_id IS w.communicator_id AND c.run_id IS w.run_id
  WHERE :rank IS NULL OR w.last_rank IN (SELECT value FROM json_each(:rank))
),
united AS (
  SELECT
    t.run_id,
    m.place,
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
    CASE WHEN d.open_ns > m.max_wait_ns OR s.slice_id IS NOT NULL THEN 1 ELSE 0 END AS uncertain
  FROM judged m
  CROSS JOIN traces t ON t.trace_id = m.trace_id
  CROSS JOIN process_groups g ON g.group_id = m.group_id
  LEFT JOIN collective_causes c ON c.slice_id = m.slice_id AND NOT m.is_estimate
  LEFT JOIN clock a ON a.capture_id = m.capture_id AND a.rank = m.first_rank
  LEFT JOIN clock b ON b.capture_id = m.capture_id AND b.rank = m.last_rank
  LEFT JOIN doubt d ON d.capture_id = m.capture_id AND d.clock_a = a.clock AND d.clock_b = b.clock
  LEFT JOIN shorter s ON s.slice_id = m.slice_id
  WHERE :limit IS NULL OR :limit < 0 OR m.place <= :limit
  UNION ALL
  SELECT
    run_id,
    place,
    run,
    NULL,
    collective,
    communicator_id,
    comm_name,
    ranks,
    sn,
    NULL,
    bytes,
    (first_ns - run_start_ns) / 1e6,
    last_rank,
    wait_ns / 1e6,
    max_wait_ns / 1e6,
    shortest_us / 1e3,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    first_rank,
    ranks_met,
    is_estimate,
    is_estimate OR hosts > 1
  FROM reported
  WHERE :limit IS NULL OR :limit < 0 OR place <= :limit
)
SELECT
  run,
  capture,
  collective,
  group_name,
  group_description,
  group_ranks,
  ordinal,
  step,
  bytes,
  start_ms,
  culprit_rank,
  total_wait_ms,
  max_wait_ms,
  transfer_ms,
  cause,
  cause_name,
  root_rank,
  root_cause,
  root_name,
  first_rank,
  ranks_met,
  is_estimate,
  uncertain
FROM united
ORDER BY run_id, place, group_name, ordinal;
