#include "sources/nsys/part_reading.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tracedb {

std::string PartReading::Condition(std::string_view table) const {
  if (parts_.size() == 1) return "1";
  std::string process;
  if (tables_.Has(table, "globalPid")) {
    process = "\"globalPid\"";
  } else if (tables_.Has(table, "globalTid")) {
    process = "(\"globalTid\" & " + std::to_string(~kThreadBits) + ")";
  } else {
    return is_first() ? "1" : "0";
  }
  if (!is_first()) return process + " = " + std::to_string(part().global_pid);
  std::string others;
  for (size_t i = 1; i < parts_.size(); ++i) {
    others += (i == 1 ? "" : ", ") + std::to_string(parts_[i].global_pid);
  }
  return "(" + process + " IS NULL OR " + process + " NOT IN (" + others + "))";
}

std::optional<int64_t> PartReading::DeviceOf(std::optional<int64_t> context) const {
  if (!context.has_value()) return std::nullopt;
  for (const NsysContext& known : part().contexts) {
    if (known.context == *context) return known.device;
  }
  return std::nullopt;
}

OtherColumns::OtherColumns(const ExportTables& tables, std::string_view table,
                           std::span<const std::string_view> but,
                           std::span<const std::string_view> and_but) {
  for (const std::string& name : tables.Columns(table)) {
    if (std::find(but.begin(), but.end(), name) != but.end()) continue;
    if (std::find(and_but.begin(), and_but.end(), name) != and_but.end()) continue;
    std::string key;
    AppendJsonInside(key, name);
    columns_.push_back({name, std::move(key)});
  }
}

std::string OtherColumns::Select() const {
  std::string list;
  for (const Column& column : columns_) list += ", " + QuotedName(column.name);
  return list;
}

void OtherColumns::Write(const SqliteStatement& row, int first, EventJson& out) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const int at = first + static_cast<int>(i);
    switch (row.Type(at)) {
      case SqlType::kInteger:
        out.Arg(columns_[i].key, row.Int(at));
        break;
      case SqlType::kReal: {
        const double value = row.Real(at);
        std::array<char, 32> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        if (std::isfinite(value)) {
          out.ArgJson(columns_[i].key, {digits.data(), static_cast<size_t>(end - digits.data())});
        }
        break;
      }
      case SqlType::kText:
        out.ArgText(columns_[i].key, row.Text(at));
        break;
      case SqlType::kNull:
      case SqlType::kBlob:
        break;
    }
  }
}

}  // namespace tracedb
