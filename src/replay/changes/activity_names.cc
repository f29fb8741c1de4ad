#include "replay/changes/activity_names.h"

namespace tracedb {

Result<ActivityNames> ActivityNames::Read(SqliteDb& db, const JobRows& rows) {
  ActivityNames names;
  std::unordered_map<std::string, int64_t> texts;
  TRACEDB_ASSIGN(name, db.Prepare("SELECT name FROM _event_name WHERE id = ?1"));
  for (const Activity& activity : rows.activities) {
    const auto [place, is_new] = names.numbers_.emplace(activity.name_id, 0);
    if (!is_new) continue;
    TRACEDB_TRY(name.Bind(1, activity.name_id));
    TRACEDB_ASSIGN(any, name.Step());
    const auto next = static_cast<int64_t>(texts.size()) + 1;
    place->second = texts.emplace(any ? name.Text(0) : "", next).first->second;
    name.Reset();
  }
  return names;
}

}  // namespace tracedb
