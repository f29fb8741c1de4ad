-- title: Operators that run within the backward pass
--
-- One row for each operator below a node of the backward pass (autograd's evaluate_function): what
-- the backward pass is made of, and, where activations are computed again, the forward pass once
-- more. `compare` calls it
-- recomputation where such an operator runs more often than in the other run, and its backward
-- does not.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run   text  The run: one training job that was recorded.
-- column: name  text  The operator.
--
-- empty:  No operator ran in a backward pass.

WITH RECURSIVE below (path_id) AS (
  SELECT path_id FROM call_paths
  WHERE kind = 'operator' AND name GLOB 'autograd::engine::evaluate_function: *'
  UNION
  SELECT c.path_id FROM below b JOIN call_paths c ON c.parent_id = b.path_id
)
SELECT DISTINCT t.run, c.name
FROM below b JOIN call_paths c ON c.path_id = b.path_id JOIN traces t ON t.trace_id = c.trace_id
WHERE c.kind = 'operator' AND c.name NOT GLOB 'autograd::engine::*'
  AND (:run IS NULL OR t.run = :run)
ORDER BY t.run_id, c.name;
