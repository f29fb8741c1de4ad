-- Every kernel, copy and fill.
SELECT k.start AS "Start (ns)", k.end - k.start AS "Duration (ns)", k.correlationId AS "CorrId",
       k.gridX, k.blockX, k.registersPerThread AS "Reg/Trd",
       k.staticSharedMemory + k.dynamicSharedMemory AS "SMem", NULL AS "Bytes", NULL AS "SrcMemKd",
       NULL AS "DstMemKd", k.deviceId AS "Device", k.contextId AS "Ctx", k.streamId AS "Strm",
       s.value AS "Name"
FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringIds s ON s.id = k.demangledName
UNION ALL
SELECT m.start, m.end - m.start, m.correlationId, NULL, NULL, NULL, NULL, m.bytes, src.label,
       dst.label, m.deviceId, m.contextId, m.streamId, o.label
FROM CUPTI_ACTIVITY_KIND_MEMCPY m LEFT JOIN ENUM_CUDA_MEMCPY_OPER o ON o.id = m.copyKind
LEFT JOIN ENUM_CUDA_MEM_KIND src ON src.id = m.srcKind
LEFT JOIN ENUM_CUDA_MEM_KIND dst ON dst.id = m.dstKind
UNION ALL
SELECT m.start, m.end - m.start, m.correlationId, NULL, NULL, NULL, NULL, m.bytes, kind.label, NULL,
       m.deviceId, m.contextId, m.streamId, 'memset'
FROM CUPTI_ACTIVITY_KIND_MEMSET m LEFT JOIN ENUM_CUDA_MEM_KIND kind ON kind.id = m.memKind
ORDER BY 1, 2, 14, 11, 13, 3, 8, 4, 5;
