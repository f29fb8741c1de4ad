// "  micro_batch_size ........ 1": arguments of the training program, and versions of its parts.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "sources/logs/log_rows.h"

namespace tracedb {

class LogArguments {
 public:
  LogArguments(LogRows& rows, SourceIssues& issues) : rows_(rows), issues_(issues) {}

  // True: the line was one of these, or a block's border. The same name and value of the same
  // section become one row, however often a log repeats them.
  Result<bool> Take(const LogLine& line, const LogPlace& place, uint64_t offset);
  bool is_inside() const { return is_inside_; }  // a block of arguments has begun

 private:
  static constexpr size_t kSeenMax = 65536;  // then they are forgotten, and rows may come twice
  LogRows& rows_;
  SourceIssues& issues_;
  bool is_inside_ = false;
  std::unordered_set<size_t> seen_;  // hashes
  std::string key_;
};

// Whether a setting of that name may be a secret, and is not copied.
bool IsSecretName(std::string_view name);

}  // namespace tracedb
