#include "replay/change_reader.h"

#include <map>

namespace tracedb {
namespace {

constexpr double kFactorMax = 1e6;

class ChangeReader {
 public:
  static Result<std::vector<Change>> Read(SqliteDb& db, std::string_view text) {
    std::vector<Change> changes;
    if (text.empty()) return changes;
    TRACEDB_ASSIGN(valid,
                   db.Prepare("SELECT CASE WHEN json_valid(?1) THEN json_type(?1) = 'array' END"));
    TRACEDB_TRY(valid.Bind(1, text));
    TRACEDB_ASSIGN(any, valid.Step());
    if (!any || valid.Int(0) == 0) return NotUnderstood("this is no JSON array");
    TRACEDB_ASSIGN(keys, db.Prepare("SELECT o.key, o.type, k.key, k.value, k.type FROM "
                                    "json_each(?1) o LEFT JOIN json_each(o.value) k "
                                    "ON o.type = 'object' ORDER BY o.key"));
    TRACEDB_TRY(keys.Bind(1, text));
    int64_t number = -1;
    for (;;) {
      TRACEDB_ASSIGN(more, keys.Step());
      if (!more) return changes;
      if (keys.Text(1) != "object" || keys.Type(2) == SqlType::kNull) {
        return NotUnderstood("element " + std::to_string(keys.Int(0) + 1) + " names nothing");
      }
      if (keys.Int(0) != number) changes.emplace_back();
      number = keys.Int(0);
      TRACEDB_TRY(Set(changes.back(), keys));
    }
  }

 private:
  static Status Set(Change& change, SqliteStatement& row) {
    const std::string key(row.Text(2));
    const bool is_text = row.Text(4) == "text";
    const bool is_integer = row.Text(4) == "integer";
    const std::map<std::string, std::string*> texts = {
        {"name", &change.name},       {"like", &change.like},           {"glob", &change.glob},
        {"kind", &change.kind},       {"transfers", &change.transfers}, {"waits", &change.waits},
        {"balance", &change.balance}, {"held_by", &change.held_by},     {"caller", &change.caller}};
    const std::map<std::string, std::optional<int64_t>*> integers = {
        {"rank", &change.rank},
        {"step", &change.step},
        {"slice", &change.slice},
        {"shorten_ns", &change.shorten_ns},
        {"launch_latency_ns", &change.launch_latency_ns},
        {"rank_late", &change.rank_late}};
    if (const auto text = texts.find(key); text != texts.end()) {
      if (!is_text || row.Text(3).empty()) return NotUnderstood(key + ": a text is wanted");
      *text->second = row.Text(3);
      return Done{};
    }
    if (const auto integer = integers.find(key); integer != integers.end()) {
      if (!is_integer) return NotUnderstood(key + ": an integer is wanted");
      *integer->second = row.Int(3);
      return Done{};
    }
    if (key != "factor" && key != "short_host") return NotUnderstood("'" + key + "' is not known");
    const double factor = row.Real(3);
    if (!(is_integer || row.Text(4) == "real") || !(factor >= 0) || factor > kFactorMax) {
      return NotUnderstood(key + ": a number from 0 to 1000000 is wanted");
    }
    key == "factor" ? change.factor = factor : change.short_host.emplace(factor);
    return Done{};
  }
};

}  // namespace

Error NotUnderstood(const std::string& why) {
  return Error{ErrorKind::kUsage, "changes: " + why,
               "an array of objects such as [{\"name\": \"x\", \"factor\": 0.5}]"};
}

Result<std::vector<Change>> ReadChanges(SqliteDb& db, std::string_view text) {
  return ChangeReader::Read(db, text);
}

}  // namespace tracedb
