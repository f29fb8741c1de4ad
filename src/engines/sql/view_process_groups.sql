-- reads: _process_group _run
SELECT
  g.group_id,
  r.run,
  g.name,
  g.description,
  g.parallelism,
  g.size,
  g.ranks,
  g.run_id
FROM _process_group AS g
LEFT JOIN _run AS r
  ON r.run_id = g.run_id
