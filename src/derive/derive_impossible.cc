#include "tracedb/derive/derive_impossible.h"

#include <string>

#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

std::string Outside(const TimeRule::Window& window) {
  return "NOT ts BETWEEN " + std::to_string(window.from) + " AND " + std::to_string(window.to);
}

std::string ConditionOf(EventTable table, const TimeRule& rule) {
  const std::string too_long = " OR dur > " + std::to_string(TimeRule::kDurationMaxNs);
  if (table != EventTable::kGpuSlice) {
    return Outside(rule.host) + (table < EventTable::kGpuSlice ? too_long : "");
  }
  std::string condition = Outside(rule.gpu) + too_long;
  if (rule.no_time.has_value()) {
    condition += " OR (dur > 0 AND ts = " + std::to_string(*rule.no_time) + ")";
  }
  return condition;
}

}  // namespace

Status DeriveImpossibleTimes(SqliteDb& db, const TimeRule& rule) {
  if (!rule.any) return Done{};
  for (int i = 0; i < kEventTables; ++i) {
    const auto table = static_cast<EventTable>(i);
    if (table == EventTable::kMetadataEvent) continue;  // nothing is worked out from their times
    TRACEDB_TRY(db.Execute("INSERT INTO _impossible_time SELECT id FROM " +
                           std::string(EventTableName(table)) + " WHERE " +
                           ConditionOf(table, rule)));
  }
  // Made without knowing of these: read event by event.
  TRACEDB_TRY(db.Execute("UPDATE _memory_piece SET is_odd = 1"));
  return db.Execute("DELETE FROM _step WHERE id IN (SELECT id FROM _impossible_time)");
}

}  // namespace tracedb
