// Whether the device of a rank that came last took longer than those of the others, and what made
// it late where it did not.
//
// Rank 2 came 3 ms late to an all-reduce; a gemm ran on its device meanwhile. In this step its
// gemms took 20 ms, those of the group's other ranks 17 and 16.8: the gemm is the cause. If they
// took 20 there, too, but rank 2 alone had copied for 3 ms before: the copy is. If nothing took it
// longer: it had begun late, and what it had waited for before, or its host, is.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

// Of all rows of temp.found whose cause is the device's work. It stays that where the kernels of
// the name took half of the wait longer than as many on other ranks. Else it is the kernel for
// which the rank took longest, against the group's other ranks in the step, where that, or what it
// took longer for all, is half of the wait; else what it had waited for since all were together;
// else for what it was late before in the step; else the operator that held its host for longer,
// while the device had nothing to do; else nothing. A stage of a pipeline that is not slow is at
// its work as scheduled. Where nobody has the step to compare with, nothing is changed.
Status JudgePeers(SqliteDb& db, const RankClocks& clocks);

}  // namespace tracedb
