-- title: Which ranks make the others wait in collectives
--
-- For each rank: in how many collectives it took part, in how many it was the last to start, what
-- wait that caused the others, and how long it waited itself. Counted are collectives that at
-- least two ranks of the database took part in; `nccl_stalls` lists them.
--
-- column: rank              int(id)     The rank.
-- column: collectives       int(count)  Collectives it took part in that have a partner.
-- column: times_last        int(count)  Of these, those in which it was the last to start.
-- column: caused_wait_ms    real(ms)    Waits of the others, summed, where it was the last.
-- column: suffered_wait_ms  real(ms)    Its own waits, summed.
-- column: unmatched         int(count)  Communication kernels without a partner in the database.
--
-- empty:  No communication kernel is in the database.

WITH origin AS (
  SELECT min(start_ns) AS zero_ns FROM trace
),
part AS (
  SELECT
    rank, group_id,
    ts_ns - zero_ns AS start_ns,
    row_number() OVER latest AS place,
    count(*) OVER instance AS ranks_met,
    max(ts_ns - zero_ns) OVER instance AS last_ns,
    sum(ts_ns - zero_ns) OVER instance AS sum_ns
  FROM collective_part, origin
  WINDOW
    instance AS (PARTITION BY group_id, pair, by_seq, match_no),
    latest AS (PARTITION BY group_id, pair, by_seq, match_no ORDER BY ts_ns DESC, rank)
),
judged AS (
  SELECT rank, place, start_ns, last_ns, ranks_met, sum_ns,
         group_id IS NOT NULL AND ranks_met >= 2 AS matched
  FROM part
)
SELECT
  rank,
  sum(matched) AS collectives,
  sum(matched AND place = 1) AS times_last,
  sum(CASE WHEN matched AND place = 1 THEN ranks_met * last_ns - sum_ns ELSE 0 END) / 1e6
    AS caused_wait_ms,
  sum(CASE WHEN matched THEN last_ns - start_ns ELSE 0 END) / 1e6 AS suffered_wait_ms,
  sum(NOT matched) AS unmatched
FROM judged
GROUP BY rank
ORDER BY caused_wait_ms DESC, rank;
