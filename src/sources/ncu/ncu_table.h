// The header of one table in a file of Nsight Compute: what each column is.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sources/ncu/csv_cells.h"
#include "tracedb/base/result.h"

namespace tracedb {

// Columns that tell which kernel a row is of, then those of --page details.
enum class NcuColumn : uint8_t {
  kId,
  kProcessId,
  kProcessName,
  kHostName,
  kKernelName,
  kKernelTime,
  kContext,
  kStream,
  kBlockSize,
  kGridSize,
  kDevice,
  kCc,
  kSection,
  kMetricName,
  kMetricUnit,
  kMetricValue,
  kRuleName,
  kRuleType,
  kRuleDescription,
  kSpeedupType,
  kSpeedup,
  kMetric,  // every other column is a metric of its own
};
inline constexpr size_t kNcuColumns = static_cast<size_t>(NcuColumn::kMetric);

// What a metric's number is known to be.
enum class NcuMeaning : uint8_t { kPlain, kDuration, kGridSize, kGridX, kWhole };

struct NcuTable {
  static constexpr size_t kColumnsMax = 262144;
  static constexpr size_t kNameBytesMax = size_t{8} << 20;  // of all names in one header

  struct Column {
    NcuColumn is = NcuColumn::kMetric;
    NcuMeaning meaning = NcuMeaning::kPlain;
    int8_t exponent = 0;     // from its unit to base units
    uint32_t metric_id = 0;  // of a kMetric
  };
  std::vector<Column> columns;
  uint64_t columns_left_out = 0;  // beyond these limits
  bool is_details = false;        // a row a metric, not a column
  int64_t metrics = 0;            // columns that are one
};

// "ID": kId; every name that is not known is a metric.
NcuColumn NcuColumnOf(std::string_view name);

// Whether a line that begins so is a header, by the names of its first columns.
bool LooksLikeNcuHeader(std::string_view line);

// "(32,32,1)" and "32, 32, 1" as the views of kernels have it: "[32,32,1]".
std::string NcuDimensions(std::string_view text);
// The product of the three; 0 when it is none.
int64_t NcuVolume(std::string_view dimensions);
int64_t NcuFirstDimension(std::string_view dimensions);

// "vectorized_elementwise_kernel" of "void at::vectorized_elementwise_kernel<8, ...>(int, T2)".
std::string_view NcuBaseName(std::string_view kernel);

NcuMeaning NcuMeaningOf(std::string_view metric, std::string_view unit);
// Whether ncu writes it only when it is asked for: all but facts of the launch and the device.
bool IsAskedMetric(std::string_view metric);

}  // namespace tracedb
