-- title: Captures of a GPU job without any GPU activity
--
-- A capture without a kernel, copy or fill is of a GPU job where it says so itself: kernels or
-- graphs were launched, nccl communicated, memory of a device was allocated, or the header names a
-- GPU. The profiler names the host's GPUs in the header also where the job computes on the CPU
-- alone: such a capture is left out where the calls of the runtime that it has launch, copy and
-- fill nothing, or where only memory of the host was allocated, and it is a note where all
-- communication goes by gloo or mpi. A capture that names no GPU and used none is left out.
-- Launches while a stream is captured into a graph run nothing and do not count.
--
-- meaning: Nothing is known of what ran on this rank's GPU: busy times, overlap, waits and gains
--   have no row for it, and collectives of the other ranks lack its part. Figures of the host
--   (`ops_top`, `annotations`, `step_times`) hold.
-- advice: Record again with ProfilerActivity.CUDA among the activities. If it was, look for CUPTI
--   in the job's log: another profiler (nsys, ncu, DCGM) may hold it, a container may lack the
--   permission for it, or CUPTI is older than the driver. For a job that computes on the CPU on
--   purpose there is nothing to do.
--
-- column: severity       text        finding; note for a job that communicates by gloo or mpi.
-- column: run            text        Its run: one training job that was recorded.
-- column: trace_id       int(id)     The trace.
-- column: rank           int(id)     Its rank.
-- column: count          int(count)  1: the capture.
-- column: reason         text        What is missing, and what says that it should be there.
-- column: gpu_name       text        The first GPU in the header.
-- column: launches       int(count)  Calls that launched a kernel or a graph.
-- column: nccl_calls     int(count)  Collectives that the host called by nccl.
-- column: device_events  int(count)  Allocations and releases of memory of a device.
-- column: host_slices    int(count)  Events of the host with a duration.
-- column: path           text        The file.
--
-- empty:  Every capture of a GPU job has GPU activity.

WITH silent AS MATERIALIZED (
  SELECT trace_id, run, rank, path, slices, gpu_name,
         lower(iif(json_valid(header), header ->> '$.distributedInfo.backend', NULL)) AS backend
  FROM traces
  WHERE gpu_activities = 0 AND slices > 0
),
call AS (  -- launches, and the borders of stretches in which they go into a graph
  SELECT t.trace_id, s.ts + t.base_ns AS ts_ns,
         CASE WHEN l.name GLOB '*BeginCapture*' THEN 1 WHEN l.name GLOB '*EndCapture*' THEN -1
              ELSE 0 END AS opens
  FROM names l
  CROSS JOIN runtime_calls s ON s.name_id = l.name_id
  CROSS JOIN tracks t ON t.track_id = s.track_id
  WHERE EXISTS (SELECT 1 FROM silent) AND t.trace_id IN (SELECT trace_id FROM silent)
    AND (l.name GLOB 'cu*Launch*Kernel*' OR l.name GLOB 'hip*Launch*Kernel*'
         OR l.name GLOB 'cu*GraphLaunch*' OR l.name GLOB 'hip*GraphLaunch*'
         OR l.name GLOB 'urEnqueueKernelLaunch*' OR l.name GLOB '*StreamBeginCapture*'
         OR l.name GLOB '*StreamEndCapture*')
),
nested AS (
  SELECT trace_id, opens,
         sum(opens) OVER (PARTITION BY trace_id ORDER BY ts_ns, opens DESC
                          ROWS UNBOUNDED PRECEDING) AS depth
  FROM call
),
-- Below 0: ends of graph captures that began before the trace did.
placed AS (
  SELECT trace_id, opens,
         depth = min(0, min(depth) OVER (PARTITION BY trace_id)) AS is_outside
  FROM nested
),
called AS MATERIALIZED (  -- PyTorch 2.11 writes these calls without ProfilerActivity.CUDA too
  SELECT t.trace_id,
         max(l.name GLOB '*Launch*' OR l.name GLOB '*Memcpy*' OR l.name GLOB '*Memset*') AS works
  FROM runtime_calls s
  CROSS JOIN tracks t ON t.track_id = s.track_id
  CROSS JOIN names l ON l.name_id = s.name_id
  WHERE EXISTS (SELECT 1 FROM silent) AND t.trace_id IN (SELECT trace_id FROM silent)
  GROUP BY t.trace_id
),
launched AS MATERIALIZED (
  SELECT trace_id, count(*) AS launches FROM placed WHERE opens = 0 AND is_outside
  GROUP BY trace_id
),
communicated AS MATERIALIZED (
  SELECT trace_id, sum(calls) AS calls FROM host_uses
  WHERE kind = 'annotation' AND name GLOB 'nccl:*'
    AND trace_id IN (SELECT trace_id FROM silent)
  GROUP BY trace_id
),
allocated AS MATERIALIZED (
  SELECT e.trace_id, count(*) AS events,
         sum(coalesce(d.device_type <> 0, 0)) AS device_events
  FROM memory_events e
  LEFT JOIN memory_devices d ON d.args_id = e.args_id
  WHERE EXISTS (SELECT 1 FROM silent) AND e.trace_id IN (SELECT trace_id FROM silent)
  GROUP BY e.trace_id
),
judged AS (
  SELECT s.*, coalesce(l.launches, 0) AS launches, coalesce(c.calls, 0) AS nccl_calls,
         coalesce(a.device_events, 0) AS device_events,
         coalesce(w.works = 0, 0) OR coalesce(a.events, 0) > 0 AS is_of_host,
         coalesce(s.backend = 'nccl', 0) AS by_nccl,
         coalesce(s.backend IN ('gloo', 'mpi', 'cpu:gloo', 'cpu:mpi'), 0) AS by_host
  FROM silent s
  LEFT JOIN launched l ON l.trace_id = s.trace_id
  LEFT JOIN communicated c ON c.trace_id = s.trace_id
  LEFT JOIN called w ON w.trace_id = s.trace_id
  LEFT JOIN allocated a ON a.trace_id = s.trace_id
),
told AS (
  SELECT *, launches > 0 OR nccl_calls > 0 OR device_events > 0 OR by_nccl AS used_gpu FROM judged
)
SELECT
  iif(used_gpu OR NOT by_host, 'finding', 'note') AS severity,
  run,
  trace_id,
  rank,
  1 AS count,
  'no GPU activity was recorded, but '
    || substr(iif(launches > 0, ' and kernels were launched', '')
              || iif(nccl_calls > 0 OR by_nccl, ' and nccl communicated', '')
              || iif(device_events > 0, ' and memory of a device was allocated', '')
              || iif(gpu_name IS NOT NULL, ' and the header names ' || gpu_name, ''), 6)
    AS reason,
  gpu_name,
  launches,
  nccl_calls,
  device_events,
  slices AS host_slices,
  path
FROM told
WHERE used_gpu OR (gpu_name IS NOT NULL AND NOT is_of_host)
ORDER BY severity, run, rank, trace_id;
