-- title: How long each pipeline stage had nothing to do
--
-- One row for each step of each GPU that sends or receives in a group for pipeline parallelism (by
-- the words of `overlap_by_group`). The step's time is from the first start of an activity launched
-- in it to the last end. A bubble is time in which nothing runs on the GPU (idle), or nothing but
-- communication that waits for another stage (wait): a kernel of a pipeline group, and its
-- transfer; or a collective of another group with ranks of other stages, such as an all-reduce of
-- the whole job that ends a step, until the last of its ranks has started. Waits for ranks that are
-- no other stage (of the tensor or data parallel group) are other_wait_ms; all else is work, and
-- waits in collectives whose other parts are not recorded (see `nccl_unmatched`).
--
-- Forward messages go to higher ranks, backward ones to lower. Cool-down begins when the last
-- forward message has ended; warm-up lasts until the first backward message has ended, if that is
-- before; between the two is steady. Of interleaved schedules, whose last stage sends to the first,
-- the phases and stages' messages are mixed up.
--
-- Ranks that send messages to several ranks in one batch are left out: such a kernel does not say
-- for whom it waits.
--
-- An ideal schedule of p stages and m microbatches has bubbles of (p - 1) / m of the work.
--
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run            text        The run: one training job that was recorded.
-- column: capture        int(count)  The capture: its number in the run.
-- column: rank           int(id)     The rank.
-- column: device         text        The GPU, as the trace calls it.
-- column: step           int(count)  The number in ProfilerStep#N.
-- column: stage          int(count)  The rank's place in the group, from 0.
-- column: stages         int(count)  p: ranks in the group; of several groups the largest.
-- column: microbatches   int(count)  m: messages of the step with one peer in one direction, of
--                                    several the most; NULL: the trace does not tell peers.
-- column: gpu_ms         real(ms)    The step's time.
-- column: work_ms        real(ms)    gpu_ms without bubbles and other waits.
-- column: bubble_ms      real(ms)    wait_ms and idle_ms.
-- column: wait_ms        real(ms)    For another stage, without computation and copies.
-- column: idle_ms        real(ms)    Nothing ran.
-- column: other_wait_ms  real(ms)    For ranks that are no other stage, in collectives, without
--                                    computation and copies: no bubble, and no work.
-- column: warm_up_ms     real(ms)    Of bubble_ms, in the warm-up; this and the next two are NULL
--                                    where the trace does not tell peers.
-- column: steady_ms      real(ms)    Between warm-up and cool-down.
-- column: cool_down_ms   real(ms)    In the cool-down.
-- column: bubble_pct     real(pct)   bubble_ms of work_ms.
-- column: ideal_pct      real(pct)   (p - 1) / m.
-- column: lost_ms        real(ms)    bubble_ms beyond ideal_pct of work_ms.
--
-- about:  steps and GPU time
-- empty:  No kernel launched in a step belongs to a group whose description says pipeline.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown
-- lead:   rank, step, stage, bubble_ms, bubble_pct, ideal_pct, wait_ms, work_ms, lost_ms

WITH RECURSIVE recorded AS MATERIALIZED (
  SELECT trace_id, run_id, run, capture, rank FROM traces
  WHERE (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
    AND (:run IS NULL OR run = :run)
    AND (:capture IS NULL OR capture = :capture)
),
message AS MATERIALIZED (  -- sendrecv is two: both ways with one peer in one kernel
  SELECT t.rank, t.device, t.trace_id, p.step, p.group_id, n.size, n.ranks, p.peer,
         iif(p.collective = 'sendrecv', w.way, p.collective) AS collective,
         p.ts_ns AS start_ns, p.ts_ns + ifnull(p.dur_ns, 0) AS end_ns,
         CASE iif(p.collective = 'sendrecv', w.way, p.collective)
           WHEN 'send' THEN p.peer > p.rank
           WHEN 'recv' THEN p.peer < p.rank
         END AS is_forward  -- NULL: no message, or the peer is not known
  FROM process_groups n CROSS JOIN collectives p ON p.group_id = n.group_id
  CROSS JOIN activities g ON g.slice_id = p.slice_id
  CROSS JOIN tracks t ON t.track_id = g.track_id
  CROSS JOIN (SELECT 'send' AS way UNION ALL SELECT 'recv') w
  WHERE n.parallelism = 'pipeline' AND ifnull(p.dur_ns, 0) >= 0
    AND (w.way = 'send' OR p.collective = 'sendrecv')
    AND p.trace_id IN (SELECT trace_id FROM recorded)
    AND p.trace_id NOT IN (  -- in batches with several ranks
      SELECT u.trace_id FROM collectives u
      WHERE u.group_id IS NULL AND u.collective IN ('send', 'recv', 'sendrecv'))
),
member AS MATERIALIZED (
  SELECT g.group_id, g.run_id, g.parallelism = 'pipeline' AS is_pipeline, r.value AS rank
  FROM process_groups g, json_each(g.ranks) r
),
mate AS MATERIALIZED (  -- the other stages of a rank
  SELECT DISTINCT a.run_id, a.rank, b.rank AS other
  FROM member a JOIN member b ON b.group_id = a.group_id AND b.rank <> a.rank
  WHERE a.is_pipeline
),
across AS MATERIALIZED (  -- groups in which a rank meets another stage
  SELECT DISTINCT a.group_id, a.rank
  FROM member a JOIN mate m ON m.run_id = a.run_id AND m.rank = a.rank
  JOIN member b ON b.group_id = a.group_id AND b.rank = m.other
  WHERE NOT a.is_pipeline
),
met AS MATERIALIZED (
  SELECT capture_id, group_id, pair, by_seq, match_no, max(aligned_ts_ns) AS last_ns
  FROM collectives
  WHERE group_id IN (SELECT group_id FROM member WHERE NOT is_pipeline)
    AND EXISTS (SELECT 1 FROM message)
  GROUP BY capture_id, group_id, pair, by_seq, match_no
  HAVING min(rank) < max(rank)
),
waited AS MATERIALIZED (  -- from a part's own start to that of the last
  SELECT t.trace_id, t.device, p.ts_ns AS start_ns,
         min(p.end_ns, p.ts_ns + m.last_ns - p.aligned_ts_ns) AS end_ns,
         EXISTS (SELECT 1 FROM across a WHERE a.group_id = p.group_id AND a.rank = p.rank)
           AS is_bubble
  FROM met m CROSS JOIN collectives p ON p.group_id = m.group_id AND p.capture_id = m.capture_id
    AND p.pair = m.pair AND p.by_seq = m.by_seq AND p.match_no = m.match_no
  CROSS JOIN activities g ON g.slice_id = p.slice_id
  CROSS JOIN tracks t ON t.track_id = g.track_id
  WHERE p.dur_ns > 0 AND m.last_ns > p.aligned_ts_ns
    AND p.trace_id IN (SELECT trace_id FROM recorded)
),
stretch AS (
  SELECT device, trace_id, step, min(first_ns) AS from_ns, max(last_ns) AS to_ns
  FROM step_activities
  WHERE (trace_id, device) IN (SELECT trace_id, device FROM message)
  GROUP BY trace_id, device, step
),
exchanged AS (
  SELECT trace_id, device, step, max(size) AS stages,
         max((SELECT count(*) FROM json_each(ranks) WHERE value < rank)) AS stage,
         min(end_ns) FILTER (WHERE NOT is_forward) AS first_backward_ns,
         max(end_ns) FILTER (WHERE is_forward) AS last_forward_ns
  FROM message WHERE step IS NOT NULL
  GROUP BY trace_id, device, step
),
counted AS (
  SELECT trace_id, device, step, max(messages) AS microbatches
  FROM (SELECT trace_id, device, step, count(*) AS messages
        FROM message WHERE peer IS NOT NULL
        GROUP BY trace_id, device, step, group_id, collective, peer)
  GROUP BY trace_id, device, step
),
schedule AS MATERIALIZED (
  SELECT *, min(ifnull(first_backward_ns, to_ns), cool_ns) AS steady_ns
  FROM (SELECT s.*, e.stages, e.stage, c.microbatches, e.first_backward_ns,
               min(ifnull(e.last_forward_ns, s.to_ns), s.to_ns) AS cool_ns,
               row_number() OVER (ORDER BY s.trace_id, s.device, s.step) AS number
        FROM stretch s JOIN exchanged e ON e.trace_id = s.trace_id AND e.device = s.device
          AND e.step = s.step
        LEFT JOIN counted c ON c.trace_id = s.trace_id AND c.device = s.device
          AND c.step = s.step)
),
phase AS MATERIALIZED (
  SELECT number, trace_id, device, 1 AS phase, from_ns, steady_ns AS to_ns FROM schedule
  UNION ALL SELECT number, trace_id, device, 2, steady_ns, cool_ns FROM schedule
  UNION ALL SELECT number, trace_id, device, 3, cool_ns, to_ns FROM schedule
),
held AS (  -- kinds of waits: 1 for another stage, 2 all
  SELECT 1 AS waits, trace_id, device, start_ns, end_ns FROM message
  UNION ALL SELECT 1, trace_id, device, start_ns, end_ns FROM waited WHERE is_bubble
  UNION ALL SELECT 2, trace_id, device, start_ns, end_ns FROM message
  UNION ALL SELECT 2, trace_id, device, start_ns, end_ns FROM waited
),
reached AS (  -- until: the latest end of an earlier one
  SELECT waits, trace_id, device, start_ns, end_ns,
         max(end_ns) OVER (PARTITION BY waits, trace_id, device ORDER BY start_ns, end_ns
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
  FROM held
),
wait AS MATERIALIZED (  -- none begins before the one before has ended
  SELECT *, (place - 1) / 64 AS batch
  FROM (SELECT waits, trace_id, device, max(start_ns, ifnull(until_ns, start_ns)) AS start_ns,
               end_ns, row_number() OVER (PARTITION BY waits, trace_id, device
                                         ORDER BY end_ns) AS place
        FROM reached WHERE end_ns > max(start_ns, ifnull(until_ns, start_ns)))
),
moment AS (  -- at one time ends of waits and of phases come before their starts
  SELECT waits, trace_id, device, end_ns AS at, 0 AS turn, place AS ended, NULL AS started,
         NULL AS number, NULL AS phase
  FROM wait
  UNION ALL SELECT waits, trace_id, device, start_ns, 1, NULL, place, NULL, NULL FROM wait
  UNION ALL
  SELECT k.waits, f.trace_id, f.device, iif(e.turn = 0, f.to_ns, f.from_ns), e.turn, NULL, NULL,
         f.number, f.phase
  FROM phase f CROSS JOIN (SELECT 0 AS turn UNION ALL SELECT 1) e
  CROSS JOIN (SELECT 1 AS waits UNION ALL SELECT 2) k
  WHERE f.to_ns > f.from_ns
),
spanned AS MATERIALIZED (  -- which waits of a GPU lie in a phase, wholly or in part
  SELECT waits, trace_id, device, number, phase,
         max(iif(turn = 1, ifnull(ended, 0), NULL)) + 1 AS first_place,
         max(iif(turn = 0, ifnull(started, 0), NULL)) AS last_place
  FROM (SELECT waits, trace_id, device, turn, number, phase,
               max(ended) OVER w AS ended, max(started) OVER w AS started
        FROM moment
        WINDOW w AS (PARTITION BY waits, trace_id, device ORDER BY at, turn
                     ROWS UNBOUNDED PRECEDING))
  WHERE number IS NOT NULL
  GROUP BY waits, trace_id, device, number, phase
),
batched (waits, trace_id, device, number, phase, first_place, last_place, batch) AS (
  SELECT *, (first_place - 1) / 64 FROM spanned WHERE last_place >= first_place
  UNION ALL
  SELECT waits, trace_id, device, number, phase, first_place, last_place, batch + 1
  FROM batched WHERE batch < (last_place - 1) / 64
),
part AS MATERIALIZED (  -- waits NULL: a phase; else what of waits lies in it
  SELECT number, trace_id, device, phase, NULL AS waits, from_ns, to_ns FROM phase
  WHERE to_ns > from_ns
  UNION ALL
  SELECT f.number, f.trace_id, f.device, f.phase, w.waits, max(w.start_ns, f.from_ns),
         min(w.end_ns, f.to_ns)
  FROM batched b CROSS JOIN wait w ON w.batch = b.batch AND w.waits = b.waits
    AND w.trace_id = b.trace_id AND w.device = b.device
  JOIN phase f ON f.number = b.number AND f.phase = b.phase
  WHERE w.place BETWEEN b.first_place AND b.last_place
),
begun AS MATERIALIZED (  -- a segment may last into it
  SELECT *, ifnull((SELECT max(b.ts_ns) FROM busy_segments b
                    WHERE b.trace_id = p.trace_id AND b.device = p.device AND b.ts_ns <= p.from_ns),
                   from_ns) AS first_ns
  FROM part p
),
measured AS MATERIALIZED (
  SELECT p.number, p.phase, p.waits, p.to_ns - p.from_ns AS span_ns,
         (SELECT sum(max(0, min(b.end_ns, p.to_ns) - max(b.ts_ns, p.from_ns)))
          FROM busy_segments b
          WHERE b.trace_id = p.trace_id AND b.device = p.device
            AND b.ts_ns >= p.first_ns AND b.ts_ns < p.to_ns
            AND (p.waits IS NULL OR b.kinds = 2)) AS busy_ns
  FROM begun p
),
used AS (
  SELECT number,
         ifnull(sum(span_ns - ifnull(busy_ns, 0)) FILTER (WHERE waits IS NULL), 0) AS idle_ns,
         ifnull(sum(busy_ns) FILTER (WHERE waits = 1), 0) AS wait_ns,
         ifnull(sum(busy_ns) FILTER (WHERE waits = 2), 0) AS all_wait_ns,
         ifnull(sum(iif(waits IS NULL, span_ns - ifnull(busy_ns, 0), ifnull(busy_ns, 0)))
                  FILTER (WHERE phase = 1 AND waits IS NOT 2), 0) AS warm_up_ns,
         ifnull(sum(iif(waits IS NULL, span_ns - ifnull(busy_ns, 0), ifnull(busy_ns, 0)))
                  FILTER (WHERE phase = 3 AND waits IS NOT 2), 0) AS cool_down_ns
  FROM measured GROUP BY number
),
summed AS (
  SELECT s.*, u.idle_ns, u.wait_ns, u.idle_ns + u.wait_ns AS bubble_ns,
         u.all_wait_ns - u.wait_ns AS other_wait_ns,
         s.to_ns - s.from_ns - u.idle_ns - u.all_wait_ns AS work_ns,
         iif(s.microbatches, u.warm_up_ns, NULL) AS warm_up_ns,
         iif(s.microbatches, u.cool_down_ns, NULL) AS cool_down_ns
  FROM schedule s JOIN used u ON u.number = s.number
)
SELECT
  r.run,
  r.capture,
  r.rank,
  device,
  step,
  stage,
  stages,
  microbatches,
  (to_ns - from_ns) / 1e6 AS gpu_ms,
  work_ns / 1e6 AS work_ms,
  bubble_ns / 1e6 AS bubble_ms,
  wait_ns / 1e6 AS wait_ms,
  idle_ns / 1e6 AS idle_ms,
  other_wait_ns / 1e6 AS other_wait_ms,
  warm_up_ns / 1e6 AS warm_up_ms,
  (bubble_ns - warm_up_ns - cool_down_ns) / 1e6 AS steady_ms,
  cool_down_ns / 1e6 AS cool_down_ms,
  100.0 * bubble_ns / nullif(work_ns, 0) AS bubble_pct,
  100.0 * (stages - 1) / microbatches AS ideal_pct,
  (bubble_ns - 1.0 * work_ns * (stages - 1) / microbatches) / 1e6 AS lost_ms
FROM summed s JOIN recorded r ON r.trace_id = s.trace_id
ORDER BY r.run_id, r.capture, r.rank, CAST(device AS INTEGER), device, from_ns, s.trace_id, step;
