// Who came last to each collective, and how late everyone was: goes through all parts once, in the
// order of their index, and keeps what the causes are told from in temporary tables.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

// Shorter waits have no name: nothing that is recorded could hold anybody for so short a time.
inline constexpr int64_t kNamedWaitNs = 20'000;

// Makes the tables
//   temp.stall  a collective that kept somebody waiting: as collective_cause; together_ns is when
//               all of its ranks were last known to be in one collective (of this group).
//   temp.late   what put a rank behind: it was the last itself (id = own_id), or it waited for
//               the part `id` in the collective of its part `own_id`; until start_ns, by amount_ns.
Status CompareArrivals(SqliteDb& db, const RankClocks& clocks);

}  // namespace tracedb
