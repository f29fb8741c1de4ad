#include "report/query_rows.h"

#include <fmt/format.h>

#include <utility>

namespace tracedb {
namespace {

// A column of texts may have numbers in it, names of devices for instance: QueryRows makes texts of
// those that are asked for alone.
void ReadCells(std::span<const Cell> cells, std::vector<RowValue>& values) {
  values.resize(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    const bool is_integer = cell.type == SqlType::kInteger;
    values[i].type = cell.type;
    values[i].integer = is_integer ? cell.integer : 0;
    values[i].real = is_integer ? static_cast<double>(cell.integer)
                                : (cell.type == SqlType::kReal ? cell.real : 0);
    values[i].text.assign(cell.type == SqlType::kText ? cell.text : std::string_view());
  }
}

// Takes one row at a time.
class OneRow : public RowSink {
 public:
  explicit OneRow(std::vector<RowValue>& values) : values_(values) {}
  Status Begin(std::span<const std::string>) override { return Done{}; }
  Status Row(std::span<const Cell> cells) override {
    ReadCells(cells, values_);
    return Done{};
  }
  Status End() override { return Done{}; }

 private:
  std::vector<RowValue>& values_;
};

}  // namespace

void ReadRow(std::span<const Cell> cells, std::vector<RowValue>& values) {
  ReadCells(cells, values);
  for (RowValue& value : values) {
    if (value.type == SqlType::kInteger) value.text = std::to_string(value.integer);
  }
}

Status KeptRows::Row(std::span<const Cell> cells) {
  if (rows.size() < kRowsMax) ReadRow(cells, rows.emplace_back());
  return next_.Row(cells);
}

Result<QueryRows> QueryRows::Open(SqliteDb& db, const QueryCatalog& catalog, std::string_view query,
                                  std::vector<std::string> params) {
  const QueryDoc* doc = catalog.Find(query);
  if (doc == nullptr) {
    return Error{ErrorKind::kQuery, fmt::format("there is no query {}", query), ""};
  }
  TRACEDB_ASSIGN(prepared, PreparedQuery::Prepare(db, *doc, {std::move(params), ""}));
  return QueryRows(std::move(prepared));
}

const std::string& QueryRows::Text(size_t column) {
  RowValue& value = values_[column];
  if (value.type == SqlType::kInteger && value.text.empty()) {
    value.text = std::to_string(value.integer);
  }
  return value.text;
}

Result<bool> QueryRows::Next() {
  OneRow row(values_);
  return query_.Advance(row);
}

}  // namespace tracedb
