#include "shards/summary_file.h"

#include <algorithm>

namespace tracedb {
namespace {

Error NotOurs(const std::filesystem::path& path, const std::string& what) {
  return Error{ErrorKind::kInput, path.string() + ": " + what,
               "run tracedb ingest --shard for that rank again, with this tracedb"};
}

}  // namespace

Result<SummaryFile> SummaryFile::Open(const std::filesystem::path& path,
                                      const SummaryTable& table) {
  TRACEDB_ASSIGN(reader, ParquetReader::Open(path));
  SummaryFile file(path, table, std::move(reader));
  const std::vector<ParquetColumn>& found = file.reader_.columns();
  file.text_.assign(table.columns.size(), -1);
  file.real_.assign(table.columns.size(), -1);
  for (size_t i = 0; i < std::max(found.size(), table.columns.size()); ++i) {
    if (i < table.columns.size()) {
      if (i >= found.size() || found[i] != table.columns[i].column) {
        return NotOurs(path, "has no column " + table.columns[i].column.name + " in its place");
      }
      continue;
    }
    const std::string& name = found[i].name;
    const size_t dot = name.rfind('.');
    const int of = dot == name.npos ? -1 : table.Find(name.substr(0, dot));
    const bool is_text = name.ends_with(".text") && found[i].type == ParquetType::kText;
    const bool is_real = name.ends_with(".real") && found[i].type == ParquetType::kReal;
    const bool fits = of >= 0 && (is_text || is_real) &&
                      table.columns[static_cast<size_t>(of)].id == SummaryId::kNone;
    if (!fits) return NotOurs(path, "has a column that does not belong there");
    (is_text ? file.text_ : file.real_)[static_cast<size_t>(of)] = static_cast<int>(i);
  }
  return file;
}

std::optional<std::pair<int64_t, int64_t>> SummaryFile::Range(size_t group,
                                                              const char* column) const {
  return reader_.Range(group, static_cast<size_t>(table_->Find(column)));
}

Status SummaryFile::ReadGroup(size_t group) {
  values_.clear();
  for (size_t i = 0; i < reader_.columns().size(); ++i) {
    TRACEDB_ASSIGN(values, reader_.Read(group, i));
    values_.push_back(std::move(values));
  }
  return Done{};
}

const SummaryTrace* SummaryFile::TraceOf(size_t row, size_t column,
                                         const std::vector<SummaryTrace>& traces) const {
  const int64_t value = Int(row, column);
  const SummaryId id = table_->columns[column].id;
  for (const SummaryTrace& trace : traces) {
    const bool is_it = id == SummaryId::kTrace ? value == trace.from_id
                       : id == SummaryId::kRow
                           ? value >= trace.first_row && value <= trace.last_row
                           : value >= trace.first_text && value <= trace.last_text;
    if (is_it) return &trace;
  }
  return nullptr;
}

Result<std::optional<int64_t>> SummaryFile::Moved(size_t row, size_t column,
                                                  const std::vector<SummaryTrace>& traces) const {
  const SummaryTrace* const trace = TraceOf(row, column, traces);
  if (trace == nullptr) {
    return NotOurs(path_, "column " + table_->columns[column].column.name + " has " +
                              std::to_string(Int(row, column)) + ", which no trace of it has");
  }
  if (trace->is_left_out) return std::optional<int64_t>();
  const SummaryId id = table_->columns[column].id;
  if (id == SummaryId::kTrace) return std::optional(trace->trace_id);
  return std::optional(Int(row, column) +
                       (id == SummaryId::kRow ? trace->row_shift : trace->text_shift));
}

Result<bool> SummaryFile::Bind(SqliteStatement& to, int parameter, size_t row, size_t column,
                               const std::vector<SummaryTrace>& traces) const {
  const auto odd = [&](const std::vector<int>& columns) -> const ParquetValues* {
    if (columns[column] < 0) return nullptr;
    const ParquetValues& values = values_[static_cast<size_t>(columns[column])];
    return values.is_there[row] != 0 ? &values : nullptr;
  };
  if (IsNull(row, column)) {
    if (const ParquetValues* text = odd(text_); text != nullptr) {
      TRACEDB_TRY(to.Bind(parameter, text->Text(row)));
    } else if (const ParquetValues* real = odd(real_); real != nullptr) {
      TRACEDB_TRY(to.Bind(parameter, real->reals[row]));
    } else {
      TRACEDB_TRY(to.BindNull(parameter));
    }
    return true;
  }
  if (table_->columns[column].id != SummaryId::kNone) {
    TRACEDB_ASSIGN(moved, Moved(row, column, traces));
    if (!moved.has_value()) return false;
    TRACEDB_TRY(to.Bind(parameter, *moved));
    return true;
  }
  switch (table_->columns[column].column.type) {
    case ParquetType::kInteger:
      TRACEDB_TRY(to.Bind(parameter, Int(row, column)));
      break;
    case ParquetType::kReal:
      TRACEDB_TRY(to.Bind(parameter, values_[column].reals[row]));
      break;
    case ParquetType::kText:
    case ParquetType::kBytes:
      TRACEDB_TRY(to.Bind(parameter, Text(row, column)));
      break;
  }
  return true;
}

}  // namespace tracedb
