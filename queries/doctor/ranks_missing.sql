-- title: Ranks that no trace is from
--
-- The ranks of each process group in which a capture's collectives ran, less those that a trace of
-- the capture is from, and of the whole job (the largest world_size of a header), less those that a
-- trace of the run is from. Looking at one rank alone is common, and so is leaving out whole
-- groups: these are notes. Once a run has several ranks, a group with some of its ranks missing is
-- a finding.
--
-- param:  list_ranks  int(count)  = 16  Ranks listed at most in missing_ranks.
--
-- meaning: Waits of such a group are judged by the ranks that are there: the culprit in
--   `nccl_stalls` and `nccl_stall_ranks` may be a missing rank, and collectives of which one
--   rank alone is there count as `unmatched`.
-- advice: Ingest the traces of the missing ranks as well, if there are any; those that lie in
--   another folder with --run NAME, the name of this run.
--
-- column: severity           text        finding; note for a run of a single rank, and for the
--                                        whole job.
-- column: run                text        The run.
-- column: captures           text        Numbers of the captures in which these ranks are missing;
--                                        NULL for the whole job.
-- column: group_name         text        The group's name in the trace; NULL for the whole job.
-- column: group_description  text        What the job calls it.
-- column: count              int(count)  Its ranks that no trace is from.
-- column: ranks              int(count)  All its ranks.
-- column: collectives        int(count)  Communication kernels of it in the database.
-- column: missing_ranks      text        The first of those that are missing.
-- column: example_rank       int(id)     The lowest rank that is there.
--
-- lead:   severity, missing_ranks, count, ranks, group_description, captures, group_name
-- empty:  Every rank that is spoken of has its trace.

WITH RECURSIVE used AS MATERIALIZED (
  SELECT capture_id, group_id, count(*) AS collectives
  FROM collectives
  WHERE group_id IS NOT NULL
  GROUP BY capture_id, group_id
),
present AS MATERIALIZED (
  SELECT run_id, capture_id, rank FROM traces
),
world AS MATERIALIZED (
  SELECT w.run_id, w.world_size AS ranks, count(DISTINCT p.rank) AS there,
         count(DISTINCT p.rank) FILTER (WHERE p.rank < w.world_size) AS met
  FROM runs w JOIN present p ON p.run_id = w.run_id
  GROUP BY w.run_id
),
number AS (
  -- No further than is needed to find as many missing ones as are listed.
  SELECT run_id, 0 AS rank FROM world WHERE met < ranks
  UNION ALL
  SELECT n.run_id, n.rank + 1
  FROM number n JOIN world w ON w.run_id = n.run_id
  WHERE n.rank + 1 < min(w.ranks, w.met + coalesce(:list_ranks, 16))
),
missing AS MATERIALIZED (
  SELECT u.capture_id, u.group_id, j.value AS rank
  FROM used u
  JOIN process_groups g ON g.group_id = u.group_id
  JOIN json_each(g.ranks) j
  WHERE (u.capture_id, j.value) NOT IN (SELECT capture_id, rank FROM present)
),
numbered AS (
  SELECT capture_id, group_id, rank,
         row_number() OVER (PARTITION BY capture_id, group_id ORDER BY rank) AS place
  FROM missing
),
listed AS (
  SELECT capture_id, group_id, count(*) AS count,
         group_concat(rank, ' ') FILTER (WHERE place <= coalesce(:list_ranks, 16)) AS ranks
  FROM numbered
  GROUP BY capture_id, group_id
),
alike AS (  -- captures in which the same ranks are missing are one row
  SELECT group_id, count, ranks, group_concat(capture, ' ') AS captures,
         sum(collectives) AS collectives, min(capture_id) AS capture_id
  FROM (SELECT m.*, u.collectives, c.capture
        FROM listed m JOIN used u ON u.capture_id = m.capture_id AND u.group_id = m.group_id
        JOIN captures c ON c.capture_id = m.capture_id
        ORDER BY c.run_id, c.capture)
  GROUP BY group_id, count, ranks
),
told AS (
  SELECT
    iif(w.there > 1, 'finding', 'note') AS severity,
    g.run_id,
    m.captures,
    g.name AS group_name,
    g.description AS group_description,
    m.count,
    json_array_length(g.ranks) AS ranks,
    m.collectives,
    m.ranks AS missing_ranks,
    (SELECT min(j.value) FROM json_each(g.ranks) j
     WHERE (m.capture_id, j.value) IN (SELECT capture_id, rank FROM present)) AS example_rank
  FROM alike m
  JOIN process_groups g ON g.group_id = m.group_id
  JOIN world w ON w.run_id = g.run_id
  UNION ALL
  SELECT
    'note', w.run_id, NULL, NULL, 'whole job', w.ranks - w.met, w.ranks, NULL,
    (SELECT group_concat(rank, ' ')
     FROM (SELECT n.rank FROM number n
           WHERE n.run_id = w.run_id
             AND (w.run_id, n.rank) NOT IN (SELECT run_id, rank FROM present)
           ORDER BY n.rank LIMIT coalesce(:list_ranks, 16))),
    (SELECT min(rank) FROM present p WHERE p.run_id = w.run_id)
  FROM world w
  WHERE w.met < w.ranks
)
SELECT t.severity, r.run, t.captures, t.group_name, t.group_description, t.count, t.ranks,
       t.collectives, t.missing_ranks, t.example_rank
FROM told t JOIN runs r ON r.run_id = t.run_id
ORDER BY t.severity, t.run_id, t.group_name IS NULL, t.count DESC, t.example_rank, t.group_name,
         t.missing_ranks, t.captures;
