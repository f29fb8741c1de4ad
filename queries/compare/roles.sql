-- title: What part each rank has, as compare aligns ranks
--
-- One row for each rank that was recorded. A place is the rank's number in its tensor, context,
-- pipeline, data or expert parallel group, counted from 0: in the order in which the trace's header
-- has the group's ranks, else by rank; of several groups of one kind that of the largest. A trace
-- that does not say its rank has no place.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run       text        The run: one training job that was recorded.
-- column: rank      int(id)     The rank.
-- column: tensor    int(count)  Its place in its tensor parallel group; NULL: in none that has two
--                               ranks or more. So are the next ones.
-- column: context   int(count)  In its context parallel group.
-- column: pipeline  int(count)  In its pipeline: the stage.
-- column: data      int(count)  In its data parallel group.
-- column: expert    int(count)  In its expert parallel group.
--
-- empty:  No trace is in the database.

WITH recorded AS MATERIALIZED (
  SELECT run_id, run, rank, header, rank_source IN ('chosen', 'device order') AS is_guess
  FROM traces WHERE (:run IS NULL OR run = :run)
),
kin AS MATERIALIZED (
  SELECT group_id, run_id, name, description, parallelism, size, ranks FROM process_groups
  WHERE size > 1 AND parallelism IN ('tensor', 'context', 'pipeline', 'data', 'expert')
),
told AS MATERIALIZED (  -- a rank's own groups, as its header has them
  SELECT r.run_id, r.rank, p.value ->> '$.pg_name' AS name,
         json_array_length(p.value, '$.ranks') AS size,
         (SELECT e.key FROM json_each(p.value, '$.ranks') e WHERE e.value = r.rank) AS place
  FROM recorded r CROSS JOIN json_each(r.header, '$.distributedInfo.pg_config') p
  WHERE json_valid(r.header) AND p.type = 'object'
    AND p.value ->> '$.pg_name' IN (SELECT name FROM kin)
),
member AS (
  SELECT k.run_id, CAST(j.value AS INTEGER) AS rank, k.parallelism, k.name, k.size,
         j.key AS by_rank, row_number() OVER (PARTITION BY k.run_id, j.value, k.parallelism
                                              ORDER BY k.size DESC, k.description, k.group_id)
           AS choice
  FROM kin k CROSS JOIN json_each(k.ranks) j
  WHERE k.run_id IN (SELECT run_id FROM recorded)
),
placed AS MATERIALIZED (
  SELECT m.run_id, m.rank, m.parallelism, max(coalesce(t.place, m.by_rank)) AS place
  FROM member m LEFT JOIN told t ON t.run_id = m.run_id AND t.rank = m.rank AND t.name = m.name
    AND t.size = m.size
  WHERE m.choice = 1 GROUP BY m.run_id, m.rank, m.parallelism
)
SELECT
  r.run,
  r.rank,
  max(p.place) FILTER (WHERE p.parallelism = 'tensor') AS tensor,
  max(p.place) FILTER (WHERE p.parallelism = 'context') AS context,
  max(p.place) FILTER (WHERE p.parallelism = 'pipeline') AS pipeline,
  max(p.place) FILTER (WHERE p.parallelism = 'data') AS data,
  max(p.place) FILTER (WHERE p.parallelism = 'expert') AS expert
FROM (SELECT run_id, run, rank, max(is_guess) AS is_guess FROM recorded
      GROUP BY run_id, run, rank) r
  LEFT JOIN placed p ON p.run_id = r.run_id AND p.rank = r.rank AND NOT r.is_guess
GROUP BY r.run_id, r.run, r.rank
ORDER BY r.run_id, r.rank;
