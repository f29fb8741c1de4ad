-- title: Where the waits in collectives come from, over the whole job
--
-- Each wait is put down to the end of its chain: the last rank to start may itself have been
-- waiting for another, in another collective. One row for each rank and cause at the end of chains,
-- worst first. Counted are collectives that at least two ranks of a capture took part in.
--
-- param:  limit    int(rows)   = null  Rows of a run at most; all when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run             text        The run: one training job that was recorded.
-- column: root_rank       int(id)     The rank that was late of itself. NULL: nobody (schedule);
--                                     nobody tells, as ranks are missing that it may have waited
--                                     for; or not worked out yet (an ingest was stopped at its
--                                     end; the next one does it).
-- column: root_cause      text        host: it launched late; device: its stream was busy;
--                                     schedule: a stage of a pipeline was at its work, and took no
--                                     longer than others; NULL: the trace does not tell
--                                     (nothing took longer than on the other ranks, or ranks
--                                     are missing).
-- column: root_name       text        What held it: an operator, annotation or Python frame of its
--                                     host, or a kernel; 80 characters of it. Where ranks are
--                                     missing, the collective in which it was. NULL for waits
--                                     under 0.02 ms.
-- column: collectives     int(count)  Collectives in which ranks waited for that.
-- column: total_wait_ms   real(ms)    Waits of all ranks in them, summed.
-- column: share_pct       real(pct)   Of all waits of the run.
-- column: max_wait_ms     real(ms)    The longest wait of a rank.
-- column: first_step      int(count)  First step of these collectives
-- column: last_step       int(count)  and the last.
-- column: direct_wait_ms  real(ms)    Of the total: where the root is the culprit itself.
--
-- about:  communication
-- lead:   root_rank, root_cause, root_name, total_wait_ms, share_pct, collectives
-- plot:   bar total_wait_ms by run, root_rank, root_cause, root_name
-- empty:  Nobody waited: no collective has two of its ranks in a capture (ingest the other ranks'
--         traces too), or all of them started together.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH stall AS (
  SELECT t.run_id, t.run, c.root_rank, c.root_cause, c.root_name, c.root_short, m.wait_ns,
         m.max_wait_ns, m.step, iif(c.root_rank = m.last_rank, m.wait_ns, 0) AS direct_ns
  FROM matched_collectives m CROSS JOIN traces t ON t.trace_id = m.trace_id
  LEFT JOIN collective_causes c ON c.slice_id = m.slice_id
  WHERE NOT m.is_estimate AND m.wait_ns > 0 AND (:run IS NULL OR t.run = :run)
    AND (:capture IS NULL OR t.capture = :capture)
),
summed AS (
  SELECT *, count(*) AS collectives, sum(wait_ns) AS all_ns,
         sum(sum(wait_ns)) OVER (PARTITION BY run_id) AS run_ns, max(max_wait_ns) AS most_ns,
         min(step) AS first_step, max(step) AS last_step, sum(direct_ns) AS all_direct_ns,
         row_number() OVER (PARTITION BY run_id ORDER BY sum(wait_ns) DESC, root_rank, root_cause,
                            root_name) AS place
  FROM stall
  GROUP BY run_id, root_rank, root_cause, root_name
)
SELECT
  run,
  root_rank,
  root_cause,
  root_short AS root_name,
  collectives,
  all_ns / 1e6 AS total_wait_ms,
  100.0 * all_ns / run_ns AS share_pct,
  most_ns / 1e6 AS max_wait_ms,
  first_step,
  last_step,
  all_direct_ns / 1e6 AS direct_wait_ms
FROM summed
WHERE :limit IS NULL OR :limit < 0 OR place <= :limit
ORDER BY run_id, place;
