-- title: Communication kernels without collective metadata
--
-- PyTorch writes the collective's name, type and group to the kernel that runs it; coalesced calls
-- have none, and traces of before 2024 have it nowhere. Of a batch of messages with one other rank
-- (batch_isend_irecv) it is taken from their operators. Without a group the parts of the ranks
-- cannot be put together. Kernels of libraries of their own (nvshmem, deep_ep, multimem and the
-- like) never have it: they are a note.
--
-- param:  few_pct  real(pct)  = 1  A share up to this is a note.
--
-- meaning: These kernels are `unmatched`: `nccl_stalls` and `nccl_stall_ranks` know nothing of
--   their waits, which are share_pct of the rank's communication kernels. Overlap and busy times
--   hold.
-- advice: Record with a newer PyTorch. If most of the kernels have it, read the stall queries as
--   a lower bound.
--
-- column: severity       text        finding; note for few, and for libraries of their own.
-- column: run            text        Its run: one training job that was recorded.
-- column: trace_id       int(id)     The trace.
-- column: rank           int(id)     Its rank.
-- column: count          int(count)  Communication kernels without a name or a group.
-- column: share_pct      real(pct)   Of the trace's communication kernels.
-- column: without_name   int(count)  Of these, without a collective's name.
-- column: without_group  int(count)  Without a group, or with a list of ranks that was shortened.
-- column: kernels        int(count)  All communication kernels of the trace.
-- column: at_ms          real(ms)    The first, since the trace's first event.
-- column: slice_id       int(id)     The same: its row in kernels.
-- column: example        text        Its name.
--
-- empty:  Every communication kernel says what it does and with whom.

WITH bare AS (
  SELECT c.trace_id, c.slice_id AS id, c.ts_ns, c.collective, c.group_id,
         lower(l.name) GLOB '*nccl*' OR lower(l.name) GLOB '*rccl*' OR lower(l.name) GLOB '*msccl*'
           AS by_group
  FROM collectives c
  JOIN activities g ON g.slice_id = c.slice_id
  JOIN names l ON l.name_id = g.name_id
  WHERE c.collective IS NULL OR c.group_id IS NULL
),
counted AS (
  SELECT trace_id, by_group, count(*) AS count, sum(collective IS NULL) AS without_name,
         sum(group_id IS NULL) AS without_group, min(ts_ns) AS first_ns, id
  FROM bare
  GROUP BY trace_id, by_group
),
shared AS (
  SELECT c.*,
         (SELECT count(*) FROM collectives p WHERE p.trace_id = c.trace_id) AS kernels
  FROM counted c
)
SELECT
  iif(s.by_group AND 100.0 * s.count > coalesce(:few_pct, 1) * s.kernels, 'finding', 'note')
    AS severity,
  r.run,
  s.trace_id,
  r.rank,
  s.count,
  100.0 * s.count / s.kernels AS share_pct,
  s.without_name,
  s.without_group,
  s.kernels,
  (s.first_ns - r.start_ns) / 1e6 AS at_ms,
  s.id AS slice_id,
  (SELECT k.name FROM kernels k WHERE k.slice_id = s.id) AS example
FROM shared s
JOIN traces r ON r.trace_id = s.trace_id
ORDER BY severity, r.run, r.rank, s.trace_id, s.by_group;
