-- title: How well each two clocks agree, once corrected
--
-- One row for each two clocks that were compared in a capture: those of two hosts (of two ranks
-- where the traces name no host), and the ranks of one host with one another. The residual is how
-- far the ends of collectives are apart that both left together; it holds what the clocks differ by
-- still, and what the ranks really leave apart. A wait that is shorter is no wait for sure:
-- `nccl_stalls` marks it as uncertain. `clocks` has the corrections.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run              text        The run: one training job that was recorded.
-- column: capture          int(count)  The capture: its number in the run.
-- column: clock_a          text        One clock: a host, or a rank.
-- column: clock_b          text        The other; the same where ranks of one host are compared.
-- column: collectives      int(count)  Ends compared: once for each collective and two ranks.
-- column: residual_p50_ms  real(ms)    Half of them are nearer together than this,
-- column: residual_p95_ms  real(ms)    and 95 % than this.
--
-- about:  clocks
-- plot:   bar residual_p95_ms by run, capture, clock_a, clock_b
-- empty:  No two ranks of a capture share enough collectives: 8 that all leave together.

SELECT
  c.run,
  c.capture,
  r.clock_a,
  r.clock_b,
  r.collectives,
  r.residual_p50_ns / 1e6 AS residual_p50_ms,
  r.residual_p95_ns / 1e6 AS residual_p95_ms
FROM clock_residuals r JOIN captures c ON c.capture_id = r.capture_id
WHERE (:run IS NULL OR c.run = :run) AND (:capture IS NULL OR c.capture = :capture)
ORDER BY c.run_id, c.capture, r.pair_id;
