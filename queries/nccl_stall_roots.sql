-- title: Where the waits in collectives come from, over the whole job
--
-- Each wait is put down to the end of its chain: the last rank to start may itself have been
-- waiting for another, in another collective. One row for each rank and cause at the end of chains,
-- worst first. Counted are collectives that at least two ranks of the database took part in.
--
-- param:  limit  int(rows)  = null  Rows returned at most; all when null.
--
-- column: root_rank       int(id)     The rank that was late of itself. NULL: not worked out yet
--                                     (an ingest was stopped at its end; the next one does it).
-- column: root_cause      text        host: it launched late; device: its stream was busy; NULL:
--                                     the trace does not tell.
-- column: root_name       text        What held it: an operator, annotation or Python frame of its
--                                     host, or a kernel; 80 characters of it. NULL for waits
--                                     under 0.02 ms.
-- column: collectives     int(count)  Collectives in which ranks waited for that.
-- column: total_wait_ms   real(ms)    Waits of all ranks in them, summed.
-- column: share_pct       real(pct)   Of all waits in the database.
-- column: max_wait_ms     real(ms)    The longest wait of a rank.
-- column: first_step      int(count)  First step of these collectives
-- column: last_step       int(count)  and the last.
-- column: direct_wait_ms  real(ms)    Of the total: where the root is the culprit itself.
--
-- plot:   bar total_wait_ms by root_rank, root_cause, root_name
-- empty:  Nobody waited: no collective has two of its ranks in the database (ingest the other
--         ranks' traces too), or all of them started together.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH stall AS (
  SELECT c.root_rank, c.root_cause, c.root_name, c.root_short, m.wait_ns, m.max_wait_ns, m.step,
         iif(c.root_rank = m.last_rank, m.wait_ns, 0) AS direct_ns
  FROM matched_collectives m LEFT JOIN collective_causes c ON c.slice_id = m.slice_id
  WHERE NOT m.is_estimate AND m.wait_ns > 0
)
SELECT
  root_rank,
  root_cause,
  root_short AS root_name,
  count(*) AS collectives,
  sum(wait_ns) / 1e6 AS total_wait_ms,
  100.0 * sum(wait_ns) / sum(sum(wait_ns)) OVER () AS share_pct,
  max(max_wait_ns) / 1e6 AS max_wait_ms,
  min(step) AS first_step,
  max(step) AS last_step,
  sum(direct_ns) / 1e6 AS direct_wait_ms
FROM stall
GROUP BY root_rank, root_cause, stall.root_name
ORDER BY sum(wait_ns) DESC, root_rank, root_cause, stall.root_name
LIMIT coalesce(:limit, -1);
