#include "tracedb/schema/row_times.h"

#include <algorithm>

namespace tracedb {
namespace {

bool AreAllOf(const std::vector<RowTimes>& all, int64_t first_row, int64_t last_row) {
  if (all.empty() || all.front().first_row != first_row || all.back().last_row != last_row) {
    return false;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].last_row < all[i].first_row) return false;
    if (i > 0 && all[i].first_row - 1 != all[i - 1].last_row) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<RowTimes>> ReadRowTimes(SqliteDb& db, int64_t first_row, int64_t last_row) {
  TRACEDB_ASSIGN(select, db.Prepare("SELECT id, last_id, start_ts, end_ts FROM _row_times "
                                    "WHERE id BETWEEN ?1 AND ?2 ORDER BY id"));
  TRACEDB_TRY(select.Bind(1, first_row));
  TRACEDB_TRY(select.Bind(2, last_row));
  std::vector<RowTimes> all;
  for (;;) {
    TRACEDB_ASSIGN(any, select.Step());
    if (!any) break;
    RowTimes times;
    times.first_row = select.Int(0);
    times.last_row = select.Int(1);
    const bool has_times = select.Type(2) == SqlType::kInteger;
    if (has_times) {
      times.start = select.Int(2);
      times.end = select.Int(3);
    }
    const SqlType as_start = has_times ? SqlType::kInteger : SqlType::kNull;
    const bool is_sound = select.Type(1) == SqlType::kInteger && select.Type(2) == as_start &&
                          select.Type(3) == as_start && (!has_times || times.start <= times.end);
    if (!is_sound) return std::vector<RowTimes>();
    all.push_back(times);
  }
  if (!AreAllOf(all, first_row, last_row)) all.clear();
  return all;
}

}  // namespace tracedb
