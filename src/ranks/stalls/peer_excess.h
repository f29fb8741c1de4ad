// By how much a rank took longer for something, in a step, than the ranks of one of its groups did.
#pragma once

#include <string>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Of each row of temp.peer_key (capture_id, step, group_id, rank; step -1: outside of any): a row
// of temp.`into` with the same columns, work_ns, what it took for all names, and, against the
// middle one of the group's other ranks (of two the one with less time),
//   total_ns         what the rank took longer for all names,
//   most_ns, most    for the one name for which that is most; of several the first by its text
//   alone_ns, alone  what it took for names that take the others nothing, and the longest of them;
// and against the one that took least
//   least_ns, least  for all names, or for one where that is more; and that of which it is most.
// Names are as the rank's trace has them; 0: none. There is no row where no other rank of the group
// has the step. `uses` selects capture_id, step (NULL: none), event_name, rank, ns.
Status ComparePeers(SqliteDb& db, const std::string& uses, const std::string& into);

}  // namespace tracedb
