-- title: What to change first, why, and how much time it may give
--
-- One row for each problem without which the job would be faster by min_pct or more, the most to
-- gain first. A gain comes from a replay of the recorded dependencies of all ranks without the
-- cause (`what_if`): waiting that computation hides gains nothing, a late rank what the next one
-- would allow. A row's gain is what it adds to those that count before it (ranks that are late,
-- groups with slow transfers, then by what each gains alone), and never more than alone, but for
-- what another late rank hides, as its evidence says: slow transfers, a rank with a fifth of all
-- waits, and up to eight that one with half of them hides, and each the next. No row: no gain.
--
-- A group is slow whose transfers take half as long again and more as those of the other groups of
-- its kind and size, for the same collectives of the same bytes; a link between two ranks alike, by
-- messages. A rank makes others wait only for what takes longer on it than on them: in a pipeline
-- everybody waits, and nobody is late. Ranks late for the same slice of the host, or all for their
-- GPU's work, have one row where they are late in the same steps, half of all ranks at most, or
-- where none of them makes the others wait for more than half of it (of two ranks: two thirds). Of
-- these one is the last more often than by chance if that has 1 % / ranks, were all as likely.
--
-- Communication in groups that do not say what they are for (default_pg) is told by its callers
-- (`collective_callers`). Of one rank alone all its communication counts, waiting or not. Number
-- types are those of the GPU's tensor cores. A gathered database tells of late ranks, transfers and
-- waits in communication alone, and of a late rank the least gain, or NULL: it is not told.
--
-- param:  min_pct  real(pct)   = 2     What gains less is left out.
-- param:  rank     int(id)     = null  Problems of this rank only; of all of them when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run          text        The run: one training job that was recorded.
-- column: number       int(count)  1 is the first to look at in its run.
-- column: problem      text        What is wrong, in a few words.
-- column: rank         int(id)     The rank whose problem it is; NULL: of all of them.
-- column: step         int(count)  The step that would gain most, where that is more than half of
--                                  all; NULL: no one step.
-- column: evidence     text        The figures, and the query that has more of them.
-- column: advice       text        What to do.
-- column: gain_ms      real(ms)    Of a step, the mean of the run's. Late ranks come before others.
-- column: gain_pct     real(pct)   The same of the time of the steps.
-- column: together_ms  real(ms)    With all rows up to this one, of a step.
-- column: what_if      text        The change, as the query what_if takes it.
-- column: see          text        The command that shows it in Perfetto; NULL: there is none.
--
-- about:  what to do
-- empty:  Nothing that is known here gains that much, or no GPU activity is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown
-- lead:   number, problem, rank, gain_ms, gain_pct, evidence, advice
-- wrap:   problem, evidence, advice, what_if, see
-- plot:   bar gain_pct by run, number, problem

-- long because: each problem is a rule of its own
WITH recorded AS MATERIALIZED (
  SELECT trace_id, run_id, run, capture_id, rank AS own_rank, world_size AS job_ranks FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
replayed AS MATERIALIZED (
  -- Of a gathered database collectives alone are replayed. least, most: with this a late rank loses
  -- no more than summaries tell that it takes too long, or all that it may be late by.
  SELECT is_summed, iif(is_summed, ',{"untold":"stays"}', '') AS least,
         iif(is_summed, ',{"untold":"goes"}', '') AS most
  FROM (SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '_left_out')
                 AS is_summed)
),
part AS MATERIALIZED (
  SELECT r.run_id, u.* FROM step_uses u JOIN recorded r ON r.trace_id = u.trace_id
  WHERE :rank IS NULL OR u.rank = :rank
),
whole AS (  -- the steps of all GPUs; what lies before the first step belongs to none
  SELECT run_id, sum(end_ns - start_ns) AS span_ns,
         max(count(DISTINCT trace_id || ' ' || device || ' ' || step), 1) AS stretches,
         count(DISTINCT rank) AS ranks, sum(compute_ns) AS compute_ns,
         sum(idle_host_ns) AS host_ns, sum(exposed_memory_ns) AS memory_ns
  FROM part GROUP BY run_id
),
called AS MATERIALIZED (  -- of groups that do not tell what they are for: by whom
  SELECT c.slice_id, c.caller
  FROM (SELECT 1 FROM part WHERE exposed_other_ns > 0 LIMIT 1)  -- without one none is gone through
  CROSS JOIN collective_callers c CROSS JOIN collectives p ON p.slice_id = c.slice_id
  LEFT JOIN process_groups g ON g.group_id = p.group_id
  WHERE ifnull(g.parallelism, 'other') = 'other'
),
called_part AS MATERIALIZED (
  SELECT c.caller, r.run_id, t.trace_id, t.device, a.ts + t.base_ns AS ts_ns,
         a.ts + t.base_ns + a.dur_ns AS end_ns,
         ifnull((SELECT max(f.ts_ns) FROM busy_segments f
                 WHERE f.trace_id = t.trace_id AND f.device = t.device
                   AND f.ts_ns <= a.ts + t.base_ns),
                a.ts + t.base_ns) AS first_ns
  FROM called c JOIN activity_times a ON a.slice_id = c.slice_id
  JOIN tracks t ON t.track_id = a.track_id JOIN recorded r ON r.trace_id = t.trace_id
  WHERE a.dur_ns > 0 AND (:rank IS NULL OR t.rank = :rank)
),
alone AS MATERIALIZED (  -- how long their collectives run without a compute kernel
  SELECT p.run_id, p.caller, sum(min(b.end_ns, p.end_ns) - max(b.ts_ns, p.ts_ns)) AS ns
  FROM called_part p JOIN busy_segments b ON b.trace_id = p.trace_id AND b.device = p.device
    AND b.ts_ns >= p.first_ns AND b.ts_ns < p.end_ns AND b.kinds & 3 = 2
  WHERE b.end_ns > p.ts_ns GROUP BY p.run_id, p.caller
),
other AS (  -- where several run at once, they share the time
  SELECT p.run_id, sum(p.exposed_other_ns) AS ns,
         min(1.0, 1.0 * sum(p.exposed_other_ns)
                    / (SELECT sum(a.ns) FROM alone a WHERE a.run_id = p.run_id)) AS share
  FROM part p GROUP BY p.run_id
),
exposed AS (
  SELECT run_id, 'pipeline' AS kind, NULL AS caller, sum(exposed_pipeline_ns) AS ns
  FROM part GROUP BY run_id
  UNION ALL SELECT run_id, 'data', NULL, sum(exposed_data_ns) FROM part GROUP BY run_id
  UNION ALL SELECT run_id, 'tensor', NULL, sum(exposed_tensor_ns) FROM part GROUP BY run_id
  UNION ALL SELECT run_id, 'expert', NULL, sum(exposed_expert_ns) FROM part GROUP BY run_id
  UNION ALL SELECT run_id, 'context', NULL, sum(exposed_context_ns) FROM part GROUP BY run_id
  UNION ALL
  SELECT a.run_id, 'other', a.caller, CAST(a.ns * o.share AS INTEGER)
  FROM alone a JOIN other o ON o.run_id = a.run_id
  UNION ALL
  SELECT run_id, 'other', NULL,
         ns - ifnull((SELECT sum(CAST(a.ns * o.share AS INTEGER)) FROM alone a
                      WHERE a.run_id = o.run_id), 0)
  FROM other o
),
no_wait AS MATERIALIZED (  -- what none is by the lengths of its parts, which no clock changes
  SELECT c.slice_id, r.run_id, c.root_rank, c.wait_ns, c.step
  FROM collective_causes c JOIN recorded r ON r.trace_id = c.trace_id
  CROSS JOIN collectives p ON p.slice_id = c.slice_id
  CROSS JOIN collectives q ON q.capture_id = p.capture_id AND q.group_id = p.group_id
    AND q.pair = p.pair AND q.by_seq = p.by_seq AND q.match_no = p.match_no
  WHERE c.start_ns - c.first_start_ns >= 200000 AND p.pair = '' AND q.dur_ns >= 0
    AND lower(p.collective) NOT IN ('broadcast', '_broadcast', '_broadcast_oop', 'reduce',
                                    '_reduce', '_reduce_oop', 'gather', 'scatter')
  GROUP BY c.slice_id, r.run_id, c.root_rank, c.wait_ns, c.step, c.start_ns, c.first_start_ns
  HAVING 2 * (max(q.dur_ns) - min(q.dur_ns)) <= c.start_ns - c.first_start_ns
),
waited AS (  -- in communication, by the kind of group and the caller
  SELECT r.run_id, ifnull(g.parallelism, 'other') AS kind, d.caller, sum(c.wait_ns) AS ns
  FROM collective_causes c JOIN recorded r ON r.trace_id = c.trace_id
  LEFT JOIN process_groups g ON g.group_id = c.group_id
  LEFT JOIN called d ON d.slice_id = c.slice_id
  WHERE :rank IS NULL AND c.slice_id NOT IN (SELECT slice_id FROM no_wait)
  GROUP BY r.run_id, ifnull(g.parallelism, 'other'), d.caller
),
cause_row AS MATERIALIZED (  -- each wait: who made the others wait in the end, and why
  SELECT r.run_id, r.capture_id, c.step, c.root_rank AS rank, c.root_cause AS cause,
         c.root_name AS name, c.wait_ns
  FROM collective_causes c JOIN recorded r ON r.trace_id = c.trace_id
  WHERE c.root_rank IS NOT NULL AND (:rank IS NULL OR c.root_rank = :rank)
    AND c.slice_id NOT IN (SELECT slice_id FROM no_wait)
),
no_waits AS (  -- where they are a tenth of all waits and more
  SELECT run_id, count(*) AS collectives, sum(wait_ns) AS ns, min(step) AS first_step,
         max(step) AS last_step
  FROM no_wait GROUP BY run_id
  HAVING 10 * sum(wait_ns) >= (SELECT sum(c.wait_ns) FROM collective_causes c
                               JOIN recorded r ON r.trace_id = c.trace_id
                               WHERE r.run_id = no_wait.run_id)
),
caused AS MATERIALIZED (
  SELECT run_id, rank, cause, name, count(*) AS collectives, sum(wait_ns) AS ns
  FROM cause_row GROUP BY run_id, rank, cause, name
),
root AS MATERIALIZED (
  SELECT run_id, rank, sum(collectives) AS collectives, sum(ns) AS ns,
         row_number() OVER (PARTITION BY run_id ORDER BY sum(ns) DESC, rank) AS place
  FROM caused GROUP BY run_id, rank
),
root_name AS MATERIALIZED (
  SELECT run_id, rank, cause, name, sum(ns) AS ns,
         row_number() OVER (PARTITION BY run_id, rank ORDER BY sum(ns) DESC, name, cause) AS place
  FROM caused GROUP BY run_id, rank, cause, name
),
reason AS MATERIALIZED (  -- what makes a rank late most: a slice of its host, or its GPU's work
  SELECT run_id, rank, cause, name, iif(cause = 'host', name, '') AS reason FROM root_name
  WHERE place = 1 AND cause IN ('host', 'device') AND name IS NOT NULL AND :rank IS NULL
),
late_in_step AS MATERIALIZED (
  SELECT a.run_id, a.cause, a.reason, c.capture_id, c.step, a.rank, sum(c.wait_ns) AS ns
  FROM reason a JOIN cause_row c ON c.run_id = a.run_id AND c.rank = a.rank AND c.cause = a.cause
    AND (a.cause = 'device' OR c.name = a.name)
  WHERE c.step IS NOT NULL
  GROUP BY a.run_id, a.cause, a.reason, c.capture_id, c.step, a.rank
),
host_took AS (
  SELECT r.run_id, r.capture_id, u.step, u.name, u.rank, sum(u.total_ns) AS ns
  FROM host_uses u JOIN recorded r ON r.trace_id = u.trace_id
  WHERE u.name IN (SELECT name FROM caused WHERE cause = 'host')
  GROUP BY r.run_id, r.capture_id, u.step, u.name, u.rank
),
host_longer AS MATERIALIZED (  -- whether a rank takes longer for it than the others on average
  SELECT run_id, name, rank, ns * (ranks - 1) > all_ns - ns AS is_longer
  FROM (SELECT run_id, name, rank, sum(ns) AS ns, sum(sum(ns)) OVER w AS all_ns,
               (SELECT count(DISTINCT c.own_rank) FROM recorded c WHERE c.run_id = h.run_id)
                 AS ranks
        FROM host_took h GROUP BY run_id, name, rank
        WINDOW w AS (PARTITION BY run_id, name))
),
stage_of AS MATERIALIZED (  -- as rank_places has it, which is long: each CTE here is read twice
  SELECT r.run_id, r.own_rank, (SELECT (SELECT count(*) FROM json_each(g.ranks) e
                                        WHERE e.value < r.own_rank)
                                FROM process_groups g
                                WHERE g.run_id = r.run_id AND g.parallelism = 'pipeline'
                                  AND r.own_rank IN (SELECT value FROM json_each(g.ranks))
                                ORDER BY g.size DESC, 1 DESC LIMIT 1) AS place
  FROM (SELECT DISTINCT run_id, own_rank FROM recorded) r
),
gpu_took AS (
  SELECT r.run_id, r.capture_id, p.step, p.rank, ifnull(l.place, -1) AS stage,
         sum(p.compute_ns) AS ns
  FROM part p JOIN recorded r ON r.trace_id = p.trace_id
  LEFT JOIN stage_of l ON l.run_id = r.run_id AND l.own_rank = p.rank
  WHERE :rank IS NULL
  GROUP BY r.run_id, r.capture_id, p.step, p.rank
),
took_more AS MATERIALIZED (  -- than the middle one of the ranks (of its stage), of two the lower
  SELECT run_id, 'device' AS cause, '' AS reason, capture_id, step, rank,
         ns - max(iif(place = (ranks + 1) / 2, ns, NULL))
           OVER (PARTITION BY run_id, capture_id, step, stage) AS more_ns, ranks AS alike
  FROM (SELECT *, row_number() OVER (w ORDER BY ns, rank) AS place, count(*) OVER w AS ranks
        FROM gpu_took WINDOW w AS (PARTITION BY run_id, capture_id, step, stage))
  UNION ALL
  SELECT run_id, 'host', name, capture_id, step, rank,
         ns - ifnull(max(iif(place + ranks - with_it = (ranks + 1) / 2, ns, NULL))
                       OVER (PARTITION BY run_id, capture_id, step, name), 0), ranks
  FROM (SELECT *, row_number() OVER (w ORDER BY ns, rank) AS place, count(*) OVER w AS with_it,
               (SELECT count(DISTINCT c.own_rank) FROM recorded c
                WHERE c.capture_id = h.capture_id) AS ranks
        FROM host_took h WINDOW w AS (PARTITION BY run_id, capture_id, step, name))
),
rank_more AS MATERIALIZED (  -- over all steps; how much that differs within captures
  SELECT run_id, cause, reason, rank, sum(steps) AS steps, 1.0 * sum(ns) / sum(steps) AS ns,
         sum(squares) AS squares, sum(steps - 1) AS freedom,
         max(iif(ns > 0, 1.0 * ns * ns / steps, 0)) AS force, max(most_ns) AS most_ns,
         max(apart_ns) AS apart_ns, sum(lasts) AS lasts, max(next_ns) AS next_ns,
         sum(longer_ns) AS longer_ns
  FROM (SELECT run_id, cause, reason, rank, count(*) AS steps, sum(more_ns) AS ns,
               max(0, sum(1.0 * more_ns * more_ns) - 1.0 * sum(more_ns) * avg(more_ns)) AS squares,
               max(more_ns) AS most_ns, max(abs(more_ns)) AS apart_ns, sum(is_last) AS lasts,
               max(iif(place > 1, abs(more_ns), 0)) AS next_ns, sum(max(more_ns, 0)) AS longer_ns
        FROM (SELECT *,
                     more_ns = max(more_ns) OVER (PARTITION BY run_id, cause, reason, capture_id,
                                                    step) AS is_last,
                     row_number() OVER (PARTITION BY run_id, cause, reason, rank
                                        ORDER BY abs(more_ns) DESC) AS place
              FROM took_more WHERE alike > 1)
        GROUP BY run_id, cause, reason, capture_id, rank)
  GROUP BY run_id, cause, reason, rank
),
by_luck AS MATERIALIZED (
  -- Whose GPU (or host, for one thing) takes longer, in the mean over a capture, by less than four
  -- times what chance leaves of its taking now more and now less: as much as on all ranks but the
  -- one on which that is most (of two: on both). And never by three times as much as any other rank
  -- is off (of two: as in any other step). Of few steps and ranks, which say little about chance,
  -- it has to be more.
  -- is_why: that is half of the waits for it, which is not late for copies then.
  SELECT m.run_id, m.cause, m.reason, m.rank, m.steps, m.lasts, m.ranks,
         2 * m.longer_ns * (m.ranks - 1)
           >= ifnull((SELECT r.ns FROM root r WHERE r.run_id = m.run_id AND r.rank = m.rank), 0)
           AS is_why
  FROM (SELECT *, sum(squares) OVER w
                    - iif(count(*) OVER w > 2, max(squares) OVER w, 0) AS spread,
               nullif(sum(freedom) OVER w - max(freedom) OVER w, 0) AS rest,
               count(*) OVER w AS ranks,
               max(apart_ns) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
                                   EXCLUDE CURRENT ROW) AS others_ns
        FROM rank_more WINDOW w AS (PARTITION BY run_id, cause, reason)) m
  WHERE NOT (m.force > 0 AND m.force >= (16 + 400.0 / m.rest / m.rest) * m.spread / m.rest)
    AND m.most_ns <= (3 + 20.0 / m.rest) * iif(m.ranks = 2, max(m.next_ns, m.others_ns),
                                                  m.others_ns)
),
late_or_more AS (
  SELECT run_id, cause, reason, capture_id, step, rank, sum(ns) AS ns, max(more_ns) AS more_ns
  FROM (SELECT run_id, cause, reason, capture_id, step, rank, ns, NULL AS more_ns FROM late_in_step
        UNION ALL
        SELECT run_id, cause, reason, capture_id, step, rank, 0, more_ns FROM took_more)
  GROUP BY run_id, cause, reason, capture_id, step, rank
),
in_step AS (
  SELECT *, sum(ns) OVER w AS wait_ns, max(more_ns) OVER w AS most_ns,
         ns > 0 AND ns = max(ns) OVER w AS is_last,
         row_number() OVER (w ORDER BY rank) = 1 AS is_first
  FROM late_or_more WINDOW w AS (PARTITION BY run_id, cause, reason, capture_id, step)
),
late_there AS (  -- the last or not: whose excess is at least half of the largest one
  SELECT *, ifnull(most_ns > 0 AND 2 * more_ns >= most_ns AND 2 * ranks * most_ns >= wait_ns, 0)
              AS is_late
  FROM (SELECT *, (SELECT count(DISTINCT c.own_rank) FROM recorded c
                   WHERE c.capture_id = i.capture_id) AS ranks
        FROM in_step i WHERE wait_ns > 0)
),
counted AS (  -- where most ranks take long, nobody is late
  SELECT *, iif(2 * late_ranks <= ranks, late_ranks, 0) AS few
  FROM (SELECT *, sum(is_late) OVER (PARTITION BY run_id, cause, reason, capture_id, step)
                    AS late_ranks
        FROM late_there)
),
in_capture AS (
  -- by_one: one rank alone is late. That some rank is the last in all of its steps by chance is
  -- for 10 % or less; in two captures, 1 %.
  SELECT *, 3 * max(ns) OVER w > 2 * sum(ns) OVER w AND sum(firsts) OVER w > 1
              AND 10 * max(lasts) OVER w >= 9 * sum(firsts) OVER w
              AND max(of_ranks) OVER w >=
                CASE sum(firsts) OVER w WHEN 2 THEN 10 WHEN 3 THEN 4 WHEN 4 THEN 3 ELSE 2 END
              AS by_one
  FROM (SELECT run_id, cause, reason, capture_id, rank, sum(ns) AS ns, sum(is_first) AS firsts,
               sum(is_last) AS lasts, max(ranks) AS of_ranks,
               sum(iif(is_late AND few > 0, wait_ns, 0)) AS late_ns,
               sum(iif(few > 1, ns, 0)) AS shared_ns
        FROM counted GROUP BY run_id, cause, reason, capture_id, rank)
  WINDOW w AS (PARTITION BY run_id, cause, reason, capture_id)
),
by_rank AS (
  SELECT run_id, cause, reason, rank, sum(ns) AS ns, sum(firsts) AS firsts, sum(lasts) AS lasts,
         max(of_ranks) AS of_ranks, sum(late_ns) AS late_ns, sum(shared_ns) AS shared_ns,
         min(by_one) AS by_one, min(capture_id) AS first_capture, max(capture_id) AS last_capture
  FROM in_capture GROUP BY run_id, cause, reason, rank
),
of_reason AS (
  -- is_own: it is not late for something else; is_turned: nor one rank in one capture and another
  -- in the next
  SELECT b.*, o.name, o.rank IS NULL OR (o.cause = b.cause AND o.reason = b.reason) AS is_own,
         sum(b.ns) OVER w AS all_ns, sum(b.firsts) OVER w AS steps,
         2 * sum(b.shared_ns) OVER w >= sum(b.ns) OVER w AS is_shared,
         NOT min(b.by_one) OVER w OR min(b.first_capture) OVER w = max(b.last_capture) OVER w
           AS is_turned
  FROM by_rank b LEFT JOIN reason o ON o.run_id = b.run_id AND o.rank = b.rank
  WINDOW w AS (PARTITION BY b.run_id, b.cause, b.reason)
),
member AS (
  SELECT *, is_shared AND is_own AND 5 * late_ns >= 2 * all_ns AS is_mostly,
         is_own AND 20 * iif(is_shared, late_ns, ns) >= all_ns AS is_part
  FROM of_reason
),
team AS MATERIALIZED (  -- ranks that are late together, or in turn
  SELECT * FROM (
    SELECT *, CASE WHEN is_shared AND sum(is_mostly) OVER w > 1
                     AND 2 * sum(is_mostly) OVER w <= of_ranks THEN 'together'
                   WHEN is_shared THEN iif(sum(is_mostly) OVER w <> 1 AND sum(is_part) OVER w > 2,
                                           'in turn', NULL)
                   WHEN sum(is_part) OVER w > 2
                     THEN iif(2 * max(ns) OVER w <= all_ns, 'in turn', NULL)
                   WHEN sum(is_part) OVER w = 2 AND steps > 3
                     THEN iif(3 * max(ns) OVER w <= 2 * all_ns, 'in turn', NULL) END AS kind
    FROM member WINDOW w AS (PARTITION BY run_id, cause, reason))
  WHERE (is_shared OR is_turned) AND iif(kind = 'together', is_mostly, is_part) AND kind IS NOT NULL
),
by_chance AS (  -- how likely a rank, one of so many, is the last in so many of the steps or more
  SELECT *, CASE kind WHEN 'in turn' THEN (
    WITH RECURSIVE of_steps (k, weight) AS (
      SELECT 0, 1.0
      UNION ALL
      SELECT k + 1, weight * (n - k) / (k + 1) / (of_ranks - 1) FROM of_steps WHERE k < n
    )
    SELECT sum(iif(k >= lasts * n / steps, weight, 0)) / sum(weight) FROM of_steps) END AS chance
  FROM (SELECT *, min(steps, 200) AS n FROM team)
),
team_text AS (
  SELECT run_id, cause, reason, kind, count(*) AS ranks, steps, all_ns AS ns, max(ns), name,
         group_concat(rank, ', ') AS named,
         group_concat(iif(of_ranks * chance <= 0.01, rank, NULL), ', ') AS often,
         sum(of_ranks * chance <= 0.01) AS often_ranks,
         group_concat(printf('{"rank_late":%d}', rank)) AS change
  FROM (SELECT * FROM by_chance ORDER BY rank) GROUP BY run_id, cause, reason
),
moved AS MATERIALIZED (  -- what a group takes for a collective of some size, waits apart
  SELECT g.run_id, ifnull(g.parallelism, 'other') AS kind, g.size, m.group_id, m.collective,
         m.bytes, count(*) AS collectives, avg(m.transfer_ns) AS ns,
         max(m.transfer_ns) AS most_ns, m.step AS most_step  -- of the longest
  FROM matched_collectives m JOIN process_groups g ON g.group_id = m.group_id
  JOIN recorded r ON r.trace_id = m.trace_id
  WHERE :rank IS NULL AND NOT m.is_estimate AND m.transfer_ns > 0 AND m.bytes > 0
  GROUP BY m.group_id, m.collective, m.bytes
),
once AS MATERIALIZED (  -- one collective that takes ten times as long as those like it
  SELECT run_id, kind, collective, most_step, most_ns, others_ns,
         (most_ns - others_ns) * size AS ns,
         row_number() OVER (PARTITION BY run_id, kind
                            ORDER BY (most_ns - others_ns) * size DESC, group_id, bytes) AS place
  FROM (SELECT *, (ns * collectives - most_ns) / (collectives - 1) AS others_ns FROM moved
        WHERE collectives > 4)
  WHERE most_ns > 10 * others_ns
),
small AS (  -- what small messages take, where that is most of what moves; of all ranks, and larger
  SELECT run_id, kind, sum(iif(bytes <= 65536, collectives, 0)) AS messages,
         max(iif(bytes <= 65536, bytes, NULL)) AS bytes,
         sum(iif(bytes <= 65536, collectives * ns, 0)) AS ns,
         sum(iif(bytes <= 65536, collectives * ns * size, 0)) AS ranks_ns,
         sum(iif(bytes <= 65536, 0, collectives * ns * size)) AS larger_ns
  FROM moved GROUP BY run_id, kind
  HAVING 2 * sum(iif(bytes <= 65536, collectives * ns, 0)) > sum(collectives * ns)
),
alike AS (  -- the same in all groups of that kind and size
  SELECT run_id, kind, size, collective, bytes, count(*) AS groups, sum(ns) AS ns
  FROM moved GROUP BY run_id, kind, size, collective, bytes HAVING count(*) > 1
),
slow_group AS (  -- next to the mean of the others
  SELECT m.run_id, m.kind, m.group_id, sum(m.collectives * m.ns) AS ns,
         sum(m.collectives * (a.ns - m.ns) / (a.groups - 1)) AS others_ns,
         max(a.groups) - 1 AS others,
         row_number() OVER (PARTITION BY m.run_id
                            ORDER BY sum(m.collectives * (m.ns - (a.ns - m.ns) / (a.groups - 1)))
                              DESC, m.group_id) AS place
  FROM moved m JOIN alike a ON a.run_id = m.run_id AND a.kind = m.kind AND a.size = m.size
    AND a.collective IS m.collective AND a.bytes = m.bytes
  GROUP BY m.run_id, m.kind, m.group_id
),
sent AS MATERIALIZED (  -- messages between two ranks, of some size, without the longest
  SELECT g.run_id, ifnull(g.parallelism, 'other') AS kind, p.pair, m.bytes, count(*) AS messages,
         1.0 * (sum(m.transfer_ns) - max(m.transfer_ns)) / (count(*) - 1) AS ns
  FROM (SELECT 1 FROM moved LIMIT 1) CROSS JOIN matched_collectives m
  JOIN process_groups g ON g.group_id = m.group_id JOIN recorded r ON r.trace_id = m.trace_id
  CROSS JOIN collectives p ON p.slice_id = m.slice_id
  WHERE :rank IS NULL AND NOT m.is_estimate AND m.transfer_ns > 0 AND m.bytes > 0 AND p.pair <> ''
  GROUP BY g.run_id, ifnull(g.parallelism, 'other'), p.pair, m.bytes HAVING count(*) > 2
),
slow_pair AS MATERIALIZED (  -- next to the mean of the others
  SELECT s.run_id, s.kind, s.pair, CAST(s.pair AS INTEGER) AS from_rank,
         CAST(substr(s.pair, instr(s.pair, '>') + 1) AS INTEGER) AS to_rank,
         sum(s.messages) AS messages, sum(s.messages * s.ns) AS ns,
         sum(s.messages * (a.ns - s.ns) / (a.pairs - 1)) AS others_ns, max(a.pairs) - 1 AS others,
         row_number() OVER (PARTITION BY s.run_id
                            ORDER BY sum(s.messages * (s.ns - (a.ns - s.ns) / (a.pairs - 1))) DESC,
                              s.pair) AS place
  FROM sent s JOIN (SELECT run_id, kind, bytes, count(*) AS pairs, sum(ns) AS ns FROM sent
                    GROUP BY run_id, kind, bytes HAVING count(*) > 1) a
    ON a.run_id = s.run_id AND a.kind = s.kind AND a.bytes = s.bytes
  GROUP BY s.run_id, s.kind, s.pair
),
all_alike AS (  -- kinds of groups, of more than two ranks, in which nothing has its like elsewhere
  SELECT m.run_id, m.kind FROM moved m
  WHERE NOT EXISTS (SELECT 1 FROM sent s WHERE s.run_id = m.run_id AND s.kind = m.kind)
  GROUP BY m.run_id, m.kind HAVING count(DISTINCT m.group_id) = 1 AND min(m.size) > 2
),
sync AS (
  SELECT r.run_id, sum(stalled_ns) AS ns, sum(stalls) AS stalls, sum(calls) AS calls
  FROM sync_uses s JOIN recorded r ON r.trace_id = s.trace_id
  WHERE :rank IS NULL OR rank = :rank GROUP BY r.run_id
),
sync_worst AS (
  SELECT run_id, name, row_number() OVER (PARTITION BY run_id ORDER BY ns DESC, name) AS place
  FROM (SELECT r.run_id, name, sum(stalled_ns) AS ns
        FROM sync_uses s JOIN recorded r ON r.trace_id = s.trace_id
        WHERE :rank IS NULL OR rank = :rank GROUP BY r.run_id, name)
),
ran AS (
  SELECT r.run_id, kernel, sum(activities) AS activities, sum(gpu_ns) AS ns
  FROM kernel_uses k JOIN recorded r ON r.trace_id = k.trace_id
  WHERE :rank IS NULL OR rank = :rank GROUP BY r.run_id, kernel
),
all_ran AS (
  SELECT run_id, sum(activities) AS activities, sum(ns) AS ns FROM ran GROUP BY run_id
),
pageable AS (
  SELECT run_id, sum(activities) AS copies, sum(ns) AS ns FROM ran
  WHERE lower(kernel) GLOB '*pageable*' GROUP BY run_id
),
cores AS MATERIALIZED (SELECT trace_id, types FROM gpu_tensor_cores),
no_tensor AS (  -- products of single precision, by the names that cuBLAS and CUTLASS give them, on
                -- GPUs that have tensor cores
  SELECT r.run_id, g.types, u.kernel, sum(u.activities) AS kernels, sum(u.gpu_ns) AS ns
  FROM kernel_uses u JOIN recorded r ON r.trace_id = u.trace_id
  JOIN cores g ON g.trace_id = u.trace_id
  WHERE (lower(kernel) GLOB '*sgemm*' OR lower(kernel) GLOB '*_simt_*gemm*'
         OR lower(kernel) GLOB '*gemm*_simt_*' OR lower(kernel) GLOB '*ffma*')
    AND (:rank IS NULL OR u.rank = :rank) AND ifnull(g.types, 'unknown') <> ''
  GROUP BY r.run_id, g.types, u.kernel
),
computed AS (
  SELECT run_id, capture_id, rank, sum(compute_ns) AS ns
  FROM (SELECT p.*, t.capture_id FROM part p JOIN traces t ON t.trace_id = p.trace_id)
  GROUP BY run_id, capture_id, rank
),
uneven AS (  -- within captures: a rank that is missing in one computed no less there
  SELECT run_id, sum(mean_ns) AS mean_ns, sum(most_ns) AS most_ns, sum(lost_ns) AS lost_ns
  FROM (SELECT run_id, avg(ns) AS mean_ns, max(ns) AS most_ns,
               CAST((max(ns) - avg(ns)) * count(*) AS INTEGER) AS lost_ns
        FROM computed GROUP BY run_id, capture_id)
  GROUP BY run_id
),
busiest AS (
  SELECT run_id, rank, sum(ns) AS ns,
         row_number() OVER (PARTITION BY run_id ORDER BY sum(ns) DESC, rank) AS place
  FROM computed GROUP BY run_id, rank
),
memory AS (  -- by two numbers first
  SELECT r.run_id, t.rank, d.device_id, max(m.reserved) AS reserved, max(m.used) AS used
  FROM (SELECT track_id, args_id, max(max_reserved) AS reserved, max(max_allocated) AS used
        FROM memory_pieces GROUP BY track_id, args_id) m
  JOIN tracks t ON t.track_id = m.track_id JOIN memory_devices d ON d.args_id = m.args_id
  JOIN recorded r ON r.trace_id = t.trace_id
  WHERE d.device_type = 1 AND (:rank IS NULL OR t.rank = :rank)
  GROUP BY r.run_id, t.rank, d.device_id
),
fragmented AS (
  SELECT run_id, rank, max(reserved - used) AS unused, reserved, used FROM memory
  WHERE reserved > 1.25 * used AND reserved - used > 1 << 30 GROUP BY run_id
),
base AS MATERIALIZED (  -- the steps as they were
  SELECT c.run_id, c.run, c.capture_id, c.capture, s.step, s.start_ns, s.dur_ns
  FROM captures c CROSS JOIN replay_steps(c.capture_id, '[]') s
  WHERE (:run IS NULL OR c.run = :run) AND (:capture IS NULL OR c.capture = :capture)
),
whole_base AS (
  SELECT run_id, sum(dur_ns) AS ns, max(count(*) FILTER (WHERE dur_ns > 0), 1) AS steps
  FROM base GROUP BY run_id
),
no_partner AS (  -- kernels that say nothing of who else takes part, while nothing is computed; not
                 -- those from before the recording
  SELECT r.run_id, sum(x.kernels) AS kernels, max(x.ns) AS ns
  FROM (SELECT c.trace_id, count(*) AS kernels,
               -- not hidden, at least
               total(max(c.dur_ns, 0)) - (SELECT total(u.overlap_ns) FROM device_uses u
                                          WHERE u.trace_id = c.trace_id) AS ns
        FROM collectives c JOIN kernels k ON k.slice_id = c.slice_id
        WHERE c.group_id IS NULL AND c.launch_ts_ns IS NOT NULL AND k.name GLOB '*nccl*'
          AND :rank IS NULL
        GROUP BY c.trace_id) x
  JOIN recorded r ON r.trace_id = x.trace_id
  GROUP BY r.run_id
  HAVING max(x.ns) > 0
    AND 10 * max(x.ns) >= (SELECT w.ns FROM whole_base w WHERE w.run_id = r.run_id)
    AND (SELECT min(o.own_rank) < max(o.own_rank) FROM recorded o WHERE o.run_id = r.run_id)
),
on_path AS MATERIALIZED (  -- what holds the host on the critical path
  SELECT c.run_id, p.kind, p.held_name_id, p.rank, sum(p.dur_ns) AS ns, count(*) AS stretches
  FROM replayed y CROSS JOIN captures c CROSS JOIN replay_path(c.capture_id, '[]') p
  WHERE NOT y.is_summed
    AND (:run IS NULL OR c.run = :run) AND (:capture IS NULL OR c.capture = :capture)
    AND p.kind IN ('recorder', 'host') AND (:rank IS NULL OR p.rank = :rank)
  GROUP BY c.run_id, p.kind, p.held_name_id, p.rank
),
launching AS (  -- what no long slice takes
  SELECT run_id, sum(ns) AS ns FROM on_path WHERE kind = 'host' AND held_name_id IS NULL
  GROUP BY run_id
),
held AS MATERIALIZED (  -- by what the host is held on the critical path, launching nothing
  SELECT run_id, name, ns, stretches, rank, row_number() OVER (PARTITION BY run_id
                                                               ORDER BY ns DESC, name) AS place
  FROM (SELECT run_id, name, sum(ns) AS ns, sum(stretches) AS stretches,
               iif(min(rank) = max(rank), min(rank), NULL) AS rank
        FROM (SELECT h.*, n.name
              FROM on_path h JOIN names n ON n.name_id = h.held_name_id
              WHERE h.kind = 'host' AND n.name <> '' AND instr(n.name, char(0)) = 0)
        GROUP BY run_id, name)
),
held_by_rank AS MATERIALIZED (  -- where one rank alone is held on the path: on which ranks else
  SELECT r.run_id, u.name, u.rank, sum(u.total_ns) AS ns
  FROM host_uses u JOIN recorded r ON r.trace_id = u.trace_id
  WHERE u.name IN (SELECT name FROM held WHERE rank IS NOT NULL AND place <= 8)
  GROUP BY r.run_id, u.name, u.rank
),
held_by_all AS (  -- for at least so long
  SELECT h.run_id, h.name, min(h.ns) AS ns FROM held_by_rank h JOIN whole w ON w.run_id = h.run_id
  GROUP BY h.run_id, h.name HAVING count(*) = max(w.ranks)
),
held_apart AS (  -- for more than twice as long as the others are on average, or without others
  SELECT o.run_id, o.name, o.rank FROM held_by_rank o JOIN whole w ON w.run_id = o.run_id
  WHERE w.ranks = 1 OR o.ns * (w.ranks - 1)
    > 2 * ifnull((SELECT sum(e.ns) FROM held_by_rank e
                  WHERE e.run_id = o.run_id AND e.name = o.name AND e.rank <> o.rank), 0)
),
profiled AS (
  SELECT run_id, sum(ns) AS ns, sum(stretches) AS times,
         iif(min(rank) = max(rank), min(rank), NULL) AS rank
  FROM on_path WHERE kind = 'recorder' GROUP BY run_id
),
luck_text AS MATERIALIZED (  -- with what chance one of so many is the last so often
  SELECT l.run_id, l.rank, printf('; it was the last in %d of %d step%s, as one of %d ranks that '
           || 'are alike is with a chance of %.0f %%, and what its %s takes is off the others by '
           || 'no more than that of all ranks differs from step to step', lasts, steps,
           iif(steps = 1, '', 's'), ranks, 100 * min(1.0, ranks * (
    WITH RECURSIVE of_steps (k, weight) AS (
      SELECT 0, 1.0
      UNION ALL
      SELECT k + 1, weight * (n - k) / (k + 1) / (ranks - 1) FROM of_steps WHERE k < n
    )
    SELECT sum(iif(k >= lasts * n / steps, weight, 0)) / sum(weight) FROM of_steps)),
           iif(l.cause = 'host', 'host', 'GPU')) AS words
  FROM (SELECT *, min(steps, 200) AS n FROM by_luck) l
  JOIN root_name r ON r.run_id = l.run_id AND r.rank = l.rank AND r.place = 1
    AND r.cause = l.cause AND l.reason IN (r.name, '')
  WHERE l.is_why
),
team_luck AS MATERIALIZED (  -- none of which is late for more than that
  SELECT t.run_id, t.cause, t.reason FROM team t
  LEFT JOIN by_luck l ON l.run_id = t.run_id AND l.cause = t.cause AND l.reason = t.reason
    AND l.rank = t.rank AND l.is_why
  WHERE t.kind = 'together'
  GROUP BY t.run_id, t.cause, t.reason HAVING count(l.rank) = count(*)
),
main_late AS MATERIALIZED (  -- for whom the others wait half of all waits or more
  SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY ranks DESC, ns DESC, named) AS place
  FROM (SELECT *, sum(iif(is_one, ns, 0)) OVER (PARTITION BY run_id) AS all_ns
        FROM (SELECT run_id, ns, 1 AS is_one, 1 AS ranks, printf('%d', rank) AS named,
                     printf('{"rank_late":%d}', rank) AS change
              FROM root r WHERE :rank IS NULL
                AND NOT EXISTS (SELECT 1 FROM luck_text l
                                WHERE l.run_id = r.run_id AND l.rank = r.rank)
              UNION ALL
              SELECT t.run_id, ns, 0, ranks, named, change FROM team_text t
              WHERE NOT EXISTS (SELECT 1 FROM team_luck l WHERE l.run_id = t.run_id
                                  AND l.cause = t.cause AND l.reason = t.reason)))
  WHERE 2 * ns >= all_ns
),
late_chain AS MATERIALIZED (  -- who is late without those before, and so on: who hides whom
  WITH RECURSIVE turns (run_id, turn, first, ranks, named, change, entered, next) AS (
    SELECT run_id, -1, change, ranks, named, change, NULL, NULL FROM main_late WHERE place = 1
    UNION ALL
    -- next: the rank with most of what is critical then, but for the first ones, how much that is,
    -- by what its host is held most there, and for how long. Where it is one that was taken before
    -- nobody is late any more.
    SELECT u.run_id, u.turn + 1, u.first, u.ranks + (u.turn > 0),
           u.named || iif(u.turn > 0, printf(', %d', json_extract(u.entered, '$[0]')), ''),
           u.change || iif(u.turn < 0, '', printf(',{"rank_late":%d}',
                                                  json_extract(u.next, '$[0]'))),
           u.next,
           (SELECT json_array(rank, rank_ns, held_name_id, iif(held_name_id IS NULL, 0, ns))
            FROM (SELECT *, sum(ns) OVER (PARTITION BY rank) AS rank_ns
                  FROM (SELECT p.rank, iif(p.kind = 'host', p.held_name_id, NULL) AS held_name_id,
                               sum(p.dur_ns) AS ns
                        FROM captures c CROSS JOIN replayed y
                        CROSS JOIN replay_path(c.capture_id, '[' || u.change
                          || iif(u.turn < 0, '', printf(',{"rank_late":%d}',
                                                        json_extract(u.next, '$[0]')))
                          || y.least || ']') p
                        WHERE c.run_id = u.run_id AND (:capture IS NULL OR c.capture = :capture)
                          AND p.kind NOT IN ('transfer', 'unrecorded', 'recorder')
                          AND instr(u.first, printf(':%d}', p.rank)) = 0
                        GROUP BY p.rank, iif(p.kind = 'host', p.held_name_id, NULL)))
            ORDER BY rank_ns DESC, rank, held_name_id IS NULL, ns DESC, held_name_id LIMIT 1)
    FROM turns u
    WHERE u.turn < 8
      AND (u.turn < 0 OR (u.next IS NOT NULL AND
                          instr(u.change, printf(':%d}', json_extract(u.next, '$[0]'))) = 0))
  )
  SELECT run_id, turn, ranks, named, change, json_extract(entered, '$[0]') AS rank,
         json_extract(entered, '$[1]') AS rank_ns, json_extract(entered, '$[2]') AS held_name_id,
         json_extract(entered, '$[3]') AS held_ns
  FROM turns WHERE turn >= 0
),
late_without AS (
  SELECT x.*, sum(s.dur_ns) AS ns
  FROM replayed y CROSS JOIN captures c CROSS JOIN late_chain x ON x.run_id = c.run_id
  CROSS JOIN replay_steps(c.capture_id, '[' || x.change || y.least || ']') s
  WHERE :capture IS NULL OR c.capture = :capture
  GROUP BY x.run_id, x.turn
),
host_busy AS (  -- a host in a step, but for calls that wait for the GPU
  SELECT r.run_id, r.capture_id, s.step, r.own_rank AS rank,
         s.dur_ns - ifnull((SELECT sum(u.total_ns) FROM sync_uses u
                            WHERE u.trace_id = s.trace_id AND u.step = s.step), 0) AS ns
  FROM recorded r JOIN steps s ON s.trace_id = r.trace_id
  WHERE NOT (SELECT is_summed FROM replayed)  -- which do not have these calls
),
host_more AS MATERIALIZED (
  -- Than on the middle one of the ranks, of two the lower, in sum; how far that one is off the
  -- quickest. Only what is no chance, as in by_luck: as much in most steps.
  SELECT run_id, rank, sum(more_ns) AS ns, sum(apart_ns) AS apart_ns
  FROM (SELECT run_id, rank, ns - middle_ns AS more_ns, middle_ns - least_ns AS apart_ns
        FROM (SELECT *, min(ns) OVER w AS least_ns,
                     max(iif(place = (ranks + 1) / 2, ns, NULL)) OVER w AS middle_ns
              FROM (SELECT *, row_number() OVER (w ORDER BY ns) AS place, count(*) OVER w AS ranks
                    FROM host_busy WINDOW w AS (PARTITION BY run_id, capture_id, step))
              WINDOW w AS (PARTITION BY run_id, capture_id, step)))
  GROUP BY run_id, rank
  HAVING sum(more_ns) > 0 AND count(*) > 2
    AND 1.0 * sum(more_ns) * sum(more_ns) * (count(*) - 1)
      >= (16 + 400.0 / (count(*) - 1) / (count(*) - 1))
         * (1.0 * count(*) * sum(1.0 * more_ns * more_ns) - 1.0 * sum(more_ns) * sum(more_ns))
),
next_gain AS MATERIALIZED (  -- where it adds to what these gain
  SELECT x.*, ifnull(g.ns, 0) AS gpu_ns, ifnull(h.ns, 0) AS busy_ns, w.steps,
         y.is_summed AND NOT (2 * ifnull(g.ns, 0) >= x.gain_ns AND NOT ifnull(l.is_gpu, 0))
           AS is_untold,
         sum(y.is_summed AND NOT (2 * ifnull(g.ns, 0) >= x.gain_ns AND NOT ifnull(l.is_gpu, 0)))
           OVER (PARTITION BY x.run_id ORDER BY x.turn) AS untold
  FROM (SELECT *, (SELECT n.name FROM names n WHERE n.name_id = held_name_id) AS held,
               min(ns) OVER (PARTITION BY run_id ORDER BY turn
                                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) - ns AS gain_ns
        FROM late_without) x
  CROSS JOIN replayed y JOIN whole_base w ON w.run_id = x.run_id JOIN whole a ON a.run_id = x.run_id
  LEFT JOIN (SELECT run_id, rank, sum(more_ns) AS ns FROM took_more WHERE cause = 'device'
             GROUP BY run_id, rank) g ON g.run_id = x.run_id AND g.rank = x.rank
  LEFT JOIN host_more h ON h.run_id = x.run_id AND h.rank = x.rank
  LEFT JOIN (SELECT run_id, rank, max(cause = 'device') AS is_gpu,
                    group_concat(iif(cause = 'host', json_quote(reason), NULL)) AS reasons
             FROM by_luck GROUP BY run_id, rank) l ON l.run_id = x.run_id AND l.rank = x.rank
  WHERE x.gain_ns > 0 AND 100.0 * x.gain_ns >= coalesce(:min_pct, 2) * w.ns
    -- Hosts take unequally long by chance too, and some rank is always the next: it is late for
    -- what takes it longer than the middle one of the ranks, by half of the gain, and more than
    -- that one is off the quickest; for all that its host does, by as much; or for its GPU, where
    -- that is no chance.
    -- What a host does between collectives summaries do not tell.
    AND (y.is_summed OR EXISTS (
           SELECT 1 FROM (
             SELECT max(iif(rank = x.rank, ns, NULL)) AS own_ns,
                    ifnull(max(iif(place + a.ranks - with_it = (a.ranks + 1) / 2, ns, NULL)), 0)
                      AS middle_ns,
                    iif(count(*) < a.ranks, 0, min(ns)) AS least_ns
             FROM (SELECT *, row_number() OVER (ORDER BY ns) AS place, count(*) OVER () AS with_it
                   FROM (SELECT u.rank, sum(u.total_ns) AS ns
                         FROM host_uses u JOIN recorded r ON r.trace_id = u.trace_id
                         WHERE r.run_id = x.run_id AND u.name = x.held
                         GROUP BY u.rank)))
           WHERE 2 * (own_ns - middle_ns) >= x.gain_ns
             AND own_ns - middle_ns >= 3 * (middle_ns - least_ns)
             AND NOT ifnull(instr(l.reasons, json_quote(x.held)), 0))
         OR (2 * h.ns >= x.gain_ns AND h.ns >= 3 * h.apart_ns)
         OR (2 * ifnull(g.ns, 0) >= x.gain_ns
             AND NOT ifnull(l.is_gpu, 0)))
),
of_rank (json) AS (SELECT iif(:rank IS NULL, '', printf(',"rank":%d', :rank))),
found (run_id, problem, rank, evidence, advice, change) AS MATERIALIZED (
  SELECT e.run_id,
         coalesce(e.caller, iif(e.kind = 'other', 'Communication', upper(substr(e.kind, 1, 1))
                                  || substr(e.kind, 2) || ' parallel communication'))
           || ' is not hidden',
         NULL,
         printf('it runs alone for %.1f %% of the time%s%s (overlap_by_group, nccl_bandwidth)',
                100.0 * e.ns / w.span_ns,
                iif(m.ns IS NULL, '',
                    printf('; %d of its messages are of %s or less and take %.1f us each: that is '
                           || 'latency, which no faster network mends', m.messages,
                           iif(m.bytes < 1000, printf('%d bytes', m.bytes),
                               printf('%.1f KB', m.bytes / 1e3)), m.ns / m.messages / 1e3)),
                CASE WHEN w.ranks < (SELECT max(n.job_ranks) FROM recorded n
                                      WHERE n.run_id = e.run_id)
                     THEN '; how much of it is waiting for ranks that are not recorded is unknown'
                     WHEN 2 * u.ns > e.ns THEN '; most of it is waiting for ranks that come late, '
                       || 'which is not counted here'
                     WHEN x.ns IS NOT NULL
                     THEN printf('; most of it is one %s%s that took %.3f ms, where those like it '
                                 || 'take %.3f', x.collective,
                                 ifnull(printf(' in step %d', x.most_step), ''), x.most_ns / 1e6,
                                 x.others_ns / 1e6)
                     WHEN EXISTS (SELECT 1 FROM all_alike a
                                  WHERE a.run_id = e.run_id AND a.kind = e.kind)
                     THEN '; all ranks take as long for it, so whether one link is slow cannot be '
                       || 'told'
                     ELSE '' END),
         CASE
           WHEN x.ns IS NOT NULL
             AND w.ranks < (SELECT max(n.job_ranks) FROM recorded n WHERE n.run_id = e.run_id)
           THEN 'record the other ranks too: the one collective that takes most of it may have '
             || 'waited for them'
           WHEN x.ns IS NOT NULL
           THEN 'see what the network did then (a link that retried, other jobs, NCCL_DEBUG=INFO): '
             || 'no setting of the job explains one collective alone'
           WHEN m.ns IS NOT NULL AND e.kind <> 'pipeline'
           THEN 'fewer and larger messages: all-reduce several tensors at once (buckets, '
             || 'coalescing managers), less often, or within a kernel that also computes; '
             || 'CUDA graphs'
           WHEN e.caller GLOB 'FSDP*gather*' THEN 'gather earlier '
             || '(set_modules_to_forward_prefetch, set_modules_to_backward_prefetch), keep the '
             || 'parameters (reshard_after_forward=False) where memory allows, larger units'
           WHEN e.caller GLOB 'FSDP*' THEN 'larger units, reduce in BF16 (reduce_dtype), once for '
             || 'several backward passes (set_requires_gradient_sync)'
           WHEN e.caller GLOB 'DDP*' THEN 'buckets of another size (bucket_cap_mb), once for '
             || 'several backward passes (no_sync), in BF16 (bf16_compress_hook), static_graph=True'
           WHEN e.caller GLOB '*of gradients' THEN 'start it in buckets while the backward pass '
             || 'goes on, as DistributedDataParallel does; once for several backward passes'
           WHEN e.caller GLOB 'Attention*' THEN 'send in pieces while others are computed '
             || '(set_rotate_method("alltoall")), or a smaller context parallel size'
           WHEN e.caller GLOB 'DTensor*' THEN 'fewer changes of placement: keep activations '
             || 'sharded between layers (sequence parallel), or a smaller mesh for tensor parallel'
           WHEN e.kind = 'data' THEN 'overlap gradients and parameters with computation '
             || '(overlap_grad_reduce, overlap_param_gather, FSDP prefetch), larger buckets'
           WHEN e.kind = 'tensor' THEN 'overlap it (tp_comm_overlap, sequence parallel), or a '
             || 'smaller tensor parallel size'
           WHEN e.kind = 'pipeline' THEN 'more microbatches, interleaved stages, or fewer stages'
           WHEN e.kind = 'expert' THEN 'overlap all-to-all with shared experts, or place experts '
             || 'nearer'
           WHEN e.kind = 'context' THEN 'send in pieces while others are computed, or a smaller '
             || 'context or sequence parallel size'
           ELSE 'issue it asynchronously, earlier, or in larger pieces'
         END,
         printf('{"transfers":%s%s%s}', json_quote(e.kind),
                CASE WHEN e.kind <> 'other' OR y.is_summed THEN ''
                     ELSE printf(',"caller":%s', json_quote(coalesce(e.caller, '-'))) END, o.json)
  FROM of_rank o, replayed y, exposed e JOIN whole w ON w.run_id = e.run_id
  LEFT JOIN waited u ON u.run_id = e.run_id AND u.kind = e.kind AND u.caller IS e.caller
  LEFT JOIN once x ON x.run_id = e.run_id AND x.kind = e.kind AND x.place = 1 AND 2 * x.ns > e.ns
  LEFT JOIN small m ON m.run_id = e.run_id AND m.kind = e.kind
    AND 2 * m.larger_ns <= e.ns  -- or the larger ones may be all that is not hidden
    AND 2 * m.ranks_ns >= e.ns - ifnull(u.ns, 0)
  WHERE e.ns > 0
  UNION ALL
  SELECT r.run_id, printf('Rank %d makes the others wait', r.rank)
           || iif(l.words IS NULL, '', ', which may be chance'),
         iif(l.words IS NULL, r.rank, NULL),
         printf('they waited %.1f ms in %d collective%s, summed over ranks, %.1f ms of it mostly '
                || 'because of %s%s (nccl_stall_roots)',
                r.ns / 1e6, r.collectives, iif(r.collectives = 1, '', 's'), n.ns / 1e6,
                coalesce(n.name, n.cause, 'what the trace does not tell'),
                CASE WHEN n.cause IS NULL THEN ''
                     WHEN n.cause <> 'host' OR h.is_longer
                     THEN ', which takes longer there than on other ranks'
                     WHEN h.is_longer IS NULL
                     THEN ', in which its host was then: no slice of it is long enough to say more'
                     ELSE ', in which its host was then, though in all it takes no longer there '
                       || 'than on other ranks' END) || ifnull(l.words, '')
           || ifnull((SELECT '; in capture ' || group_concat(DISTINCT a.capture) || ' only'
                      FROM cause_row c JOIN captures a ON a.capture_id = c.capture_id
                      WHERE c.run_id = r.run_id AND c.rank = r.rank
                      HAVING count(DISTINCT a.capture) = 1
                        AND (SELECT count(DISTINCT e.capture_id) FROM recorded e
                             WHERE e.run_id = r.run_id) > 1), ''),
         CASE iif(l.words IS NULL, n.cause, 'chance')
           WHEN 'chance' THEN 'record more steps: a rank that is slow is the last in most of them'
           WHEN 'host' THEN 'see what its host does there that others do not: data loading, '
             || 'logging, checkpoints, garbage collection, a slow CPU'
           WHEN 'device' THEN
             iif(n.name GLOB 'Memcpy*',
                 'its copies take longer than on other ranks: memory that is not pinned, or a '
                   || 'slower way to it (PCIe lanes, another NUMA node, what else uses it) '
                   || '(memcpy_summary)',
                 'its kernels take longer than on other ranks: uneven work, a slow or throttled '
                   || 'GPU (kernels_top)')
           ELSE 'look at its timeline around these collectives'
         END,
         printf('{"rank_late":%d}', r.rank)
  FROM root r JOIN root_name n ON n.run_id = r.run_id AND n.rank = r.rank AND n.place = 1
  LEFT JOIN host_longer h ON h.run_id = r.run_id AND h.name = n.name AND h.rank = r.rank
  LEFT JOIN luck_text l ON l.run_id = r.run_id AND l.rank = r.rank
  WHERE NOT EXISTS (SELECT 1 FROM team t WHERE t.run_id = r.run_id AND t.rank = r.rank)
    -- Of a thousand ranks nearly all are the last now and then: what nobody waits for is no gain.
    AND (NOT (SELECT is_summed FROM replayed)
         OR (r.place <= 16
             AND 100.0 * r.ns >= coalesce(:min_pct, 2) * (SELECT b.ns FROM whole_base b
                                                          WHERE b.run_id = r.run_id)))
  UNION ALL
  SELECT t.run_id,
         CASE WHEN t.kind = 'in turn'
              THEN printf('%d ranks make the others wait in turn', t.ranks)
                     || iif(t.often IS NULL, '',
                            printf(', rank%s %s more often than by chance',
                                   iif(t.often_ranks = 1, '', 's'), t.often))
              WHEN t.ranks > 8 THEN printf('%d ranks make the others wait together', t.ranks)
              ELSE printf('Ranks %s make the others wait', t.named) END
           || iif(l.run_id IS NULL, '', ', which may be chance'),
         NULL,
         printf('the others waited %.1f ms for them in %d step%s, summed over ranks, because %s '
                || '(nccl_stall_roots, straggler_steps)', t.ns / 1e6, t.steps,
                iif(t.steps = 1, '', 's'),
                iif(t.cause = 'host',
                    printf(iif(EXISTS (SELECT 1 FROM host_longer h
                                       WHERE h.run_id = t.run_id AND h.name = t.name),
                               '%s takes longer there than on the others', 'of %s'), t.name),
                    printf('their GPUs take longer than those of the others, mostly for %s',
                           t.name)))
           || iif(t.kind = 'in turn' AND t.often IS NULL,
                  '; none of them is the last more often than chance has it', '')
           || iif(l.run_id IS NULL, '', printf('; these take longer by no more than the %ss of all '
                                                 || 'ranks differ from step to step',
                                               iif(t.cause = 'host', 'host', 'GPU'))),
         CASE
           WHEN l.run_id IS NOT NULL
           THEN 'record more steps: a rank that is slow is late in most of them'
           WHEN t.kind = 'in turn' AND t.cause = 'host'
           THEN iif(t.often IS NULL, 'no host is slower than the others: ',
                    'see what these that are named do there more often than others; ')
             || 'let all ranks do it in the same step (garbage collection: gc.disable() and '
             || 'gc.collect() every so many steps, in Megatron-LM --manual-gc), on another '
             || 'thread, or outside the steps'
           WHEN t.kind = 'in turn'
           THEN iif(t.often IS NULL, 'no GPU is slower than the others: ',
                    'see whether the GPUs that are named are slower; ') || 'their work differs '
             || '(pack or sort sequences by length, give all ranks as many tokens, spread experts '
             || 'evenly), or single kernels take longer by chance (clocks, other jobs on the nodes)'
           WHEN t.cause = 'host' THEN 'see what these hosts have in common (a node, a disk) and do '
             || 'there that others do not: data loading, logging, checkpoints, garbage '
             || 'collection, a slow CPU'
           ELSE 'see what these GPUs have in common (a node, its cooling or power limit) or have '
             || 'to do that others do not (kernels_top)'
         END,
         t.change
  FROM team_text t LEFT JOIN team_luck l ON l.run_id = t.run_id AND l.cause = t.cause
    AND l.reason = t.reason
  UNION ALL
  SELECT x.run_id,
         printf(iif(x.is_untold, 'Whether rank %d is late as well, hidden by %s, is not told',
                    'Rank %d is late as well, hidden by %s'), x.rank,
                iif(x.ranks > 8, printf('%d ranks', x.ranks),
                    printf('rank%s %s', iif(x.ranks = 1, '', 's'), x.named))),
         x.rank,
         iif(x.is_untold,
             printf('without what makes it late too a step would take %.3f ms less; whether that '
                    || 'is more than chance summaries do not tell, as its host''s work is not in '
                    || 'them', x.gain_ns / 1e6 / x.steps),
             printf('were %s not late, %.1f ms of the critical path would be this rank''s%s%s%s '
                    || '(critical_path with this what_if)',
                    iif(x.ranks > 1, 'these', 'that one'), x.rank_ns / 1e6,
                    iif(50 * x.held_ns >= x.rank_ns,
                        printf(', %.1f ms of it in %s on its host', x.held_ns / 1e6,
                               substr(x.held, 1, 80)), ''),
                    iif(2 * x.held_ns < x.busy_ns AND 2 * x.gpu_ns < x.busy_ns,
                        printf('; its host works %.1f ms longer than the middle one of the ranks, '
                               || 'mostly in short pieces', x.busy_ns / 1e6), ''),
                    iif(50 * x.gpu_ns >= x.rank_ns,
                        printf('; its GPU computes %.1f ms longer than the middle one of the ranks',
                               x.gpu_ns / 1e6), ''))),
         CASE
           WHEN x.is_untold
           THEN 'ask a database of all traces, or record again when the others are mended'
           WHEN x.gpu_ns > max(x.held_ns, x.busy_ns)
           THEN 'its kernels take longer than on other ranks: uneven work, a slow or throttled GPU '
             || '(kernels_top)'
           ELSE 'see what its host does there that others do not: data loading, logging, '
             || 'checkpoints, garbage collection, a slow CPU'
         END,
         x.change
  FROM next_gain x WHERE x.untold = x.is_untold  -- not who comes after one that is
  UNION ALL
  SELECT s.run_id,
         printf('%s is slow: its transfers take %.1f times as long as elsewhere', g.short_name,
                s.ns / s.others_ns),
         NULL,
         printf('%.1f ms for what takes %.1f ms on average in %d group%s like it, without waits '
                || '(nccl_bandwidth)', s.ns / 1e6, s.others_ns / 1e6, s.others,
                iif(s.others = 1, '', 's')),
         'a slow link, network card or switch port, or ranks that are further apart than those of '
           || 'the other groups: see on which hosts they are',
         (SELECT group_concat(printf('{"transfers":%s,"rank":%d,"factor":%.4f}', json_quote(s.kind),
                                     e.value, s.others_ns / s.ns))
          FROM json_each(g.ranks) e)
  FROM slow_group s JOIN process_groups g ON g.group_id = s.group_id
  WHERE s.ns > 1.5 * s.others_ns AND s.place <= 8
  UNION ALL
  SELECT run_id,
         printf('The link from rank %d to rank %d is slow: messages take %.1f times as long as '
                || 'elsewhere', from_rank, to_rank, ns / others_ns),
         NULL,
         printf('%.1f ms for %d messages from rank %d to rank %d, and %.1f ms for as many of the '
                || 'same size between %d other pair%s of ranks, without waits (nccl_stalls)',
                ns / 1e6, messages, from_rank, to_rank, others_ns / 1e6, others,
                iif(others = 1, '', 's')),
         'a slow link, network card or switch port, or ranks that are further apart than the '
           || 'others: see on which hosts they are',
         printf('{"transfers":%s,"pair":%s,"factor":%.4f}', json_quote(kind), json_quote(pair),
                others_ns / ns)
  FROM slow_pair WHERE ns > 1.5 * others_ns AND place <= 8
  UNION ALL
  SELECT h.run_id, printf('The host is held by %s', substr(h.name, 1, 80)),
         iif(2 * ifnull(q.ns, 0) < h.ns * max(w.ranks - 1, 1), a.rank, NULL),
         printf('%.1f ms of the critical path in %d stretch%s in which nothing is launched%s '
                || '(critical_path)', h.ns / 1e6, h.stretches, iif(h.stretches = 1, '', 'es'),
                iif(2 * q.ns >= h.ns * (w.ranks - 1),
                    printf('; each rank takes %.1f ms for it or more', e.ns / 1e6), '')),
         iif(lower(h.name) GLOB '*load*' OR lower(h.name) GLOB '*__next__*',
             'load data ahead: DataLoader workers, prefetch_factor, persistent_workers',
             'see what it does there (module_time, sync_points): launch its work earlier, '
               || 'move it out of the step, or do it while the GPU works'),
         printf('{"held_by":%s%s}', json_quote(h.name), o.json)
  FROM of_rank o, held h JOIN whole w ON w.run_id = h.run_id
  LEFT JOIN held_apart a ON a.run_id = h.run_id AND a.name = h.name AND a.rank = h.rank
  LEFT JOIN held_by_all e ON e.run_id = h.run_id AND e.name = h.name
  LEFT JOIN (SELECT run_id, name, sum(ns) AS ns FROM root_name GROUP BY run_id, name) q
    ON q.run_id = h.run_id AND q.name = h.name
  JOIN whole_base b ON b.run_id = h.run_id
  -- What mostly makes other ranks wait has a row that says more, but for what all ranks do.
  WHERE h.place <= 8
    AND (2 * ifnull(q.ns, 0) < h.ns * max(w.ranks - 1, 1)
         OR 100.0 * e.ns >= coalesce(:min_pct, 2) * b.ns)
  UNION ALL
  SELECT p.run_id, 'The profiler holds up the host', p.rank,
         printf('%.1f ms of the critical path, %d time%s: a job that is not recorded does not have '
                || 'them (critical_path)', p.ns / 1e6, p.times, iif(p.times = 1, '', 's')),
         'leave these steps out when comparing; record fewer events (without with_stack, '
           || 'profile_memory), or steps after more warm-up',
         printf('{"recorder":0%s}', o.json)
  FROM profiled p, of_rank o
  UNION ALL
  SELECT w.run_id, 'The GPU waits for launches', NULL,
         printf('launching is %.1f %% of the critical path, the gain that of half as much work '
                || 'for it; a GPU has nothing to do for %.1f %% of the time because the '
                || 'next kernel is not launched yet (others wait for it in collectives '
                || 'meanwhile, which is no such time); a kernel takes %.1f us on average '
                || '(critical_path_by, gpu_gaps, small_kernels, ops_top)',
                100.0 * l.ns / b.ns, 100.0 * w.host_ns / w.span_ns, a.ns / 1e3 / a.activities),
         'CUDA graphs, torch.compile, fused kernels and optimizers, larger batches; less Python '
           || 'between launches',
         printf('{"short_host":0.5%s}', o.json)
  FROM of_rank o, whole w JOIN all_ran a ON a.run_id = w.run_id
  JOIN launching l ON l.run_id = w.run_id JOIN whole_base b ON b.run_id = w.run_id
  WHERE w.host_ns > 0 AND b.ns > 0
  UNION ALL
  SELECT s.run_id, 'Synchronising calls stall the GPU', NULL,
         printf('%d of %d calls, %s the most: nothing could be launched meanwhile (sync_points)',
                s.stalls, s.calls, x.name),
         'avoid .item(), .cpu(), nonzero() and torch.cuda.synchronize() in the step; '
           || 'non_blocking=True from pinned memory',
         printf('{"waits":"sync"%s}', o.json)
  FROM of_rank o, sync s JOIN sync_worst x ON x.run_id = s.run_id AND x.place = 1
  WHERE s.stalls > 0
  UNION ALL
  SELECT e.run_id, 'Pipeline stages wait for each other', NULL,
         printf('communication of the pipeline runs alone for %.1f %% of the time: nobody need be '
                || 'late for that (pipeline_bubbles)', 100.0 * e.ns / w.span_ns),
         'more microbatches, interleaved stages, or fewer stages: the bubble of a pipeline gets '
           || 'shorter with the number of microbatches',
         '{"waits":"pipeline"}'
  FROM exposed e JOIN whole w ON w.run_id = e.run_id
  WHERE e.kind = 'pipeline' AND e.ns > 0 AND :rank IS NULL
  UNION ALL
  SELECT p.run_id, 'Copies from pageable memory', NULL,
         printf('%d cop%s, %.1f ms (memcpy_summary)', copies, iif(copies = 1, 'y', 'ies'),
                ns / 1e6),
         'pin_memory=True in the DataLoader, tensor.pin_memory() and non_blocking=True',
         printf('{"like":"%%pageable%%","kind":"memory"%s}', o.json)
  FROM pageable p, of_rank o
  UNION ALL
  SELECT run_id, 'Copies are not hidden', NULL,
         printf('copies and fills run alone for %.1f %% of the time (memcpy_summary)',
                100.0 * memory_ns / span_ns),
         'copy on a stream of its own, ahead of the kernels that need it',
         printf('{"kind":"memory"%s}', o.json)
  FROM whole, of_rank o WHERE memory_ns > 0
  UNION ALL
  SELECT run_id, 'Matrix work without tensor cores', NULL,
         printf('%d kernel%s, %.1f ms; four times as fast is assumed (tensor_core_use, flops)',
                sum(kernels), iif(sum(kernels) = 1, '', 's'), sum(ns) / 1e6),
         CASE
           WHEN min(types) IS NULL THEN 'FP16, on NVIDIA since Ampere also BF16 or TF32 (the trace '
             || 'does not tell the GPU)'
           WHEN min(types) GLOB '*BF16*' THEN 'BF16 or FP16' || iif(min(types) GLOB '*TF32*',
             ', or TF32 (torch.set_float32_matmul_precision("high"))', '')
             || iif(min(types) GLOB '*FP8*', ', or FP8', '')
           ELSE 'FP16 with a GradScaler: this GPU multiplies neither BF16 nor TF32 on tensor cores'
         END || '; sizes in multiples of 8',
         group_concat(printf('{"name":%s,"kind":"compute","factor":0.25%s}', json_quote(kernel),
                             o.json))
  FROM no_tensor, of_rank o GROUP BY run_id
  UNION ALL
  SELECT u.run_id, 'Ranks compute unequally long', iif(n.rank IS NULL, b.rank, NULL),
         printf('%s %.1f ms, on average %.1f ms (time_partition)%s',
                iif(n.rank IS NULL, 'this one', printf('rank %d', b.rank)), b.ns / 1e6,
                u.mean_ns / 1e6, iif(n.rank IS NULL, '', '; that is no more than others take, but '
                                                           || 'for what may be chance')),
         'even out layers, sequence lengths or experts over the ranks',
         '{"balance":"ranks"}'
  FROM uneven u JOIN whole w ON w.run_id = u.run_id
  JOIN busiest b ON b.run_id = u.run_id AND b.place = 1
  LEFT JOIN (SELECT m.run_id, m.rank, m.ns * m.steps AS longer_ns, l.rank AS by_luck
             FROM rank_more m LEFT JOIN by_luck l ON l.run_id = m.run_id AND l.cause = m.cause
               AND l.rank = m.rank WHERE m.cause = 'device') n
    ON n.run_id = b.run_id AND n.rank = b.rank
    AND (n.by_luck IS NOT NULL OR 2 * n.longer_ns < u.most_ns - u.mean_ns)
  -- What differs from step to step by chance, no one rank has more of.
  WHERE w.ranks > 1 AND 100 * (u.most_ns - u.mean_ns) >= coalesce(:min_pct, 2) * u.mean_ns
    AND u.lost_ns > 0 AND :rank IS NULL
),
-- From here on each step of the query names the one before once, and hands all on: SQLite expands a
-- CTE anew wherever it is named, and so all rules above as often.
doubted AS (
  -- What late ranks cost others that nobody recorded is not known, nor whether ranks that were not
  -- recorded would be as early as the replay has the others be.
  SELECT f.run_id, f.problem, f.rank,
         f.evidence
           || CASE WHEN count(DISTINCT r.own_rank) >= max(r.job_ranks) THEN ''
                   WHEN f.change GLOB '{"rank_late"*'
                   THEN '; part of the waits may be for ranks that were not recorded'
                   WHEN f.change GLOB '{"waits":"sync"*' OR f.change GLOB '{"short_host"*'
                   THEN '; the gain takes it that ranks that were not recorded would keep up'
                   ELSE '' END AS evidence,
         f.advice, f.change
  FROM found f JOIN recorded r ON r.run_id = f.run_id CROSS JOIN replayed y
  WHERE NOT y.is_summed OR f.change GLOB '{"rank_late"*' OR f.change GLOB '{"transfers"*'
    OR f.change GLOB '{"waits":"pipeline"*'
  GROUP BY f.run_id, f.problem, f.rank, f.evidence, f.advice, f.change
),
variant(is_most) AS (VALUES (0), (1)),
tried AS (  -- each alone, by step; most_ns: if all that summaries do not tell took no time
  SELECT f.run_id, f.problem, f.rank, f.evidence, f.advice, f.change, b.capture, b.step,
         sum(iif(v.is_most, 0, b.dur_ns - s.dur_ns)) AS ns,
         sum(iif(v.is_most, b.dur_ns - s.dur_ns, 0)) AS most_ns
  FROM replayed y CROSS JOIN captures c CROSS JOIN doubted f ON f.run_id = c.run_id
  JOIN variant v ON NOT v.is_most OR (y.is_summed AND f.change GLOB '{"rank_late"*')
  CROSS JOIN replay_steps(c.capture_id,
                          '[' || f.change || iif(v.is_most, y.most, y.least) || ']') s
  JOIN base b ON b.capture_id = c.capture_id AND b.step IS s.step
  GROUP BY f.run_id, f.problem, f.rank, f.evidence, f.change, b.capture_id, b.step
),
turned AS (  -- the step that gains most has turn 1
  SELECT *, row_number() OVER (PARTITION BY run_id, problem, rank, evidence, change
                               ORDER BY step IS NULL, ns DESC, capture, step) AS turn
  FROM tried
),
by_problem AS (
  SELECT run_id, problem, rank, evidence, advice, change, sum(ns) AS ns,
         sum(most_ns) AS most_ns,
         max(iif(turn = 1 AND step IS NOT NULL, ns, NULL)) AS worst_ns,
         max(iif(turn = 1, printf('%d %d', capture, step), NULL)) AS worst
  FROM turned GROUP BY run_id, problem, rank, evidence, change
),
weighed AS (  -- who waits for the GPU runs late for what else holds the host: that comes before
  SELECT *, iif(change GLOB '{"waits":"sync"*' AND 2 * held_ns >= ns, min(ns, held_ns), ns)
              AS order_ns
  FROM (SELECT *, ifnull(max(iif(change GLOB '{"held_by"*', ns, NULL))
                           OVER (PARTITION BY run_id), 0) AS held_ns
        FROM by_problem)
),
placed AS MATERIALIZED (
  SELECT a.run_id, a.problem, a.rank, a.evidence, a.advice, a.change, a.ns,
         a.most_ns > 1.1 * a.ns AND a.most_ns > a.ns + 100000
           AND 100.0 * a.most_ns >= coalesce(:min_pct, 2) * w.ns AS is_least, w.ns AS whole_ns,
         w.steps, iif(2 * a.worst_ns > a.ns, a.worst, NULL) AS worst,
         row_number() OVER (PARTITION BY a.run_id
                            ORDER BY a.problem GLOB 'Whether *',
                                     a.change GLOB '{"rank_late"*' DESC,
                                     iif(a.problem GLOB 'Rank * is late as well*',
                                         length(a.change), 0),
                                     a.change GLOB '{"transfers":*,"factor":*' DESC,
                                     a.order_ns DESC, a.change GLOB '{"waits":"sync"*',
                                     length(a.change) DESC, a.problem, a.rank, a.evidence) AS place
  FROM weighed a JOIN whole_base w ON w.run_id = a.run_id
  -- A slow link may be hidden behind a late rank, and a late rank behind another.
  WHERE (a.ns > 0 AND 100.0 * a.ns >= coalesce(:min_pct, 2) * w.ns)
    OR a.change GLOB '{"transfers":*,"factor":*'
    OR (a.change GLOB '{"rank_late"*' AND a.rank IS NULL
        AND 100.0 * a.most_ns >= coalesce(:min_pct, 2) * w.ns
        AND a.problem NOT GLOB '*which may be chance')
    OR (a.change GLOB '{"rank_late"*' AND a.rank IS NOT NULL
        AND 5 * (SELECT r.ns FROM root r WHERE r.run_id = a.run_id AND r.rank = a.rank)
          >= (SELECT sum(r.ns) FROM root r WHERE r.run_id = a.run_id))
),
joined AS (
  -- Each with those before it, but for one with which the job takes longer: ranks that are evened
  -- out take the mean, which is more where a slow one among them is no longer slow.
  SELECT run_id, NULL AS problem, NULL AS rank, NULL AS evidence, NULL AS advice, '' AS change,
         0 AS ns, 0 AS is_least, ns AS whole_ns, steps, NULL AS worst, 0 AS place, '' AS before,
         0 AS reached_ns, 0 AS joint_ns
  FROM whole_base
  UNION ALL
  SELECT p.*,
         iif(j.change <> '' AND j.joint_ns >= j.reached_ns, j.before || j.change || ',', j.before),
         max(j.reached_ns, j.joint_ns),
         (SELECT ifnull(sum(b.dur_ns - s.dur_ns), 0)
          FROM replayed y CROSS JOIN captures c
          CROSS JOIN replay_steps(c.capture_id, '[' || j.before
            || iif(j.change <> '' AND j.joint_ns >= j.reached_ns, j.change || ',', '')
            || p.change || y.least || ']') s
          JOIN base b ON b.capture_id = c.capture_id AND b.step IS s.step
          WHERE c.run_id = j.run_id)
  FROM joined j JOIN placed p ON p.run_id = j.run_id AND p.place = j.place + 1
),
reached AS (
  SELECT *, max(joint_ns - reached_ns, 0) AS added_ns FROM joined WHERE place > 0
),
gained AS (  -- with others a late rank may gain a little more than alone: that was not hidden
  SELECT *, iif(added_ns <= ns OR (20 * (added_ns - ns) > added_ns
                  AND (change GLOB '{"transfers":*,"factor":*' OR change GLOB '{"rank_late"*')),
                added_ns, ns) AS gain_ns
  FROM reached
),
enough AS (  -- is_hidden: behind what comes before, and gains less or nothing alone
  SELECT *, is_told AND gain_ns > ns AS is_hidden,
         min(iif(is_told, gain_ns, NULL))
           OVER (PARTITION BY run_id ORDER BY place
                 ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
  FROM (SELECT *, 100.0 * gain_ns >= coalesce(:min_pct, 2) * whole_ns AND gain_ns > 0
                    AND problem NOT GLOB 'Whether *' AS is_told
        FROM gained)
  WHERE is_told OR problem GLOB 'Whether *'
    OR (is_least AND 100.0 * ns < coalesce(:min_pct, 2) * whole_ns)
),
kept AS MATERIALIZED (
  SELECT g.run_id,
         CASE WHEN g.is_told OR g.problem GLOB 'Whether *' THEN g.problem
              WHEN g.rank IS NULL THEN 'It is not told whether they are late: ' || g.problem
              ELSE printf('Whether rank %d is late is not told', g.rank) END AS problem, g.rank,
         g.worst,
         g.evidence
           || CASE WHEN NOT g.is_hidden THEN ''
                   WHEN 100.0 * g.ns < coalesce(:min_pct, 2) * g.whole_ns
                   THEN '; alone it gains nothing, as who is late hides it'
                   ELSE printf('; alone it gains %.3f ms, as who is late hides the rest',
                               g.ns / 1e6 / g.steps) END
           || CASE WHEN NOT g.is_least OR g.problem GLOB 'Whether *' THEN ''
                   ELSE iif(g.is_told, '; that gain is the least', '')
                          || '; some of what is done between collectives there is like nothing '
                          || 'that other ranks do, and how much of that is too long summaries do '
                          || 'not show'
              END AS evidence,
         g.advice, iif(g.is_told, g.gain_ns, NULL) AS gain_ns, g.whole_ns, g.steps,
         iif(g.is_told, g.change, NULL) AS change,
         iif(g.is_told,
             row_number() OVER (PARTITION BY g.run_id
                                ORDER BY g.is_told DESC,
                                         iif(g.is_hidden, min(g.gain_ns, g.before_ns), g.gain_ns)
                                           DESC,
                                         g.is_hidden, g.problem, g.rank, g.evidence), NULL)
           AS number
  FROM enough g WHERE NOT g.is_hidden OR g.before_ns IS NOT NULL
  UNION ALL
  SELECT run_id, 'GPU memory is fragmented', rank, NULL,
         printf('%.1f GB are reserved, %.1f GB were used at most (memory_peak, memory_timeline)',
                reserved / 1e9, used / 1e9),
         'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; fewer different sizes', NULL, 1, 1,
         NULL, NULL
  FROM fragmented WHERE unused IS NOT NULL
  UNION ALL
  SELECT run_id, 'Waits are left out: clocks do not agree', NULL, NULL,
         printf('ranks seem to have waited %.1f ms in %d collective%s%s by their clocks, and by '
                || 'how long their kernels ran they did not (nccl_stalls: uncertain): a clock was '
                || 'set (doctor/clock_jumps), or clocks could not be compared '
                || '(doctor/clocks_not_compared)', ns / 1e6, collectives,
                iif(collectives = 1, '', 's'),
                CASE WHEN first_step IS NULL THEN ''
                     WHEN first_step = last_step THEN printf(' of step %d', first_step)
                     ELSE printf(' of steps %d to %d', first_step, last_step) END),
         'let clocks be slewed, not stepped, while jobs run; of this recording trust waits on the '
           || 'longer side of a jump; record more steps', NULL, 1, 1, NULL, NULL
  FROM no_waits
  UNION ALL
  SELECT run_id, 'Who is waited for is not known', NULL, NULL,
         printf('%d communication kernels do not say who takes part in them, as those of messages '
                || 'with several ranks in one batch and of older PyTorch do not; on one rank '
                || 'at least %.1f ms of them run while nothing is computed, and whoever is late '
                || 'for them is not seen (nccl_unmatched, doctor/collective_metadata_missing)',
                kernels, ns / 1e6),
         'compare what the ranks compute (stream_utilization, kernels_top by rank); record with a '
           || 'newer PyTorch, or with messages to one rank in each batch', NULL, 1, 1, NULL, NULL
  FROM no_partner
),
followed AS MATERIALIZED (  -- kept is named here alone: SQLite expands a CTE wherever it is named
  SELECT *, group_concat(change, ',') OVER (PARTITION BY run_id ORDER BY number) AS changes
  FROM kept
)
SELECT
  r.run,
  row_number() OVER (PARTITION BY k.run_id ORDER BY k.number IS NULL, k.number, problem, rank)
    AS number,
  problem,
  rank,
  CAST(substr(worst, instr(worst, ' ') + 1) AS INTEGER) AS step,
  evidence,
  advice,
  1.0 * gain_ns / steps / 1e6 AS gain_ms,
  100.0 * gain_ns / whole_ns AS gain_pct,
  CASE WHEN change IS NOT NULL THEN
    1.0 * (SELECT sum(b.dur_ns - s.dur_ns)
           FROM captures c
           CROSS JOIN replay_steps(c.capture_id, '[' || k.changes || y.least || ']') s
           JOIN base b ON b.capture_id = c.capture_id AND b.step IS s.step
           WHERE c.run_id = k.run_id) / steps / 1e6 END AS together_ms,
  '[' || change || ']' AS what_if,
  CASE WHEN NOT y.is_summed OR rank IS NOT NULL THEN 'tracedb cut' END || database_option()
    || iif(y.is_summed, printf(' --detail --rank %d', rank), '') || ' -o cut.json.gz'
    || iif(change IS NULL OR y.is_summed, '', ' --critical-path')
    || iif(worst IS NULL, '', ' --step ' || substr(worst, instr(worst, ' ') + 1)
         || iif(r.captures = 1, '', ' --capture ' || substr(worst, 1, instr(worst, ' ') - 1)))
    || iif((SELECT count(*) FROM runs) = 1, '', ' --run ' || char(39)
           || replace(r.run, char(39), char(39, 92, 39, 39)) || char(39)) AS see
FROM followed k JOIN runs r ON r.run_id = k.run_id CROSS JOIN replayed y
ORDER BY k.run_id, k.number IS NULL, k.number, problem, rank;
