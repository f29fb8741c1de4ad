-- title: Achieved TFLOP/s of matrix work, by operator and shape
--
-- One row for each operator that multiplies matrices, convolves or attends, and each shape and
-- type of its inputs: what it computes, by its args, over the time of what it launched. Counted
-- are multiplications and additions: 2 m n k of a matrix product; of attention the products that
-- it needs (two forward, five backward, with the pairs above the diagonal left out where it is
-- causal); of a convolution's backward pass one for each gradient that it makes. Wants a trace
-- recorded with record_shapes=True; matrix work outside these operators (of custom kernels) is
-- not there, see `tensor_core_use`.
--
-- param:  limit        int(rows)   = 40    Rows returned at most for a run, the most GPU time
--                                          first.
-- param:  peak_tflops  real(tflops) = null  What the GPU can do in this type (H100 and H200 in
--                                          BF16: 989), for peak_pct.
-- param:  run          text        = null  This run only; all of them when null.
-- param:  capture      int(count)  = null  This capture of a run only, by its number; all when
--                                          null.
-- param:  rank         ints(id)    = null  These ranks only; all of them together when null.
-- param:  step         ints(count) = null  Calls that start in these steps; all when null.
--
-- column: run              text        The run: one training job that was recorded.
-- column: kind             text        matmul, attention or convolution.
-- column: op               text        The operator.
-- column: shapes           text        Its inputs' sizes, those that count.
-- column: dtype            text        Type of the first of them.
-- column: calls            int(count)  Calls that launched something; of a CUDA or HIP graph those
--                                      that were captured, times its replays.
-- column: gpu_ms           real(ms)    What they launched ran as long, summed.
-- column: share_pct        real(pct)   gpu_ms of all GPU time of the run, this rank and step.
-- column: gflop_per_call   real(gflop)      What one call computes, in 1e9 operations.
-- column: tflops           real(tflops)      Achieved: 1e12 operations in a second of gpu_ms.
-- column: peak_pct         real(pct)   tflops of peak_tflops.
--
-- about:  kernels and operators
-- empty:  No such operator with its shapes is in the database: record with record_shapes=True.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown
-- lead:   op, shapes, gpu_ms, tflops, peak_pct, calls
-- plot:   bar tflops by run, op, shapes

WITH trace AS MATERIALIZED (
  SELECT trace_id, run FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
used AS (  -- of the operators that do such work: those that launch it themselves
  SELECT r.run, h.name AS op, h.args ->> 'Input Dims' AS dims, h.args ->> 'Input type' AS types,
         h.args ->> 'Concrete Inputs' AS given, h.calls + h.graph_calls AS calls, h.gpu_ns
  FROM host_uses h JOIN trace r ON r.trace_id = h.trace_id
  WHERE h.kind = 'operator' AND h.gpu_ns > 0
    AND (:step IS NULL OR h.step IN (SELECT value FROM json_each(:step)))
    AND h.name IN ('aten::mm', 'aten::addmm', 'aten::_addmm_activation', 'aten::_scaled_mm',
                   'aten::_int_mm', 'aten::bmm', 'aten::baddbmm', 'aten::convolution',
                   'aten::convolution_backward', 'aten::_scaled_dot_product_flash_attention',
                   'aten::_scaled_dot_product_efficient_attention',
                   'aten::_scaled_dot_product_cudnn_attention',
                   'aten::_scaled_dot_product_flash_attention_backward',
                   'aten::_scaled_dot_product_efficient_attention_backward',
                   'aten::_scaled_dot_product_cudnn_attention_backward')
    AND json_valid(h.args)
),
summed AS MATERIALIZED (
  SELECT run, op, dims, types, given, sum(calls) AS calls, sum(gpu_ns) AS gpu_ns
  FROM used WHERE json_valid(dims) GROUP BY run, op, dims, types, given
),
placed AS (  -- where the operands stand in the args; causal: where the flag does
  SELECT *,
         CASE WHEN instr(op, 'attention') THEN 'attention' WHEN instr(op, 'conv')
              THEN 'convolution' ELSE 'matmul' END AS kind,
         instr(op, 'backward') > 0 AS is_backward,
         op IN ('aten::addmm', 'aten::_addmm_activation', 'aten::baddbmm')
           OR instr(op, '_backward') > 0 AS first,
         CASE op WHEN 'aten::_scaled_dot_product_flash_attention' THEN 4
                 WHEN 'aten::_scaled_dot_product_efficient_attention' THEN 6
                 WHEN 'aten::_scaled_dot_product_cudnn_attention' THEN 6
                 WHEN 'aten::_scaled_dot_product_flash_attention_backward' THEN 11
                 WHEN 'aten::_scaled_dot_product_efficient_attention_backward' THEN 11
                 WHEN 'aten::_scaled_dot_product_cudnn_attention_backward' THEN 14
         END AS causal_at
  FROM summed
),
operands AS (
  SELECT *, dims -> ('$[' || first || ']') AS a, dims -> ('$[' || (first + 1) || ']') AS b,
         dims -> ('$[' || (first + 2) || ']') AS c,
         iif(json_valid(given), lower(given ->> ('$[' || causal_at || ']')) = 'true', 0)
           AS is_causal,
         iif(json_valid(given), given, '[]') AS said
  FROM placed
),
-- A convolution's stride, padding and dilation are texts such as "[2, 2]"; one number is for all.
convolved AS (
  SELECT o.*,
         (SELECT round(exp(sum(ln(CASE
              WHEN o.is_backward THEN o.dims ->> ('$[0][' || (d.key + 2) || ']')
              ELSE (a ->> ('$[' || (d.key + 2) || ']')
                    + 2 * ifnull(s.padding ->> ('$[' || d.key || ']'), s.padding ->> '$[0]')
                    - ifnull(s.dilation ->> ('$[' || d.key || ']'), s.dilation ->> '$[0]')
                      * ((b ->> ('$[' || (d.key + 2) || ']')) - 1) - 1)
                   / ifnull(s.stride ->> ('$[' || d.key || ']'), s.stride ->> '$[0]') + 1
              END))))
          FROM json_each('[0,1,2]') d
          CROSS JOIN (SELECT said ->> (3 + first) AS stride, said ->> (4 + first) AS padding,
                             said ->> (5 + first) AS dilation) s
          WHERE d.key + 2 < json_array_length(a)) AS out_pixels,
         (SELECT round(exp(sum(ln(value)))) FROM json_each(a) WHERE key >= 2) AS in_pixels,
         (SELECT round(exp(sum(ln(value)))) FROM json_each(b) WHERE key >= 1) AS taps,
         lower(said ->> (6 + first)) = 'true' AS is_transposed,
         iif(o.is_backward,
             (SELECT count(*) FROM json_each(replace(replace(lower(said ->> 10), 'true', '1'),
                                                     'false', '0'))
              WHERE key < 2 AND value), 1) AS products
  FROM operands o WHERE kind = 'convolution'
),
counted AS (
  SELECT run, kind, op, types ->> first AS dtype, calls, gpu_ns,
         CASE json_array_length(a)
           WHEN 2 THEN 2.0 * (a ->> 0) * (a ->> 1) * (b ->> 1)
           WHEN 3 THEN 2.0 * (a ->> 0) * (a ->> 1) * (a ->> 2) * (b ->> 2)
         END AS flop,
         a || ' x ' || b AS shapes
  FROM operands WHERE kind = 'matmul'
  UNION ALL
  SELECT run, kind, op, types ->> first, calls, gpu_ns,
         2.0 * (a ->> 0) * (a ->> 1)
           * iif(is_causal, min(a ->> 2, b ->> 2) * (min(a ->> 2, b ->> 2) + 1) / 2.0
                              + max((a ->> 2) - (b ->> 2), 0) * (b ->> 2),
                 1.0 * (a ->> 2) * (b ->> 2))
           * iif(is_backward, 3 * (a ->> 3) + 2 * (c ->> 3), (a ->> 3) + (c ->> 3)),
         'q ' || a || ' k ' || b || iif(is_causal, ' causal', '')
  FROM operands WHERE kind = 'attention' AND json_array_length(a) = 4
  UNION ALL
  SELECT run, kind, op, types ->> first, calls, gpu_ns,
         2.0 * (a ->> 0) * (b ->> 0) * taps * iif(is_transposed, in_pixels, out_pixels) * products,
         a || ' * ' || b || iif(is_transposed, ' transposed', '')
  FROM convolved
),
whole AS MATERIALIZED (
  SELECT t.run, sum(k.gpu_ns) AS gpu_ns
  FROM kernel_uses k JOIN trace t ON t.trace_id = k.trace_id
  WHERE :step IS NULL OR k.step IN (SELECT value FROM json_each(:step))
  GROUP BY t.run
),
shown AS (
  SELECT run, kind, op, shapes, dtype, flop, sum(calls) AS calls, sum(gpu_ns) AS gpu_ns
  FROM counted WHERE flop > 0 GROUP BY run, kind, op, shapes, dtype, flop
),
ordered AS (
  SELECT *, row_number() OVER (PARTITION BY run
                               ORDER BY gpu_ns DESC, op, shapes, dtype, flop) AS place
  FROM shown
)
SELECT
  s.run,
  kind,
  op,
  shapes,
  dtype,
  calls,
  s.gpu_ns / 1e6 AS gpu_ms,
  100.0 * s.gpu_ns / nullif(w.gpu_ns, 0) AS share_pct,
  flop / 1e9 AS gflop_per_call,
  flop * calls / s.gpu_ns / 1e3 AS tflops,
  100.0 * flop * calls / s.gpu_ns / 1e3 / :peak_tflops AS peak_pct
FROM ordered s LEFT JOIN whole w ON w.run = s.run
WHERE place <= coalesce(:limit, 40) OR :limit < 0
ORDER BY s.run, place;
