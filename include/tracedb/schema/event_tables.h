// Which tables the events of a trace are kept in, and what decides it: the category alone, as CPU
// operators may carry a stream, and process ids of GPU rows are no index of anything.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracedb {

// One a table of events, in the order of their declaration in tables.sql; slices come first.
enum class EventTable : uint8_t {
  kCpuSlice,
  kRuntimeSlice,
  kPythonSlice,
  kGpuSlice,
  kInstant,
  kFlow,
  kCounterEvent,
  kMetadataEvent,
  kCount
};
inline constexpr int kEventTables = static_cast<int>(EventTable::kCount);

constexpr std::string_view EventTableName(EventTable table) {
  constexpr std::array<std::string_view, kEventTables> kNames = {
      "_cpu_slice", "_runtime_slice", "_python_slice",  "_gpu_slice",
      "_instant",   "_flow",          "_counter_event", "_metadata_event"};
  return kNames[static_cast<size_t>(table)];
}

// Whether its rows have a duration; those of the others have a phase.
constexpr bool IsSliceTable(EventTable table) { return table <= EventTable::kGpuSlice; }

// Host slices that take as long can hold up what their thread launches: they have the indexes
// *_long. Of the fixture with Python stacks, 4 % of the host's slices are as long, and their
// entries are 1 % of the database.
inline constexpr int64_t kLongSliceNs = 250'000;
inline constexpr std::array kLongSliceTables = {EventTable::kCpuSlice, EventTable::kRuntimeSlice,
                                                EventTable::kPythonSlice};

// As stored in _gpu_slice.kind. What waits is no work of any kind: its time counts as idle.
enum class GpuKind : uint8_t { kCompute = 0, kCommunication = 1, kMemory = 2, kWaiting = 3 };
inline constexpr std::array<std::string_view, 4> kGpuKindNames = {"compute", "communication",
                                                                  "memory", "waiting"};

// As stored in host_use.kind and call_path.kind.
enum class HostKind : uint8_t {
  kOperator = 0,
  kAnnotation = 1,
  kFunction = 2,  // of Python
  kModule = 3,    // nn.Module
  kCall = 4,      // of the CUDA or HIP runtime or driver
};
inline constexpr size_t kHostKinds = 5;

struct CategoryClass {
  EventTable table = EventTable::kCpuSlice;
  bool gpu_memory = false;  // kGpuSlice only: a copy or a fill
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
    if (EqualsIgnoringCase(category, memory)) return {EventTable::kGpuSlice, true};
  }
  for (std::string_view kernel : {"kernel", "mtia_ccp_events"}) {
    if (EqualsIgnoringCase(category, kernel)) return {EventTable::kGpuSlice, false};
  }
  if (EqualsIgnoringCase(category, "python_function")) return {EventTable::kPythonSlice, false};
  if (EndsIgnoringCase(category, "runtime") || EndsIgnoringCase(category, "driver")) {
    return {EventTable::kRuntimeSlice, false};
  }
  return {EventTable::kCpuSlice, false};
}

}  // namespace tracedb
