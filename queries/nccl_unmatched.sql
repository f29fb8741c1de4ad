-- title: Which communication kernels have no partner, and why
--
-- What has no partner in its capture is never matched by guess. One row for each rank of a capture,
-- kind of collective, group and reason.
--
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run                text        The run: one training job that was recorded.
-- column: capture            int(count)  The capture: its number in the run.
-- column: rank               int(id)     The rank.
-- column: collective         text        What was done; of kernels without a collective's args the
--                                        kernel's name.
-- column: group_description  text        What the job calls the group.
-- column: group_ranks        text        Its ranks, sorted; NULL: the trace does not say.
-- column: reason             text        no group: nothing tells whom it was with; group of one;
--                                        ranks missing: no other rank of the group (of the pair)
--                                        was recorded in this capture; no counterpart: others were,
--                                        but have none with this number.
-- column: kernels            int(count)  How many.
-- column: total_ms           real(ms)    Their durations, summed.
-- column: first_ordinal      int(count)  The first one's number in its group on this rank, from 1.
-- column: last_ordinal       int(count)  The last one's.
--
-- about:  communication
-- lead:   rank, collective, group_description, reason, kernels, total_ms
-- plot:   bar kernels by run, capture, rank, collective, group_ranks, reason
-- empty:  Every communication kernel has a partner, or there is none in the database.

WITH recorded AS MATERIALIZED (
  SELECT trace_id, capture_id, run_id, run, capture, rank FROM traces
  WHERE (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
    AND (:run IS NULL OR run = :run)
    AND (:capture IS NULL OR capture = :capture)
),
lone AS (
  SELECT capture_id, group_id, min(slice_id) AS low_id, count(*) AS parts, pair, by_seq, match_no
  FROM collectives WHERE group_id IS NOT NULL
  GROUP BY capture_id, group_id, pair, by_seq, match_no HAVING min(rank) = max(rank)
),
part AS (
  SELECT low_id AS id FROM lone WHERE parts = 1
  UNION ALL
  SELECT p.slice_id FROM lone l JOIN collectives p ON p.capture_id = l.capture_id
    AND p.group_id = l.group_id AND p.pair = l.pair AND p.by_seq = l.by_seq
    AND p.match_no = l.match_no WHERE l.parts > 1
  UNION ALL
  SELECT slice_id FROM collectives WHERE group_id IS NULL
),
there AS MATERIALIZED (
  SELECT capture_id, rank FROM traces
),
present AS MATERIALIZED (
  SELECT t.capture_id, g.group_id, count(*) AS ranks
  FROM process_groups g CROSS JOIN json_each(g.ranks) j
  CROSS JOIN traces t ON t.run_id = g.run_id AND t.rank = j.value
  GROUP BY t.capture_id, g.group_id
),
told AS (
  SELECT
    p.trace_id, p.collective, p.group_id, p.ordinal, p.dur_ns, p.slice_id,
    CASE
      WHEN p.group_id IS NULL THEN 'no group'
      WHEN g.size = 1 THEN 'group of one'
      WHEN p.peer IS NOT NULL AND (p.capture_id, p.peer) NOT IN (SELECT * FROM there)
        THEN 'ranks missing'
      WHEN ifnull(h.ranks, 0) < 2 THEN 'ranks missing'
      ELSE 'no counterpart'
    END AS reason
  FROM part u CROSS JOIN collectives p ON p.slice_id = u.id
  LEFT JOIN process_groups g ON g.group_id = p.group_id
  LEFT JOIN present h ON h.capture_id = p.capture_id AND h.group_id = p.group_id
  WHERE p.trace_id IN (SELECT trace_id FROM recorded)
),
named AS (
  SELECT t.*, coalesce(t.collective, (SELECT k.name FROM kernels k
                                      WHERE k.slice_id = t.slice_id)) AS name
  FROM told t
)
SELECT
  r.run,
  r.capture,
  r.rank,
  n.name AS collective,
  g.description AS group_description,
  g.ranks AS group_ranks,
  n.reason,
  count(*) AS kernels,
  sum(max(n.dur_ns, 0)) / 1e6 AS total_ms,
  min(n.ordinal) AS first_ordinal,
  max(n.ordinal) AS last_ordinal
FROM named n JOIN recorded r ON r.trace_id = n.trace_id
LEFT JOIN process_groups g ON g.group_id = n.group_id
GROUP BY n.trace_id, n.name, n.group_id, n.reason
ORDER BY r.run_id, r.capture, r.rank, kernels DESC, n.name, g.ranks, n.reason;
