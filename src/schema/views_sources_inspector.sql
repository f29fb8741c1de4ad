-- What NCCL Inspector, the profiler plugin that is always on, has written of collectives.

CREATE VIEW inspector_collectives AS
-- One rank's part in a collective, or its send or recv. Only verbose records have times:
-- dump_ns less exec_us is no start, as records are written late.
--   run: a name in runs
--   communicator_id: as in the file: 0x9e7a479f95a66c
--   comm_name: what the job calls it, where the file tells it
--   rank: in this communicator
--   n_ranks: how many it has
--   nnodes: over how many hosts
--   collective: AllReduce, ReduceScatter, Send, Recv, ...
--   sn: its number among those of its name in the communicator
--   bytes: of the message, as the plugin counts it: of AllGather and ReduceScatter one rank's part
--   rank_bytes: the larger of input and output of a rank: n_ranks such parts, where the plugin's
--     own algbw_gbps says so, or without one the name does
--   exec_us: how long it took, its wait for other ranks included
--   timing_source: where exec_us comes from: kernel_gpu, kernel_cpu, collective_cpu
--   algbw_gbps: as the plugin worked it out; GB/s, of 1e9 bytes
--   busbw_gbps: the same by the factor of nccl-tests
--   start_ns: first start of its kernels, Unix time by the host's clock; NULL: not verbose
--   end_ns: last end of them
--   call_ns: when the host asked for it; NULL: not verbose
--   dump_ns: when the record was written
--   host: the machine's name
--   pid: process
--   world_rank: rank of that process in its largest communicator
--   is_p2p: 1 for a send or recv
--   peer: its other rank in this communicator
--   algorithm: RING, TREE, ...
--   protocol: LL, LL128, SIMPLE
--   channels: that NCCL used
--   others: JSON of its other keys
--   source_id: in sources
--   run_id: in runs
SELECT r.run, c.id AS communicator_id, c.name AS comm_name, c.rank, c.ranks AS n_ranks,
       c.nodes AS nnodes, o.name AS collective, i.sn, i.bytes,
       i.bytes * CASE
         WHEN abs(i.algbw_gbps * i.exec_us * 1e3 - i.bytes * c.ranks) <= 0.01 * i.bytes * c.ranks
           THEN c.ranks
         WHEN abs(i.algbw_gbps * i.exec_us * 1e3 - i.bytes) <= 0.01 * i.bytes THEN 1
         WHEN lower(replace(o.name, '_', ''))
           IN ('allgather', 'reducescatter', 'alltoall', 'gather', 'scatter') THEN c.ranks
         ELSE 1 END AS rank_bytes, i.exec_us, o.timing_source,
       i.algbw_gbps, i.busbw_gbps, ifnull(i.kernel_start_ns, i.call_ns) AS start_ns,
       ifnull(i.kernel_end_ns, i.call_end_ns) AS end_ns, i.call_ns, i.dump_ns, c.host, c.pid,
       s.rank AS world_rank, o.is_p2p, o.peer, o.algorithm, o.protocol, o.channels,
       '{' || i.others || '}' AS others, i.source_id, s.run_id
FROM _inspector_collective i
     JOIN _inspector_communicator c
       ON c.source_id = i.source_id AND c.communicator = i.communicator
     JOIN _inspector_operation o ON o.source_id = i.source_id AND o.operation = i.operation
     JOIN _source s ON s.source_id = i.source_id LEFT JOIN _run r ON r.run_id = s.run_id;

CREATE VIEW inspector_communicators AS
-- A communicator in records of NCCL Inspector.
--   run: a name in runs
--   run_id: in runs
--   communicator_id: as in inspector_collectives
--   comm_name: what the job calls it, where the file tells it
--   n_ranks: how many ranks it has
--   ranks_met: whose records are there
--   hosts: on how many machines these are
--   ranks: of the job, as a JSON array, sorted; NULL where not all are known
SELECT run, run_id, communicator_id, max(comm_name) AS comm_name, max(n_ranks) AS n_ranks,
       count(DISTINCT rank) AS ranks_met, count(DISTINCT host) AS hosts,
       CASE WHEN count(DISTINCT world_rank) = max(n_ranks)
            THEN '[' || group_concat(world_rank, ',') || ']' END AS ranks
FROM (SELECT DISTINCT r.run, s.run_id, c.id AS communicator_id, c.name AS comm_name,
             c.ranks AS n_ranks, c.rank, c.host, s.rank AS world_rank
      FROM _inspector_communicator c JOIN _source s ON s.source_id = c.source_id
           LEFT JOIN _run r ON r.run_id = s.run_id
      ORDER BY world_rank)
GROUP BY run, run_id, communicator_id;

CREATE VIEW inspector_matched AS
-- A collective of all ranks whose records are there: parts with the same communicator, name and
-- sn. A send or recv is alone, as the two ends count apart.
--   run: a name in runs
--   run_id: in runs
--   communicator_id: as in inspector_collectives
--   comm_name: of the same
--   collective: its name
--   sn: its number
--   bytes: of the message; the largest of its ranks
--   rank_bytes: the larger of input and output of a rank; the largest of its ranks
--   n_ranks: of the communicator
--   ranks_met: whose records are there
--   timed_ranks: of those, with times
--   hosts: on how many machines these ranks are
--   transfer_us: the shortest exec_us over its ranks
--   longest_us: the longest
--   first_start_ns: of the ranks with times
--   last_start_ns: of the same
--   max_wait_ns: from the first start to the last
--   total_wait_ns: of all its ranks with times, from their own starts to the last
--   is_p2p: 1 for a send or recv
SELECT run, run_id, communicator_id, max(comm_name) AS comm_name, collective, sn,
       max(bytes) AS bytes, max(rank_bytes) AS rank_bytes, max(n_ranks) AS n_ranks,
       count(DISTINCT rank) AS ranks_met, count(start_ns) AS timed_ranks,
       count(DISTINCT host) AS hosts,
       min(exec_us) AS transfer_us, max(exec_us) AS longest_us, min(start_ns) AS first_start_ns,
       max(start_ns) AS last_start_ns,
       max(start_ns) - min(start_ns) AS max_wait_ns,
       (count(start_ns) * max(start_ns / 1000) - sum(start_ns / 1000)) * 1000 AS total_wait_ns,
       max(is_p2p) AS is_p2p
FROM inspector_collectives
GROUP BY run, run_id, communicator_id, collective, sn, CASE WHEN is_p2p = 1 THEN source_id END,
         CASE WHEN is_p2p = 1 THEN peer END;

CREATE VIEW inspector_dumps AS
-- What the plugin says of each time that it wrote records.
--   run: a name in runs
--   communicator_id: as in inspector_collectives
--   rank: in this communicator
--   dump_ns: when, Unix time
--   collectives: records of collectives that it wrote
--   collectives_dropped: that it had no room for since the dump before
--   p2ps: records of sends and recvs
--   p2ps_dropped: that it had no room for
--   host: the machine's name
--   pid: process
--   source_id: in sources
SELECT r.run, c.id AS communicator_id, c.rank, d.dump_ns, d.collectives, d.collectives_dropped,
       d.p2ps, d.p2ps_dropped, c.host, c.pid, d.source_id
FROM _inspector_dump d
     JOIN _inspector_communicator c
       ON c.source_id = d.source_id AND c.communicator = d.communicator
     JOIN _source s ON s.source_id = d.source_id LEFT JOIN _run r ON r.run_id = s.run_id;
