// Rows of samples: a moment is one GPU at one time, a sample one value of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

// What a value is in words that all tools share ("utilization"); empty: nothing that several have.
std::string_view QuantityOf(std::string_view name);

class SampleRows {
 public:
  // Names and units are the file's, so there is an end to how many are kept apart.
  static constexpr size_t kNamesMax = 1000;
  static constexpr size_t kGpusMax = 4096;

  static Result<SampleRows> Open(SourceRows& rows);

  // The samples after it are of this moment, of the line at `offset`. Times are without a zone.
  Status Begin(std::optional<int64_t> gpu, std::optional<int64_t> local_ns, uint64_t offset);
  // The value as the file writes it, with or without `unit` after it. What stands for a missing
  // one ("[N/A]", "-") adds nothing. A text is a row when it differs from the one before: driver
  // and name stand in every line. A name too many (kNamesMax) is an issue.
  Status Add(std::string_view name, std::string_view unit, std::string_view value);

  // For a GPU that is known by something else: a number that keeps it apart from the file's others,
  // and is negative, so that no rank computes there.
  std::optional<int64_t> GpuOf(std::string_view id);

  // Says how times are known to be Unix time. Times of day without a date never are.
  Status Finish(bool any_date = true);

 private:
  SampleRows(SourceRows& rows, SqliteStatement moment, SqliteStatement sample, SqliteStatement name)
      : rows_(&rows),
        moment_row_(std::move(moment)),
        sample_row_(std::move(sample)),
        name_row_(std::move(name)) {}
  Result<std::optional<int64_t>> NameId(std::string_view name, std::string_view unit);
  Status AddText(std::string_view name, std::string_view text);
  Status BindSample(int64_t name_id);

  SourceRows* rows_;
  SqliteStatement moment_row_, sample_row_, name_row_;
  std::map<std::pair<std::string, std::string>, int64_t, std::less<>> names_;
  std::map<std::pair<std::optional<int64_t>, int64_t>, std::string> texts_;  // by GPU and name
  std::vector<std::string> gpu_ids_;
  int64_t moment_ = 0;
  std::optional<int64_t> gpu_;
  uint64_t offset_ = 0;
  bool any_time_ = false;
};

}  // namespace tracedb
