-- The same events under the names and columns of Nsight Systems' SQLite exports, so that SQL
-- written for those runs here. start and end are ns since the first event of the database.
-- Columns of the export that a PyTorch trace does not tell are NULL.

CREATE VIEW nsight_label AS
-- Ids of StringIds by _event_name.id: equal texts have one. A kernel's short name is that of its
-- function alone, without namespaces and arguments; if no event is called so its id is 2^40 and
-- more.
WITH plain AS (
  SELECT id, ifnull(name, '') AS name,
         lower(category) IN ('kernel', 'mtia_ccp_events') AS is_kernel,
         replace(iif(name GLOB 'void *', substr(name, 6), ifnull(name, '')),
                 '(anonymous namespace)', '') AS text
  FROM _event_name WHERE ifnull(category, '') <> 'python_function'
),
cut AS (
  SELECT id, name, is_kernel,
         substr(text, 1, min(instr(text || '<', '<'), instr(text || '(', '(')) - 1) AS text
  FROM plain
),
shortened AS (  -- what is behind the last colon
  SELECT id, name,
         iif(is_kernel,
             ifnull(nullif(replace(text, rtrim(text, replace(text, ':', '')), ''), ''), name),
             name) AS short
  FROM cut
),
named AS (
  SELECT name, min(id) AS name_id FROM shortened GROUP BY name
)
SELECT s.id AS event_name, n.name_id, s.name,
       ifnull(m.name_id, (1 << 40) + min(s.id) OVER (PARTITION BY s.short)) AS short_id, s.short
FROM shortened s JOIN named n ON n.name = s.name LEFT JOIN named m ON m.name = s.short;

CREATE VIEW nsight_process AS
-- globalPid of a trace: the rank in the upper 16 bits, then 24 of the pid that calls the runtime.
SELECT r.trace_id,
       (r.rank << 48) + ((ifnull((SELECT CAST(t.pid AS INTEGER)
                                  FROM _runtime_slice s CROSS JOIN _track t ON t.id = s.track
                                  WHERE s.id BETWEEN r.first_row AND r.last_row
                                  ORDER BY s.id LIMIT 1), 0) & 0xffffff) << 24) AS globalPid
FROM _trace r;

CREATE VIEW StringIds AS
SELECT name_id AS id, name AS value FROM nsight_label
UNION SELECT short_id, short FROM nsight_label;

CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
SELECT s.ts + t.base_ns - (SELECT min(start_ns) FROM _trace) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT min(start_ns) FROM _trace) AS "end",
       CAST(t.device AS INTEGER) AS deviceId,
       CASE WHEN a.args GLOB '*"context":[0-9]*'
            THEN CAST(substr(a.args, instr(a.args, '"context":') + 10, 20) AS INTEGER)
            WHEN instr(a.args, '"context":') > 0
            THEN CAST(substr(@fill:a.args@, instr(@fill:a.args@, '"context":') + 10, 20)
                      AS INTEGER)
       END AS contextId,
       NULL AS greenContextId, CAST(t.stream AS INTEGER) AS streamId,
       s.correlation AS correlationId,
       (SELECT p.globalPid FROM nsight_process p WHERE p.trace_id = t.trace_id) AS globalPid,
       n.name_id AS demangledName, n.short_id AS shortName, NULL AS mangledName,
       NULL AS launchType, NULL AS cacheConfig, a.registers AS registersPerThread,
       CAST(substr(a.grid, 2) AS INTEGER) AS gridX,
       CAST(substr(a.grid, instr(a.grid, ',') + 1) AS INTEGER) AS gridY,
       CAST(substr(a.grid, length(rtrim(a.grid, '0123456789]')) + 1) AS INTEGER) AS gridZ,
       CAST(substr(a.block, 2) AS INTEGER) AS blockX,
       CAST(substr(a.block, instr(a.block, ',') + 1) AS INTEGER) AS blockY,
       CAST(substr(a.block, length(rtrim(a.block, '0123456789]')) + 1) AS INTEGER) AS blockZ,
       a.shared_memory_bytes AS staticSharedMemory,  -- static and dynamic, of which traces tell
       iif(a.shared_memory_bytes IS NULL, NULL, 0) AS dynamicSharedMemory,  -- the sum only
       NULL AS localMemoryPerThread, NULL AS localMemoryTotal, NULL AS gridId,
       NULL AS sharedMemoryExecuted, NULL AS graphNodeId, NULL AS sharedMemoryLimitConfig
FROM _gpu_slice s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN nsight_label n ON n.event_name = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
WHERE s.kind <> 2 AND ifnull(s.dur, 0) >= 0;

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY AS  -- HIP's names too
SELECT s.ts + t.base_ns - (SELECT min(start_ns) FROM _trace) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT min(start_ns) FROM _trace) AS "end",
       CAST(t.device AS INTEGER) AS deviceId,
       CASE WHEN a.args GLOB '*"context":[0-9]*'
            THEN CAST(substr(a.args, instr(a.args, '"context":') + 10, 20) AS INTEGER)
            WHEN instr(a.args, '"context":') > 0
            THEN CAST(substr(@fill:a.args@, instr(@fill:a.args@, '"context":') + 10, 20)
                      AS INTEGER)
       END AS contextId,
       NULL AS greenContextId, CAST(t.stream AS INTEGER) AS streamId,
       s.correlation AS correlationId,
       (SELECT p.globalPid FROM nsight_process p WHERE p.trace_id = t.trace_id) AS globalPid,
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
FROM _gpu_slice s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
WHERE s.kind = 2 AND ifnull(s.dur, 0) >= 0 AND lower(l.category) NOT IN ('gpu_memset', 'memset');

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS
SELECT s.ts + t.base_ns - (SELECT min(start_ns) FROM _trace) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT min(start_ns) FROM _trace) AS "end",
       CAST(t.device AS INTEGER) AS deviceId,
       CASE WHEN a.args GLOB '*"context":[0-9]*'
            THEN CAST(substr(a.args, instr(a.args, '"context":') + 10, 20) AS INTEGER)
            WHEN instr(a.args, '"context":') > 0
            THEN CAST(substr(@fill:a.args@, instr(@fill:a.args@, '"context":') + 10, 20)
                      AS INTEGER)
       END AS contextId,
       NULL AS greenContextId, CAST(t.stream AS INTEGER) AS streamId,
       s.correlation AS correlationId,
       (SELECT p.globalPid FROM nsight_process p WHERE p.trace_id = t.trace_id) AS globalPid,
       NULL AS value, s.bytes, NULL AS graphNodeId,
       (SELECT k.id FROM ENUM_CUDA_MEM_KIND k
         WHERE l.name LIKE '%(' || k.label || ')%') AS memKind
FROM _gpu_slice s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
WHERE s.kind = 2 AND ifnull(s.dur, 0) >= 0 AND lower(l.category) IN ('gpu_memset', 'memset');

CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS  -- globalTid: as globalPid, then 24 bits of the tid
SELECT s.ts + t.base_ns - (SELECT min(start_ns) FROM _trace) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT min(start_ns) FROM _trace) AS "end",
       iif(l.category LIKE '%driver', 1, 0) AS eventClass,
       (t.rank << 48) + ((ifnull(CAST(t.pid AS INTEGER), 0) & 0xffffff) << 24)
         + (ifnull(CAST(t.tid AS INTEGER), 0) & 0xffffff) AS globalTid,
       s.correlation AS correlationId, n.name_id AS nameId, NULL AS returnValue,
       NULL AS callchainId
FROM _runtime_slice s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN _event_name l ON l.id = s.event_name
     CROSS JOIN nsight_label n ON n.event_name = s.event_name
WHERE ifnull(s.dur, 0) >= 0;

CREATE VIEW NVTX_EVENTS AS  -- user annotations: record_function and the like
SELECT s.ts + t.base_ns - (SELECT min(start_ns) FROM _trace) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT min(start_ns) FROM _trace) AS "end",
       59 AS eventType, NULL AS rangeId, NULL AS category, NULL AS color, n.name AS text,
       (t.rank << 48) + ((ifnull(CAST(t.pid AS INTEGER), 0) & 0xffffff) << 24)
         + (ifnull(CAST(t.tid AS INTEGER), 0) & 0xffffff) AS globalTid,
       NULL AS endGlobalTid, n.name_id AS textId, 0 AS domainId, NULL AS uint64Value,
       NULL AS int64Value, NULL AS doubleValue, NULL AS uint32Value, NULL AS int32Value,
       NULL AS floatValue, NULL AS jsonTextId, NULL AS jsonText, NULL AS binaryData
FROM _cpu_slice s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN nsight_label n ON n.event_name = s.event_name
WHERE s.event_name IN (SELECT id FROM _event_name WHERE lower(category) = 'user_annotation')
  AND ifnull(s.dur, 0) >= 0;

CREATE VIEW TARGET_INFO_GPU AS  -- of each number the first in the headers: hosts with other GPUs
WITH told AS (                  -- have the same numbers
  SELECT r.trace_id, j.key AS place,
         max(iif(m.key = 'id', m.value, NULL)) AS id,
         max(iif(m.key = 'name', m.value, NULL)) AS name,
         max(iif(m.key = 'totalGlobalMem', m.value, NULL)) AS totalMemory,
         max(iif(m.key = 'numSms', m.value, NULL)) AS smCount,
         max(iif(m.key = 'regsPerBlock', m.value, NULL)) AS maxRegistersPerBlock,
         max(iif(m.key = 'sharedMemPerBlock', m.value, NULL)) AS maxShmemPerBlock,
         max(iif(m.key = 'sharedMemPerBlockOptin', m.value, NULL)) AS maxShmemPerBlockOptin,
         max(iif(m.key = 'sharedMemPerMultiprocessor', m.value, NULL)) AS maxShmemPerSm,
         max(iif(m.key = 'regsPerMultiprocessor', m.value, NULL)) AS maxRegistersPerSm,
         max(iif(m.key = 'warpSize', m.value, NULL)) AS threadsPerWarp,
         max(iif(m.key = 'maxThreadsPerMultiprocessor', m.value, NULL)) AS maxThreadsPerSm,
         max(iif(m.key = 'maxThreadsPerBlock', m.value, NULL)) AS maxThreadsPerBlock,
         max(iif(m.key = 'computeMajor', m.value, NULL)) AS computeMajor,
         max(iif(m.key = 'computeMinor', m.value, NULL)) AS computeMinor
  FROM _trace r CROSS JOIN json_each(coalesce(r.header, '{}'), '$.deviceProperties') j
       CROSS JOIN json_each(iif(j.type = 'object', j.value, '{}')) m
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
WITH kind (id, short, label) AS (
  VALUES (0, 'UNKNOWN', 'Unknown'), (1, 'HTOD', 'Host-to-Device'), (2, 'DTOH', 'Device-to-Host'),
         (3, 'HTOA', 'Host-to-Array'), (4, 'ATOH', 'Array-to-Host'), (5, 'ATOA', 'Array-to-Array'),
         (6, 'ATOD', 'Array-to-Device'), (7, 'DTOA', 'Device-to-Array'),
         (8, 'DTOD', 'Device-to-Device'), (9, 'HTOH', 'Host-to-Host'), (10, 'PTOP', 'Peer-to-Peer')
)
SELECT id, 'CUDA_MEMCPY_KIND_' || short AS name, label FROM kind;

CREATE VIEW ENUM_CUDA_MEM_KIND AS
WITH kind (id, label) AS (
  VALUES (0, 'Pageable'), (1, 'Pinned'), (2, 'Device'), (3, 'Array'), (4, 'Managed'),
         (5, 'Device Static'), (6, 'Managed Static'), (7, 'Unknown')
)
SELECT id, 'CUDA_MEMOPR_MEMORY_KIND_' || upper(replace(label, ' ', '_')) AS name,
     label FROM kind;

CREATE VIEW ENUM_NSYS_EVENT_TYPE AS
WITH type (id, name) AS (
  VALUES (34, 'NvtxMark'), (59, 'NvtxPushPopRange'), (60, 'NvtxStartEndRange')
)
SELECT id, name, name AS label FROM type;

CREATE VIEW ENUM_NSYS_EVENT_CLASS AS
WITH class (id, name, label) AS (
  VALUES (0, 'TRACE_PROCESS_EVENT_CUDA_RUNTIME', 'CUDA runtime'),
         (1, 'TRACE_PROCESS_EVENT_CUDA_DRIVER', 'CUDA driver')
)
SELECT id, name, label FROM class;
