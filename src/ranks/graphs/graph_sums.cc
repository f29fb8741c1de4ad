// Adds changes to sums by key that are rows of a table: both are read in the order of their keys,
// and only rows that change are written.

#include "ranks/graphs/graph_sums.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace tracedb {
namespace {

constexpr size_t kKeys = 4;
constexpr size_t kSumsMax = 6;
// Sums of made-up times may be as long as 64 bits can say, and those of two more than that.
constexpr int64_t kSumMax = std::numeric_limits<int64_t>::max() / 4;

using Key = std::array<std::optional<int64_t>, kKeys>;

int64_t SumOf(int64_t a, int64_t b) { return std::clamp(a + b, -kSumMax, kSumMax); }

struct Row {
  int64_t rowid = 0;  // 0: it has none yet
  Key key;
  std::array<int64_t, kSumsMax> sums{};
  bool stays = false;  // it has something else to say
};

// A table, in the order of its key's columns and then of its sums, and where its changes are.
struct Table {
  const char* name;
  std::array<const char*, kKeys> keys;
  std::array<const char*, kSumsMax> sums;
  size_t sum_count;
  std::array<const char*, kKeys> change_keys;
  std::array<const char*, kSumsMax> change_sums;
  const char* change_where;
  const char* stays;          // an expression: a row of nothing but zeros is kept
  bool has_rest;              // what is less than nothing is part of the row without a key
  const char* other_columns;  // 0 in a new row
  const char* other_values;
};

constexpr Table kHostUse{
    "_host_use",
    {"step", "kind", "event_name", "args_text"},
    {"activities", "gpu_ns", "self_gpu_ns", "backward_gpu_ns", "self_backward_gpu_ns",
     "graph_calls"},
    6,
    {"step", "kind", "name", "detail"},
    {"activities", "gpu_ns", "self_gpu_ns", "backward_gpu_ns", "self_backward_gpu_ns", "calls"},
    "kind IS NOT NULL",
    "calls <> 0 OR total_ns <> 0 OR self_ns <> 0",
    false,
    ", calls, total_ns, self_ns",
    ", 0, 0, 0"};
constexpr Table kKernelUse{"_kernel_use",
                           {"step", "op", "forward_op", "kernel"},
                           {"activities", "gpu_ns"},
                           2,
                           {"step", "name", "detail", "kernel"},
                           {"activities", "gpu_ns"},
                           "kind IS NULL",
                           "0",
                           true,
                           "",
                           ""};

// The next of changes, in the order of their keys; or none.
using NextChange = std::function<Status(std::optional<Row>& change)>;

Status NextRow(const Table& table, SqliteStatement& from, std::optional<Row>& to) {
  to.reset();
  TRACEDB_ASSIGN(any, from.Step());
  if (!any) return Done{};
  Row& row = to.emplace();
  row.rowid = from.Int(0);
  int column = 1;
  for (std::optional<int64_t>& key : row.key) key = from.OptionalInt(column++);
  for (size_t i = 0; i < table.sum_count; ++i) {
    row.sums[i] = std::clamp(from.Int(column++), -kSumMax, kSumMax);
  }
  row.stays = from.Int(column) != 0;
  return Done{};
}

class SumMerge {
 public:
  SumMerge(SqliteDb& db, const Table& table, int64_t trace_id, NextChange next)
      : db_(&db), table_(&table), trace_id_(trace_id), next_(std::move(next)) {}

  Status Run() {
    TRACEDB_TRY(Open());
    TRACEDB_TRY(next_(change_));
    TRACEDB_TRY(NextRow(*table_, *rows_, row_));
    while (change_.has_value()) {
      if (row_.has_value() && row_->key < change_->key) {
        TRACEDB_TRY(Pass());
        continue;
      }
      Row changed{0, change_->key, {}, false};
      if (row_.has_value() && row_->key == change_->key) {
        changed = *row_;
        TRACEDB_TRY(NextRow(*table_, *rows_, row_));
      }
      for (size_t i = 0; i < table_->sum_count; ++i) {
        changed.sums[i] = SumOf(changed.sums[i], change_->sums[i]);
      }
      TRACEDB_TRY(Put(changed));
      TRACEDB_TRY(next_(change_));
    }
    return rest_.has_value() ? Write(*rest_) : Status(Done{});
  }

 private:
  Status Open();
  Status Prepare(std::optional<SqliteStatement>& to, const std::string& sql);
  // A row that nothing changes.
  Status Pass();
  Status Put(const Row& changed);
  Status Write(const Row& row);

  SqliteDb* db_;
  const Table* table_;
  int64_t trace_id_;
  NextChange next_;
  std::optional<SqliteStatement> rows_, update_, remove_, insert_;
  std::optional<Row> row_, change_, rest_;
};

Status SumMerge::Prepare(std::optional<SqliteStatement>& to, const std::string& sql) {
  if (to.has_value()) return Done{};
  TRACEDB_ASSIGN(statement, db_->Prepare(sql));
  to.emplace(std::move(statement));
  return Done{};
}

Status SumMerge::Open() {
  std::string sql = "SELECT rowid";
  for (const char* key : table_->keys) sql += std::string(", ") + key;
  for (size_t i = 0; i < table_->sum_count; ++i) sql += std::string(", ") + table_->sums[i];
  // Sorted before the first row comes, so that the table can change meanwhile.
  return Prepare(rows_, sql + ", " + table_->stays + " FROM " + table_->name +
                            " WHERE trace_id = " + std::to_string(trace_id_) +
                            " ORDER BY 2, 3, 4, 5");
}

Status SumMerge::Pass() {
  if (table_->has_rest && row_->key == Key{}) rest_ = *row_;
  return NextRow(*table_, *rows_, row_);
}

// Where rows had not all found room, one loses what is part of that without a key.
Status SumMerge::Put(const Row& changed) {
  if (!table_->has_rest || (changed.sums[0] >= 0 && changed.key != Key{})) return Write(changed);
  if (changed.key == Key{}) {
    rest_ = changed;
    return Done{};
  }
  if (!rest_.has_value()) rest_.emplace();
  for (size_t i = 0; i < table_->sum_count; ++i) {
    rest_->sums[i] = SumOf(rest_->sums[i], changed.sums[i]);
  }
  return changed.rowid != 0 ? Write({changed.rowid, changed.key, {}, false}) : Status(Done{});
}

// One of nothing but zeros goes, or does not come.
Status SumMerge::Write(const Row& row) {
  const bool is_zero = !row.stays && std::all_of(row.sums.begin(), row.sums.end(),
                                                 [](int64_t sum) { return sum == 0; });
  if (is_zero && row.rowid == 0) return Done{};
  if (is_zero) {
    TRACEDB_TRY(Prepare(remove_, std::string("DELETE FROM ") + table_->name + " WHERE rowid = ?1"));
    TRACEDB_TRY(remove_->Bind(1, row.rowid));
    return remove_->Run();
  }
  std::string columns, parameters, changes;
  std::optional<SqliteStatement>& statement = row.rowid != 0 ? update_ : insert_;
  if (!statement.has_value()) {
    size_t parameter = 1;
    for (const char* key : table_->keys) {
      columns += std::string(", ") + key;
      parameters += ", ?" + std::to_string(++parameter);
    }
    for (size_t i = 0; i < table_->sum_count; ++i) {
      const std::string number = " ?" + std::to_string(++parameter);
      columns += std::string(", ") + table_->sums[i];
      parameters += "," + number;
      changes += std::string(i > 0 ? ", " : "") + table_->sums[i] + " =" + number;
    }
    TRACEDB_TRY(Prepare(statement, row.rowid != 0
                                       ? std::string("UPDATE ") + table_->name + " SET " + changes +
                                             " WHERE rowid = ?1"
                                       : std::string("INSERT INTO ") + table_->name + " (trace_id" +
                                             columns + table_->other_columns + ") VALUES (?1" +
                                             parameters + table_->other_values + ")"));
  }
  int parameter = 1;
  TRACEDB_TRY(statement->Bind(parameter, row.rowid != 0 ? row.rowid : trace_id_));
  for (const std::optional<int64_t>& key : row.key) {
    ++parameter;
    if (row.rowid == 0) TRACEDB_TRY(statement->BindOptional(parameter, key));
  }
  for (size_t i = 0; i < table_->sum_count; ++i) {
    TRACEDB_TRY(statement->Bind(++parameter, row.sums[i]));
  }
  return statement->Run();
}

Status ApplyStored(SqliteDb& db, const Table& table, int64_t trace_id, int sign) {
  std::string sql = "SELECT 0";
  for (const char* key : table.change_keys) sql += std::string(", ") + key;
  for (size_t i = 0; i < table.sum_count; ++i) {
    sql += ", sum(max(min(" + std::to_string(sign) + " * " + table.change_sums[i] + ", " +
           std::to_string(kSumMax) + "), -" + std::to_string(kSumMax) + "))";
  }
  TRACEDB_ASSIGN(changes, db.Prepare(sql + ", 0 FROM _graph_change WHERE trace_id = " +
                                     std::to_string(trace_id) + " AND " + table.change_where +
                                     " GROUP BY 2, 3, 4, 5 ORDER BY 2, 3, 4, 5"));
  const auto next = [&](std::optional<Row>& change) { return NextRow(table, changes, change); };
  return SumMerge(db, table, trace_id, next).Run();
}

std::optional<int64_t> NoneIfZero(int64_t id) { return id != 0 ? std::optional(id) : std::nullopt; }

Row RowOf(const GraphSumKey& key, const GraphSums& sums) {
  Row row;
  if (key.kind < 0) {
    row.key = {key.step, NoneIfZero(key.name), NoneIfZero(key.detail), NoneIfZero(key.kernel)};
  } else {
    row.key = {key.step, key.kind, NoneIfZero(key.name), NoneIfZero(key.detail)};
  }
  row.sums = {sums.activities,           sums.gpu_ns, sums.self_gpu_ns, sums.backward_gpu_ns,
              sums.self_backward_gpu_ns, sums.calls};
  for (int64_t& sum : row.sums) sum = std::clamp(sum, -kSumMax, kSumMax);
  return row;
}

Status ApplyKept(SqliteDb& db, const Table& table, int64_t trace_id, const GraphSumsByKey& changes,
                 bool of_kernels) {
  auto at = changes.begin();
  const auto next = [&](std::optional<Row>& change) -> Status {
    change.reset();
    for (; at != changes.end(); ++at) {
      if ((at->first.kind < 0) != of_kernels) continue;
      const Row row = RowOf(at->first, at->second);
      if (!change.has_value()) {
        change = row;
        continue;
      }
      if (change->key != row.key) break;  // those of one key follow each other
      for (size_t i = 0; i < table.sum_count; ++i) {
        change->sums[i] = SumOf(change->sums[i], row.sums[i]);
      }
    }
    return Done{};
  };
  return SumMerge(db, table, trace_id, next).Run();
}

}  // namespace

Status ApplyGraphChanges(SqliteDb& db, int64_t trace_id, const GraphSumsByKey& changes) {
  TRACEDB_TRY(ApplyKept(db, kHostUse, trace_id, changes, false));
  return ApplyKept(db, kKernelUse, trace_id, changes, true);
}

Status ApplyGraphChanges(SqliteDb& db, int64_t trace_id, int sign) {
  TRACEDB_TRY(ApplyStored(db, kHostUse, trace_id, sign));
  return ApplyStored(db, kKernelUse, trace_id, sign);
}

}  // namespace tracedb
