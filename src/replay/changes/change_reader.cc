#include "replay/changes/change_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace tracedb {
namespace {

constexpr double kFactorMax = 1e6;

// What says what is changed, and what may be said with it. The first that an object has counts.
struct Word {
  std::string_view key;
  std::string_view with;  // " rank step "
};
constexpr std::array kWords = {
    Word{"ideal", " rank except_rank step "},
    Word{"rank_late", " "},
    Word{"untold", " "},
    Word{"slice", " shorten_ns "},
    Word{"transfers", " caller pair rank factor "},
    Word{"waits", " rank "},
    Word{"short_host", " rank "},
    Word{"recorder", " rank "},
    Word{"held_by", " rank step factor "},
    Word{"launch_latency_ns", " "},
    Word{"balance", " "},
    Word{"name", " like glob kind rank step factor "},
    Word{"like", " glob kind rank step factor "},
    Word{"glob", " kind rank step factor "},
    Word{"kind", " rank step factor "},
};
constexpr std::array<std::string_view, 7> kParallelisms = {"pipeline", "data",  "tensor", "expert",
                                                           "context",  "other", "all"};

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
    std::set<std::string> said;
    for (;;) {
      TRACEDB_ASSIGN(more, keys.Step());
      if (!changes.empty() && (!more || keys.Int(0) != number)) {
        TRACEDB_TRY(Check(changes.back(), said));
        said.clear();
      }
      if (!more) return changes;
      if (keys.Text(1) != "object" || keys.Type(2) == SqlType::kNull) {
        return NotUnderstood("element " + std::to_string(keys.Int(0) + 1) + " names nothing");
      }
      if (keys.Int(0) != number) changes.emplace_back();
      number = keys.Int(0);
      if (!said.insert(std::string(keys.Text(2))).second) {
        return NotUnderstood(std::string(keys.Text(2)) + " is said twice; a change each is wanted");
      }
      TRACEDB_TRY(Set(changes.back(), keys));
    }
  }

 private:
  static Status Check(const Change& change, const std::set<std::string>& said) {
    const auto word = std::find_if(kWords.begin(), kWords.end(), [&](const Word& known) {
      return said.contains(std::string(known.key));
    });
    if (word == kWords.end()) {
      return NotUnderstood(
          "what is to be changed? name, like, glob, kind, rank_late, held_by, "
          "transfers, waits, short_host, recorder, slice, launch_latency_ns, balance, "
          "untold or ideal is wanted");
    }
    for (const std::string& key : said) {
      if (key == word->key || word->with.find(" " + key + " ") != word->with.npos) continue;
      return NotUnderstood(key + " does not go with " + std::string(word->key));
    }
    if (!change.untold.empty() && change.untold != "stays" && change.untold != "goes") {
      return NotUnderstood("untold: stays or goes is wanted");
    }
    const std::string& group = !change.transfers.empty() ? change.transfers : change.waits;
    const bool is_known =
        group.empty() || (group == "sync" && change.transfers.empty()) ||
        std::find(kParallelisms.begin(), kParallelisms.end(), group) != kParallelisms.end();
    if (is_known) return Done{};
    return NotUnderstood(std::string(word->key) +
                         ": pipeline, data, tensor, expert, context, "
                         "other" +
                         (change.transfers.empty() ? ", sync" : "") + " or all is wanted");
  }

  static Status Set(Change& change, SqliteStatement& row) {
    const std::string key(row.Text(2));
    const bool is_text = row.Text(4) == "text";
    const bool is_integer = row.Text(4) == "integer";
    const std::map<std::string, std::string*> texts = {
        {"name", &change.name},       {"like", &change.like},           {"glob", &change.glob},
        {"kind", &change.kind},       {"transfers", &change.transfers}, {"waits", &change.waits},
        {"balance", &change.balance}, {"held_by", &change.held_by},     {"caller", &change.caller},
        {"ideal", &change.ideal},     {"pair", &change.pair},           {"untold", &change.untold}};
    const std::map<std::string, std::optional<int64_t>*> integers = {
        {"rank", &change.rank},
        {"step", &change.step},
        {"slice", &change.slice},
        {"shorten_ns", &change.shorten_ns},
        {"launch_latency_ns", &change.launch_latency_ns},
        {"rank_late", &change.rank_late},
        {"except_rank", &change.except_rank}};
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
    if (key != "factor" && key != "short_host" && key != "recorder")
      return NotUnderstood("'" + key + "' is not known");
    const double factor = row.Real(3);
    if (!(is_integer || row.Text(4) == "real") || !(factor >= 0) || factor > kFactorMax) {
      return NotUnderstood(key + ": a number from 0 to 1000000 is wanted");
    }
    if (key == "factor") change.factor = factor;
    if (key == "short_host") change.short_host = factor;
    if (key == "recorder") change.recorder = factor;
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

Result<std::unordered_set<int64_t>> NamesOf(SqliteDb& db, const Change& change) {
  std::unordered_set<int64_t> names;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT id FROM _event_name WHERE name IS NOT NULL "
                                  "AND (?1 = '' OR name = ?1) AND (?2 = '' OR name LIKE ?2) "
                                  "AND (?3 = '' OR name GLOB ?3)"));
  TRACEDB_TRY(rows.Bind(1, change.name));
  TRACEDB_TRY(rows.Bind(2, change.like));
  TRACEDB_TRY(rows.Bind(3, change.glob));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return names;
    names.insert(rows.Int(0));
  }
}

}  // namespace tracedb
