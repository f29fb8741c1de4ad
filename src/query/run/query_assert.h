// --assert: a condition that every row of a result must hold.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class RowAssertion {
 public:
  // `expression` is SQL over columns of these names. One that cannot be compiled is a kUsage error.
  static Result<RowAssertion> Prepare(SqliteDb& db, std::span<const std::string> column_names,
                                      std::string_view expression);

  // Whether the row that `row` stands on holds; counts it. NULL does not hold.
  Status Check(const SqliteStatement& row);

  // After the last row: Done, or the kAssert error. `name` is the query's, for the error.
  Status Verdict(std::string_view name) const;

 private:
  RowAssertion(SqliteStatement statement, std::span<const std::string> column_names,
               std::string_view expression)
      : statement_(std::move(statement)),
        column_names_(column_names.begin(), column_names.end()),
        expression_(expression) {}
  std::string Shown(const SqliteStatement& row) const;

  SqliteStatement statement_;  // gives a row where the expression holds, else none
  std::vector<std::string> column_names_;
  std::string expression_;
  int64_t rows_ = 0;
  int64_t failures_ = 0;
  std::string first_failure_;
};

}  // namespace tracedb
