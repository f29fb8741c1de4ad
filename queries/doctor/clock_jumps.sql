-- title: Clocks of ranks that jump
--
-- All parts of a collective end at about the same time: for each rank, how much later its part
-- ended than those of the other ranks on average is looked at from collective to collective. A
-- clock jumps where this is at least jump_us more (or less) in each of eight collectives in a row
-- than in each of the eight before, and four times as much as it differs within either eight. Of
-- the ranks of a capture the one with the largest jump is told, others differ from it as well.
-- Messages, and collectives that not all ranks leave together (broadcast, reduce), are left out.
--
-- meaning: One clock was set while the job ran (NTP, a suspended machine), or the profiler mapped
--   GPU times anew. Corrections of clocks are for a clock that runs evenly: waits between this rank
--   and others before or after the jump are wrong by as much (`nccl_stalls`, `recommendations`).
-- advice: Trust waits on one side of the jump only (`clocks`, `clock_pairs`); let clocks be slewed,
--   not stepped, while jobs run.
--
-- param:  jump_us  real(us)  = 200  What jumps less is left out.
--
-- column: severity      text        Always finding.
-- column: run           text        The run.
-- column: capture       int(count)  The capture: its number in the run.
-- column: rank          int(id)     The rank; where only two took part, it may be the other one.
-- column: count         int(count)  1: this jump.
-- column: step          int(count)  Of the first collective after it.
-- column: at_ms         real(ms)    Its end, since the run's start.
-- column: jump_ms       real(ms)    At least by how much; negative: back.
-- column: ranks         int(count)  That took part in that collective.
-- column: slice_id      int(id)     The rank's part of it.
--
-- empty:  No rank's clock jumps against the others' at collectives that both took part in.

WITH part AS MATERIALIZED (  -- a rank alone has nothing to be compared with
  SELECT t.run_id, c.capture_id, c.group_id, c.by_seq, c.match_no, c.slice_id, c.rank, c.step,
         c.ts_ns + c.dur_ns AS end_ns
  FROM collectives c JOIN traces t ON t.trace_id = c.trace_id
  WHERE c.group_id IS NOT NULL AND c.pair = '' AND c.dur_ns > 0
    AND t.capture_id IN (SELECT capture_id FROM captures WHERE ranks > 1)
    AND lower(c.collective) NOT GLOB '*broadcast*'
    AND lower(c.collective) NOT IN ('reduce', '_reduce', 'gather', 'scatter')
),
apart AS MATERIALIZED (
  SELECT *, count(*) OVER w AS ranks,
         end_ns - base_ns - (sum(end_ns - base_ns) OVER w - (end_ns - base_ns))
                              / max(count(*) OVER w - 1, 1) AS later_ns
  FROM (SELECT *, min(end_ns) OVER (PARTITION BY capture_id, group_id, by_seq, match_no) AS base_ns
        FROM part)
  WINDOW w AS (PARTITION BY capture_id, group_id, by_seq, match_no)
),
-- Most clocks are even: only where a rank's differences do differ are they looked at one by one.
uneven AS MATERIALIZED (
  SELECT capture_id, group_id, rank FROM apart WHERE ranks > 1 GROUP BY capture_id, group_id, rank
  HAVING max(later_ns) - min(later_ns) >= 1e3 * coalesce(:jump_us, 200)
),
around AS (
  SELECT *, min(later_ns) OVER before AS before_least, max(later_ns) OVER before AS before_most,
         count(*) OVER before AS before_count, min(later_ns) OVER after AS after_least,
         max(later_ns) OVER after AS after_most, count(*) OVER after AS after_count
  FROM (SELECT a.* FROM uneven u CROSS JOIN apart a ON a.capture_id = u.capture_id
          AND a.group_id = u.group_id AND a.rank IS u.rank
        WHERE a.ranks > 1)
  WINDOW before AS (PARTITION BY capture_id, group_id, rank ORDER BY by_seq, match_no
                    ROWS BETWEEN 8 PRECEDING AND 1 PRECEDING),
         after AS (PARTITION BY capture_id, group_id, rank ORDER BY by_seq, match_no
                   ROWS BETWEEN CURRENT ROW AND 7 FOLLOWING)
),
jump AS (
  SELECT *, row_number() OVER (PARTITION BY capture_id
                               ORDER BY abs(ns) DESC, rank, slice_id) AS turn
  FROM (SELECT *, iif(after_least > before_most, after_least - before_most,
                      iif(before_least > after_most, after_most - before_least, 0)) AS ns
        FROM around WHERE before_count = 8 AND after_count = 8)
  WHERE abs(ns) >= 1e3 * coalesce(:jump_us, 200)
    AND abs(ns) >= 4 * (before_most - before_least) AND abs(ns) >= 4 * (after_most - after_least)
)
SELECT
  'finding' AS severity,
  c.run,
  c.capture,
  j.rank,
  1 AS count,
  j.step,
  (j.end_ns - r.start_ns) / 1e6 AS at_ms,
  j.ns / 1e6 AS jump_ms,
  j.ranks,
  j.slice_id
FROM jump j JOIN captures c ON c.capture_id = j.capture_id JOIN runs r ON r.run_id = j.run_id
WHERE j.turn = 1
ORDER BY j.run_id, c.capture;
