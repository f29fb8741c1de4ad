-- title: How fast are collectives, by kind, size and group
--
-- algbw is bytes by time, busbw is algbw by the factor of nccl-tests (n ranks): 2(n-1)/n for
-- all-reduce; (n-1)/n for all-gather, reduce-scatter, all-to-all, gather and scatter; 1 for
-- broadcast, reduce, send and recv. The time is that of the transfer: the shortest duration over
-- the ranks, as a rule of the last to start, with no wait in it. A send that fits in a buffer ends
-- before its recv begins. _gbps are GB/s, and 1 GB is 1e9 bytes.
--
-- Where no other rank was recorded (is_estimate) durations have waits in them: then the best
-- tells more than the median.
--
-- Records of NCCL Inspector, which a job writes without a profiler, have rows too: their durations
-- are exec_us, bytes rank_bytes (inspector_collectives), and group_description is the
-- communicator's name or id.
--
-- param:  limit    int(rows)   = null  Rows of a run at most; all when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run                text        The run: one training job that was recorded.
-- column: collective         text        What was done; a send with its recv is sendrecv.
-- column: dtype              text        Type of the elements.
-- column: bytes              int(bytes)  The larger of input and output of a rank.
-- column: group_description  text        What the job calls the group.
-- column: group_ranks        text        Its ranks, sorted.
-- column: group_size         int(count)  How many.
-- column: collectives        int(count)  How many of this kind, size and group.
-- column: best_algbw_gbps    real(gbps)  Of the fastest.
-- column: median_algbw_gbps  real(gbps)  Of the middle one; of two, the slower.
-- column: worst_algbw_gbps   real(gbps)  Of the slowest.
-- column: best_busbw_gbps    real(gbps)  The same by the factor; NULL for collectives without one.
-- column: median_busbw_gbps  real(gbps)  Of the middle one.
-- column: worst_busbw_gbps   real(gbps)  Of the slowest.
-- column: transfer_ms        real(ms)    Time of them all.
-- column: is_estimate        int(0..1)   1: durations of one rank alone, with its waits.
--
-- about:  communication
-- lead:   collective, bytes, median_busbw_gbps, group_description, group_ranks, collectives
-- plot:   bar median_algbw_gbps by run, collective, bytes, group_description, group_ranks
-- empty:  No collective with a known size and duration is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH timed AS (
  SELECT
    iif(lower(collective) IN ('send', 'recv'), 'sendrecv', collective) AS collective,
    dtype, bytes, group_id, is_estimate, iif(is_estimate, wait_ns, 0) + transfer_ns AS took_ns
  FROM matched_collectives
  WHERE bytes > 0 AND transfer_ns > 0
    AND capture_id IN (SELECT capture_id FROM captures WHERE (:run IS NULL OR run = :run)
                         AND (:capture IS NULL OR capture = :capture))
),
summed AS (
  SELECT
    row_number() OVER () AS kind, collective, dtype, bytes, group_id, is_estimate, count(*) AS n,
    sum(took_ns) AS total_ns, min(took_ns) AS best_ns, max(took_ns) AS worst_ns
  FROM timed
  GROUP BY collective, dtype, bytes, group_id, is_estimate
),
placed AS (  -- narrow rows: they are sorted
  SELECT s.kind, s.n, t.took_ns, row_number() OVER (PARTITION BY s.kind ORDER BY t.took_ns) AS place
  FROM timed t JOIN summed s ON s.group_id = t.group_id AND s.bytes = t.bytes
    AND s.collective IS t.collective AND s.dtype IS t.dtype AND s.is_estimate = t.is_estimate
),
median AS MATERIALIZED (  -- else all of placed would be gone through for each kind
  SELECT kind, took_ns AS median_ns FROM placed WHERE place = n / 2 + 1
),
reported AS (  -- by NCCL Inspector
  SELECT
    m.run_id, m.run, m.communicator_id, m.rank_bytes AS bytes,
    iif(lower(m.collective) IN ('send', 'recv'), 'sendrecv', m.collective) AS collective,
    m.ranks_met < 2 AS is_estimate, CAST(m.transfer_us * 1000 AS INTEGER) AS took_ns
  FROM inspector_matched m
  WHERE m.rank_bytes > 0 AND m.transfer_us > 0 AND :capture IS NULL
    AND (:run IS NULL OR m.run = :run)
),
reported_places AS (
  SELECT *, count(*) OVER of_kind AS n,
         row_number() OVER (PARTITION BY run_id, communicator_id, collective, bytes, is_estimate
                            ORDER BY took_ns) AS place
  FROM reported
  WINDOW of_kind AS (PARTITION BY run_id, communicator_id, collective, bytes, is_estimate)
),
reported_sums AS (
  SELECT run_id, communicator_id, collective, bytes, is_estimate, count(*) AS n,
         sum(took_ns) AS total_ns, min(took_ns) AS best_ns, max(took_ns) AS worst_ns,
         max(iif(place = n / 2 + 1, took_ns, NULL)) AS median_ns
  FROM reported_places
  GROUP BY run_id, communicator_id, collective, bytes, is_estimate
),
united AS (
  SELECT s.collective, s.dtype, s.bytes, s.is_estimate, s.n, s.total_ns, s.best_ns, s.worst_ns,
         m.median_ns, g.run_id, g.run, g.description, g.ranks, g.size, s.group_id
  FROM summed s
    JOIN median m ON m.kind = s.kind JOIN process_groups g ON g.group_id = s.group_id
  UNION ALL
  SELECT s.collective, NULL, s.bytes, s.is_estimate, s.n, s.total_ns, s.best_ns, s.worst_ns,
         s.median_ns, c.run_id, c.run,
         coalesce(c.comm_name, 'communicator ' || c.communicator_id), c.ranks, c.n_ranks, NULL
  FROM reported_sums s
    JOIN inspector_communicators c
      ON c.communicator_id IS s.communicator_id AND c.run_id IS s.run_id
),
factored AS (
  SELECT
    *,
    CASE
      WHEN plain LIKE '%allreduce%' THEN 2.0 * (size - 1) / size
      WHEN plain LIKE '%reducescatter%' OR plain LIKE '%allgather%' OR plain LIKE '%alltoall%'
        OR plain LIKE '%gather%' OR plain LIKE '%scatter%' THEN 1.0 * (size - 1) / size
      WHEN plain LIKE '%broadcast%' OR plain LIKE '%reduce%' OR plain = 'sendrecv' THEN 1.0
    END AS factor
  FROM (SELECT *, lower(replace(collective, '_', '')) AS plain FROM united)
),
listed AS (
  SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY collective, bytes DESC, ranks, dtype,
                               is_estimate, group_id, description) AS place
  FROM factored
)
SELECT
  run,
  collective,
  dtype,
  bytes,
  description AS group_description,
  ranks AS group_ranks,
  size AS group_size,
  n AS collectives,
  1.0 * bytes / best_ns AS best_algbw_gbps,
  1.0 * bytes / median_ns AS median_algbw_gbps,
  1.0 * bytes / worst_ns AS worst_algbw_gbps,
  factor * bytes / best_ns AS best_busbw_gbps,
  factor * bytes / median_ns AS median_busbw_gbps,
  factor * bytes / worst_ns AS worst_busbw_gbps,
  total_ns / 1e6 AS transfer_ms,
  is_estimate
FROM listed
WHERE :limit IS NULL OR :limit < 0 OR place <= :limit
ORDER BY run_id, place;
