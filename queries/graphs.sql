-- title: CUDA and HIP graphs: replays, and whose kernels they are
--
-- One row for each graph: replays (cudaGraphLaunch, hipGraphLaunch) of a trace that run the same
-- kernels. A replay's kernels name no operator; they have those of the launches that went into the
-- graph while it was captured, where a capture fits: in the same trace, in a file of captures
-- (capture_traces), or the same kernels launched one by one. Then `kernels`, `ops_top`,
-- `kernels_by_op`, `module_time`, `flops` and `annotations` have them too.
--
-- param:  limit    int(rows)   = 30    Rows returned at most for a run, the most GPU time first.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     int(id)     = null  This rank only; all of them when null.
--
-- column: run           text        The run: one training job that was recorded.
-- column: rank          int(id)     The rank.
-- column: graph         text        CUDA graph N, by first replay in its trace.
-- column: replays       int(count)  How often it was launched.
-- column: kernels       int(count)  Kernels, copies and fills of a replay.
-- column: gpu_ms        real(ms)    Their durations, summed over all replays.
-- column: share_pct     real(pct)   gpu_ms of all GPU time of the run, this rank.
-- column: span_ms       real(ms)    From a replay's first start to its last end, on average.
-- column: gap_ms        real(ms)    Of it nothing of the replay runs, on average.
-- column: launch_ms     real(ms)    The host was in the calls that launched it, summed.
-- column: saved_ms      real(ms)    What as many calls that launch one kernel would take, less
--                                   launch_ms: a call takes as long as the median of the trace's
--                                   others, those of captures included. NULL: it has none.
-- column: attributed_pct real(pct)  Share of gpu_ms whose operators are known.
-- column: source        text        From where: capture, capture file, eager (launched one by one),
--                                   trace (its kernels name them); NULL: they are not known.
-- column: reason        text        Why they are not known.
-- column: graph_id      int(id)     In graphs.
--
-- about:  kernels and operators
-- lead:   rank, graph, replays, kernels, gpu_ms, gap_ms, saved_ms, attributed_pct, reason
-- plot:   bar gpu_ms by run, rank, graph
-- empty:  No graph was launched, or none of its kernels is in the database.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank = :rank)
),
graph AS MATERIALIZED (
  SELECT g.graph_id, t.run, g.rank, g.trace_id, g.number, g.nodes, g.source, g.reason
  FROM graphs g JOIN trace t ON t.trace_id = g.trace_id
),
launched AS MATERIALIZED (
  SELECT r.graph_id, count(*) AS replays, sum(r.gpu_ns) AS gpu_ns, avg(r.span_ns) AS span_ns,
         avg(r.idle_ns) AS idle_ns, sum(r.activities) AS activities, sum(s.dur_ns) AS launch_ns
  FROM graph_replays r JOIN runtime_calls s ON s.slice_id = r.launch_slice_id
  WHERE r.graph_id IN (SELECT graph_id FROM graph)
  GROUP BY r.graph_id
),
launch_label AS MATERIALIZED (
  SELECT name_id FROM names
  WHERE name GLOB 'cu*Launch*Kernel*' OR name GLOB 'hip*Launch*Kernel*'
),
launching AS MATERIALIZED (
  SELECT trace_id, dur_ns AS call_ns
  FROM (
    SELECT k.trace_id, s.dur_ns,
           row_number() OVER (PARTITION BY k.trace_id ORDER BY s.dur_ns) AS place,
           count(*) OVER (PARTITION BY k.trace_id) AS calls
    FROM runtime_calls s JOIN tracks k ON k.track_id = s.track_id
    WHERE s.name_id IN (SELECT name_id FROM launch_label)
      AND k.trace_id IN (SELECT trace_id FROM graph)
  )
  WHERE place = (calls + 1) / 2
),
whole AS MATERIALIZED (
  SELECT t.run, u.rank, sum(u.gpu_ns) AS gpu_ns
  FROM kernel_uses u JOIN trace t ON t.trace_id = u.trace_id
  WHERE EXISTS (SELECT 1 FROM graph)
  GROUP BY t.run, u.rank
),
placed AS (
  SELECT g.*, r.replays, r.gpu_ns, r.span_ns, r.idle_ns, r.launch_ns,
         r.activities * l.call_ns - r.launch_ns AS saved_ns,
         row_number() OVER (PARTITION BY g.run ORDER BY r.gpu_ns DESC, g.graph_id) AS place
  FROM graph g JOIN launched r ON r.graph_id = g.graph_id
       LEFT JOIN launching l ON l.trace_id = g.trace_id
)
SELECT
  p.run,
  p.rank,
  'CUDA graph ' || p.number AS graph,
  p.replays,
  p.nodes AS kernels,
  p.gpu_ns / 1e6 AS gpu_ms,
  100.0 * p.gpu_ns / nullif(w.gpu_ns, 0) AS share_pct,
  p.span_ns / 1e6 AS span_ms,
  p.idle_ns / 1e6 AS gap_ms,
  p.launch_ns / 1e6 AS launch_ms,
  p.saved_ns / 1e6 AS saved_ms,
  iif(p.source IS NULL, 0.0, 100.0) AS attributed_pct,
  p.source,
  p.reason,
  p.graph_id
FROM placed p LEFT JOIN whole w ON w.run = p.run AND w.rank = p.rank
WHERE p.place <= coalesce(:limit, 30) OR :limit < 0
ORDER BY p.run, p.place;
