#include "tracedb/base/row_values.h"

#include <sqlite3.h>

#include <algorithm>
#include <memory>

namespace tracedb {

struct RowValues::State {
  std::vector<RowUpdate> rows;
  size_t at = 0;  // where the last was: the next is asked for next

  const RowUpdate* Find(int64_t id) {
    if (at < rows.size() && rows[at].id == id) return &rows[at];
    if (at + 1 < rows.size() && rows[at].id < id && rows[at + 1].id >= id) {
      ++at;
    } else {
      const auto found = std::lower_bound(
          rows.begin(), rows.end(), id, [](const RowUpdate& row, int64_t x) { return row.id < x; });
      at = static_cast<size_t>(found - rows.begin());
    }
    return at < rows.size() && rows[at].id == id ? &rows[at] : nullptr;
  }

  static void Has(sqlite3_context* context, int, sqlite3_value** arguments) {
    auto* state = static_cast<State*>(sqlite3_user_data(context));
    const RowUpdate* row = state->Find(sqlite3_value_int64(arguments[0]));
    sqlite3_result_int(context, row != nullptr ? 1 : 0);
  }

  static void Value(sqlite3_context* context, int, sqlite3_value** arguments) {
    auto* state = static_cast<State*>(sqlite3_user_data(context));
    const RowUpdate* row = state->Find(sqlite3_value_int64(arguments[0]));
    const int64_t value =
        row != nullptr ? row->values[sqlite3_value_int64(arguments[1]) == 0 ? 0 : 1] : 0;
    if (value != 0) sqlite3_result_int64(context, value);
  }
};

Result<RowValues> RowValues::Register(SqliteDb& db) {
  const auto release = [](void* state) { std::unique_ptr<State>(static_cast<State*>(state)); };
  // The second's state is that of the first, which releases it when the connection is closed.
  auto* state = std::make_unique<State>().release();
  if (sqlite3_create_function_v2(db.handle(), "has_row_value", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                 state, State::Has, nullptr, nullptr, release) != SQLITE_OK ||
      sqlite3_create_function_v2(db.handle(), "row_value", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                 state, State::Value, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return SqliteError(db.handle(), "adding a function");
  }
  return RowValues(state);
}

RowValues::~RowValues() {
  if (state_ == nullptr) return;
  state_->rows = {};
  state_->at = 0;
}

void RowValues::Set(std::vector<RowUpdate> rows) {
  state_->rows = std::move(rows);
  state_->at = 0;
}

}  // namespace tracedb
