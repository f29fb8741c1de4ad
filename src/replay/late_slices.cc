#include "replay/late_slices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

__extension__ using Wide = __int128;

// What the others take for a slice of the host of that name in that step, on average; 0: they have
// none.
// ?1 the name, ?2 its capture's traces as JSON, ?3 the rank, ?4 the step.
constexpr const char* kOthersSql =
    "WITH other AS (SELECT t.trace_id FROM _trace t "
    "  WHERE t.trace_id IN (SELECT value FROM json_each(?2)) AND t.rank <> ?3), "
    "named AS (SELECT n.id FROM _event_name n WHERE n.name = ?1) "
    "SELECT sum(total_ns) / sum(calls) FROM _host_use "
    "WHERE trace_id IN other AND step IS ?4 AND event_name IN named";

class LateFinder {
 public:
  LateFinder(SqliteDb& db, const JobRows& rows, int64_t rank) : db_(db), rows_(rows), rank_(rank) {
    for (uint32_t i = 0; i < rows.activities.size(); ++i) {
      const Activity& activity = rows.activities[i];
      if (activity.collective == kNone || rows.traces[activity.trace].rank != rank) continue;
      parts_[activity.slice_id] = i;
    }
    for (const JobTrace& trace : rows.traces) {
      traces_ += (traces_.empty() ? "[" : ",") + std::to_string(trace.trace_id);
    }
    traces_ += traces_.empty() ? "[]" : "]";
  }

  Result<Lateness> Find() {
    Lateness all;
    TRACEDB_ASSIGN(causes,
                   db_.Prepare("SELECT id, cause_slice_id, step, cause FROM _collective_cause "
                               "WHERE rank = ?1 AND cause IN ('host', 'device') "
                               "AND (cause_slice_id > 0 OR cause = 'host') "
                               "AND upstream_id IS NULL AND carried_id IS NULL ORDER BY id"));
    TRACEDB_TRY(causes.Bind(1, rank_));
    for (;;) {
      TRACEDB_ASSIGN(any, causes.Step());
      if (!any) break;
      const auto part = parts_.find(causes.Int(0));
      if (part == parts_.end()) continue;
      const int64_t step = causes.Type(2) == SqlType::kInteger ? causes.Int(2) : kNoStep;
      if (causes.Text(3) == "device") {
        slow_steps_.insert(step);
        continue;
      }
      if (causes.Type(1) != SqlType::kInteger || causes.Int(1) <= 0) {
        all.steps_in_pieces.insert(step);
        continue;
      }
      Late& late = late_[causes.Int(1)];
      late.late_ns = std::max(late.late_ns, LatenessNs(rows_.activities[part->second]));
      late.step = step;
    }
    std::vector<LateSlice>& found = all.slices;
    if (!slow_steps_.empty()) TRACEDB_TRY(FindSlowKernels(found));
    for (const auto& [slice_id, late] : late_) {
      TRACEDB_ASSIGN(longer_ns, LongerNs(slice_id, late.step));
      const int64_t late_ns = std::min(late.late_ns, longer_ns);
      if (late_ns > 0) found.push_back({slice_id, late_ns});
    }
    return all;
  }

 private:
  struct Late {
    int64_t late_ns = 0;
    int64_t step = kNoStep;
  };

  struct Times {
    int64_t own_ns = 0, own = 0;        // sum and number on this rank
    int64_t others_ns = 0, others = 0;  // and on the others
  };

  // Of a slow GPU all kernels take longer, not that alone which a cause names.
  Status FindSlowKernels(std::vector<LateSlice>& found) {
    std::map<std::pair<int64_t, std::string>, Times> times;  // by step and name
    for (const Activity& activity : rows_.activities) {
      if (!IsWork(activity)) continue;
      TRACEDB_ASSIGN(name, NameOf(activity.name_id));
      Times& here = times[{activity.step, *name}];
      const bool is_own = rows_.traces[activity.trace].rank == rank_;
      int64_t& sum_ns = is_own ? here.own_ns : here.others_ns;
      sum_ns = SumNs(sum_ns, activity.finish_ns - activity.start_ns);
      ++(is_own ? here.own : here.others);
    }
    for (const Activity& activity : rows_.activities) {
      if (!IsWork(activity) || rows_.traces[activity.trace].rank != rank_) continue;
      TRACEDB_ASSIGN(name, NameOf(activity.name_id));
      const Times& here = times[{activity.step, *name}];
      if (here.others == 0) continue;
      const int64_t own_ns = here.own_ns / here.own;
      const int64_t others_ns = here.others_ns / here.others;
      if (own_ns <= others_ns) continue;
      const int64_t length_ns = activity.finish_ns - activity.start_ns;
      const auto left_ns = static_cast<int64_t>(Wide{length_ns} * others_ns / own_ns);
      found.push_back({activity.slice_id, length_ns - left_ns});
    }
    return Done{};
  }

  bool IsWork(const Activity& activity) const {
    return activity.kind != ActivityKind::kCommunication && slow_steps_.contains(activity.step);
  }

  Result<const std::string*> NameOf(int64_t name_id) {
    const auto known = names_.find(name_id);
    if (known != names_.end()) return &known->second;
    if (!name_.has_value()) {
      TRACEDB_ASSIGN(name, db_.Prepare("SELECT name FROM _event_name WHERE id = ?1"));
      name_.emplace(std::move(name));
    }
    TRACEDB_TRY(name_->Bind(1, name_id));
    TRACEDB_ASSIGN(any, name_->Step());
    std::string text(any ? name_->Text(0) : "");
    name_->Reset();
    return &names_.emplace(name_id, std::move(text)).first->second;
  }

  // After the last of the other ranks.
  int64_t LatenessNs(const Activity& own) const {
    const Collective& collective = rows_.collectives[own.collective];
    int64_t others_ns = std::numeric_limits<int64_t>::min();
    for (uint32_t p = 0; p < collective.part_count; ++p) {
      const Activity& part = rows_.activities[rows_.parts[collective.first_part + p]];
      if (rows_.traces[part.trace].rank != rank_) others_ns = std::max(others_ns, part.start_ns);
    }
    return std::max<int64_t>(0, DifferenceNs(own.start_ns, others_ns));
  }

  Result<int64_t> LongerNs(int64_t slice_id, int64_t step) {
    if (!slice_.has_value()) {
      TRACEDB_ASSIGN(slice, db_.Prepare("SELECT dur_ns, name FROM slices WHERE slice_id = ?1"));
      slice_.emplace(std::move(slice));
    }
    TRACEDB_TRY(slice_->Bind(1, slice_id));
    TRACEDB_ASSIGN(any, slice_->Step());
    const int64_t own_ns = any ? slice_->Int(0) : 0;
    const std::string name(any ? slice_->Text(1) : "");
    slice_->Reset();
    if (!any) return 0;
    TRACEDB_ASSIGN(others_ns, OthersNs(name, step));
    return DifferenceNs(own_ns, others_ns);
  }

  // Of a name and step there are many late slices: asked once.
  Result<int64_t> OthersNs(const std::string& name, int64_t step) {
    const auto known = others_ns_.find({step, name});
    if (known != others_ns_.end()) return known->second;
    if (!others_.has_value()) {
      TRACEDB_ASSIGN(others, db_.Prepare(kOthersSql));
      others_.emplace(std::move(others));
    }
    TRACEDB_TRY(others_->Bind(1, name));
    TRACEDB_TRY(others_->Bind(2, traces_));
    TRACEDB_TRY(others_->Bind(3, rank_));
    TRACEDB_TRY(step == kNoStep ? others_->BindNull(4) : others_->Bind(4, step));
    TRACEDB_ASSIGN(any, others_->Step());
    const int64_t others_ns = any ? others_->Int(0) : 0;
    others_->Reset();
    return others_ns_[{step, name}] = others_ns;
  }

  SqliteDb& db_;
  const JobRows& rows_;
  const int64_t rank_;
  std::string traces_;
  std::unordered_map<int64_t, uint32_t> parts_;  // of this rank, by slice_id
  std::map<int64_t, Late> late_;                 // by slice_id
  std::set<int64_t> slow_steps_;                 // in which its GPU came late
  std::unordered_map<int64_t, std::string> names_;
  std::map<std::pair<int64_t, std::string>, int64_t> others_ns_;  // by step and name
  std::optional<SqliteStatement> slice_, others_, name_;
};

}  // namespace

Result<Lateness> LatenessOf(SqliteDb& db, const JobRows& rows, int64_t rank) {
  return LateFinder(db, rows, rank).Find();
}

}  // namespace tracedb
