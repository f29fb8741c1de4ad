#include "ranks/stalls/taken_before.h"

#include <algorithm>
#include <limits>

#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

// Of kernels that are kept: 1 MiB. Where a step has more of one name it is not told when they ran.
constexpr int64_t kKnownMax = 65'536;

constexpr const char* kKernelsSql =
    "SELECT g.ts + o.base_ns, g.dur FROM _track o CROSS JOIN _gpu_slice g ON g.track = o.id "
    "  AND g.ts >= ?4 - o.base_ns AND g.ts < ?5 - o.base_ns AND g.event_name = ?3 AND g.dur > 0 "
    "WHERE o.trace_id = ?1 AND o.device = ?2 ORDER BY 1 LIMIT ?6";

constexpr const char* kDeviceSql =
    "SELECT t.device FROM _gpu_slice g JOIN _track t ON t.id = g.track WHERE g.id = ?1";

}  // namespace

Result<TakenBefore> TakenBefore::Open(SqliteDb& db) {
  TRACEDB_ASSIGN(kernels, db.Prepare(kKernelsSql));
  TRACEDB_ASSIGN(device, db.Prepare(kDeviceSql));
  return TakenBefore(std::move(kernels), std::move(device));
}

Result<bool> TakenBefore::Explains(const Stall& stall, int64_t own_start_ns,
                                   const LongerKernels& longer, EarliestStart& steps) {
  const int64_t late_ns = DifferenceNs(stall.start_ns, stall.first_ns);
  const auto explains = [late_ns](int64_t ns) { return ns >= late_ns / 2 + late_ns % 2; };
  const bool by_name = explains(longer.most_ns);
  if (longer.event_name == 0 || (!by_name && !explains(longer.total_ns))) return false;
  TRACEDB_ASSIGN(taken_ns, Find(stall, own_start_ns, longer.event_name, steps));
  if (!taken_ns.has_value() || (by_name && explains(*taken_ns))) return true;
  const int64_t rest_ns = by_name ? DifferenceNs(longer.total_ns, longer.most_ns) : longer.total_ns;
  return explains(rest_ns) && *taken_ns > 0;
}

Result<std::optional<int64_t>> TakenBefore::Find(const Stall& stall, int64_t own_start_ns,
                                                 int64_t event_name, EarliestStart& steps) {
  if (!stall.step.has_value()) return std::optional<int64_t>();
  TRACEDB_ASSIGN(begin_ns, steps.StepStart(stall.trace_id, *stall.step));
  if (begin_ns == 0) return std::optional<int64_t>();
  TRACEDB_TRY(device_.Bind(1, stall.id));
  TRACEDB_ASSIGN(any, device_.Step());
  const std::optional<int64_t> device = any ? device_.OptionalInt(0) : std::nullopt;
  device_.Reset();
  if (!device.has_value()) return std::optional<int64_t>();
  const Key key{stall.trace_id, *device, *stall.step, event_name};
  auto at = known_.find(key);
  if (at == known_.end()) {
    // Kernels of a step may run when its host is in the next.
    TRACEDB_ASSIGN(after_next_ns, steps.StepStart(stall.trace_id, *stall.step + 2));
    if (known_count_ >= kKnownMax) {
      known_.clear();
      known_count_ = 0;
    }
    const int64_t end_ns = after_next_ns != 0 ? after_next_ns : std::numeric_limits<int64_t>::max();
    TRACEDB_ASSIGN(kernels, Read(key, begin_ns, end_ns));
    known_count_ += static_cast<int64_t>(kernels.start_ns.size()) + 1;
    at = known_.emplace(key, std::move(kernels)).first;
  }
  const Kernels& kernels = at->second;
  if (kernels.start_ns.empty()) return std::optional<int64_t>();
  const auto end = std::lower_bound(kernels.start_ns.begin(), kernels.start_ns.end(), own_start_ns);
  if (end == kernels.start_ns.begin()) return std::optional<int64_t>(0);
  return std::optional<int64_t>(
      kernels.sum_ns[static_cast<size_t>(end - kernels.start_ns.begin()) - 1]);
}

Result<TakenBefore::Kernels> TakenBefore::Read(const Key& key, int64_t begin_ns, int64_t end_ns) {
  const auto& [trace_id, device, step, event_name] = key;
  int at = 0;
  for (const int64_t value : {trace_id, device, event_name, begin_ns, end_ns, kKnownMax + 1}) {
    TRACEDB_TRY(kernels_.Bind(++at, value));
  }
  Kernels kernels;
  int64_t sum_ns = 0;
  for (;;) {
    TRACEDB_ASSIGN(row, kernels_.Step());
    if (!row) break;
    sum_ns = SumNs(sum_ns, kernels_.Int(1));
    kernels.start_ns.push_back(kernels_.Int(0));
    kernels.sum_ns.push_back(sum_ns);
  }
  kernels_.Reset();
  if (kernels.start_ns.size() > static_cast<size_t>(kKnownMax)) kernels = {};
  return kernels;
}

}  // namespace tracedb
