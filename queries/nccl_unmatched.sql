-- title: Which communication kernels have no partner, and why
--
-- What has no partner in the database is never matched by guess. One row for each rank, kind of
-- collective, group and reason.
--
-- param:  rank  int(id)  = null  This rank only; all of them when null.
--
-- column: rank               int(id)     The rank.
-- column: collective         text        What was done; of kernels without a collective's args the
--                                        kernel's name.
-- column: group_description  text        What the job calls the group.
-- column: group_ranks        text        Its ranks, sorted; NULL: the trace does not say.
-- column: reason             text        no group: nothing tells whom it was with; group of one;
--                                        ranks missing: no other rank of the group (of the pair) is
--                                        in the database; no counterpart: others are, but have none
--                                        with this number.
-- column: kernels            int(count)  How many.
-- column: total_ms           real(ms)    Their durations, summed.
-- column: first_ordinal      int(count)  The first one's number in its group on this rank, from 1.
-- column: last_ordinal       int(count)  The last one's.
--
-- plot:   bar kernels by rank, collective, group_ranks, reason
-- empty:  Every communication kernel has a partner, or there is none in the database.

WITH lone AS (
  SELECT group_id, min(slice_id) AS low_id, count(*) AS parts, pair, by_seq, match_no
  FROM collectives WHERE group_id IS NOT NULL
  GROUP BY group_id, pair, by_seq, match_no HAVING min(rank) = max(rank)
),
part AS (
  SELECT low_id AS id FROM lone WHERE parts = 1
  UNION ALL
  SELECT p.slice_id FROM lone l JOIN collectives p ON p.group_id = l.group_id AND p.pair = l.pair
    AND p.by_seq = l.by_seq AND p.match_no = l.match_no WHERE l.parts > 1
  UNION ALL
  SELECT slice_id FROM collectives WHERE group_id IS NULL
),
present AS (
  SELECT g.group_id, count(*) AS ranks
  FROM process_groups g, json_each(g.ranks) j
  WHERE j.value IN (SELECT rank FROM ranks)
  GROUP BY g.group_id
),
told AS (
  SELECT
    p.rank, p.collective, p.group_id, p.ordinal, p.dur_ns, p.slice_id,
    CASE
      WHEN p.group_id IS NULL THEN 'no group'
      WHEN g.size = 1 THEN 'group of one'
      WHEN p.peer IS NOT NULL AND p.peer NOT IN (SELECT rank FROM ranks) THEN 'ranks missing'
      WHEN ifnull(h.ranks, 0) < 2 THEN 'ranks missing'
      ELSE 'no counterpart'
    END AS reason
  FROM part u CROSS JOIN collectives p ON p.slice_id = u.id
  LEFT JOIN process_groups g ON g.group_id = p.group_id
  LEFT JOIN present h ON h.group_id = p.group_id
  WHERE :rank IS NULL OR p.rank = :rank
),
named AS (
  SELECT t.*, coalesce(t.collective, (SELECT k.name FROM kernels k
                                      WHERE k.slice_id = t.slice_id)) AS name
  FROM told t
)
SELECT
  n.rank,
  n.name AS collective,
  g.description AS group_description,
  g.ranks AS group_ranks,
  n.reason,
  count(*) AS kernels,
  sum(max(n.dur_ns, 0)) / 1e6 AS total_ms,
  min(n.ordinal) AS first_ordinal,
  max(n.ordinal) AS last_ordinal
FROM named n LEFT JOIN process_groups g ON g.group_id = n.group_id
GROUP BY n.rank, n.name, n.group_id, n.reason
ORDER BY n.rank, kernels DESC, n.name, g.ranks, n.reason;
