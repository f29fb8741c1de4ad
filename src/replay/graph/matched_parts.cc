#include "replay/graph/matched_parts.h"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

namespace tracedb {
namespace {

class PartReader {
 public:
  explicit PartReader(JobRows& job) : job_(job) {}

  Status Read(SqliteDb& db, int64_t capture_id) {
    for (uint32_t i = 0; i < job_.activities.size(); ++i) {
      if (job_.activities[i].kind == GpuKind::kCommunication) {
        by_id_.emplace(job_.activities[i].slice_id, i);
      }
    }
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT group_id, pair, by_seq, match_no, id "
                                    "FROM _collective_part WHERE capture_id = ?1 "
                                    "AND group_id IS NOT NULL "
                                    "ORDER BY group_id, pair, by_seq, match_no, id"));
    TRACEDB_TRY(rows.Bind(1, capture_id));
    std::string key;
    size_t first = 0;  // of the collective, in group_parts
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      std::string here;
      if (any) {
        for (int column = 0; column < 4; ++column) here.append(rows.Text(column)).append("\n");
      }
      if (!any || here != key) {
        AddCollective(std::span(job_.group_parts).subspan(first));
        first = job_.group_parts.size();
        if (!any) break;
        key = std::move(here);
      }
      const uint32_t activity = ActivityOf(rows.Int(4));
      if (activity == kNone) continue;
      job_.group_parts.push_back({activity, kNone, rows.Int(0)});
    }
    job_.group_parts.shrink_to_fit();
    std::ranges::sort(job_.group_parts, {}, &GroupPart::activity);
    return Done{};
  }

 private:
  uint32_t ActivityOf(int64_t slice_id) const {
    const auto found = by_id_.find(slice_id);
    return found == by_id_.end() ? kNone : found->second;
  }

  void AddCollective(std::span<GroupPart> parts) {
    const auto rank = [&](const GroupPart& part) {
      return job_.traces[job_.TraceOf(job_.activities[part.activity])].rank;
    };
    const bool is_met = std::ranges::any_of(
        parts, [&](const GroupPart& part) { return rank(part) != rank(parts[0]); });
    if (!is_met) return;
    const auto number = static_cast<uint32_t>(job_.collectives.size());
    job_.collectives.push_back(
        {static_cast<uint32_t>(job_.parts.size()), static_cast<uint32_t>(parts.size())});
    for (GroupPart& part : parts) {
      part.collective = number;
      job_.parts.push_back(part.activity);
    }
  }

  JobRows& job_;
  std::unordered_map<int64_t, uint32_t> by_id_;  // communication kernels
};

}  // namespace

Status ReadMatchedParts(SqliteDb& db, int64_t capture_id, JobRows& rows) {
  return PartReader(rows).Read(db, capture_id);
}

}  // namespace tracedb
