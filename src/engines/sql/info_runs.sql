-- reads: captures runs
SELECT
  r.run AS run, r.path AS path, r.ranks AS ranks, r.captures AS captures,
  r.world_size AS world_size,
  CASE WHEN r.start_ns >= 946684800000000000 THEN UTC_TEXT(INT_DIV(r.start_ns, 1000000000))
    ELSE NULL END AS start, /* Before 2000: the time since something else. */
  (
    SELECT
      SUM(c.end_ns - c.start_ns)
    FROM captures AS c
    WHERE
      c.run_id = r.run_id
  ) / 1e6 AS length_ms
FROM runs AS r
WHERE
  ALL_OF(run) OR r.run = GIVEN(run)
ORDER BY
  r.run NULLS FIRST
