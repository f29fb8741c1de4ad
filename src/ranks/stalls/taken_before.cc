#include "ranks/stalls/taken_before.h"

#include <algorithm>
#include <limits>

#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

constexpr size_t kKnownMax = 262'144;  // kernels: 4 MiB

constexpr const char* kKernelsSql =
    "SELECT g.ts + o.base_ns, g.dur FROM _gpu_slice k JOIN _track t ON t.id = k.track "
    "JOIN _track o ON o.trace_id = t.trace_id AND o.device = t.device "
    "CROSS JOIN _gpu_slice g ON g.track = o.id AND g.ts >= ?3 - o.base_ns "
    "  AND g.ts < ?4 - o.base_ns AND g.event_name = ?2 AND g.dur > 0 "
    "WHERE k.id = ?1 ORDER BY 1";

}  // namespace

Result<TakenBefore> TakenBefore::Open(SqliteDb& db) {
  TRACEDB_ASSIGN(kernels, db.Prepare(kKernelsSql));
  return TakenBefore(std::move(kernels));
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
  const std::tuple key(stall.trace_id, *stall.step, event_name);
  auto at = known_.find(key);
  if (at == known_.end()) {
    // Kernels of a step may run when its host is in the next.
    TRACEDB_ASSIGN(after_next_ns, steps.StepStart(stall.trace_id, *stall.step + 2));
    if (known_count_ >= kKnownMax) {
      known_.clear();
      known_count_ = 0;
    }
    Kernels kernels;
    TRACEDB_TRY(Read(stall, event_name, begin_ns,
                     after_next_ns != 0 ? after_next_ns : std::numeric_limits<int64_t>::max(),
                     kernels));
    known_count_ += kernels.start_ns.size() + 1;
    at = known_.emplace(key, std::move(kernels)).first;
  }
  const Kernels& kernels = at->second;
  if (kernels.start_ns.empty()) return std::optional<int64_t>();
  const auto end = std::lower_bound(kernels.start_ns.begin(), kernels.start_ns.end(), own_start_ns);
  if (end == kernels.start_ns.begin()) return std::optional<int64_t>(0);
  return std::optional<int64_t>(
      kernels.sum_ns[static_cast<size_t>(end - kernels.start_ns.begin()) - 1]);
}

Status TakenBefore::Read(const Stall& stall, int64_t event_name, int64_t begin_ns, int64_t end_ns,
                         Kernels& into) {
  int at = 0;
  for (const int64_t value : {stall.id, event_name, begin_ns, end_ns}) {
    TRACEDB_TRY(kernels_.Bind(++at, value));
  }
  int64_t sum_ns = 0;
  for (;;) {
    TRACEDB_ASSIGN(row, kernels_.Step());
    if (!row) break;
    sum_ns = SumNs(sum_ns, kernels_.Int(1));
    into.start_ns.push_back(kernels_.Int(0));
    into.sum_ns.push_back(sum_ns);
  }
  kernels_.Reset();
  return Done{};
}

}  // namespace tracedb
