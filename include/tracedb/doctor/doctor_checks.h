// The checks of queries/doctor: runs them all on a database and gathers what they found. Knows
// neither how the database came to be nor what a report looks like.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

struct FoundValue {
  SqlType type = SqlType::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string text;
};

struct CheckResult {
  static constexpr size_t kRowsKeptMax = 1000;   // more are counted
  static constexpr size_t kTextBytesMax = 1024;  // a longer text is cut

  const QueryDoc* doc = nullptr;  // lives as long as the catalog
  std::string name;               // "event_cap"
  bool is_finding = false;        // some row says so; rows without that are notes
  int64_t count = 0;              // events concerned: the sum of the rows' column count
  size_t rows_found = 0;
  std::vector<std::vector<FoundValue>> rows;  // a value for each of doc->columns
  std::string error;                          // why it could not be made; then there is no row
};

struct DoctorReport {
  int64_t traces = 0;
  std::vector<CheckResult> checks;  // by name: all of them, but for those
  size_t left_out = 0;              // that a gathered database has not the events for

  // Null: there is no such check, it was left out, or it failed.
  const CheckResult* Find(std::string_view name) const;

  size_t Findings() const;
  size_t Notes() const;
  size_t Failed() const;
};

// A check is a query doctor/NAME of the catalog with the columns severity and count, a meaning and
// an advice; one that is not so is an error. One that fails says so in its place, and the others
// are made; an interrupt ends them all. The catalog must outlive the report. With `open_another`,
// which opens the same database, half of the work is done on a second connection; where it cannot
// be opened, all on one. `on_check` is told of each check that begins, by either thread.
using OnCheck = std::function<void(const std::string& name, size_t number, size_t checks)>;
Result<DoctorReport> RunChecks(SqliteDb& db, const QueryCatalog& catalog,
                               const std::function<Result<SqliteDb>()>& open_another = {},
                               const OnCheck& on_check = {});

}  // namespace tracedb
