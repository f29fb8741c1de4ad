// A stream's activities by pieces of time in SQL, as tables that are worked out when they are
// asked:
//
//   stream_pieces(stream_id, from_ns, piece_ns)   kind, piece, first_ns, last_ns, activities,
//                                                 sum_ns, longest_name_id: activities of one kind
//                                                 that start in one piece, put together
//   stream_busy(stream_id, from_ns, piece_ns)     piece, busy_ns: in how much of each piece
//                                                 something ran, where it is not 0
//
// stream_id is that of stream_uses; the time is cut into pieces of piece_ns (1 or more), of which
// number 0 begins at from_ns. Only activities with a duration count.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// For this connection.
Status RegisterStreamTables(SqliteDb& db);

}  // namespace tracedb
