-- reads: _collective_cause
SELECT
  id AS slice_id, trace_id, rank, group_id, step, first_start_ns, start_ns, wait_ns, cause,
  cause_slice_id, cause_name,
  CASE WHEN TEXT_LENGTH(cause_name) > 80 THEN SUB_TEXT(cause_name, 1, 77) || '...'
    ELSE cause_name END AS cause_short,
  upstream_id, carried_id, root_id, root_rank, root_cause, root_name,
  CASE WHEN TEXT_LENGTH(root_name) > 80 THEN SUB_TEXT(root_name, 1, 77) || '...'
    ELSE root_name END AS root_short
FROM _collective_cause
