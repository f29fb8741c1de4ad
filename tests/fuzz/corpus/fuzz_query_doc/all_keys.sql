-- title: All of it
--
-- Text.
--
-- param:  n  int(ns)  = 5  A number.
--   More of it.
-- column: a_ns  int(ns)  Time.
-- column: b  text  Words.
-- empty:  Nothing.

SELECT :n AS a_ns, 'x' AS b ORDER BY 1;
