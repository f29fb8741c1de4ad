#include "replay/graph/host_owners.h"

#include <algorithm>
#include <limits>
#include <string>

#include "tracedb/schema/event_tables.h"

namespace tracedb {

Result<HostOwners> HostOwners::Open(SqliteDb& db) {
  TRACEDB_ASSIGN(clocks, RankClocks::Read(db));
  HostOwners owners(std::move(clocks));
  TRACEDB_ASSIGN(names, db.Prepare("SELECT id, name GLOB 'ProfilerStep#*' FROM _event_name "
                                   "WHERE category = 'user_annotation'"));
  for (;;) {
    TRACEDB_ASSIGN(any, names.Step());
    if (!any) return owners;
    (names.Int(1) != 0 ? owners.steps_ : owners.annotations_).insert(names.Int(0));
  }
}

Result<const std::vector<OwnedStretch>*> HostOwners::Of(SqliteDb& db, int64_t track_id,
                                                        int64_t trace_id) {
  const auto known = owned_.find(track_id);
  if (known != owned_.end()) return &known->second;
  TRACEDB_ASSIGN(slices, Read(db, track_id, clocks_.Of(trace_id)));
  return &owned_.emplace(track_id, Flatten(slices)).first->second;
}

Result<std::vector<HostOwners::LongSlice>> HostOwners::Read(SqliteDb& db, int64_t track_id,
                                                            const RankClock& clock) const {
  std::vector<LongSlice> slices;
  for (const EventTable table : kLongSliceTables) {
    const std::string name(EventTableName(table));
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT s.id, s.ts + t.base_ns, s.dur, s.event_name FROM " +
                                    name + " s INDEXED BY " + name +
                                    "_long JOIN _track t ON t.id = s.track "
                                    "WHERE s.dur >= " +
                                    std::to_string(kLongSliceNs) +
                                    " AND s.track = ?1 AND s.id NOT IN (SELECT id FROM "
                                    "_impossible_time)"));
    TRACEDB_TRY(rows.Bind(1, track_id));
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any) break;
      if (steps_.contains(rows.Int(3))) continue;
      const Interval range{clock.Aligned(rows.Int(1)),
                           clock.Aligned(SumNs(rows.Int(1), rows.Int(2)))};
      slices.push_back({range, rows.Int(0), rows.Int(3), annotations_.contains(rows.Int(3))});
    }
  }
  std::sort(slices.begin(), slices.end(), [](const LongSlice& a, const LongSlice& b) {
    if (a.range.start_ns != b.range.start_ns) return a.range.start_ns < b.range.start_ns;
    return a.range.end_ns != b.range.end_ns ? a.range.end_ns > b.range.end_ns : a.id < b.id;
  });
  return slices;
}

// Slices that are open, outermost first; what reaches beyond the one around it ends with it.
std::vector<OwnedStretch> HostOwners::Flatten(std::vector<LongSlice>& slices) {
  std::vector<OwnedStretch> owned;
  std::vector<int> open;
  int64_t now_ns = std::numeric_limits<int64_t>::min();
  const auto until = [&](int64_t end_ns) {
    while (!open.empty()) {
      const LongSlice& inner = slices[static_cast<size_t>(open.back())];
      const int64_t to_ns = std::min(end_ns, inner.range.end_ns);
      const LongSlice& named = Named(slices, inner);
      if (to_ns > now_ns) owned.push_back({{now_ns, to_ns}, named.id, named.event_name});
      now_ns = std::max(now_ns, to_ns);
      if (inner.range.end_ns > end_ns) break;
      open.pop_back();
    }
    now_ns = end_ns;
  };
  for (size_t i = 0; i < slices.size(); ++i) {
    until(slices[i].range.start_ns);
    slices[i].parent = open.empty() ? -1 : open.back();
    if (!open.empty()) {
      const LongSlice& around = slices[static_cast<size_t>(open.back())];
      slices[i].range.end_ns = std::min(slices[i].range.end_ns, around.range.end_ns);
    }
    open.push_back(static_cast<int>(i));
  }
  until(std::numeric_limits<int64_t>::max());
  return owned;
}

// Around a slice that is nearly as long an annotation says more to a person.
const HostOwners::LongSlice& HostOwners::Named(const std::vector<LongSlice>& slices,
                                               const LongSlice& inner) {
  const int64_t wide_ns = SumNs(inner.range.length(), inner.range.length() / 4);
  if (inner.is_annotation) return inner;
  for (int at = inner.parent; at >= 0; at = slices[static_cast<size_t>(at)].parent) {
    const LongSlice& around = slices[static_cast<size_t>(at)];
    if (around.range.length() > wide_ns) break;
    if (around.is_annotation) return around;
  }
  return inner;
}

}  // namespace tracedb
