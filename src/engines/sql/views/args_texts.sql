-- reads: _args_text
SELECT
  a.id AS args_id, a.args AS args
FROM _args_text AS a
