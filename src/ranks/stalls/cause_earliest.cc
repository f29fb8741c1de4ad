#include "ranks/stalls/cause_earliest.h"

#include <algorithm>
#include <limits>

#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

constexpr size_t kStepStartsMax = 4096;  // that are kept from one stall to the next

}  // namespace

Result<EarliestStart> EarliestStart::Open(SqliteDb& db, const RankClocks& clocks) {
  TRACEDB_ASSIGN(step, db.Prepare("SELECT min(s.ts + t.base_ns) FROM _step s JOIN _track t "
                                  "ON t.id = s.track WHERE t.trace_id = ?1 AND s.step = ?2"));
  return EarliestStart(clocks, std::move(step));
}

Result<int64_t> EarliestStart::Find(const Stall& stall) {
  const int64_t length_ns = DifferenceNs(stall.start_ns, stall.first_ns);
  constexpr int64_t kFactor = 10;
  const int64_t reach_ns =
      std::min(length_ns, std::numeric_limits<int64_t>::max() / kFactor) * kFactor;
  const int64_t without_step_ns = DifferenceNs(stall.first_ns, reach_ns);
  if (!stall.step.has_value()) return std::max(stall.together_ns, without_step_ns);
  TRACEDB_ASSIGN(start_ns, StepStart(stall.trace_id, *stall.step));
  return std::max(stall.together_ns, SumNs(start_ns, clocks_->ShiftNs(stall.trace_id, start_ns)));
}

Result<int64_t> EarliestStart::FindSinceStepBefore(const Stall& stall) {
  if (!stall.step.has_value()) return Find(stall);
  TRACEDB_ASSIGN(start_ns, StepStart(stall.trace_id, *stall.step - 1));
  if (start_ns == 0) return Find(stall);
  return std::max(stall.together_ns, SumNs(start_ns, clocks_->ShiftNs(stall.trace_id, start_ns)));
}

Result<int64_t> EarliestStart::StepStart(int64_t trace_id, int64_t step) {
  if (step_starts_.size() >= kStepStartsMax) step_starts_.clear();
  const auto [at, is_new] = step_starts_.try_emplace({trace_id, step}, 0);
  if (is_new) {
    TRACEDB_TRY(step_.Bind(1, trace_id));
    TRACEDB_TRY(step_.Bind(2, step));
    TRACEDB_ASSIGN(any, step_.Step());
    if (any) at->second = step_.Int(0);
    step_.Reset();
  }
  return at->second;
}

}  // namespace tracedb
