#include "sources/ncu/ncu_table.h"

#include <algorithm>
#include <charconv>

namespace tracedb {
namespace {

constexpr std::array<std::string_view, kNcuColumns> kNames = {"ID",
                                                              "Process ID",
                                                              "Process Name",
                                                              "Host Name",
                                                              "Kernel Name",
                                                              "Kernel Time",
                                                              "Context",
                                                              "Stream",
                                                              "Block Size",
                                                              "Grid Size",
                                                              "Device",
                                                              "CC",
                                                              "Section Name",
                                                              "Metric Name",
                                                              "Metric Unit",
                                                              "Metric Value",
                                                              "Rule Name",
                                                              "Rule Type",
                                                              "Rule Description",
                                                              "Estimated Speedup Type",
                                                              "Estimated Speedup"};

// Three numbers, whatever stands around them; false: there are not three.
bool ThreeNumbers(std::string_view text, std::array<int64_t, 3>& numbers) {
  size_t count = 0;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at != end) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    if (count == numbers.size()) return false;
    const auto [behind, error] = std::from_chars(at, end, numbers[count]);
    if (error != std::errc()) return false;
    ++count;
    at = behind;
  }
  return count == numbers.size();
}

// Parts of a metric's name in front of "__" that ncu fills in for every kernel.
constexpr std::array<std::string_view, 8> kAdded = {"launch",  "device", "profiler", "nvlink",
                                                    "c2clink", "numa",   "sass",     "pmsampling"};
constexpr std::array<std::string_view, 8> kCounts = {"byte",    "sector", "inst",   "cycle",
                                                     "request", "warp",   "thread", "block"};

}  // namespace

NcuColumn NcuColumnOf(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  return static_cast<NcuColumn>(found - kNames.begin());
}

bool LooksLikeNcuHeader(std::string_view line) {
  // No table of kernels that others keep has one of these beside an id and a name.
  constexpr std::array kOwn = {
      NcuColumn::kProcessId,  NcuColumn::kProcessName, NcuColumn::kKernelTime,
      NcuColumn::kBlockSize,  NcuColumn::kGridSize,    NcuColumn::kSection,
      NcuColumn::kMetricName, NcuColumn::kMetricUnit,  NcuColumn::kMetricValue};
  if (!line.starts_with("\"ID\",") && !line.starts_with("ID,")) return false;
  bool has_kernel = false, has_own = false;
  while (!line.empty() && !(has_kernel && has_own)) {
    std::string_view name = line.substr(0, line.find_first_of(",\r\n"));
    line.remove_prefix(std::min(name.size() + 1, line.size()));
    if (name.size() > 1 && name.front() == '"' && name.back() == '"') {
      name = name.substr(1, name.size() - 2);
    }
    const NcuColumn column = NcuColumnOf(name);
    has_kernel |= column == NcuColumn::kKernelName;
    has_own |= std::find(kOwn.begin(), kOwn.end(), column) != kOwn.end();
  }
  return has_kernel && has_own;
}

std::string NcuDimensions(std::string_view text) {
  std::array<int64_t, 3> of{};
  if (!ThreeNumbers(text, of)) return std::string(text);
  return "[" + std::to_string(of[0]) + "," + std::to_string(of[1]) + "," + std::to_string(of[2]) +
         "]";
}

int64_t NcuVolume(std::string_view dimensions) {
  std::array<int64_t, 3> of{};
  int64_t volume = 0;
  if (!ThreeNumbers(dimensions, of) || __builtin_mul_overflow(of[0], of[1], &volume) ||
      __builtin_mul_overflow(volume, of[2], &volume)) {
    return 0;
  }
  return volume;
}

int64_t NcuFirstDimension(std::string_view dimensions) {
  std::array<int64_t, 3> of{};
  return ThreeNumbers(dimensions, of) ? of[0] : 0;
}

std::string_view NcuBaseName(std::string_view kernel) {
  std::string_view name = kernel;
  for (std::string_view skipped : {"void ", "(anonymous namespace)::", "<unnamed>::"}) {
    // Only in front of the function's own name, not among its arguments.
    const size_t at = name.find(skipped);
    const size_t arguments = std::min(name.find('<'), name.find('('));
    if (at != std::string_view::npos && at <= arguments) name.remove_prefix(at + skipped.size());
  }
  name = name.substr(0, name.find_first_of("<("));
  const size_t colon = name.rfind(':');
  if (colon != std::string_view::npos) name.remove_prefix(colon + 1);
  return name.empty() ? kernel : name;
}

NcuMeaning NcuMeaningOf(std::string_view metric, std::string_view unit) {
  if (metric == "gpu__time_duration.sum" || metric == "Duration") return NcuMeaning::kDuration;
  if (metric == "launch__grid_size") return NcuMeaning::kGridSize;
  if (metric == "launch__grid_dim_x") return NcuMeaning::kGridX;
  const bool is_sum = metric.ends_with(".sum");
  const bool is_count = std::find(kCounts.begin(), kCounts.end(), unit) != kCounts.end();
  return is_sum && is_count ? NcuMeaning::kWhole : NcuMeaning::kPlain;
}

bool IsAskedMetric(std::string_view metric) {
  if (metric.starts_with("gpu__time_duration") || metric.starts_with("derived_")) return false;
  if (metric.starts_with("smsp__pcsamp")) return false;
  const std::string_view unit = metric.substr(0, std::min(metric.find("__"), metric.find(':')));
  return std::find(kAdded.begin(), kAdded.end(), unit) == kAdded.end();
}

}  // namespace tracedb
