// New values for many rows of a table, given to one UPDATE as functions of SQL:
//
//   UPDATE t SET a = row_value(id, 0), b = row_value(id, 1) WHERE id BETWEEN ?1 AND ?2 AND
//   has_row_value(id)
//
// Three fifths of what a statement for each row takes, where most rows of the range have values.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct RowUpdate {
  int64_t id = 0;
  int64_t values[2] = {0, 0};  // 0: NULL
};

class RowValues {
 public:
  // Adds has_row_value and row_value to the connection. They stay, but without a RowValues no row
  // has values. One at a time.
  static Result<RowValues> Register(SqliteDb& db);
  RowValues(RowValues&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  RowValues& operator=(RowValues&&) = delete;
  ~RowValues();

  // In the order of the ids, each once; as long as Set is not called again.
  void Set(std::vector<RowUpdate> rows);

 private:
  struct State;
  explicit RowValues(State* state) : state_(state) {}
  State* state_;  // the connection's
};

}  // namespace tracedb
