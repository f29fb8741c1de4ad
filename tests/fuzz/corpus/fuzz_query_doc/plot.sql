-- title: Drawn
-- column: a_ns  int(ns)  Time.
-- column: b_ns  int(ns)  Time.
-- column: k  text  Name.
-- plot:  stacked a_ns,
--   b_ns by k
SELECT 1 AS a_ns, 2 AS b_ns, 'x' AS k;
