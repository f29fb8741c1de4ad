-- title: Ranks that no trace is from
--
-- The ranks of each process group that the database's collectives ran in, and of the whole job (the
-- largest world_size of a header), less those that a trace is there from. Looking at one rank alone
-- is common, and so is leaving out whole groups: these are notes. Once there are several ranks, a
-- group with some of its ranks missing is a finding.
--
-- param:  list_ranks  int(count)  = 16  Ranks listed at most in missing_ranks.
--
-- meaning: Waits of such a group are judged by the ranks that are there: the culprit in
--   `nccl_stalls` and `nccl_stall_ranks` may be a missing rank, and collectives of which one
--   rank alone is there count as `unmatched`.
-- advice: Ingest the traces of the missing ranks as well, if there are any.
--
-- column: severity           text        finding; note for a single rank, and for the whole job.
-- column: group_name         text        The group's name in the trace; NULL for the whole job.
-- column: group_description  text        What the job calls it.
-- column: count              int(count)  Its ranks that no trace is from.
-- column: ranks              int(count)  All its ranks.
-- column: collectives        int(count)  Communication kernels of it in the database.
-- column: missing_ranks      text        The first of those that are missing.
-- column: example_rank       int(id)     The lowest rank that is there.
--
-- empty:  Every rank that is spoken of has its trace.

WITH RECURSIVE used AS MATERIALIZED (
  SELECT group_id, count(*) AS collectives
  FROM collectives
  WHERE group_id IS NOT NULL
  GROUP BY group_id
),
present AS MATERIALIZED (
  SELECT rank FROM ranks
),
world AS MATERIALIZED (
  SELECT max(world_size) AS ranks,
         (SELECT count(*) FROM present p WHERE p.rank < (SELECT max(world_size) FROM ranks)) AS met
  FROM ranks
),
number AS (
  -- No further than is needed to find as many missing ones as are listed.
  SELECT 0 AS rank
  UNION ALL
  SELECT rank + 1
  FROM number
  WHERE rank + 1 < (SELECT min(ranks, met + coalesce(:list_ranks, 16)) FROM world)
),
missing AS MATERIALIZED (
  SELECT g.group_id, j.value AS rank
  FROM used u
  JOIN process_groups g ON g.group_id = u.group_id
  JOIN json_each(g.ranks) j
  WHERE j.value NOT IN (SELECT rank FROM present)
),
numbered AS (
  SELECT group_id, rank, row_number() OVER (PARTITION BY group_id ORDER BY rank) AS place
  FROM missing
),
listed AS (
  SELECT group_id, count(*) AS count,
         group_concat(rank, ' ') FILTER (WHERE place <= coalesce(:list_ranks, 16)) AS ranks
  FROM numbered
  GROUP BY group_id
),
told AS (
  SELECT
    iif((SELECT count(*) FROM present) > 1, 'finding', 'note') AS severity,
    g.name AS group_name,
    g.description AS group_description,
    m.count,
    json_array_length(g.ranks) AS ranks,
    u.collectives,
    m.ranks AS missing_ranks,
    (SELECT min(j.value) FROM json_each(g.ranks) j WHERE j.value IN (SELECT rank FROM present))
      AS example_rank
  FROM listed m
  JOIN used u ON u.group_id = m.group_id
  JOIN process_groups g ON g.group_id = m.group_id
  UNION ALL
  SELECT
    'note', NULL, 'whole job', w.ranks - w.met, w.ranks, NULL,
    (SELECT group_concat(rank, ' ')
     FROM (SELECT rank FROM number WHERE rank NOT IN (SELECT rank FROM present)
           ORDER BY rank LIMIT coalesce(:list_ranks, 16))),
    (SELECT min(rank) FROM present)
  FROM world w
  WHERE w.met < w.ranks
)
SELECT severity, group_name, group_description, count, ranks, collectives, missing_ranks,
       example_rank
FROM told
ORDER BY severity, group_name IS NULL, count DESC, example_rank, group_name, missing_ranks;
