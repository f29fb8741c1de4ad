// Whether a rank whose device was at work as others waited had been late before, by its host.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

// Of all rows of temp.found whose cause is the device's work, and before which the host kept the
// device without work (temp.behind_part): the slice that held it longest, of cause host, where it
// was so much longer than those of its name on the other ranks in the step, on average, that this
// is half of the wait; or where all that the thread did then was, name by name: then the longest
// slice of the name that is most longer. A host that took longer for one thing and as much less
// for another has not made its rank late: until it launched its part it had half of the wait more
// to do than those of the other parts on average. Where nothing in the step is the cause, what was
// since the step before began.
Status JudgeBehind(SqliteDb& db, const RankClocks& clocks);

// Of those that nothing explains after all, and whose hosts kept the device without work in nothing
// that has a name: cause host, where until it launched its part the host took half of the wait more
// than those of the other parts, waits for the device left out. After JudgePeers.
Status JudgeUnnamed(SqliteDb& db, const RankClocks& clocks);

}  // namespace tracedb
