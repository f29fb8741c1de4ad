#include "derive/collectives/message_batches.h"

namespace tracedb {
namespace {

std::string GatherSql(const std::string& own) {
  return "CREATE TEMP TABLE call_name (id INTEGER PRIMARY KEY, is_op INTEGER, is_batch INTEGER);"
         "INSERT INTO call_name SELECT id, category = 'cpu_op', name = 'nccl:coalesced' "
         "FROM _event_name WHERE name = 'record_param_comms' AND category = 'cpu_op' "
         "  OR name GLOB 'nccl:*' AND category = 'user_annotation';"
         "CREATE TEMP TABLE message_kernel (event_name INTEGER PRIMARY KEY);"
         "INSERT INTO message_kernel "
         "SELECT id FROM _event_name WHERE kind = 1 AND name GLOB '*SendRecv*';"
         "CREATE TEMP TABLE message_batch (fact INTEGER PRIMARY KEY, start_ns INTEGER, "
         "  end_ns INTEGER, messages INTEGER, is_told INTEGER, group_id INTEGER, "
         "  is_of_group INTEGER, peer INTEGER, "
         "  sends INTEGER, receives INTEGER, first_send INTEGER, first_receive INTEGER, "
         "  dtype TEXT, in_bytes INTEGER, out_bytes INTEGER, of_two INTEGER);"
         "INSERT INTO message_batch "
         "WITH called AS ("
         "  SELECT s.track, s.ts + t.base_ns AS ts_ns, s.id, ifnull(s.dur, 0) AS dur, c.is_op, "
         "    c.is_batch, a.group_id, a.dtype, a.of_two, "
         "    ifnull(lower(a.collective) = 'send', 0) AS sends, "
         "    ifnull(lower(a.collective) = 'recv', 0) AS receives, "
         "    coalesce(a.dst_rank, a.src_rank) AS peer, a.in_bytes, a.out_bytes "
         "  FROM _cpu_slice s CROSS JOIN call_name c ON c.id = s.event_name "
         "    CROSS JOIN _track t ON t.id = s.track "
         "    LEFT JOIN collective_fact a ON a.id = s.args_text AND c.is_op "
         "  WHERE NOT c.is_op OR ifnull(lower(a.collective), '') <> 'wait'), "
         "numbered AS ("
         "  SELECT *, sum(NOT is_op) OVER (PARTITION BY track ORDER BY ts_ns, id "
         "    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - (NOT is_op) AS place, "
         "    row_number() OVER (PARTITION BY group_id, peer, sends, receives "
         "                       ORDER BY ts_ns, id) AS message "
         "  FROM called) "
         "SELECT -max(iif(is_batch, id, NULL)), max(iif(is_batch, ts_ns, NULL)), "
         "  max(iif(is_batch, ts_ns + dur, NULL)), sum(is_op), "
         "  ifnull(sum(is_op) = sum(sends) + sum(receives) AND count(group_id) = sum(is_op) "
         "    AND min(group_id) = max(group_id) AND count(peer) = sum(is_op) "
         "    AND min(peer) = max(peer) AND max(peer) <> " +
         own +
         ", 0), max(group_id), "
         "  ifnull(count(group_id) = sum(is_op) AND min(group_id) = max(group_id), 0), "
         "  max(peer), sum(sends), sum(receives), "
         "  min(iif(sends, message, NULL)), min(iif(receives, message, NULL)), "
         "  iif(min(dtype) = max(dtype), max(dtype), NULL), "
         "  iif(count(iif(sends, in_bytes, NULL)) = sum(sends), "
         "    CAST(total(iif(sends, in_bytes, NULL)) AS INTEGER), NULL), "
         "  iif(count(iif(receives, out_bytes, NULL)) = sum(receives), "
         "    CAST(total(iif(receives, out_bytes, NULL)) AS INTEGER), NULL), max(of_two) "
         "FROM numbered GROUP BY track, place HAVING max(is_batch);"
         // In which of two threads' batches a kernel was launched nobody knows.
         "DELETE FROM message_batch WHERE fact IN (SELECT fact FROM ("
         "  SELECT fact, start_ns <= max(end_ns) OVER (ORDER BY start_ns, fact "
         "      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS is_within, "
         "    lead(start_ns) OVER (ORDER BY start_ns, fact) <= end_ns AS is_around "
         "  FROM message_batch) WHERE is_within OR is_around);";
}

std::string FactsSql(const std::string& own) {
  return "CREATE INDEX temp.message_batch_start ON message_batch (start_ns, end_ns);"
         "INSERT INTO collective_fact "
         "SELECT fact, iif(is_told, group_id, NULL), "
         "  CASE WHEN receives = 0 THEN 'send' WHEN sends = 0 THEN 'recv' ELSE 'sendrecv' END, "
         "  dtype, iif(sends > 0, in_bytes, out_bytes), iif(receives > 0, out_bytes, in_bytes), "
         "  of_two, iif(is_told AND receives > 0, peer, NULL), "
         "  iif(is_told AND sends > 0, peer, NULL), "
         "  CASE WHEN NOT is_told THEN NULL "
         "    WHEN receives = 0 THEN " +
         own +
         " || '>' || peer || '*' || iif(sends > 1, 'x' || sends, '') "
         "    WHEN sends = 0 THEN peer || '>' || " +
         own +
         " || '*' || iif(receives > 1, 'x' || receives, '') "
         "    ELSE min(peer, " +
         own + ") || '<>' || max(peer, " + own +
         ") || '*' "
         "      || iif(sends = 1 AND receives = 1, '', iif(peer > " +
         own +
         ", 'x' || sends || ',' || receives, 'x' || receives || ',' || sends)) "
         "      || iif(first_send = first_receive, '', printf('%+d', iif(peer > " +
         own +
         ", first_receive - first_send, first_send - first_receive))) END, "
         "  CASE WHEN NOT is_told THEN NULL WHEN receives = 0 THEN first_send "
         "    WHEN sends = 0 THEN first_receive "
         "    ELSE iif(peer > " +
         own +
         ", first_send, first_receive) END, "
         "  (SELECT g.parallelism FROM _process_group g WHERE is_of_group AND "
         "   g.group_id = message_batch.group_id) "
         "FROM message_batch WHERE messages > 0 AND messages = sends + receives;";
}

}  // namespace

std::string MessageBatchesSql(int64_t rank) {
  const std::string own = std::to_string(rank);
  return GatherSql(own) + FactsSql(own);
}

}  // namespace tracedb
