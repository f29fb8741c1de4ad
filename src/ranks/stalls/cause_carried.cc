#include "ranks/stalls/cause_carried.h"

#include "ranks/stalls/cause_arrivals.h"

namespace tracedb {
Result<CarriedFinder> CarriedFinder::Open(SqliteDb& db, const RankClocks& clocks) {
  TRACEDB_ASSIGN(late,
                 db.Prepare("SELECT own_id, id FROM temp.late WHERE trace_id = ?1 AND start_ns > "
                            "?2 AND start_ns < ?3 AND amount_ns BETWEEN ?4 / 2 AND ?4 * 2 "
                            "AND own_id <> ?5 ORDER BY amount_ns DESC, start_ns, own_id LIMIT 1"));
  TRACEDB_ASSIGN(earliest, EarliestStart::Open(db, clocks));
  return CarriedFinder(std::move(late), std::move(earliest));
}

// Many small things held it: then it did what the others had done before, and was behind already.
// Looks for what put it behind by about as much, in this step and since it was last together with
// the others.
Status CarriedFinder::Find(const Stall& stall, Cause& cause) {
  const int64_t length_ns = stall.range.length();
  if (length_ns < kNamedWaitNs || 2 * cause.clear_ns >= length_ns) return Done{};
  TRACEDB_ASSIGN(earliest_ns, earliest_.Find(stall));
  TRACEDB_TRY(late_.Bind(1, stall.trace_id));
  TRACEDB_TRY(late_.Bind(2, earliest_ns));
  TRACEDB_TRY(late_.Bind(3, stall.start_ns));
  TRACEDB_TRY(late_.Bind(4, DifferenceNs(stall.start_ns, stall.first_ns)));
  TRACEDB_TRY(late_.Bind(5, stall.id));
  TRACEDB_ASSIGN(found, late_.Step());
  const int64_t own_id = found ? late_.Int(0) : 0;
  const int64_t last_id = found ? late_.Int(1) : 0;
  late_.Reset();
  if (!found) return Done{};
  if (own_id == last_id) {
    cause.carried_id = own_id;
    return Done{};
  }
  cause.kind = CauseKind::kUpstream;
  cause.slice_id = own_id;
  cause.upstream_id = last_id;
  return Done{};
}

}  // namespace tracedb
