-- Copies and fills by operation: time and bytes.
WITH ops AS (
  SELECT '[CUDA memcpy ' || oper.label || ']' AS name, mem.end - mem.start AS duration, mem.bytes
  FROM CUPTI_ACTIVITY_KIND_MEMCPY AS mem
  INNER JOIN ENUM_CUDA_MEMCPY_OPER AS oper ON mem.copyKind = oper.id
  UNION ALL
  SELECT '[CUDA memset]', end - start, bytes FROM CUPTI_ACTIVITY_KIND_MEMSET
)
SELECT sum(duration) AS "Total Time (ns)", count(*) AS "Count", min(duration) AS "Min (ns)",
       max(duration) AS "Max (ns)", sum(bytes) AS "Total (bytes)", name AS "Operation"
FROM ops GROUP BY name ORDER BY 1 DESC, 6;
