-- The same events under the names and columns of Nsight Systems' SQLite exports, so that SQL
-- written for those runs here. start and end are ns since the first event of the database.
-- Columns of the export that a PyTorch trace does not tell are NULL.

CREATE VIEW _nsight_name AS
-- Ids of StringIds by _event_name.id: equal texts have one. A kernel's short name is that of its
-- function alone, without namespaces and arguments; if no event is called so its id is 2^40 and
-- more.
WITH plain AS (
  SELECT id, ifnull(name, '') AS name,
         lower(category) IN ('kernel', 'mtia_ccp_events') AS is_kernel,
         replace(CASE WHEN substr(name, 1, 5) = 'void ' THEN substr(name, 6)
                      ELSE ifnull(name, '') END, '(anonymous namespace)', '') AS text
  FROM _event_name WHERE ifnull(category, '') <> 'python_function'
),
cut AS (
  SELECT id, name, is_kernel,
         substr(text, 1, CASE WHEN instr(text || '<', '<') < instr(text || '(', '(')
                              THEN instr(text || '<', '<') ELSE instr(text || '(', '(') END - 1)
           AS text
  FROM plain
),
shortened AS (  -- what is behind the last colon
  SELECT id, name,
         CASE WHEN is_kernel
              THEN ifnull(nullif(replace(text, rtrim(text, replace(text, ':', '')), ''), ''), name)
              ELSE name END AS short
  FROM cut
),
named AS (
  SELECT name, min(id) AS name_id FROM shortened GROUP BY name
)
SELECT s.id AS event_name, n.name_id, s.name,
       ifnull(m.name_id, 1099511627776 + min(s.id) OVER (PARTITION BY s.short)) AS short_id, s.short
FROM shortened s JOIN named n ON n.name = s.name LEFT JOIN named m ON m.name = s.short;

CREATE VIEW _nsight_process AS
-- globalPid of a trace: the rank in the upper 16 bits, then 24 of the pid that calls the runtime.
SELECT r.trace_id,
       r.rank * 281474976710656 + ((ifnull((SELECT CAST(t.pid AS BIGINT)
                                  FROM _runtime_slice s JOIN _track t ON t.id = s.track
                                  WHERE s.id BETWEEN r.first_row AND r.last_row
                                  ORDER BY s.id LIMIT 1), 0) & 16777215) * 16777216) AS globalPid
FROM _trace r;

CREATE VIEW StringIds AS
-- As in Nsight Systems' exports: texts by number; equal texts have one.
SELECT name_id AS id, name AS value FROM _nsight_name
UNION SELECT short_id, short FROM _nsight_name;

CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
-- As in Nsight Systems' exports: kernels.
SELECT s.ts + t.base_ns - (SELECT min(start_ns) FROM _trace) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT min(start_ns) FROM _trace) AS "end",
       CAST(t.device AS BIGINT) AS deviceId,
       CASE WHEN instr(a.args, '"context":') = 0 THEN NULL
            WHEN substr(a.args, instr(a.args, '"context":') + 10, 1) BETWEEN '0' AND '9'
            THEN CAST(substr(a.args, instr(a.args, '"context":') + 10,
                             instr(substr(replace(a.args, '}', ','),
                                          instr(a.args, '"context":') + 10), ',') - 1) AS BIGINT)
            ELSE CAST(@fill:substr(a.args, instr(a.args, '"context":') + 10, 1)@ AS BIGINT)
       END AS contextId,
       NULL AS greenContextId, CAST(t.stream AS BIGINT) AS streamId,
       s.correlation AS correlationId,
       (SELECT p.globalPid FROM _nsight_process p WHERE p.trace_id = t.trace_id) AS globalPid,
       n.name_id AS demangledName, n.short_id AS shortName, NULL AS mangledName,
       NULL AS launchType, NULL AS cacheConfig, a.registers AS registersPerThread,
       CAST(substr(a.grid, 2, instr(a.grid, ',') - 2) AS BIGINT) AS gridX,
       CAST(substr(a.grid, instr(a.grid, ',') + 1,
                   instr(substr(a.grid, instr(a.grid, ',') + 1), ',') - 1) AS BIGINT) AS gridY,
       CAST(rtrim(substr(a.grid, length(rtrim(a.grid, '0123456789]')) + 1), ']') AS BIGINT)
         AS gridZ,
       CAST(substr(a.block, 2, instr(a.block, ',') - 2) AS BIGINT) AS blockX,
       CAST(substr(a.block, instr(a.block, ',') + 1,
                   instr(substr(a.block, instr(a.block, ',') + 1), ',') - 1) AS BIGINT) AS blockY,
       CAST(rtrim(substr(a.block, length(rtrim(a.block, '0123456789]')) + 1), ']') AS BIGINT)
         AS blockZ,
       a.shared_memory_bytes AS staticSharedMemory,  -- with dynamic: traces tell the sum only
       CASE WHEN a.shared_memory_bytes IS NULL THEN NULL ELSE 0 END AS dynamicSharedMemory,
       NULL AS localMemoryPerThread, NULL AS localMemoryTotal, NULL AS gridId,
       NULL AS sharedMemoryExecuted, NULL AS graphNodeId, NULL AS sharedMemoryLimitConfig
FROM _gpu_slice s JOIN _track t ON t.id = s.track
     JOIN _nsight_name n ON n.event_name = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
     LEFT JOIN _args_mark m ON m.id = 1
WHERE s.kind <> 2 AND ifnull(s.dur, 0) >= 0;

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY AS
-- As in Nsight Systems' exports: copies, of HIP too.
SELECT s.ts + t.base_ns - (SELECT min(start_ns) FROM _trace) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT min(start_ns) FROM _trace) AS "end",
       CAST(t.device AS BIGINT) AS deviceId,
       CASE WHEN instr(a.args, '"context":') = 0 THEN NULL
            WHEN substr(a.args, instr(a.args, '"context":') + 10, 1) BETWEEN '0' AND '9'
            THEN CAST(substr(a.args, instr(a.args, '"context":') + 10,
                             instr(substr(replace(a.args, '}', ','),
                                          instr(a.args, '"context":') + 10), ',') - 1) AS BIGINT)
            ELSE CAST(@fill:substr(a.args, instr(a.args, '"context":') + 10, 1)@ AS BIGINT)
       END AS contextId,
       NULL AS greenContextId, CAST(t.stream AS BIGINT) AS streamId,
       s.correlation AS correlationId,
       (SELECT p.globalPid FROM _nsight_process p WHERE p.trace_id = t.trace_id) AS globalPid,
       s.bytes,
       CASE
         WHEN l.name LIKE '%HtoD%' OR l.name LIKE '%HostToDevice%' THEN 1
         WHEN l.name LIKE '%DtoH%' OR l.name LIKE '%DeviceToHost%' THEN 2
         WHEN l.name LIKE '%HtoA%' THEN 3
         WHEN l.name LIKE '%AtoH%' THEN 4
         WHEN l.name LIKE '%AtoA%' THEN 5
         WHEN l.name LIKE '%AtoD%' THEN 6
         WHEN l.name LIKE '%DtoA%' THEN 7
         WHEN l.name LIKE '%DtoD%' OR l.name LIKE '%DeviceToDevice%' THEN 8
         WHEN l.name LIKE '%HtoH%' OR l.name LIKE '%HostToHost%' THEN 9
         WHEN l.name LIKE '%PtoP%' OR l.name LIKE '%PeerToPeer%' THEN 10
         ELSE 0
       END AS copyKind,
       NULL AS deprecatedSrcId,
       (SELECT k.id FROM ENUM_CUDA_MEM_KIND k WHERE l.name LIKE '%(' || k.label || ' -> %')
         AS srcKind,
       (SELECT k.id FROM ENUM_CUDA_MEM_KIND k WHERE l.name LIKE '% -> ' || k.label || ')%')
         AS dstKind,
       NULL AS srcDeviceId, NULL AS srcContextId, NULL AS dstDeviceId, NULL AS dstContextId,
       NULL AS migrationCause, NULL AS graphNodeId, NULL AS virtualAddress
FROM _gpu_slice s JOIN _track t ON t.id = s.track
     JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
     LEFT JOIN _args_mark m ON m.id = 1
WHERE s.kind = 2 AND ifnull(s.dur, 0) >= 0 AND lower(l.category) NOT IN ('gpu_memset', 'memset');

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS
-- As in Nsight Systems' exports: fills.
SELECT s.ts + t.base_ns - (SELECT min(start_ns) FROM _trace) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT min(start_ns) FROM _trace) AS "end",
       CAST(t.device AS BIGINT) AS deviceId,
       CASE WHEN instr(a.args, '"context":') = 0 THEN NULL
            WHEN substr(a.args, instr(a.args, '"context":') + 10, 1) BETWEEN '0' AND '9'
            THEN CAST(substr(a.args, instr(a.args, '"context":') + 10,
                             instr(substr(replace(a.args, '}', ','),
                                          instr(a.args, '"context":') + 10), ',') - 1) AS BIGINT)
            ELSE CAST(@fill:substr(a.args, instr(a.args, '"context":') + 10, 1)@ AS BIGINT)
       END AS contextId,
       NULL AS greenContextId, CAST(t.stream AS BIGINT) AS streamId,
       s.correlation AS correlationId,
       (SELECT p.globalPid FROM _nsight_process p WHERE p.trace_id = t.trace_id) AS globalPid,
       NULL AS value, s.bytes, NULL AS graphNodeId,
       (SELECT k.id FROM ENUM_CUDA_MEM_KIND k
         WHERE l.name LIKE '%(' || k.label || ')%') AS memKind
FROM _gpu_slice s JOIN _track t ON t.id = s.track
     JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
     LEFT JOIN _args_mark m ON m.id = 1
WHERE s.kind = 2 AND ifnull(s.dur, 0) >= 0 AND lower(l.category) IN ('gpu_memset', 'memset');

CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS
-- As in Nsight Systems' exports: calls of the runtime and the driver. globalTid is the globalPid
-- and 24 bits of the tid.
SELECT s.ts + t.base_ns - (SELECT min(start_ns) FROM _trace) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT min(start_ns) FROM _trace) AS "end",
       CASE WHEN lower(l.category) LIKE '%driver' THEN 1 ELSE 0 END AS eventClass,
       t.rank * 281474976710656 + ((ifnull(CAST(t.pid AS BIGINT), 0) & 16777215) * 16777216)
         + (ifnull(CAST(t.tid AS BIGINT), 0) & 16777215) AS globalTid,
       s.correlation AS correlationId, n.name_id AS nameId, NULL AS returnValue,
       NULL AS callchainId
FROM _runtime_slice s JOIN _track t ON t.id = s.track
     JOIN _event_name l ON l.id = s.event_name
     JOIN _nsight_name n ON n.event_name = s.event_name
WHERE ifnull(s.dur, 0) >= 0;

CREATE VIEW NVTX_EVENTS AS
-- As in Nsight Systems' exports: user annotations, such as those of record_function.
SELECT s.ts + t.base_ns - (SELECT min(start_ns) FROM _trace) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT min(start_ns) FROM _trace) AS "end",
       59 AS eventType, NULL AS rangeId, NULL AS category, NULL AS color, n.name AS text,
       t.rank * 281474976710656 + ((ifnull(CAST(t.pid AS BIGINT), 0) & 16777215) * 16777216)
         + (ifnull(CAST(t.tid AS BIGINT), 0) & 16777215) AS globalTid,
       NULL AS endGlobalTid, n.name_id AS textId, 0 AS domainId, NULL AS uint64Value,
       NULL AS int64Value, NULL AS doubleValue, NULL AS uint32Value, NULL AS int32Value,
       NULL AS floatValue, NULL AS jsonTextId, NULL AS jsonText, NULL AS binaryData
FROM _cpu_slice s JOIN _track t ON t.id = s.track
     JOIN _nsight_name n ON n.event_name = s.event_name
WHERE s.event_name IN (SELECT id FROM _event_name WHERE lower(category) = 'user_annotation')
  AND ifnull(s.dur, 0) >= 0;

CREATE VIEW TARGET_INFO_GPU AS
-- As in Nsight Systems' exports: GPUs. Of each number the first in the headers, as hosts with other
-- GPUs have the same numbers.
WITH told AS (
  SELECT r.trace_id, j.key AS place,
         max(CASE WHEN m.key = 'id' THEN m.value END) AS id,
         max(CASE WHEN m.key = 'name' THEN m.value END) AS name,
         max(CASE WHEN m.key = 'totalGlobalMem' THEN m.value END) AS totalMemory,
         max(CASE WHEN m.key = 'numSms' THEN m.value END) AS smCount,
         max(CASE WHEN m.key = 'regsPerBlock' THEN m.value END) AS maxRegistersPerBlock,
         max(CASE WHEN m.key = 'sharedMemPerBlock' THEN m.value END) AS maxShmemPerBlock,
         max(CASE WHEN m.key = 'sharedMemPerBlockOptin' THEN m.value END) AS maxShmemPerBlockOptin,
         max(CASE WHEN m.key = 'sharedMemPerMultiprocessor' THEN m.value END) AS maxShmemPerSm,
         max(CASE WHEN m.key = 'regsPerMultiprocessor' THEN m.value END) AS maxRegistersPerSm,
         max(CASE WHEN m.key = 'warpSize' THEN m.value END) AS threadsPerWarp,
         max(CASE WHEN m.key = 'maxThreadsPerMultiprocessor' THEN m.value END) AS maxThreadsPerSm,
         max(CASE WHEN m.key = 'maxThreadsPerBlock' THEN m.value END) AS maxThreadsPerBlock,
         max(CASE WHEN m.key = 'computeMajor' THEN m.value END) AS computeMajor,
         max(CASE WHEN m.key = 'computeMinor' THEN m.value END) AS computeMinor
  FROM _trace r CROSS JOIN json_each(coalesce(r.header, '{}'), '$.deviceProperties') j
       CROSS JOIN json_each(CASE WHEN j.type = 'object' THEN j.value ELSE '{}' END) m
  GROUP BY r.trace_id, j.key
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY id ORDER BY trace_id, place) AS number
  FROM told WHERE id IS NOT NULL
)
SELECT 0 AS vmId, id, name, NULL AS busLocation, NULL AS isDiscrete, NULL AS l2CacheSize,
       totalMemory, NULL AS memoryBandwidth, NULL AS clockRate, smCount, NULL AS pwGpuId,
       NULL AS uuid, NULL AS luid, NULL AS chipName, id AS cuDevice, NULL AS ctxswDevPath,
       NULL AS ctrlDevPath, NULL AS revision, NULL AS nodeMask, NULL AS constantMemory,
       NULL AS maxIPC, maxRegistersPerBlock, maxShmemPerBlock, maxShmemPerBlockOptin,
       maxShmemPerSm, maxRegistersPerSm, threadsPerWarp, NULL AS asyncEngines,
       maxThreadsPerSm / threadsPerWarp AS maxWarpsPerSm, NULL AS maxBlocksPerSm,
       maxThreadsPerBlock, computeMajor, computeMinor
FROM placed WHERE number = 1;

CREATE VIEW ENUM_CUDA_MEMCPY_OPER AS
-- As in Nsight Systems' exports: names of copyKind.
WITH kind (id, short, label) AS (
  VALUES (0, 'UNKNOWN', 'Unknown'), (1, 'HTOD', 'Host-to-Device'), (2, 'DTOH', 'Device-to-Host'),
         (3, 'HTOA', 'Host-to-Array'), (4, 'ATOH', 'Array-to-Host'), (5, 'ATOA', 'Array-to-Array'),
         (6, 'ATOD', 'Array-to-Device'), (7, 'DTOA', 'Device-to-Array'),
         (8, 'DTOD', 'Device-to-Device'), (9, 'HTOH', 'Host-to-Host'), (10, 'PTOP', 'Peer-to-Peer')
)
SELECT id, 'CUDA_MEMCPY_KIND_' || short AS name, label FROM kind;

CREATE VIEW ENUM_CUDA_MEM_KIND AS
-- As in Nsight Systems' exports: names of srcKind, dstKind and memKind.
WITH kind (id, label) AS (
  VALUES (0, 'Pageable'), (1, 'Pinned'), (2, 'Device'), (3, 'Array'), (4, 'Managed'),
         (5, 'Device Static'), (6, 'Managed Static'), (7, 'Unknown')
)
SELECT id, 'CUDA_MEMOPR_MEMORY_KIND_' || upper(replace(label, ' ', '_')) AS name,
     label FROM kind;

CREATE VIEW ENUM_NSYS_EVENT_TYPE AS
-- As in Nsight Systems' exports: names of eventType.
WITH type (id, name) AS (
  VALUES (34, 'NvtxMark'), (59, 'NvtxPushPopRange'), (60, 'NvtxStartEndRange')
)
SELECT id, name, name AS label FROM type;

CREATE VIEW ENUM_NSYS_EVENT_CLASS AS
-- As in Nsight Systems' exports: names of eventClass.
WITH class (id, name, label) AS (
  VALUES (0, 'TRACE_PROCESS_EVENT_CUDA_RUNTIME', 'CUDA runtime'),
         (1, 'TRACE_PROCESS_EVENT_CUDA_DRIVER', 'CUDA driver')
)
SELECT id, name, label FROM class;
