-- title: Communication kernels under Nsight Compute
--
-- ncu replays each kernel several times and alone, to collect all metrics. A kernel that
-- communicates waits for other ranks in it: its duration is that of a replay in which they took
-- part or not, and says nothing of the job. Many hang, until NCCL gives up.
--
-- meaning: Durations, GPU time and bandwidths of these kernels are not comparable with those of a
--   trace, and sums over all kernels hold them.
-- advice: Take their times from the trace. To profile them at all use --replay-mode application or
--   range; to leave them out --kernel-name with a regex that does not match nccl.
--
-- column: severity   text        Always finding.
-- column: run        text        The run.
-- column: rank       int(id)     The rank, where the file's name tells it.
-- column: count      int(count)  Kernels of this function.
-- column: base_name  text        The function.
-- column: gpu_ms     real(ms)    Their durations under ncu.
--
-- empty:  Nsight Compute has profiled no communication.

SELECT
  'finding' AS severity,
  run,
  rank,
  count(*) AS count,
  base_name,
  sum(dur_ns) / 1e6 AS gpu_ms
FROM ncu_kernels
WHERE kind = 'communication'
GROUP BY run, rank, base_name
ORDER BY run, rank, base_name;
