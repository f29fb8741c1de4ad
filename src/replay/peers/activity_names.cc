#include "replay/peers/activity_names.h"

#include <string>
#include <unordered_map>

namespace tracedb {

Result<ActivityNames> ActivityNames::Read(SqliteDb& db, const JobRows& rows) {
  ActivityNames names;
  std::unordered_map<std::string, int64_t> texts;
  TRACEDB_ASSIGN(name, db.Prepare("SELECT name FROM _event_name WHERE id = ?1"));
  for (const int64_t id : rows.name_ids) {
    TRACEDB_TRY(name.Bind(1, id));
    TRACEDB_ASSIGN(any, name.Step());
    const auto next = static_cast<int64_t>(texts.size()) + 1;
    names.numbers_.push_back(texts.emplace(any ? name.Text(0) : "", next).first->second);
    name.Reset();
  }
  return names;
}

}  // namespace tracedb
