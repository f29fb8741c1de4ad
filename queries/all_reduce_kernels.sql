-- title: All-reduce kernels: NCCL's and those in its place
--
-- One row for each all-reduce kernel of a rank, told by its name: tensor parallel inference sums
-- small tensors with kernels of its own in place of NCCL's. Reduce-scatters and all-gathers that
-- are halves of such an all-reduce are here too. A kernel whose name says more than the sum
-- (fused: the residual and the norm that follow) has the time of all of it. All of these wait
-- within the kernel for the other ranks, so a long one may mean a late rank.
--
-- counted_as is the kind by which `overlap` and all other queries count it: by `kind_rules`, as
-- the database's contract has them. A kernel that communicates and is counted as compute is
-- communication after `INSERT INTO kind_rules VALUES ('oneshotallreduce', 'communication')` with
-- the sqlite3 shell, before its trace is ingested.
--
-- param:  limit    int(rows)   = 50    Rows returned at most for a run, the most time first.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  step     ints(count) = null  Launched in these steps only; in all when null.
--
-- column: run          text        The run: one training job that was recorded.
-- column: rank         int(id)     The rank.
-- column: library      text        Whose kernel: NCCL or RCCL, custom all-reduce (of vLLM and
--                                  SGLang), AITER, quick reduce, FlashInfer, TensorRT-LLM, PyTorch
--                                  symmetric memory, one-shot or two-shot kernel (PyTorch's or
--                                  TensorRT-LLM's: the name does not tell), Userbuffers, MSCCL++,
--                                  oneCCL, HCCL or XCCL, other.
-- column: algorithm    text        one-shot, two-shot, multimem, ring, tree, NVLS, ...; NULL: the
--                                  name does not tell.
-- column: fused        int(count)  1: the name says that other work is in it.
-- column: counted_as   text        communication or compute: by kind_rules.
-- column: parallelism  text        Of its communicator: tensor, data ...; NULL: the trace names
--                                  none, as of all but NCCL's.
-- column: kernels      int(count)  How many ran.
-- column: gpu_ms       real(ms)    Their durations, summed.
-- column: share_pct    real(pct)   Of the durations of all kernels, copies and fills of the rank.
-- column: mean_us      real(us)    Of one.
-- column: min_us       real(us)    The shortest: the least wait for other ranks.
-- column: name         text        The kernel.
--
-- about:  communication
-- lead:   rank, library, algorithm, kernels, gpu_ms, share_pct, mean_us, name
-- plot:   bar gpu_ms by run, rank, library, algorithm
-- empty:  No kernel has the name of an all-reduce.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run, run_id FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
folded AS (
  SELECT name_id, name, lower(name) AS low, replace(replace(lower(name), '_', ''), '-', '') AS bare
  FROM names
),
rule (place, maker, word, also) AS (  -- both words in the name; the first that fits decides
  VALUES
    (1, 'quick reduce', 'quickreduce', 'allreduce'),
    (2, 'AITER', 'aiter', 'crossdevicereduce'), (3, 'AITER', 'aiter', 'allreduce'),
    (4, 'AITER', 'reducescattercrossdevicestore', ''), (5, 'AITER', 'aiter', 'allgather'),
    (6, 'custom all-reduce', 'crossdevicereduce', ''),
    (7, 'FlashInfer', 'flashinfer', 'allreduce'), (8, 'FlashInfer', 'trtllmallreduce', ''),
    (9, 'FlashInfer', 'trtllmmnnvlallreduce', ''),
    (10, 'TensorRT-LLM', 'tensorrtllm', 'allreduce'),
    (11, 'PyTorch symmetric memory', 'multimemallreduce', ''),
    (12, 'PyTorch symmetric memory', 'multimemoneshotallreduce', ''),
    (13, 'NCCL or RCCL', 'nccl', 'allreduce'), (14, 'NCCL or RCCL', 'rccl', 'allreduce'),
    (15, 'MSCCL++', 'msccl', 'allreduce'),
    (16, 'Userbuffers', 'userbuffers', 'suminplace'),
    (17, 'Userbuffers', 'userbuffers', 'allreduce'),
    (18, 'PyTorch symmetric memory', 'one_shot_all_reduce', ''),
    (19, 'PyTorch symmetric memory', 'two_shot_all_reduce', ''),
    (20, 'one-shot or two-shot kernel', 'oneshotallreducekernel', ''),
    (21, 'one-shot or two-shot kernel', 'twoshotallreducekernel', ''),
    (22, 'FlashInfer', 'allreducefusion', ''),
    (23, 'oneCCL, HCCL or XCCL', 'oneccl', 'allreduce'),
    (24, 'oneCCL, HCCL or XCCL', 'hccl', 'allreduce'),
    (25, 'oneCCL, HCCL or XCCL', 'hcom', 'allreduce'),
    (26, 'oneCCL, HCCL or XCCL', 'xccl', 'allreduce'),
    (27, 'other', 'allreduce', '')
),
found AS (
  SELECT f.name_id, f.name, f.low, f.bare, min(r.place) AS place
  FROM folded f JOIN rule r
    ON (instr(f.bare, r.word) OR instr(f.low, r.word)) AND instr(f.bare, r.also)
  WHERE f.name_id IN (SELECT DISTINCT name_id FROM activity_times)
  GROUP BY f.name_id
),
kernel AS MATERIALIZED (
  SELECT f.name_id, f.name, r.maker,
         CASE WHEN instr(f.bare, 'multimem') THEN 'multimem' WHEN instr(f.bare, 'nvls') THEN 'NVLS'
              WHEN instr(f.bare, 'oneshot') OR instr(f.bare, '1stage') THEN 'one-shot'
              WHEN instr(f.bare, 'twoshot') OR instr(f.bare, '2stage')
                OR instr(f.bare, 'reducescattercrossdevicestore') THEN 'two-shot'
              WHEN instr(f.bare, 'hybridcubemesh') THEN 'hybrid cube mesh'
              WHEN instr(f.low, '_ring') AND r.maker = 'NCCL or RCCL' THEN 'ring'
              WHEN instr(f.low, '_tree') AND r.maker = 'NCCL or RCCL' THEN 'tree'
              WHEN instr(f.bare, 'collnet') THEN 'CollNet' END AS algorithm,
         instr(f.bare, 'fusion') > 0 OR instr(f.bare, 'fused') > 0 OR instr(f.bare, 'norm') > 0
           AS fused
  FROM found f JOIN rule r ON r.place = f.place
),
part AS MATERIALIZED (  -- communicators, of the kernels that name one: a barrier's is one, too
  SELECT c.slice_id, g.parallelism
  FROM collectives c JOIN process_groups g ON g.group_id = c.group_id
  WHERE EXISTS (SELECT 1 FROM kernel)
),
whole AS MATERIALIZED (
  SELECT t.run, u.rank, sum(u.gpu_ns) AS gpu_ns
  FROM kernel_uses u JOIN trace t ON t.trace_id = u.trace_id
  WHERE EXISTS (SELECT 1 FROM kernel)
    AND (:step IS NULL OR u.step IN (SELECT value FROM json_each(:step)))
  GROUP BY t.run, u.rank
),
summed AS (
  SELECT t.run_id, t.run, k.rank, n.maker, n.algorithm, n.fused, a.kind, p.parallelism, n.name,
         count(*) AS kernels, sum(a.dur_ns) AS gpu_ns, min(a.dur_ns) AS min_ns,
         row_number() OVER (PARTITION BY t.run
                            ORDER BY sum(a.dur_ns) DESC, k.rank, n.name, p.parallelism) AS place
  FROM activities a JOIN kernel n ON n.name_id = +a.name_id
  JOIN tracks k ON k.track_id = a.track_id JOIN trace t ON t.trace_id = k.trace_id
  LEFT JOIN part p ON p.slice_id = a.slice_id
  WHERE a.kind <> 2 AND a.dur_ns >= 0
    AND (:step IS NULL OR a.step IN (SELECT value FROM json_each(:step)))
  GROUP BY t.run_id, t.run, k.rank, n.maker, n.algorithm, n.fused, a.kind, p.parallelism, n.name
)
SELECT
  s.run,
  s.rank,
  s.maker AS library,
  s.algorithm,
  s.fused,
  CASE s.kind WHEN 0 THEN 'compute' WHEN 1 THEN 'communication' ELSE 'waiting' END AS counted_as,
  s.parallelism,
  s.kernels,
  s.gpu_ns / 1e6 AS gpu_ms,
  100.0 * s.gpu_ns / nullif(w.gpu_ns, 0) AS share_pct,
  s.gpu_ns / 1e3 / s.kernels AS mean_us,
  s.min_ns / 1e3 AS min_us,
  s.name
FROM summed s LEFT JOIN whole w ON w.run = s.run AND w.rank = s.rank
WHERE s.place <= coalesce(:limit, 50) OR :limit < 0
ORDER BY s.run_id, s.place;
