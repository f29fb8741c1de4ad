-- Kernels by name: share, total, instances, mean, shortest, longest.
WITH kern AS (
  SELECT demangledName AS nameId, sum(end - start) AS total, count(*) AS num,
         avg(end - start) AS mean, min(end - start) AS shortest, max(end - start) AS longest
  FROM CUPTI_ACTIVITY_KIND_KERNEL
  GROUP BY demangledName
)
SELECT round(kern.total * 100.0 / (SELECT sum(total) FROM kern), 1) AS "Time (%)",
       kern.total AS "Total Time (ns)", kern.num AS "Instances", kern.mean AS "Avg (ns)",
       kern.shortest AS "Min (ns)", kern.longest AS "Max (ns)", str.value AS "Name"
FROM kern LEFT JOIN StringIds AS str ON str.id = kern.nameId
ORDER BY 2 DESC, 7;
