-- title: Which collectives kept ranks waiting, and for whom
--
-- One row for each collective that at least two ranks of the database took part in: parts belong
-- together when they have the same group and the same Seq, or without Seq the same ordinal in that
-- group (sends and receives in a group of more than two: the same ordinal between those two ranks).
-- A rank waits from its own start to the latest start; the rank that starts last is the culprit.
--
-- param:  limit  int(rows)  = null  Rows returned at most, the worst first; all when null.
-- param:  rank   int(id)    = null  Only what this rank caused; all of them when null.
--
-- column: collective         text        What was done: allreduce, send and so on.
-- column: group_name         text        The communicator's name in the trace.
-- column: group_description  text        What the job calls it.
-- column: group_ranks        text        Its ranks, sorted.
-- column: ordinal            int(count)  It is the culprit's n-th in this group, from 1.
-- column: step               int(count)  Step in which the culprit launched it.
-- column: bytes              int(bytes)  The larger of input and output on the culprit.
-- column: start_ms           real(ms)    First start, since the first event in the database.
-- column: culprit_rank       int(id)     The last to start; the lowest of those at the same ns.
-- column: total_wait_ms      real(ms)    Sum of the waits of all its ranks.
-- column: max_wait_ms        real(ms)    The longest of them.
-- column: transfer_ms        real(ms)    The shortest duration over its ranks.
-- column: cause              text        host: most of the longest wait passed before the culprit's
--                                        launch call; device: after it; NULL: no launch is known.
-- column: ranks_met          int(count)  How many of its ranks are in the database.
--
-- empty:  No collective has two of its ranks in the database: ingest the other ranks' traces too.

WITH origin AS (
  SELECT min(start_ns) AS zero_ns FROM trace
),
part AS (
  SELECT
    group_id, rank, ordinal, step, collective, ts_ns, launch_ts_ns,
    max(coalesce(in_bytes, out_bytes), coalesce(out_bytes, in_bytes)) AS bytes,
    row_number() OVER latest AS place,
    count(*) OVER instance AS ranks_met,
    min(ts_ns) OVER instance AS first_ns,
    sum(ts_ns - zero_ns) OVER instance AS sum_ns,
    min(dur_ns) FILTER (WHERE dur_ns >= 0) OVER instance AS transfer_ns,
    zero_ns
  FROM collective_part, origin
  WHERE group_id IS NOT NULL
  WINDOW
    instance AS (PARTITION BY group_id, pair, by_seq, match_no),
    latest AS (PARTITION BY group_id, pair, by_seq, match_no ORDER BY ts_ns DESC, rank)
)
SELECT
  p.collective,
  g.name AS group_name,
  g.description AS group_description,
  g.ranks AS group_ranks,
  p.ordinal,
  p.step,
  p.bytes,
  (p.first_ns - p.zero_ns) / 1e6 AS start_ms,
  p.rank AS culprit_rank,
  (p.ranks_met * (p.ts_ns - p.zero_ns) - p.sum_ns) / 1e6 AS total_wait_ms,
  (p.ts_ns - p.first_ns) / 1e6 AS max_wait_ms,
  p.transfer_ns / 1e6 AS transfer_ms,
  CASE
    WHEN p.launch_ts_ns IS NULL THEN NULL
    WHEN 2 * (p.launch_ts_ns - p.first_ns) >= p.ts_ns - p.first_ns THEN 'host'
    ELSE 'device'
  END AS cause,
  p.ranks_met
FROM part p
JOIN process_group g ON g.group_id = p.group_id
WHERE p.place = 1 AND p.ranks_met >= 2 AND (:rank IS NULL OR p.rank = :rank)
ORDER BY total_wait_ms DESC, start_ms, g.ranks, p.ordinal, p.rank
LIMIT coalesce(:limit, -1);
