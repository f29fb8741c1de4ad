-- reads: _clock _collective_part
SELECT
  p.id AS slice_id,
  p.trace_id,
  p.rank,
  p.group_id,
  p.ordinal,
  p.seq,
  p.collective,
  p.dtype,
  p.in_bytes,
  p.out_bytes,
  p.ts_ns,
  p.dur_ns,
  p.peer,
  p.step,
  p.launch_ts_ns,
  (
    p.ts_ns + COALESCE(c.offset_ns + INT_DIV((
      p.ts_ns - c.origin_ns
    ) * c.drift_ppb, 1000000000), 0)
  ) AS aligned_ts_ns,
  p.pair,
  p.by_seq,
  p.match_no,
  p.ts_ns + p.dur_ns AS end_ns,
  NO_REAL() AS start_ms,
  p.capture_id
FROM _collective_part AS p
LEFT JOIN _clock AS c
  ON c.trace_id = p.trace_id
