-- plot: line a over b by c, d
SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d;
