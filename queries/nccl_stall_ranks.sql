-- title: Which ranks make the others wait in collectives
--
-- For each rank: in how many collectives it took part, in how many it was the last to start, what
-- wait that caused the others, how much wait has its root in it (it may be the last because it
-- waited for another itself), and how long it waited itself. Counted are collectives that at least
-- two ranks of the database took part in; `nccl_stalls` lists them. Estimated are the waits in
-- those without a partner: what they took longer than the shortest of their kind.
--
-- column: rank               int(id)     The rank.
-- column: collectives        int(count)  Collectives it took part in that have a partner.
-- column: times_last         int(count)  Of these, those in which it was the last to start.
-- column: caused_wait_ms     real(ms)    Waits of the others, summed, where it was the last.
-- column: suffered_wait_ms   real(ms)    Its own waits, summed.
-- column: unmatched          int(count)  Communication kernels without a partner in the database.
-- column: root_wait_ms       real(ms)    Waits of all ranks, summed, whose chain ends at this rank.
-- column: estimated_wait_ms  real(ms)    Its own waits in those without a partner, an estimate.
--
-- plot:   bar caused_wait_ms by rank
-- empty:  No communication kernel is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH timed AS (
  SELECT rank, group_id, pair, by_seq, match_no, aligned_ts_ns - zero_ns AS start_ns
  FROM collectives CROSS JOIN origin
),
instance AS (
  SELECT group_id, pair, by_seq, match_no, max(start_ns) AS last_ns, min(rank) < max(rank) AS is_met
  FROM timed WHERE group_id IS NOT NULL GROUP BY group_id, pair, by_seq, match_no
),
suffered AS (
  SELECT
    t.rank,
    sum(ifnull(i.is_met, 0)) AS collectives,
    sum(iif(i.is_met, i.last_ns - t.start_ns, 0)) AS wait_ns,
    sum(NOT ifnull(i.is_met, 0)) AS unmatched
  FROM timed t LEFT JOIN instance i ON i.group_id = t.group_id AND i.pair = t.pair
    AND i.by_seq = t.by_seq AND i.match_no = t.match_no
  GROUP BY t.rank
),
judged AS (
  SELECT m.is_estimate, m.first_rank, m.last_rank, m.wait_ns, c.root_rank
  FROM matched_collectives m LEFT JOIN collective_causes c ON c.slice_id = m.slice_id
),
caused AS (
  SELECT last_rank AS rank, count(*) AS times_last, sum(wait_ns) AS wait_ns
  FROM judged WHERE NOT is_estimate GROUP BY last_rank
),
rooted AS (
  SELECT root_rank AS rank, sum(wait_ns) AS wait_ns
  FROM judged WHERE NOT is_estimate GROUP BY root_rank
),
estimated AS (
  SELECT first_rank AS rank, sum(wait_ns) AS wait_ns
  FROM judged WHERE is_estimate GROUP BY first_rank
)
SELECT
  s.rank,
  s.collectives,
  ifnull(c.times_last, 0) AS times_last,
  ifnull(c.wait_ns, 0) / 1e6 AS caused_wait_ms,
  s.wait_ns / 1e6 AS suffered_wait_ms,
  s.unmatched,
  ifnull(r.wait_ns, 0) / 1e6 AS root_wait_ms,
  ifnull(e.wait_ns, 0) / 1e6 AS estimated_wait_ms
FROM suffered s
LEFT JOIN caused c ON c.rank = s.rank
LEFT JOIN rooted r ON r.rank = s.rank
LEFT JOIN estimated e ON e.rank = s.rank
ORDER BY caused_wait_ms DESC, s.rank;
