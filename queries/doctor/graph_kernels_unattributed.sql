-- title: Graphs whose kernels belong to no operator
--
-- A graph was launched (cudaGraphLaunch, hipGraphLaunch), and no capture of it fits: its kernels
-- stay with the call that launched them. Counted are those of up to small_pct of a trace's GPU time
-- as a note. One row for each reason in a trace.
--
-- param:  small_pct  real(pct)  = 1  A share of the trace's GPU time up to this is a note.
--
-- meaning: ops_top, kernels_by_op, module_time and flops say nothing of share_pct of GPU time.
--   Nothing else is wrong: kernels, busy times and gaps are as they were recorded.
-- advice: Record the capture too: with the profiler on while the graph is captured, in the same
--   trace or in a file of a folder capture_traces beside it (SGLang, vLLM); or a few steps without
--   graphs in the same trace.
--
-- column: severity   text        finding; note for little time.
-- column: run        text        Its run: one training job that was recorded.
-- column: trace_id   int(id)     The trace.
-- column: rank       int(id)     Its rank.
-- column: count      int(count)  Kernels, copies and fills that belong to no operator.
-- column: graphs     int(count)  Of so many graphs.
-- column: replays    int(count)  Of so many launches of these.
-- column: share_pct  real(pct)   Of the trace's GPU time.
-- column: example    text        The first of these graphs.
-- column: reason     text        Why no capture fits.
--
-- lead:   severity, rank, count, reason, graphs, replays, share_pct
-- empty:  Kernels of every graph belong to operators, or none was launched.

WITH refused AS MATERIALIZED (
  SELECT g.trace_id, g.rank, g.reason, count(DISTINCT g.graph_id) AS graphs, count(*) AS replays,
         sum(r.activities) AS activities, sum(r.gpu_ns) AS gpu_ns, min(g.number) AS first
  FROM graphs g JOIN graph_replays r ON r.graph_id = g.graph_id
  WHERE g.source IS NULL
  GROUP BY g.trace_id, g.rank, g.reason
),
judged AS (
  SELECT r.*, 100.0 * r.gpu_ns / nullif((SELECT sum(k.gpu_ns) FROM kernel_uses k
                                         WHERE k.trace_id = r.trace_id), 0) AS share_pct
  FROM refused r
)
SELECT
  CASE WHEN coalesce(j.share_pct, 0) > coalesce(:small_pct, 1) THEN 'finding' ELSE 'note' END
    AS severity,
  t.run,
  j.trace_id,
  j.rank,
  j.activities AS count,
  j.graphs,
  j.replays,
  j.share_pct,
  'CUDA graph ' || j.first AS example,
  j.reason
FROM judged j JOIN traces t ON t.trace_id = j.trace_id
ORDER BY t.run, j.rank, j.trace_id, j.gpu_ns DESC, j.reason;
