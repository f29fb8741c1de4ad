// Rows of step_use: a GPU's time in one trace, by step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "derive/step_partition.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/memory/packed_rows.h"

namespace tracedb {

// Of one trace alone, whatever else there is of its rank.
class StepUses {
 public:
  // `folder` is for what does not fit in `bytes_max`.
  StepUses(std::filesystem::path folder, size_t bytes_max) : rows_(std::move(folder), bytes_max) {}

  // `device` is a number.
  Status Add(size_t device, const StepUse& use);
  // Writes the rows in the order in which they were added. `devices` are the numbers' names.
  Status Store(SqliteDb& db, int64_t trace_id, const std::vector<std::string>& devices) const;

 private:
  // Device, whether there is a step, step, then the columns as they are stored.
  static constexpr size_t kColumnsBefore = 3;
  static constexpr size_t kColumns = kColumnsBefore + 6 + kParallelisms + kIdleCauses;
  using Row = std::array<int64_t, kColumns>;

  PackedRows<Row> rows_;
};

}  // namespace tracedb
