-- reads: _process_group _run
SELECT
  g.group_id AS group_id, r.run AS run, g.name AS name, g.description AS description,
  g.parallelism AS parallelism, g.size AS size, g.ranks AS ranks, g.run_id AS run_id
FROM _process_group AS g
LEFT JOIN _run AS r
  ON r.run_id = g.run_id
