// What canned queries say of one run, row by row.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

// Cells of a row by the names of their columns.
class NamedRow {
 public:
  NamedRow(const std::vector<std::string>& names, std::span<const Cell> cells)
      : names_(names), cells_(cells) {}

  const Cell& At(std::string_view name) const;
  int64_t Int(std::string_view name) const { return At(name).integer; }  // 0: NULL
  std::string Text(std::string_view name) const { return std::string(At(name).text); }
  bool IsNull(std::string_view name) const { return At(name).type == SqlType::kNull; }
  // Of a column in ms, which is exact to the nanosecond.
  int64_t Ns(std::string_view name) const;

 private:
  const std::vector<std::string>& names_;
  std::span<const Cell> cells_;
};

struct RunReader {
  SqliteDb& db;
  const QueryCatalog& catalog;
  const std::string& run;
  std::vector<std::string> params = {};  // beside the run

  Status Each(std::string_view query, const std::function<void(const NamedRow&)>& take) const;
  // Of a query that answers for all runs of the database.
  Status EachOfAll(std::string_view query, const std::function<void(const NamedRow&)>& take) const;
  // The same with one parameter more.
  RunReader With(std::string param) const;
};

}  // namespace tracedb
