// The lines of a file of job settings, one after the other, become rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/settings/shell_values.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

// "#SBATCH --nodes=8", "#PBS -q debug".
bool IsDirective(std::string_view line);
// "KEY=value  # remark", also with export before it: KEY has large letters.
bool SplitVariable(std::string_view line, std::string_view& name, std::string_view& written);
// Nothing but a remark stands after the value.
bool IsOnlyAVariable(std::string_view written);
// "JobIDRaw|JobName|Partition|State|...".
bool IsSacctHeader(std::string_view line);
size_t CountBars(std::string_view line);

class SettingsLines {
 public:
  static Result<std::unique_ptr<SettingsLines>> Make(SourceRows& rows);
  Status Take(std::string_view line, uint64_t number, uint64_t offset);

 private:
  static constexpr size_t kVariablesMax = 4096;
  SettingsLines(SourceRows& rows, SqliteStatement insert)
      : rows_(rows), insert_(std::move(insert)) {}
  Status TakeSbatch(std::string_view options);
  Status TakePbs(std::string_view options);
  Status TakeResources(std::string_view list);
  Status TakeVariable(std::string_view name, std::string_view written);
  Status TakeSacct(std::string_view line, uint64_t offset);
  Status Add(std::string_view kind, std::string_view name, std::optional<std::string_view> value,
             std::string_view written, std::string_view item = {});

  SourceRows& rows_;
  SqliteStatement insert_;
  uint64_t number_ = 0;
  ShellVariables variables_;
  std::vector<std::string> columns_;  // of sacct; empty: it is something else
};

}  // namespace tracedb
