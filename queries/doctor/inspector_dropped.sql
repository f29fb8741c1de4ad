-- title: Collectives that NCCL Inspector had no room for
--
-- The plugin keeps records in a ring and writes it now and then. What does not fit is dropped, and
-- counted in the next dump; older versions do not say.
--
-- meaning: Collectives are missing from nccl_bandwidth and nccl_stalls; parts of other ranks may
--   have no partner.
-- advice: Let it write more often: NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS.
--
-- column: severity         text        Always finding.
-- column: run              text        The run.
-- column: communicator_id  text        The communicator.
-- column: rank             int(id)     The rank in it.
-- column: count            int(count)  Records dropped.
-- column: dumps            int(count)  Times that the plugin wrote.
-- column: host             text        The machine.
-- column: source_id        int(id)     The file, as a number in sources.
--
-- empty:  NCCL Inspector has dropped no record that it tells of.

SELECT
  'finding' AS severity,
  run,
  communicator_id,
  rank,
  sum(ifnull(collectives_dropped, 0) + ifnull(p2ps_dropped, 0)) AS count,
  count(*) AS dumps,
  host,
  source_id
FROM inspector_dumps
GROUP BY run, communicator_id, rank, host, source_id
HAVING sum(ifnull(collectives_dropped, 0) + ifnull(p2ps_dropped, 0)) > 0
ORDER BY run, communicator_id, rank, source_id;
