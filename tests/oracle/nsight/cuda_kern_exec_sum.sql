-- Kernels with the calls that launched them: by process, device, call and kernel.
SELECT (r.globalTid >> 24) & 0x00FFFFFF AS "PID", r.globalTid >> 48 AS "Rank",
       k.deviceId AS "DevId", count(*) AS "Count", sum(r.end - r.start) AS "API (ns)",
       sum(k.start - r.end) AS "Queue (ns)", sum(k.end - k.start) AS "Kernel (ns)",
       api.value AS "API Name", kern.value AS "Kernel Name"
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
  ON k.correlationId = r.correlationId AND k.globalPid = r.globalTid & 0xFFFFFFFFFF000000
JOIN StringIds AS api ON api.id = r.nameId
JOIN StringIds AS kern ON kern.id = k.demangledName
GROUP BY r.globalTid & 0xFFFFFFFFFF000000, k.deviceId, api.value, kern.value
ORDER BY 2, 1, 3, 7 DESC, 8, 9;
