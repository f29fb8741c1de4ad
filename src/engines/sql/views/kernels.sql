-- reads: _collective_part _event_name
SELECT
  p.id AS slice_id, l.name AS name
FROM _collective_part AS p
LEFT JOIN _event_name AS l
  ON l.id = p.event_name
