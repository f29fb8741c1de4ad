#include "ranks/graphs/path_updates.h"

#include <algorithm>
#include <utility>

namespace tracedb {
namespace {

constexpr size_t kBytesEach = 2 * sizeof(RowUpdate);  // while they are sorted and handed over
// Rows of a range for one that has values; where there are more, each is updated by itself. Chosen,
// not measured: to pass over a row is a call of a function.
constexpr uint64_t kSparsest = 8;
constexpr size_t kFewest = 64;

}  // namespace

Result<PathUpdates> PathUpdates::Open(SqliteDb& db, size_t bytes_max) {
  TRACEDB_ASSIGN(values, RowValues::Register(db));
  return PathUpdates(db, std::move(values), std::max<size_t>(bytes_max / kBytesEach, kFewest));
}

Status PathUpdates::Prepare(std::optional<SqliteStatement>& to, const char* sql) {
  if (to.has_value()) return Done{};
  TRACEDB_ASSIGN(statement, db_->Prepare(sql));
  to.emplace(std::move(statement));
  return Done{};
}

Status PathUpdates::BeforeReading(int64_t correlation) {
  return correlations_.contains(correlation) ? Flush() : Status(Done{});
}

Status PathUpdates::Add(int64_t correlation, int64_t id, const NodePath& path) {
  if (waiting_.empty() || correlation != last_) correlations_.insert(correlation);
  last_ = correlation;
  waiting_.push_back({id, {path.path, path.forward}});
  return waiting_.size() < rows_max_ ? Status(Done{}) : Flush();
}

Status PathUpdates::Flush() {
  if (waiting_.empty()) return Done{};
  std::sort(waiting_.begin(), waiting_.end(),
            [](const RowUpdate& a, const RowUpdate& b) { return a.id < b.id; });
  const auto range =
      static_cast<uint64_t>(waiting_.back().id) - static_cast<uint64_t>(waiting_.front().id);
  const bool is_dense = waiting_.size() >= kFewest && range / kSparsest < waiting_.size();
  TRACEDB_TRY(is_dense ? FlushRange() : FlushEach());
  waiting_.clear();
  correlations_.clear();
  return Done{};
}

Status PathUpdates::FlushRange() {
  TRACEDB_TRY(Prepare(range_,
                      "UPDATE _launch SET path_id = row_value(id, 0), "
                      "  forward_path_id = row_value(id, 1) "
                      "WHERE id BETWEEN ?1 AND ?2 AND has_row_value(id)"));
  TRACEDB_TRY(range_->Bind(1, waiting_.front().id));
  TRACEDB_TRY(range_->Bind(2, waiting_.back().id));
  values_.Set(std::move(waiting_));
  waiting_ = {};
  const Status updated = range_->Run();
  values_.Set({});
  return updated;
}

Status PathUpdates::FlushEach() {
  TRACEDB_TRY(Prepare(each_,
                      "UPDATE _launch SET path_id = ?2, forward_path_id = ?3 "
                      "WHERE id = ?1"));
  for (const RowUpdate& row : waiting_) {
    TRACEDB_TRY(each_->Bind(1, row.id));
    for (int i = 0; i < 2; ++i) {
      const int64_t value = row.values[i];
      TRACEDB_TRY(value != 0 ? each_->Bind(2 + i, value) : each_->BindNull(2 + i));
    }
    TRACEDB_TRY(each_->Run());
  }
  return Done{};
}

}  // namespace tracedb
