// What the lines of a shell do, one after the other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracedb/shell/shell_command.h"

namespace tracedb {

class ShellSession {
 public:
  // Both must outlive this.
  ShellSession(const ShellOptions& options, const QueryCatalog& catalog)
      : options_(options), catalog_(catalog) {}

  // An error is the line's; the session goes on.
  Status Take(const std::string& line);
  // SQL that has no semicolon yet.
  bool is_pending() const { return !sql_.empty(); }
  void DropPending() { sql_.clear(); }
  // What is pending is run as it is.
  Status Finish();
  bool is_over() const { return is_over_; }

 private:
  static constexpr size_t kSqlBytesMax = 1 << 20;
  static constexpr size_t kReadsDeep = 8;  // a file of lines that reads another

  // What a result is shown with, if nothing else is said.
  QueryOptions Shown() const;
  Status Run(QueryOptions query);
  Status TakeSql(const std::string& line);
  Status TakeDot(const std::vector<std::string>& words);
  Status CheckQueryName(const std::string& name) const;
  Status TakeMode(const std::vector<std::string>& words);
  Status SayMode() const;
  Status ShowRelations(const std::string& pattern);
  Status ReadLines(const std::string& file);
  Status TakeOnce(const std::string& file);
  Status ShowHelp();

  const ShellOptions& options_;
  const QueryCatalog& catalog_;
  std::string sql_;
  std::string format_;  // of --format; empty: table for a person, else csv
  bool wide_ = false;
  bool vertical_ = false;
  bool timer_ = false;
  std::string once_;                // the file that the next result goes to; empty: none
  std::vector<std::string> reads_;  // files of lines that are being read
  bool is_over_ = false;
};

}  // namespace tracedb
