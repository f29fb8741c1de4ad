#include "derive/collectives/collective_facts.h"

namespace tracedb {
namespace {

constexpr size_t kKnownMax = 512;
constexpr size_t kTextBytesMax = 64 * 1024;

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

constexpr const char* kPairsSql =
    "INSERT OR IGNORE INTO collective_pair (pair) SELECT pair FROM collective_pair_of "
    "WHERE pair IS NOT NULL";

// Of args that say nothing of a collective there is no row: most of them.
// A send and its receive agree in `pair`: '0>4'.
std::string FactsSql(int64_t rank) {
  const std::string element(kElementBytesSql);
  const std::string own = std::to_string(rank);
  return "PRAGMA temp.cache_size = -256; CREATE TEMP TABLE collective_fact (id INTEGER PRIMARY "
         "KEY, group_id INTEGER, "
         "  collective TEXT, dtype TEXT, in_bytes INTEGER, out_bytes INTEGER, of_two INTEGER, "
         "  src_rank INTEGER, dst_rank INTEGER, pair TEXT, match_no INTEGER);"
         "INSERT INTO collective_fact "
         "SELECT a.id, p.group_id, a.collective, a.dtype, a.in_nelems * " +
         element + ", a.out_nelems * " + element +
         ", ifnull(a.group_size, p.size) <= 2, "
         "  iif(lower(a.collective) = 'recv', a.src_rank, NULL), "
         "  iif(lower(a.collective) = 'send', a.dst_rank, NULL), NULL, NULL "
         "FROM _args_text a LEFT JOIN _process_group p "
         "  ON p.name = ifnull(a.group_name, '') AND p.ranks = a.group_ranks "
         "  AND a.collective IS NOT NULL "
         "WHERE a.collective IS NOT NULL OR a.dtype IS NOT NULL OR a.group_size IS NOT NULL;"
         "CREATE TEMP VIEW collective_pair_of AS SELECT id, coalesce(pair, " +
         own + " || '>' || dst_rank, src_rank || '>' || " + own +
         ") AS pair FROM collective_fact "
         "WHERE src_rank IS NOT NULL OR dst_rank IS NOT NULL OR pair IS NOT NULL;"
         "CREATE TEMP TABLE collective_pair (number INTEGER PRIMARY KEY, pair TEXT UNIQUE);" +
         kPairsSql;
}

constexpr const char* kCoalescedSql =
    "CREATE TEMP TABLE collective_op (external_id INTEGER PRIMARY KEY, fact INTEGER, seq INTEGER);"
    "INSERT OR IGNORE INTO collective_op "
    "SELECT s.external_id, s.args_text, s.collective_seq "
    "FROM _cpu_slice s CROSS JOIN collective_fact a ON a.id = s.args_text "
    "WHERE s.event_name IN (SELECT id FROM _event_name WHERE name = 'record_param_comms') "
    "  AND s.external_id IS NOT NULL AND a.group_id IS NOT NULL ORDER BY s.id";

// Sends and receives between batch calls (batch_isend_irecv) launch nothing: their one kernel is
// launched in the annotation nccl:coalesced that comes after them on their thread. A message alone
// has an annotation as well (nccl:send 0->1), within its operator.
//
// A batch is a fact of its own, with a number below 0. Both ranks number their messages to and from
// each other, and what they gave in one kernel is alike if it has the same messages: the first one
// is the match_no, and `pair` says the rest: '0>1*', '0>1*x2' two of them, '0<>1*' one each way,
// '0<>1*x1,2' one and two, '0<>1*+3' where the first one back has a number greater by 3. So a
// batch with several ranks, which belongs to no pair and is told without its group, or one that the
// other rank has given otherwise, does not shift those that come after it.
std::string BatchesSql(int64_t rank) {
  const std::string own = std::to_string(rank);
  return "CREATE TEMP TABLE call_name (id INTEGER PRIMARY KEY, is_op INTEGER, is_batch INTEGER);"
         "INSERT INTO call_name SELECT id, category = 'cpu_op', name = 'nccl:coalesced' "
         "FROM _event_name WHERE name = 'record_param_comms' AND category = 'cpu_op' "
         "  OR name GLOB 'nccl:*' AND category = 'user_annotation';"
         "CREATE TEMP TABLE message_kernel (event_name INTEGER PRIMARY KEY);"
         "INSERT INTO message_kernel "
         "SELECT id FROM _event_name WHERE kind = 1 AND name GLOB '*SendRecv*';"
         "CREATE TEMP TABLE message_batch (fact INTEGER PRIMARY KEY, start_ns INTEGER, "
         "  end_ns INTEGER, messages INTEGER, is_told INTEGER, group_id INTEGER, peer INTEGER, "
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
         ", 0), max(group_id), max(peer), sum(sends), sum(receives), "
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
         "  FROM message_batch) WHERE is_within OR is_around);"
         "CREATE INDEX temp.message_batch_start ON message_batch (start_ns, end_ns);"
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
         ", first_send, first_receive) END "
         "FROM message_batch WHERE messages > 0 AND messages = sends + receives;" +
         std::string(kPairsSql);
}

FactValue ValueOf(const SqliteStatement& row, int column) {
  FactValue value;
  value.type = row.Type(column);
  if (value.type == SqlType::kInteger) value.integer = row.Int(column);
  if (value.type == SqlType::kReal) value.real = row.Real(column);
  if (value.type == SqlType::kText) value.text = row.Text(column);
  return value;
}

}  // namespace

void FactValue::AddTo(RecordEncoder& record) const {
  switch (type) {
    case SqlType::kInteger:
      return record.Int(integer);
    case SqlType::kReal:
      return record.Real(real);
    case SqlType::kText:
      return record.Text(text);
    case SqlType::kNull:
    case SqlType::kBlob:
      return record.Null();
  }
}

Result<CollectiveFacts> CollectiveFacts::Read(SqliteDb& db, int64_t rank) {
  TRACEDB_TRY(db.Execute(FactsSql(rank)));
  TRACEDB_ASSIGN(fact, db.Prepare("SELECT f.group_id, p.number, p.pair, f.of_two, f.collective, "
                                  "f.dtype, f.in_bytes, f.out_bytes, "
                                  "coalesce(f.dst_rank, f.src_rank), f.match_no "
                                  "FROM temp.collective_fact f "
                                  "LEFT JOIN temp.collective_pair_of o ON o.id = f.id "
                                  "LEFT JOIN temp.collective_pair p ON p.pair = o.pair "
                                  "WHERE f.id = ?1"));
  return CollectiveFacts(rank, std::move(fact));
}

Status CollectiveFacts::ReadOperators(SqliteDb& db) {
  TRACEDB_ASSIGN(groups, db.Integer("SELECT EXISTS (SELECT 1 FROM temp.collective_fact "
                                    "WHERE group_id IS NOT NULL)"));
  if (groups == 0) return Done{};  // then no operator tells one
  TRACEDB_TRY(db.Execute(kCoalescedSql));
  TRACEDB_ASSIGN(op, db.Prepare("SELECT fact, seq FROM temp.collective_op "
                                "WHERE external_id = ?1"));
  op_.emplace(std::move(op));
  return Done{};
}

Status CollectiveFacts::ReadBatches(SqliteDb& db) {
  // Else all host slices would be gone through for the few kernels from before the recording.
  TRACEDB_ASSIGN(any, db.Integer("SELECT EXISTS (SELECT 1 FROM _event_name "
                                 "  WHERE name = 'nccl:coalesced' AND category = 'user_annotation')"
                                 "AND EXISTS (SELECT 1 FROM _event_name "
                                 "  WHERE kind = 1 AND name GLOB '*SendRecv*')"));
  if (any == 0) return Done{};
  TRACEDB_TRY(db.Execute(BatchesSql(rank_)));
  TRACEDB_ASSIGN(batch, db.Prepare("SELECT b.fact, b.end_ns FROM temp.message_batch b "
                                   "WHERE b.start_ns <= ?1 AND EXISTS (SELECT 1 "
                                   "  FROM temp.message_kernel k WHERE k.event_name = ?2) "
                                   "ORDER BY b.start_ns DESC LIMIT 1"));
  batch_.emplace(std::move(batch));
  return Done{};
}

Result<const CollectiveFact*> CollectiveFacts::Of(int64_t args_text) {
  const auto known = known_.find(args_text);
  if (known != known_.end()) return &known->second;
  if (known_.size() >= kKnownMax || text_bytes_ > kTextBytesMax) {
    known_.clear();
    text_bytes_ = 0;
  }
  CollectiveFact& fact = known_[args_text];
  TRACEDB_TRY(fact_.Bind(1, args_text));
  TRACEDB_ASSIGN(any, fact_.Step());
  if (any) {
    fact.group = fact_.OptionalInt(0).value_or(0);
    fact.pair = fact_.OptionalInt(1).value_or(0);
    fact.pair_text = fact_.OptionalText(2).value_or("");
    if (const auto of_two = fact_.OptionalInt(3)) fact.of_two = *of_two != 0;
    int column = 3;
    for (FactValue* value :
         {&fact.collective, &fact.dtype, &fact.in_bytes, &fact.out_bytes, &fact.peer}) {
      *value = ValueOf(fact_, ++column);
      text_bytes_ += value->text.size();
    }
    fact.match_no = fact_.OptionalInt(9);
    text_bytes_ += fact.pair_text.size();
  }
  fact_.Reset();
  return &fact;
}

Result<std::optional<CoalescedOp>> CollectiveFacts::OpOf(int64_t external_id) {
  if (!op_.has_value()) return std::optional<CoalescedOp>();
  TRACEDB_TRY(op_->Bind(1, external_id));
  TRACEDB_ASSIGN(any, op_->Step());
  std::optional<CoalescedOp> found;
  if (any) {
    found.emplace(CoalescedOp{op_->Int(0), std::nullopt});
    if (op_->Type(1) == SqlType::kInteger) found->seq = op_->Int(1);
  }
  op_->Reset();
  return found;
}

Result<std::optional<int64_t>> CollectiveFacts::BatchAt(int64_t launch_ns, int64_t event_name) {
  std::optional<int64_t> found;
  if (!batch_.has_value()) return found;
  TRACEDB_TRY(batch_->Bind(1, launch_ns));
  TRACEDB_TRY(batch_->Bind(2, event_name));
  TRACEDB_ASSIGN(any, batch_->Step());
  if (any && batch_->Int(1) >= launch_ns) found = batch_->Int(0);
  batch_->Reset();
  return found;
}

}  // namespace tracedb
