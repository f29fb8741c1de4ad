-- Kernels by base name, grid and block.
SELECT sum(k.end - k.start) AS "Total Time (ns)", count(*) AS "Instances",
       printf('%4d %4d %4d', k.gridX, k.gridY, k.gridZ) AS "GridXYZ",
       printf('%4d %4d %4d', k.blockX, k.blockY, k.blockZ) AS "BlockXYZ", str.value AS "Name"
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
INNER JOIN StringIds AS str ON k.shortName = str.id
GROUP BY k.shortName, k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ
ORDER BY 1 DESC, 2, 5, 3, 4;
