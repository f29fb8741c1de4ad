#include "engines/engine_refusal.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/run/opened_tables.h"
#include "tracedb/schema/schema_sql.h"
#include "tracedb/shards/summary_tables.h"

namespace tracedb {
namespace {

// The tables that a query opens and that summaries do not have, or not whole.
Result<std::set<std::string>> MissingTables(const std::string& sql) {
  TRACEDB_ASSIGN(db, SqliteDb::OpenInMemory());
  TRACEDB_TRY(db.Execute(TablesSql()));
  TRACEDB_TRY(db.Execute(ViewsSql()));
  TRACEDB_ASSIGN(opened, OpenedTables(db, sql));
  std::erase_if(opened, [](const std::string& table) { return IsWholeInSummary(table); });
  return opened;
}

bool IsOfEvents(const std::string& table) {
  static const std::set<std::string> kTables = {
      "_gpu_slice", "_launch",       "_cpu_slice",     "_runtime_slice", "_python_slice",
      "_instant",   "_flow",         "_counter_event", "_call_path",     "_sync_use",
      "_row_times", "_busy_segment", "_memory_piece",  "_metadata_event"};
  return kTables.contains(table);
}

}  // namespace

Error WhyNoEngine(const QueryDoc& doc, std::string_view engine) {
  static constexpr const char* kAdvice =
      "tracedb export --sql ENGINE without a query lists those that engines answer";
  const auto refused = [&](const std::string& why, const char* advice) {
    return Error{ErrorKind::kUsage, fmt::format("{} is no query for {}: {}", doc.name, engine, why),
                 advice};
  };
  if (doc.IsInFolder()) return refused("checks and the report's parts are tracedb's own", kAdvice);
  if (doc.sql.find("replay_") != std::string::npos) {
    return refused("it replays the job event by event",
                   "tracedb what-if replays a database of traces");
  }
  const auto missing = MissingTables(doc.sql);
  if (!missing.ok()) return refused("it computes with functions of tracedb's own", kAdvice);
  std::string events, others;
  for (const std::string& table : missing.value()) {
    std::string& names = IsOfEvents(table) ? events : others;
    names += (names.empty() ? "" : ", ") + table;
  }
  if (!events.empty()) {
    return refused(fmt::format("it reads single events ({}), which summaries do not have", events),
                   "ask a rank's own database: tracedb query");
  }
  if (!others.empty()) {
    return refused(
        fmt::format("it reads files that are no traces ({}), which no rank sums up", others),
        "ingest them beside a gathered database, and ask tracedb query");
  }
  return refused("it reads JSON in ways that engines have no common words for",
                 "ask the gathered database: tracedb query");
}

}  // namespace tracedb
