// SQL aggregates over time intervals, in the program and as a loadable extension.
//
//   busy_ns(ts_ns, dur_ns)           length of the union of the intervals, in ns
//   overlap_ns(ts_ns, dur_ns, side)  length of the time in which an interval with side false and
//                                    one with side true both run, in ns
//
// Intervals may come in any order; memory grows with the number of gaps between them when they
// come in the order of ts_ns, with their number otherwise. NULLs and negative durations add
// nothing.
#pragma once

struct sqlite3;

namespace tracedb {

// A SQLite result code.
int RegisterIntervalFunctions(sqlite3* db);

}  // namespace tracedb
