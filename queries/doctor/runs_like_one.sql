-- title: Several runs that look like one
--
-- Runs are told apart by their folders. Looked for are runs whose traces overlap in time, that have
-- no rank in common, and whose jobs have the same number of ranks, more than each of them has.
--
-- param:  list_runs  int(count)  = 16  Other runs listed at most.
--
-- meaning: Ranks of one job are never compared when they are taken for several runs: `nccl_stalls`
--   knows nothing of waits between them, and their collectives count as unmatched.
-- advice: If they are one job, ingest the traces of all of them again with one name (--run NAME).
--
-- column: severity    text        Always finding.
-- column: run         text        The first of the runs.
-- column: count       int(count)  Other runs that look like parts of it.
-- column: other_runs  text        The first of these.
-- column: world_size  int(count)  Ranks of the job, as the traces of all of them say.
-- column: ranks       int(count)  Ranks that were recorded, of all of them.
-- column: path        text        The folder of the first run.
-- column: other_path  text        The folder of the first of the others.
--
-- empty:  No two runs look like parts of one.

WITH pair AS MATERIALIZED (
  SELECT a.run_id, b.run_id AS other_id
  FROM runs a JOIN runs b ON b.run_id > a.run_id AND b.world_size = a.world_size
    AND a.ranks + b.ranks <= a.world_size AND b.start_ns <= a.end_ns AND a.start_ns <= b.end_ns
  WHERE NOT EXISTS (SELECT 1 FROM ranks x JOIN ranks y ON y.rank = x.rank
                    WHERE x.run_id = a.run_id AND y.run_id = b.run_id)
),
numbered AS (
  SELECT p.run_id, p.other_id, r.run, r.ranks, r.path,
         row_number() OVER (PARTITION BY p.run_id ORDER BY p.other_id) AS place
  FROM pair p JOIN runs r ON r.run_id = p.other_id
  WHERE p.run_id NOT IN (SELECT other_id FROM pair)
)
SELECT
  'finding' AS severity,
  r.run,
  count(*) AS count,
  group_concat(n.run, ', ') FILTER (WHERE n.place <= coalesce(:list_runs, 16)) AS other_runs,
  r.world_size,
  r.ranks + sum(n.ranks) AS ranks,
  r.path,
  max(n.path) FILTER (WHERE n.place = 1) AS other_path
FROM numbered n JOIN runs r ON r.run_id = n.run_id
GROUP BY n.run_id
ORDER BY n.run_id;
