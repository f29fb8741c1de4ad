-- title: Kernels that fill, move and read KV caches
--
-- One row for each operator and kernel by which an inference engine puts keys and values into its
-- cache, copies blocks of it, gathers it, or works out where in it to read: told by the kernel's
-- name, else by the innermost such operator or Python function in which it was launched (kernels
-- of graphs have those of their capture). Attention itself reads the cache as well and is not
-- here; where it also fills it in one kernel, the name says that (fused).
--
-- param:  limit    int(rows)   = 50    Rows returned at most for a run, the most time first.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  step     ints(count) = null  Launched in these steps only; in all when null.
--
-- column: run        text        The run: one job that was recorded.
-- column: rank       int(id)     The rank.
-- column: use        text        fill, copy (of blocks), gather (of cached keys and values), or
--                                indices (of pages or slots).
-- column: told_by    text        kernel, or the operator or function, by name.
-- column: op         text        The innermost operator in which it was launched; NULL: none.
-- column: name       text        The kernel.
-- column: kernels    int(count)  How many ran.
-- column: gpu_ms     real(ms)    Their durations, summed.
-- column: share_pct  real(pct)   Of those of all kernels, copies and fills of the rank.
-- column: mean_us    real(us)    Of one.
--
-- about:  inference
-- lead:   rank, use, op, name, kernels, gpu_ms, share_pct
-- plot:   bar gpu_ms by run, rank, use, name
-- empty:  No kernel, operator or Python function has the name of one for a KV cache.

WITH RECURSIVE trace AS MATERIALIZED (
  SELECT trace_id, run, run_id, rank FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
word (text, use) AS (
  VALUES ('reshape_and_cache', 'fill'), ('concat_and_cache_mla', 'fill'),
         ('unified_kv_cache_update', 'fill'), ('indexer_k_quant_and_cache', 'fill'),
         ('set_kv_buffer', 'fill'), ('set_mla_kv_buffer', 'fill'), ('store_kv_cache', 'fill'),
         ('store_kvcache', 'fill'), ('sglang::store_cache', 'fill'),
         ('append_paged_kv_cache', 'fill'), ('append_paged_mla_kv_cache', 'fill'),
         ('appendpagedkvcache', 'fill'), ('appendpagedkvmlacache', 'fill'),
         ('do_kv_cache_update', 'fill'),
         ('copy_blocks', 'copy'), ('swap_blocks', 'copy'), ('move_kv_cache', 'copy'),
         ('copy_all_layer_kv_cache', 'copy'), ('transfer_kv', 'copy'),
         ('gather_cache', 'gather'), ('gather_and_maybe_dequant_cache', 'gather'),
         ('gather_and_dequant_cache', 'gather'), ('cp_gather_indexer_k_quant_cache', 'gather'),
         ('create_flashinfer_kv_indices', 'indices'), ('create_flashmla_kv_indices', 'indices'),
         ('write_req_to_token_pool', 'indices'), ('compute_slot_mapping', 'indices')
),
cache_name AS MATERIALIZED (  -- of several that fit the longest decides
  SELECT name_id, name, use FROM (
    SELECT n.name_id, n.name, w.use,
           row_number() OVER (PARTITION BY n.name_id ORDER BY length(w.text) DESC, w.text) AS place
    FROM names n JOIN word w ON instr(lower(n.name), w.text))
  WHERE place = 1
),
path AS MATERIALIZED (
  SELECT p.path_id, p.parent_id, p.op, c.name, c.use
  FROM call_paths p LEFT JOIN (SELECT name, min(use) AS use FROM cache_name GROUP BY name) c
    ON c.name = p.name
  WHERE EXISTS (SELECT 1 FROM cache_name)
),
within (path_id, op, name, use) AS (
  SELECT path_id, op, name, use FROM path WHERE parent_id IS NULL
  UNION ALL
  SELECT p.path_id, p.op, coalesce(p.name, w.name), coalesce(p.use, w.use)
  FROM within w CROSS JOIN path p ON p.parent_id = w.path_id
),
place AS MATERIALIZED (SELECT path_id, op, name, use FROM within),
whole AS MATERIALIZED (
  SELECT t.run, u.rank, sum(u.gpu_ns) AS gpu_ns
  FROM kernel_uses u JOIN trace t ON t.trace_id = u.trace_id
  WHERE EXISTS (SELECT 1 FROM cache_name)
    AND (:step IS NULL OR u.step IN (SELECT value FROM json_each(:step)))
  GROUP BY t.run, u.rank
),
used AS (
  SELECT t.run_id, t.run, t.rank, coalesce(c.use, p.use) AS use,
         CASE WHEN c.use IS NOT NULL THEN 'kernel' ELSE p.name END AS told_by, p.op, a.name_id,
         count(*) AS kernels, sum(a.dur_ns) AS gpu_ns
  FROM activities a JOIN tracks k ON k.track_id = a.track_id
  JOIN trace t ON t.trace_id = k.trace_id
  LEFT JOIN cache_name c ON c.name_id = a.name_id LEFT JOIN launches l ON l.slice_id = a.slice_id
  LEFT JOIN place p ON p.path_id = l.path_id
  WHERE EXISTS (SELECT 1 FROM cache_name) AND a.dur_ns >= 0
    AND (c.use IS NOT NULL OR p.use IS NOT NULL)
    AND (:step IS NULL OR a.step IN (SELECT value FROM json_each(:step)))
  GROUP BY t.run_id, t.run, t.rank, 4, 5, p.op, a.name_id
),
placed AS (
  SELECT u.*, n.name, row_number() OVER (
           PARTITION BY u.run ORDER BY u.gpu_ns DESC, u.rank, n.name, u.told_by, u.op) AS turn
  FROM used u JOIN names n ON n.name_id = u.name_id
)
SELECT
  p.run,
  p.rank,
  p.use,
  p.told_by,
  p.op,
  p.name,
  p.kernels,
  p.gpu_ns / 1e6 AS gpu_ms,
  100.0 * p.gpu_ns / nullif(w.gpu_ns, 0) AS share_pct,
  p.gpu_ns / 1e3 / p.kernels AS mean_us
FROM placed p LEFT JOIN whole w ON w.run = p.run AND w.rank = p.rank
WHERE p.turn <= coalesce(:limit, 50) OR :limit < 0
ORDER BY p.run_id, p.turn;
