-- Calls of the runtime and the driver by name.
SELECT round(100.0 * sum(r.end - r.start)
               / (SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME), 1) AS "Time (%)",
       sum(r.end - r.start) AS "Total Time (ns)", count(*) AS "Num Calls",
       avg(r.end - r.start) AS "Avg (ns)", min(r.end - r.start) AS "Min (ns)",
       max(r.end - r.start) AS "Max (ns)", str.value AS "Name"
FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds str ON str.id = r.nameId
GROUP BY r.nameId
ORDER BY 2 DESC, 7;
