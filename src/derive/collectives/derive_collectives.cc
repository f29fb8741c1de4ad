#include "tracedb/derive/collectives/derive_collectives.h"

#include <string>

namespace tracedb {
namespace {

// Bytes an element of a collective takes, by the dtype's name as PyTorch writes it.
constexpr const char* kElementBytesSql =
    "CASE lower(a.dtype) "
    "WHEN 'double' THEN 8 WHEN 'float64' THEN 8 WHEN 'long' THEN 8 WHEN 'int64' THEN 8 "
    "WHEN 'uint64' THEN 8 WHEN 'complexfloat' THEN 8 WHEN 'complexdouble' THEN 16 "
    "WHEN 'float' THEN 4 WHEN 'float32' THEN 4 WHEN 'int' THEN 4 WHEN 'int32' THEN 4 "
    "WHEN 'uint32' THEN 4 WHEN 'qint32' THEN 4 WHEN 'complexhalf' THEN 4 "
    "WHEN 'bfloat16' THEN 2 WHEN 'half' THEN 2 WHEN 'float16' THEN 2 "
    "WHEN 'short' THEN 2 WHEN 'int16' THEN 2 WHEN 'uint16' THEN 2 WHEN 'byte' THEN 1 "
    "WHEN 'char' THEN 1 WHEN 'int8' THEN 1 WHEN 'uint8' THEN 1 WHEN 'bool' THEN 1 "
    "WHEN 'bytes' THEN 1 WHEN 'qint8' THEN 1 WHEN 'quint8' THEN 1 WHEN 'float4_e2m1fn_x2' THEN 1 "
    "ELSE CASE WHEN lower(a.dtype) LIKE 'float8%' THEN 1 END END";

// What the args say of a collective, once for each text of args: they are few.
std::string FactsSql() {
  const std::string element(kElementBytesSql);
  return "CREATE TEMP TABLE collective_fact (id INTEGER PRIMARY KEY, group_id INTEGER, "
         "  collective TEXT, dtype TEXT, in_bytes INTEGER, out_bytes INTEGER, of_two INTEGER, "
         "  src_rank INTEGER, dst_rank INTEGER);"
         "INSERT INTO collective_fact "
         "SELECT a.id, p.group_id, a.collective, a.dtype, a.in_nelems * " +
         element + ", a.out_nelems * " + element +
         ", ifnull(a.group_size, p.size) <= 2, "
         "  iif(lower(a.collective) = 'recv', a.src_rank, NULL), "
         "  iif(lower(a.collective) = 'send', a.dst_rank, NULL) "
         "FROM _args_text a LEFT JOIN _process_group p "
         "  ON p.name = ifnull(a.group_name, '') AND p.ranks = a.group_ranks "
         "  AND a.collective IS NOT NULL";
}

// The communication kernels: narrow rows, as SQLite keeps all columns of a row that it counts, and
// that took twice the time of everything else.
constexpr const char* kItemsSql =
    "CREATE TEMP TABLE collective_item (id INTEGER PRIMARY KEY, fact INTEGER, "
    "  group_id INTEGER, pair TEXT, seq INTEGER, ts_ns INTEGER);"
    "INSERT INTO collective_item "
    "SELECT g.id, g.args_text, a.group_id, NULL, g.collective_seq, g.ts + t.base_ns "
    "FROM _gpu_slice g CROSS JOIN _track t ON t.id = g.track "
    "  LEFT JOIN collective_fact a ON a.id = g.args_text "
    "WHERE g.kind = 1 AND g.id NOT IN (SELECT id FROM _impossible_time)";

// A coalesced kernel has no args of a collective, but the operator has that it was launched in: its
// External id says which.
constexpr const char* kCoalescedSql =
    "CREATE TEMP TABLE collective_op (external_id INTEGER PRIMARY KEY, fact INTEGER, "
    "  group_id INTEGER, seq INTEGER);"
    "INSERT OR IGNORE INTO collective_op "
    "SELECT s.external_id, s.args_text, a.group_id, s.collective_seq "
    "FROM _cpu_slice s CROSS JOIN collective_fact a ON a.id = s.args_text "
    "WHERE s.event_name IN (SELECT id FROM _event_name WHERE name = 'record_param_comms') "
    "  AND s.external_id IS NOT NULL AND a.group_id IS NOT NULL ORDER BY s.id;"
    "UPDATE collective_item AS i SET (fact, group_id, seq) = (o.fact, o.group_id, o.seq) "
    "FROM _gpu_slice g CROSS JOIN collective_op o ON o.external_id = g.external_id "
    "WHERE i.group_id IS NULL AND g.id = i.id;"
    "DROP TABLE collective_op";

// Sends and receives belong together by their two ranks: each of these pairs is counted by itself,
// and what is left of the group is too. Of several parts with one Seq the second is matched with
// the second.
std::string PairsSql(int64_t rank) {
  const std::string own = std::to_string(rank);
  return "UPDATE collective_item SET pair = a.pair FROM (SELECT id, coalesce(" + own +
         "    || '>' || dst_rank, src_rank || '>' || " + own +
         ") AS pair FROM collective_fact) a "
         "WHERE a.id = collective_item.fact AND group_id IS NOT NULL AND a.pair IS NOT NULL";
}

constexpr const char* kOrdinalsSql =
    "CREATE TEMP TABLE collective_ordinal (id INTEGER PRIMARY KEY, ordinal INTEGER, "
    "  of_pair INTEGER, of_seq INTEGER);"
    "INSERT INTO collective_ordinal SELECT id, "
    "  row_number() OVER (PARTITION BY group_id ORDER BY ts_ns, id), NULL, 1 "
    "FROM collective_item";
constexpr const char* kOfPairSql =
    "UPDATE collective_ordinal SET of_pair = n.n FROM (SELECT id, row_number() OVER "
    "  (PARTITION BY group_id, pair ORDER BY ts_ns, id) AS n FROM collective_item) n "
    "WHERE n.id = collective_ordinal.id";
constexpr const char* kOfSeqSql =
    "UPDATE collective_ordinal SET of_seq = n.n FROM (SELECT id, row_number() OVER "
    "  (PARTITION BY group_id, pair, seq ORDER BY ts_ns, id) AS n FROM collective_item "
    "  WHERE seq IS NOT NULL) n "
    "WHERE n.id = collective_ordinal.id AND n.n > 1";

constexpr const char* kPartsSql =
    "INSERT INTO _collective_part "
    "SELECT i.id, t.rank, t.trace_id, t.trace_id, i.group_id, iif(i.group_id IS NULL, NULL, "
    "o.ordinal), "
    "  i.seq, a.collective, a.dtype, a.in_bytes, a.out_bytes, i.ts_ns, g.dur, "
    "  coalesce(a.dst_rank, a.src_rank), k.step, k.launch_ts_ns, "
    "  ifnull(i.pair, '') || iif(i.by_seq AND o.of_seq > 1, '#' || o.of_seq, ''), i.by_seq, "
    "  iif(i.by_seq, i.seq, coalesce(o.of_pair, o.ordinal)) "
    "FROM (SELECT c.*, c.seq IS NOT NULL AND (c.pair IS NULL OR f.of_two) AS by_seq "
    "    FROM collective_item c LEFT JOIN collective_fact f ON f.id = c.fact) i "
    "  CROSS JOIN collective_ordinal o ON o.id = i.id "
    "  CROSS JOIN _gpu_slice g ON g.id = i.id CROSS JOIN _track t ON t.id = g.track "
    "  LEFT JOIN collective_fact a ON a.id = i.fact LEFT JOIN _launch k ON k.id = i.id "
    "ORDER BY i.id";

}  // namespace

Status DeriveCollectives(SqliteDb& db, int64_t rank) {
  TRACEDB_TRY(db.Execute(FactsSql()));
  TRACEDB_TRY(db.Execute(kItemsSql));
  // What follows costs a pass or a sort each: only where there is something for it.
  TRACEDB_ASSIGN(coalesced, db.Integer("SELECT EXISTS (SELECT 1 FROM collective_item i JOIN "
                                       "_gpu_slice g ON g.id = i.id WHERE i.group_id IS NULL "
                                       "AND g.external_id IS NOT NULL)"));
  if (coalesced != 0) TRACEDB_TRY(db.Execute(kCoalescedSql));
  TRACEDB_ASSIGN(pairs, db.Integer("SELECT EXISTS (SELECT 1 FROM collective_fact WHERE "
                                   "coalesce(src_rank, dst_rank) IS NOT NULL)"));
  if (pairs != 0) TRACEDB_TRY(db.Execute(PairsSql(rank)));
  TRACEDB_TRY(db.Execute(kOrdinalsSql));
  if (pairs != 0) TRACEDB_TRY(db.Execute(kOfPairSql));
  TRACEDB_ASSIGN(seqs, db.Integer("SELECT EXISTS (SELECT 1 FROM collective_item WHERE seq IS NOT "
                                  "NULL)"));
  if (seqs != 0) TRACEDB_TRY(db.Execute(kOfSeqSql));
  TRACEDB_TRY(db.Execute(kPartsSql));
  return db.Execute(
      "DROP TABLE collective_item; DROP TABLE collective_ordinal; "
      "DROP TABLE collective_fact");
}

}  // namespace tracedb
