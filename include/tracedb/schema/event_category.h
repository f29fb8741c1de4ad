// What an event's category says about it: which table it belongs to, and whether it ran on a GPU.
// The category alone decides (DESIGN: CPU operators may carry a stream, and process ids of GPU
// rows are no index of anything).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace tracedb {

enum class SliceTable : uint8_t { kCpu, kRuntime, kPython, kGpu };

enum class GpuKind : uint8_t { kCompute = 0, kCommunication = 1, kMemory = 2 };

struct CategoryClass {
  SliceTable table = SliceTable::kCpu;
  bool gpu_memory = false;  // kGpu only: a copy or a fill
};

inline bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
         });
}

inline bool EndsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         EqualsIgnoringCase(text.substr(text.size() - lower.size()), lower);
}

inline CategoryClass ClassifyCategory(std::string_view category) {
  for (std::string_view memory : {"gpu_memcpy", "gpu_memset", "memcpy", "memset"}) {
    if (EqualsIgnoringCase(category, memory)) return {SliceTable::kGpu, true};
  }
  for (std::string_view kernel : {"kernel", "mtia_ccp_events"}) {
    if (EqualsIgnoringCase(category, kernel)) return {SliceTable::kGpu, false};
  }
  if (EqualsIgnoringCase(category, "python_function")) return {SliceTable::kPython, false};
  if (EndsIgnoringCase(category, "runtime") || EndsIgnoringCase(category, "driver")) {
    return {SliceTable::kRuntime, false};
  }
  return {SliceTable::kCpu, false};
}

}  // namespace tracedb
