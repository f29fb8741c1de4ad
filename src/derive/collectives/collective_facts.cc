#include "derive/collectives/collective_facts.h"

#include "derive/collectives/message_batches.h"

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
         "  src_rank INTEGER, dst_rank INTEGER, pair TEXT, match_no INTEGER, "
         "  parallelism TEXT);"
         "INSERT INTO collective_fact "
         "SELECT a.id, p.group_id, a.collective, a.dtype, a.in_nelems * " +
         element + ", a.out_nelems * " + element +
         ", ifnull(a.group_size, p.size) <= 2, "
         "  iif(lower(a.collective) = 'recv', a.src_rank, NULL), "
         "  iif(lower(a.collective) = 'send', a.dst_rank, NULL), NULL, NULL, p.parallelism "
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

Result<CollectiveFacts> CollectiveFacts::Read(SqliteDb& db, int64_t rank,
                                              const GpuActivities& activities) {
  TRACEDB_TRY(db.Execute(FactsSql(rank)));
  TRACEDB_ASSIGN(fact, db.Prepare("SELECT f.group_id, p.number, p.pair, f.of_two, f.collective, "
                                  "f.dtype, f.in_bytes, f.out_bytes, "
                                  "coalesce(f.dst_rank, f.src_rank), f.match_no, f.parallelism "
                                  "FROM temp.collective_fact f "
                                  "LEFT JOIN temp.collective_pair_of o ON o.id = f.id "
                                  "LEFT JOIN temp.collective_pair p ON p.pair = o.pair "
                                  "WHERE f.id = ?1"));
  CollectiveFacts facts(rank, std::move(fact));
  bool any_untold = false, any_with_id = false;  // without a group; of these, with External id
  Status known = Done{};
  TRACEDB_TRY(activities.ForEachCommunicationArgs([&](int64_t args_text, bool has_external_id) {
    if (any_with_id || !known.ok() || (any_untold && !has_external_id)) return;
    const Result<const CollectiveFact*> own = facts.Of(args_text);
    if (!own.ok()) known = own.error();
    if (!own.ok() || own.value()->group != 0) return;
    any_untold = true;
    any_with_id = has_external_id;
  }));
  TRACEDB_TRY(known);
  if (any_with_id) TRACEDB_TRY(facts.ReadOperators(db));
  if (any_untold) TRACEDB_TRY(facts.ReadBatches(db));
  TRACEDB_TRY(db.Execute("PRAGMA shrink_memory"));
  return facts;
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
  TRACEDB_TRY(db.Execute(MessageBatchesSql(rank_) + kPairsSql));
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
    const std::optional<std::string> parallelism = fact_.OptionalText(10);
    fact.parallelism = ParallelismByName(parallelism.value_or("")).value_or(Parallelism::kOther);
    text_bytes_ += fact.pair_text.size();
  }
  fact_.Reset();
  return &fact;
}

Result<CoalescedOp> CollectiveFacts::ToldBy(const CommunicationKernel& kernel) {
  const CoalescedOp own{kernel.args_text, kernel.seq};
  TRACEDB_ASSIGN(fact, Of(own.args_text));
  if (fact->group != 0) return own;
  if (kernel.external_id.has_value()) {
    TRACEDB_ASSIGN(op, OpOf(*kernel.external_id));
    if (op.has_value()) return *op;
  }
  if (!kernel.launch_ns.has_value()) return own;
  TRACEDB_ASSIGN(batch, BatchAt(*kernel.launch_ns, kernel.event_name));
  return batch.has_value() ? CoalescedOp{*batch, std::nullopt} : own;
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
