#include "replay/changes/others_use.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace tracedb {

int64_t OthersUse::Sum::MeanNs() const {
  if (calls == 0) return 0;
  constexpr Wide kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp<Wide>(total_ns / calls, -kMost, kMost));
}

Result<OthersUse> OthersUse::Read(SqliteDb& db, const JobRows& rows,
                                  const std::set<std::string>& names,
                                  const std::set<int64_t>& ranks) {
  OthersUse use;
  if (names.empty()) return use;
  std::unordered_map<int64_t, const std::string*> wanted;  // by id: each trace has its own
  TRACEDB_ASSIGN(ids, db.Prepare("SELECT id, name FROM _event_name WHERE name IS NOT NULL"));
  for (;;) {
    TRACEDB_ASSIGN(any, ids.Step());
    if (!any) break;
    const auto name = names.find(std::string(ids.Text(1)));
    if (name != names.end()) wanted.emplace(ids.Int(0), &*name);
  }
  std::unordered_map<int64_t, int64_t> rank_of;  // by trace_id: those of the capture
  for (const JobTrace& trace : rows.traces) rank_of.emplace(trace.trace_id, trace.rank);
  TRACEDB_ASSIGN(sums, db.Prepare("SELECT trace_id, step, event_name, total_ns, calls "
                                  "FROM _host_use"));
  for (;;) {
    TRACEDB_ASSIGN(any, sums.Step());
    if (!any) return use;
    const auto rank = rank_of.find(sums.Int(0));
    const auto name = wanted.find(sums.Int(2));
    if (rank == rank_of.end() || name == wanted.end()) continue;
    const int64_t step = sums.Type(1) == SqlType::kInteger ? sums.Int(1) : kNoStep;
    Sums& here = use.sums_[{*name->second, step}];
    const auto add = [&sums](Sum& sum) {
      sum.total_ns += sums.Int(3);
      sum.calls += sums.Int(4);
    };
    add(here.all);
    if (ranks.contains(rank->second)) add(here.by_rank[rank->second]);
  }
}

}  // namespace tracedb
