#include "sources/inspector/inspector_rows.h"

namespace tracedb {
namespace {

void AddToKey(std::string& key, std::string_view text) { key.append(text).append(1, '\n'); }

void AddToKey(std::string& key, const std::optional<int64_t>& value) {
  AddToKey(key, value ? std::to_string(*value) : std::string());
}

}  // namespace

Status InspectorRows::Begin() {
  const auto prepare = [&](std::optional<SqliteStatement>& statement,
                           std::string_view sql) -> Status {
    TRACEDB_ASSIGN(prepared, rows_.db->Prepare(sql));
    statement = std::move(prepared);
    return statement->Bind(1, rows_.source_id);
  };
  TRACEDB_TRY(prepare(insert_,
                      "INSERT INTO _inspector_collective VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                      "?9, ?10, ?11, ?12, ?13, ?14)"));
  TRACEDB_TRY(prepare(insert_communicator_,
                      "INSERT INTO _inspector_communicator VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
                      "?8, ?9, ?10, ?11, ?12)"));
  TRACEDB_TRY(prepare(insert_operation_,
                      "INSERT INTO _inspector_operation VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                      "?9)"));
  return prepare(insert_dump_, "INSERT INTO _inspector_dump VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
}

Result<int64_t> InspectorRows::Communicator(const InspectorRecord& record) {
  key_.clear();
  for (const std::string* text : {&record.communicator_id, &record.communicator_name, &record.host,
                                  &record.version, &record.git_rev, &record.mechanism}) {
    AddToKey(key_, *text);
  }
  for (const auto& value : {record.rank, record.ranks, record.nodes, record.pid}) {
    AddToKey(key_, value);
  }
  const SourceNames::Number number = communicators_.Of(key_);
  if (!number.is_new) return number.id;
  SqliteStatement& insert = *insert_communicator_;
  TRACEDB_TRY(insert.Bind(2, number.id));
  TRACEDB_TRY(insert.BindTextOrNull(3, record.communicator_id));
  TRACEDB_TRY(insert.BindTextOrNull(4, record.communicator_name));
  TRACEDB_TRY(insert.BindOptional(5, record.rank));
  TRACEDB_TRY(insert.BindOptional(6, record.ranks));
  TRACEDB_TRY(insert.BindOptional(7, record.nodes));
  TRACEDB_TRY(insert.BindTextOrNull(8, record.host));
  TRACEDB_TRY(insert.BindOptional(9, record.pid));
  TRACEDB_TRY(insert.BindTextOrNull(10, record.version));
  TRACEDB_TRY(insert.BindTextOrNull(11, record.git_rev));
  TRACEDB_TRY(insert.BindTextOrNull(12, record.mechanism));
  TRACEDB_TRY(insert.Run());
  return number.id;
}

Result<int64_t> InspectorRows::Operation(const InspectorRecord& record) {
  key_ = record.is_p2p ? "p\n" : "c\n";
  for (const std::string* text :
       {&record.operation, &record.timing_source, &record.algorithm, &record.protocol}) {
    AddToKey(key_, *text);
  }
  std::optional<int64_t> channels = record.channels;
  if (!channels && record.kernel_channels > 0) channels = record.kernel_channels;
  AddToKey(key_, channels);
  AddToKey(key_, record.peer);
  const SourceNames::Number number = operations_.Of(key_);
  if (!number.is_new) return number.id;
  SqliteStatement& insert = *insert_operation_;
  TRACEDB_TRY(insert.Bind(2, number.id));
  TRACEDB_TRY(insert.Bind(3, int64_t{record.is_p2p ? 1 : 0}));
  TRACEDB_TRY(insert.BindTextOrNull(4, record.operation));
  TRACEDB_TRY(insert.BindOptional(5, record.peer));
  TRACEDB_TRY(insert.BindTextOrNull(6, record.timing_source));
  TRACEDB_TRY(insert.BindTextOrNull(7, record.algorithm));
  TRACEDB_TRY(insert.BindTextOrNull(8, record.protocol));
  TRACEDB_TRY(insert.BindOptional(9, channels));
  TRACEDB_TRY(insert.Run());
  return number.id;
}

Status InspectorRows::AddDump(const InspectorRecord& record, int64_t communicator) {
  SqliteStatement& insert = *insert_dump_;
  TRACEDB_TRY(insert.Bind(2, communicator));
  int at = 2;
  for (const auto& value : {record.dump_ns, record.collective_records, record.collectives_dropped,
                            record.p2p_records, record.p2ps_dropped}) {
    TRACEDB_TRY(insert.BindOptional(++at, value));
  }
  ++rows_.rows;
  return insert.Run();
}

Status InspectorRows::Add(const InspectorRecord& record) {
  TRACEDB_ASSIGN(communicator, Communicator(record));
  if (record.dump_ns) rows_.SawTime(*record.dump_ns);
  if (record.is_dump) return AddDump(record, communicator);
  TRACEDB_ASSIGN(operation, Operation(record));
  SqliteStatement& insert = *insert_;
  TRACEDB_TRY(insert.Bind(2, communicator));
  TRACEDB_TRY(insert.Bind(3, operation));
  TRACEDB_TRY(insert.BindOptional(4, record.sn));
  TRACEDB_TRY(insert.BindOptional(5, record.bytes));
  TRACEDB_TRY(insert.BindOptional(6, record.exec_us));
  TRACEDB_TRY(insert.BindOptional(7, record.algbw_gbps));
  TRACEDB_TRY(insert.BindOptional(8, record.busbw_gbps));
  int at = 8;
  for (const auto& time : {record.dump_ns, record.kernel_start_ns, record.kernel_end_ns,
                           record.call_ns, record.call_end_ns}) {
    TRACEDB_TRY(insert.BindOptional(++at, time));
  }
  TRACEDB_TRY(insert.BindTextOrNull(14, record.others));
  for (const auto& time : {record.kernel_start_ns, record.kernel_end_ns, record.call_ns}) {
    has_times_ = has_times_ || time.has_value();
    if (time) rows_.SawTime(*time);
  }
  ++rows_.rows;
  return insert.Run();
}

// A process is in several communicators, with a rank in each: that in the largest is its rank in
// the job, unless it has two ranks in such ones.
Status InspectorRows::Finish() {
  rows_.time_source = has_times_ ? "host clock" : "host clock, of the dump alone";
  TRACEDB_ASSIGN(host, rows_.db->Prepare("SELECT min(host) FROM _inspector_communicator "
                                         "HAVING min(host) = max(host)"));
  TRACEDB_ASSIGN(has_host, host.Step());
  if (has_host) rows_.host = std::string(host.Text(0));
  TRACEDB_ASSIGN(rank,
                 rows_.db->Prepare("SELECT min(rank) FROM _inspector_communicator "
                                   "WHERE ranks = (SELECT max(ranks) FROM _inspector_communicator) "
                                   "HAVING min(rank) = max(rank) AND count(DISTINCT pid) <= 1"));
  TRACEDB_ASSIGN(has_rank, rank.Step());
  if (has_rank) rows_.rank = rank.Int(0);
  return Done{};
}

}  // namespace tracedb
