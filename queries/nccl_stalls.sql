-- title: Which collectives kept ranks waiting, for whom, and why
--
-- One row for each collective that at least two ranks of the database took part in: parts belong
-- together when they have the same group and the same Seq, or without Seq the same ordinal in that
-- group (sends and receives: the same direction between the same two ranks). A rank waits from its
-- own start to the latest start; the rank that starts last is the culprit. Starts are compared by
-- the aligned clocks. The cause is what the culprit did from the first start to its own: held on
-- its host, busy on its device, or waiting in another collective; `nccl_stall_roots` adds up where
-- those chains end.
--
-- A part without a partner in the database has a row too, is_estimate: its wait is what it took
-- longer than the shortest of the same collective, size and group. For whom, nobody can tell.
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
-- column: cause              text        host: the culprit launched it late; device: in time, but
--                                        its stream was busy; upstream: it waited in another
--                                        collective. NULL: nobody waited, or no launch is known.
-- column: cause_name         text        What held it: the host's operator, annotation or Python
--                                        frame; the kernel; that other collective; 80 characters
--                                        of it. NULL for waits under 0.02 ms.
-- column: root_rank          int(id)     The rank at the end of the chain of causes.
-- column: root_cause         text        host or device, there.
-- column: root_name          text        What held that rank.
-- column: first_rank         int(id)     The first to start: it waited longest.
-- column: ranks_met          int(count)  How many of its ranks are in the database.
-- column: is_estimate        int(0..1)  1: a part without a partner; see above.
-- column: uncertain          int(0..1)  1: the longest wait is shorter than what the clocks of the
--                                        two ranks' hosts leave open (clock_pair's residual p95).
--
-- plot:   bar total_wait_ms by culprit_rank, step, collective, cause_name
-- empty:  No collective is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

SELECT
  m.collective,
  g.name AS group_name,
  g.description AS group_description,
  g.ranks AS group_ranks,
  m.ordinal,
  m.step,
  m.bytes,
  (m.first_start_ns - zero_ns) / 1e6 AS start_ms,
  m.last_rank AS culprit_rank,
  m.wait_ns / 1e6 AS total_wait_ms,
  m.max_wait_ns / 1e6 AS max_wait_ms,
  m.transfer_ns / 1e6 AS transfer_ms,
  c.cause,
  c.cause_short AS cause_name,
  c.root_rank,
  c.root_cause,
  c.root_short AS root_name,
  m.first_rank,
  m.ranks_met,
  m.is_estimate,
  ifnull((SELECT max(r.residual_p95_ns) > m.max_wait_ns
          FROM rank_clocks a, rank_clocks b, clock_residuals r
          WHERE a.rank = m.first_rank AND b.rank = m.last_rank
            AND ((r.clock_a = a.clock AND r.clock_b = b.clock)
              OR (r.clock_a = b.clock AND r.clock_b = a.clock))), 0) AS uncertain
FROM matched_collectives m
CROSS JOIN origin
CROSS JOIN process_groups g ON g.group_id = m.group_id
LEFT JOIN collective_causes c ON c.slice_id = m.slice_id AND NOT m.is_estimate
WHERE :rank IS NULL OR m.last_rank = :rank
ORDER BY m.wait_ns DESC, m.first_start_ns, g.ranks, m.ordinal, m.slice_id
LIMIT coalesce(:limit, -1);
