-- reads: _clock _collective_part
SELECT
  p.id AS slice_id, p.trace_id AS trace_id, p.rank AS rank, p.group_id AS group_id,
  p.ordinal AS ordinal, p.seq AS seq, p.collective AS collective, p.dtype AS dtype,
  p.in_bytes AS in_bytes, p.out_bytes AS out_bytes, p.ts_ns AS ts_ns, p.dur_ns AS dur_ns,
  p.peer AS peer, p.step AS step, p.launch_ts_ns AS launch_ts_ns,
  (
    p.ts_ns + COALESCE(c.offset_ns + INT_DIV((
      p.ts_ns - c.origin_ns
    ) * c.drift_ppb, 1000000000), 0)
  ) AS aligned_ts_ns,
  p.pair AS pair, p.by_seq AS by_seq, p.match_no AS match_no,
  p.ts_ns + p.dur_ns AS end_ns,
  NO_REAL() AS start_ms,
  p.capture_id AS capture_id
FROM _collective_part AS p
LEFT JOIN _clock AS c
  ON c.trace_id = p.trace_id
