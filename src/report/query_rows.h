// Rows of a canned query, one at a time, for who reads several queries side by side.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

struct RowValue {
  SqlType type = SqlType::kNull;
  int64_t integer = 0;
  double real = 0;   // of an integer too
  std::string text;  // of an integer too
};

void ReadRow(std::span<const Cell> cells, std::vector<RowValue>& values);

// Hands rows on, and keeps the first ones.
class KeptRows : public RowSink {
 public:
  static constexpr size_t kRowsMax = 200;
  explicit KeptRows(RowSink& next) : next_(next) {}
  Status Begin(std::span<const std::string> names) override { return next_.Begin(names); }
  Status Row(std::span<const Cell> cells) override;
  Status End() override { return next_.End(); }
  std::vector<std::vector<RowValue>> rows;

 private:
  RowSink& next_;
};

class QueryRows {
 public:
  // `query` must be in the catalog, which must outlive this, as must the database.
  static Result<QueryRows> Open(SqliteDb& db, const QueryCatalog& catalog, std::string_view query,
                                std::vector<std::string> params);

  // False: there are no more rows. Values are those of the row until the next call.
  Result<bool> Next();

  // By column, as the query's header lists them, from 0. NULL is 0, an empty text, and IsNull.
  bool IsNull(size_t column) const { return values_[column].type == SqlType::kNull; }
  int64_t Int(size_t column) const { return values_[column].integer; }
  double Real(size_t column) const { return values_[column].real; }
  const std::string& Text(size_t column);  // also of an integer
  const std::vector<RowValue>& values() const { return values_; }

 private:
  explicit QueryRows(PreparedQuery query) : query_(std::move(query)) {}

  PreparedQuery query_;
  std::vector<RowValue> values_;
};

}  // namespace tracedb
