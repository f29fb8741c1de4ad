// What the readers of an export's tables share: whose rows are wanted, and what could not be used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sources/nsys/event_json.h"
#include "sources/nsys/export_tables.h"
#include "sources/nsys/text_ids.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/event_issues.h"
#include "tracedb/sources/nsys/nsys_export.h"

namespace tracedb {

// Numbers of processes and threads, as exports have them.
inline constexpr int64_t kThreadBits = 0xffffff;
constexpr int64_t ProcessOf(int64_t global_tid) { return global_tid & ~kThreadBits; }
constexpr int64_t PidOf(int64_t global_id) { return global_id >> 24 & kThreadBits; }
constexpr int64_t TidOf(int64_t global_tid) { return global_tid & kThreadBits; }

inline std::optional<int64_t> IntIn(const SqliteStatement& row, int column) {
  if (row.Type(column) != SqlType::kInteger) return std::nullopt;
  return row.Int(column);
}

class PartReading {
 public:
  PartReading(SqliteDb& db, const ExportTables& tables, TextIds& texts,
              const std::vector<NsysPart>& parts, size_t part, EventIssues& issues)
      : db_(db), tables_(tables), texts_(texts), parts_(parts), part_(part), issues_(issues) {}

  const ExportTables& tables() const { return tables_; }
  SqliteDb& db() const { return db_; }
  const NsysPart& part() const { return parts_[part_]; }
  const std::vector<NsysPart>& parts() const { return parts_; }
  size_t index() const { return part_; }
  bool is_first() const { return part_ == 0; }

  // A condition on the rows of a table: that they are of this part. Each row is of one part.
  std::string Condition(std::string_view table) const;
  // Whether a row of this part is of another process: its numbers are not those of this one.
  bool IsForeign(int64_t global_id) const {
    return part().has_pid && ProcessOf(global_id) != part().global_pid;
  }
  // The GPU of a context, which tells it where a row's own number does not.
  std::optional<int64_t> DeviceOf(std::optional<int64_t> context) const;

  // The text with this number as the inside of a JSON string; null: none.
  const std::string* Text(std::optional<int64_t> id) const {
    return id.has_value() ? texts_.Find(*id) : nullptr;
  }

  // Of the row that is being read; `place` is where in the text it would have been.
  void Unusable(std::string_view table, std::string_view why) {
    issues_.Add(IssueKind::kUnusableRow, place_, std::string(table) + ": " + std::string(why));
  }
  void LeftOut(std::string_view table, uint64_t rows) {
    issues_.Add(IssueKind::kRowLeftOut, place_, table, rows);
  }
  // Rows of a table that is looked into, beyond what fits in the share of --memory.
  void NotKept(std::string_view table, uint64_t rows) {
    if (rows > 0) LeftOut(std::string(table) + ": more than fits in --memory", rows);
  }
  void SetPlace(uint64_t place) { place_ = place; }

 private:
  SqliteDb& db_;
  const ExportTables& tables_;
  TextIds& texts_;
  const std::vector<NsysPart>& parts_;
  size_t part_;
  EventIssues& issues_;
  uint64_t place_ = 0;
};

// Reads the rows of one table into events.
class TableRows {
 public:
  virtual ~TableRows() = default;
  // Of all rows that are of the part; the columns are this reader's.
  virtual std::string Sql(const PartReading& part) const = 0;
  virtual void Write(const SqliteStatement& row, PartReading& part, EventJson& out) = 0;
};

// Columns that a reader does not know are kept under their own names.
class OtherColumns {
 public:
  // All of the table but those.
  OtherColumns(const ExportTables& tables, std::string_view table,
               std::span<const std::string_view> but,
               std::span<const std::string_view> and_but = {});
  // ", a, b" for a SELECT.
  std::string Select() const;
  // As arguments; `first` is the column of the first of them.
  void Write(const SqliteStatement& row, int first, EventJson& out) const;

 private:
  struct Column {
    std::string name;
    std::string key;  // the name as the inside of a JSON string
  };
  std::vector<Column> columns_;
};

}  // namespace tracedb
