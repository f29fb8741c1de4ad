-- The same events under the names and columns of Nsight Systems' SQLite exports, so that SQL
-- written for those runs here. start and end are ns since the first event of the database. Where
-- all traces are exports of Nsight Systems, they are since the first of their sessions
-- began, as in the files.
-- Columns of the export that a PyTorch trace does not tell are NULL.

CREATE VIEW _nsight_name AS
-- Ids of StringIds by _event_name.id: equal texts have one. A kernel's short name is that of its
-- function alone, without namespaces and arguments; if no event is called so its id is 2^40 and
-- more.
WITH plain AS (
  SELECT id, ifnull(name, '') AS name,
         lower(category) IN ('kernel', 'mtia_ccp_events') AS is_kernel,
         replace(replace(CASE WHEN substr(name, 1, 5) = 'void ' THEN substr(name, 6)
                              ELSE ifnull(name, '') END, '(anonymous namespace)', ''),
                 '<unnamed>', '') AS text
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
-- Of an export its own. upper_bits: those of all numbers of processes and threads.
SELECT r.trace_id,
       coalesce(CAST(json_extract(r.header, '$.nsys.globalPid') AS BIGINT) & -281474976710656,
                CASE WHEN json_type(r.header, '$.nsys') IS NULL THEN r.rank * 281474976710656
                     ELSE 0 END) AS upper_bits,
       coalesce(CAST(json_extract(r.header, '$.nsys.globalPid') AS BIGINT),
                CASE WHEN json_type(r.header, '$.nsys') IS NULL
                     THEN r.rank * 281474976710656
                          + ((ifnull((SELECT CAST(t.pid AS BIGINT)
                                      FROM _runtime_slice s JOIN _track t ON t.id = s.track
                                      WHERE s.id BETWEEN r.first_row AND r.last_row
                                      ORDER BY s.id LIMIT 1), 0) & 16777215) * 16777216) END)
         AS globalPid,
       json_type(r.header, '$.nsys') IS NOT NULL AS is_export
FROM _trace r;

CREATE VIEW _nsight_origin AS
-- When start and end are 0: Unix time in ns.
SELECT CASE WHEN count(*) = sum(json_type(header, '$.nsys') IS NOT NULL)
            THEN min(ifnull(base_time_ns, 0)) ELSE min(start_ns) END AS origin_ns
FROM _trace;

CREATE VIEW StringIds AS
-- As in Nsight Systems' exports: texts by number; equal texts have one.
SELECT name_id AS id, name AS value FROM _nsight_name
UNION SELECT short_id, short FROM _nsight_name
UNION SELECT 2199023255552 + id,  -- calls of exports, with their version
             substr(args, instr(args, '"call":"') + 8,
                    instr(substr(args, instr(args, '"call":"') + 8), '"') - 1)
      FROM _args_text WHERE instr(args, '"call":"') > 0;

CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
-- As in Nsight Systems' exports: kernels.
SELECT s.ts + t.base_ns - (SELECT o.origin_ns FROM _nsight_origin o) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT o.origin_ns FROM _nsight_origin o) AS "end",
       CAST(t.device AS BIGINT) AS deviceId,
       CASE WHEN instr(a.args, '"context":') = 0 THEN NULL
            WHEN substr(a.args, instr(a.args, '"context":') + 10, 1) BETWEEN '0' AND '9'
            THEN CAST(substr(a.args, instr(a.args, '"context":') + 10,
                             instr(substr(replace(a.args, '}', ','),
                                          instr(a.args, '"context":') + 10), ',') - 1) AS BIGINT)
            ELSE CAST(@fill:substr(a.args, instr(a.args, '"context":') + 10, 1)@ AS BIGINT)
       END AS contextId,
       @gpu:greenContextId@ AS greenContextId, CAST(t.stream AS BIGINT) AS streamId,
       coalesce(s.correlation, @gpu:correlationId@) AS correlationId,
       coalesce(@gpu:globalPid@, (SELECT p.globalPid FROM _nsight_process p
                                   WHERE p.trace_id = t.trace_id)) AS globalPid,
       n.name_id AS demangledName, n.short_id AS shortName, NULL AS mangledName,
       @gpu:launchType@ AS launchType, @gpu:cacheConfig@ AS cacheConfig,
       a.registers AS registersPerThread,
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
       -- traces of PyTorch tell the sum only
       coalesce(@gpu:staticSharedMemory@, a.shared_memory_bytes) AS staticSharedMemory,
       CASE WHEN a.shared_memory_bytes IS NULL THEN NULL
            ELSE a.shared_memory_bytes
                 - coalesce(@gpu:staticSharedMemory@, a.shared_memory_bytes)
       END AS dynamicSharedMemory,
       @gpu:localMemoryPerThread@ AS localMemoryPerThread,
       @gpu:localMemoryTotal@ AS localMemoryTotal, @gpu:gridId@ AS gridId,
       @gpu:sharedMemoryExecuted@ AS sharedMemoryExecuted, @gpu:graphNodeId@ AS graphNodeId,
       @gpu:sharedMemoryLimitConfig@ AS sharedMemoryLimitConfig, @gpu:graphId@ AS graphId,
       @gpu:clusterX@ AS clusterX, @gpu:clusterY@ AS clusterY, @gpu:clusterZ@ AS clusterZ,
       @gpu:clusterSchedulingPolicy@ AS clusterSchedulingPolicy,
       @gpu:maxPotentialClusterSize@ AS maxPotentialClusterSize,
       @gpu:maxActiveClusters@ AS maxActiveClusters
FROM _gpu_slice s JOIN _track t ON t.id = s.track
     JOIN _nsight_name n ON n.event_name = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
     LEFT JOIN _args_mark m ON m.id = 1
WHERE s.kind <> 2 AND ifnull(s.dur, 0) >= 0;

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY AS
-- As in Nsight Systems' exports: copies, of HIP too.
SELECT s.ts + t.base_ns - (SELECT o.origin_ns FROM _nsight_origin o) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT o.origin_ns FROM _nsight_origin o) AS "end",
       CAST(t.device AS BIGINT) AS deviceId,
       CASE WHEN instr(a.args, '"context":') = 0 THEN NULL
            WHEN substr(a.args, instr(a.args, '"context":') + 10, 1) BETWEEN '0' AND '9'
            THEN CAST(substr(a.args, instr(a.args, '"context":') + 10,
                             instr(substr(replace(a.args, '}', ','),
                                          instr(a.args, '"context":') + 10), ',') - 1) AS BIGINT)
            ELSE CAST(@fill:substr(a.args, instr(a.args, '"context":') + 10, 1)@ AS BIGINT)
       END AS contextId,
       @gpu:greenContextId@ AS greenContextId, CAST(t.stream AS BIGINT) AS streamId,
       coalesce(s.correlation, @gpu:correlationId@) AS correlationId,
       coalesce(@gpu:globalPid@, (SELECT p.globalPid FROM _nsight_process p
                                   WHERE p.trace_id = t.trace_id)) AS globalPid,
       s.bytes,
       CASE
         WHEN instr(a.args, '"copyKind":') > 0 THEN @gpu:copyKind@
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
       @gpu:deprecatedSrcId@ AS deprecatedSrcId,
       (SELECT k.id FROM ENUM_CUDA_MEM_KIND k WHERE l.name LIKE '%(' || k.label || ' -> %')
         AS srcKind,
       (SELECT k.id FROM ENUM_CUDA_MEM_KIND k WHERE l.name LIKE '% -> ' || k.label || ')%')
         AS dstKind,
       @gpu:srcDeviceId@ AS srcDeviceId, @gpu:srcContextId@ AS srcContextId,
       @gpu:dstDeviceId@ AS dstDeviceId, @gpu:dstContextId@ AS dstContextId,
       @gpu:migrationCause@ AS migrationCause, @gpu:graphNodeId@ AS graphNodeId,
       @gpu:virtualAddress@ AS virtualAddress, @gpu:copyCount@ AS copyCount
FROM _gpu_slice s JOIN _track t ON t.id = s.track
     JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
     LEFT JOIN _args_mark m ON m.id = 1
WHERE s.kind = 2 AND ifnull(s.dur, 0) >= 0 AND lower(l.category) NOT IN ('gpu_memset', 'memset');

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS
-- As in Nsight Systems' exports: fills.
SELECT s.ts + t.base_ns - (SELECT o.origin_ns FROM _nsight_origin o) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT o.origin_ns FROM _nsight_origin o) AS "end",
       CAST(t.device AS BIGINT) AS deviceId,
       CASE WHEN instr(a.args, '"context":') = 0 THEN NULL
            WHEN substr(a.args, instr(a.args, '"context":') + 10, 1) BETWEEN '0' AND '9'
            THEN CAST(substr(a.args, instr(a.args, '"context":') + 10,
                             instr(substr(replace(a.args, '}', ','),
                                          instr(a.args, '"context":') + 10), ',') - 1) AS BIGINT)
            ELSE CAST(@fill:substr(a.args, instr(a.args, '"context":') + 10, 1)@ AS BIGINT)
       END AS contextId,
       @gpu:greenContextId@ AS greenContextId, CAST(t.stream AS BIGINT) AS streamId,
       coalesce(s.correlation, @gpu:correlationId@) AS correlationId,
       coalesce(@gpu:globalPid@, (SELECT p.globalPid FROM _nsight_process p
                                   WHERE p.trace_id = t.trace_id)) AS globalPid,
       @gpu:value@ AS value, s.bytes, @gpu:graphNodeId@ AS graphNodeId,
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
SELECT s.ts + t.base_ns - (SELECT o.origin_ns FROM _nsight_origin o) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT o.origin_ns FROM _nsight_origin o) AS "end",
       CASE WHEN lower(l.category) LIKE '%driver' THEN 1 ELSE 0 END AS eventClass,
       (SELECT p.upper_bits FROM _nsight_process p WHERE p.trace_id = t.trace_id)
         + ((ifnull(CAST(t.pid AS BIGINT), 0) & 16777215) * 16777216)
         + (ifnull(CAST(t.tid AS BIGINT), 0) & 16777215) AS globalTid,
       s.correlation AS correlationId,  -- a column: a join by it gets an index
       CASE WHEN instr(a.args, '"call":"') > 0 THEN 2199023255552 + s.args_text
            ELSE n.name_id END AS nameId,
       @runtime:returnValue@ AS returnValue, @runtime:callchainId@ AS callchainId
FROM (SELECT id, track, event_name, ts, dur, correlation, args_text FROM _runtime_slice
      WHERE correlation IS NOT NULL
      UNION ALL  -- of a process that an export has nothing else of
      SELECT s.id, s.track, s.event_name, s.ts, s.dur, @runtime:correlationId@, s.args_text
      FROM _runtime_slice s LEFT JOIN _args_text a ON a.id = s.args_text
      WHERE s.correlation IS NULL) s
     JOIN _track t ON t.id = s.track
     JOIN _event_name l ON l.id = s.event_name
     JOIN _nsight_name n ON n.event_name = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
WHERE ifnull(s.dur, 0) >= 0;

CREATE VIEW NVTX_EVENTS AS
-- As in Nsight Systems' exports: user annotations, such as those of record_function. Of exports
-- all ranges and marks, those of operators too, with the texts that these had.
SELECT s.ts + t.base_ns - (SELECT o.origin_ns FROM _nsight_origin o) AS start,
       s.ts + t.base_ns + ifnull(s.dur, CASE WHEN p.is_export = 0 THEN 0 END)
         - (SELECT o.origin_ns FROM _nsight_origin o) AS "end",
       coalesce(@cpu:eventType@, 59) AS eventType, @cpu:rangeId@ AS rangeId,
       @cpu:category@ AS category, @cpu:color@ AS color,
       CASE WHEN lower(l.category) = 'user_annotation' THEN n.name
            ELSE n.name || ifnull(', seq = ' || s.seq, '') || ifnull(', op_id = ' || s.rf_id, '')
                 || ifnull(', sizes = ' || replace(@cpu_text:Input Dims@, ',', ', '), '')
                 || ifnull(', input_op_ids = '
                           || replace(@cpu_text:input_op_ids@, ',', ', '), '')
       END AS text,
       p.upper_bits + ((ifnull(CAST(t.pid AS BIGINT), 0) & 16777215) * 16777216)
         + (ifnull(CAST(t.tid AS BIGINT), 0) & 16777215) AS globalTid,
       @cpu:endGlobalTid@ AS endGlobalTid, n.name_id AS textId,
       coalesce(@cpu:domainId@, 0) AS domainId,
       NULL AS uint64Value, NULL AS int64Value, NULL AS doubleValue, NULL AS uint32Value,
       NULL AS int32Value, NULL AS floatValue, NULL AS jsonTextId, NULL AS jsonText,
       NULL AS binaryData
FROM _cpu_slice s JOIN _track t ON t.id = s.track
     JOIN _event_name l ON l.id = s.event_name
     JOIN _nsight_name n ON n.event_name = s.event_name
     JOIN _nsight_process p ON p.trace_id = t.trace_id
     LEFT JOIN _args_text a ON a.id = s.args_text
WHERE s.event_name IN (SELECT id FROM _event_name
                       WHERE lower(category) IN ('user_annotation', 'cpu_op'))
  AND (lower(l.category) = 'user_annotation' OR p.is_export) AND ifnull(s.dur, 0) >= 0
UNION ALL
SELECT s.ts + t.base_ns - (SELECT o.origin_ns FROM _nsight_origin o), NULL,
       CAST(json_extract(@fill:a.args@, '$.eventType') AS BIGINT), NULL, NULL, NULL, n.name,
       p.upper_bits + ((ifnull(CAST(t.pid AS BIGINT), 0) & 16777215) * 16777216)
         + (ifnull(CAST(t.tid AS BIGINT), 0) & 16777215),
       NULL, n.name_id, ifnull(CAST(json_extract(@fill:a.args@, '$.domainId') AS BIGINT), 0),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM _instant s JOIN _track t ON t.id = s.track
     JOIN _nsight_name n ON n.event_name = s.event_name
     JOIN _nsight_process p ON p.trace_id = t.trace_id
     LEFT JOIN _args_text a ON a.id = s.args_text
     LEFT JOIN _args_mark m ON m.id = 1
WHERE s.event_name IN (SELECT id FROM _event_name WHERE category = 'nvtx') AND p.is_export;

CREATE VIEW CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS
-- As in Nsight Systems' exports: waits of the host, and of streams for events.
SELECT s.ts + t.base_ns - (SELECT o.origin_ns FROM _nsight_origin o) AS start,
       s.ts + t.base_ns + ifnull(s.dur, 0) - (SELECT o.origin_ns FROM _nsight_origin o) AS "end",
       coalesce(@cpu:deviceId@, @cpu:device@) AS deviceId, @cpu:context@ AS contextId,
       @cpu:greenContextId@ AS greenContextId, @cpu:stream@ & 4294967295 AS streamId,
       coalesce(s.correlation, @cpu:correlationId@) AS correlationId,
       coalesce(@cpu:globalPid@, p.globalPid) AS globalPid,
       CASE lower(l.name) WHEN 'event sync' THEN 1 WHEN 'stream wait event' THEN 2
                          WHEN 'stream sync' THEN 3 WHEN 'context sync' THEN 4 ELSE 0
       END AS syncType,
       coalesce(@cpu:eventId@, @cpu:wait_on_cuda_event_id@) AS eventId,
       @cpu:eventSyncId@ AS eventSyncId
FROM _cpu_slice s JOIN _track t ON t.id = s.track
     JOIN _event_name l ON l.id = s.event_name
     JOIN _nsight_process p ON p.trace_id = t.trace_id
     LEFT JOIN _args_text a ON a.id = s.args_text
WHERE s.event_name IN (SELECT id FROM _event_name WHERE lower(category) = 'cuda_sync')
  AND ifnull(s.dur, 0) >= 0;

CREATE VIEW TARGET_INFO_SESSION_START_TIME AS
-- As in Nsight Systems' exports: the Unix time at which start and end are 0.
SELECT origin_ns AS utcEpochNs, NULL AS utcTime, NULL AS localTime FROM _nsight_origin;

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
