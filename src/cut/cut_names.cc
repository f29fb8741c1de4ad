#include "cut/cut_names.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kListedMax = 16;

Result<bool> IsThere(SqliteDb& db, const std::string& sql, const std::string& name) {
  TRACEDB_ASSIGN(row, db.Prepare(sql));
  TRACEDB_TRY(row.Bind(1, std::string_view(name)));
  return row.Step();
}

// What is near, else those there are, else where they are listed.
Result<std::string> AdviceOf(SqliteDb& db, const std::string& name, const std::string& sql,
                             const char* listing) {
  constexpr size_t kKnownMax = 10'000;
  TRACEDB_ASSIGN(rows, db.Prepare(sql + " LIMIT " + std::to_string(kKnownMax)));
  std::vector<std::string> known;
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) break;
    known.emplace_back(rows.Text(0));
  }
  if (std::string near = DidYouMean(NearNames(name, known)); !near.empty()) return near;
  if (known.empty() || known.size() > kListedMax) return std::string(listing);
  return "there is " + ShownText(JoinNames(known));
}

}  // namespace

Status CheckNames(SqliteDb& db, const CutSources& sources, const CutOptions& options) {
  const std::string streams =
      " FROM _track WHERE trace_id IN (" + sources.TraceIdList() + ") AND stream ";
  for (const std::string& stream : options.streams) {
    TRACEDB_ASSIGN(is_there, IsThere(db,
                                     "SELECT 1" + streams +
                                         "IS NOT NULL AND CAST(stream AS TEXT) = ?1 "
                                         "LIMIT 1",
                                     stream));
    if (is_there) continue;
    TRACEDB_ASSIGN(
        advice,
        AdviceOf(db, stream, "SELECT DISTINCT stream" + streams + "IS NOT NULL ORDER BY stream",
                 "tracedb query info_streams lists them"));
    return Error{ErrorKind::kInput,
                 fmt::format("--stream {}: no chosen trace has that stream", ShownText(stream)),
                 advice};
  }
  // Names are the whole database's: another run may be the one that has the category.
  for (const std::string& category : options.categories) {
    TRACEDB_ASSIGN(
        is_there,
        IsThere(db, "SELECT 1 FROM _event_name WHERE category = ?1 COLLATE NOCASE LIMIT 1",
                category));
    if (is_there) continue;
    TRACEDB_ASSIGN(advice,
                   AdviceOf(db, category,
                            "SELECT DISTINCT category FROM _event_name WHERE category IS NOT NULL "
                            "ORDER BY category",
                            "tracedb query -c 'SELECT DISTINCT category FROM slices' lists them"));
    return Error{ErrorKind::kInput,
                 fmt::format("--category {}: no event has that category", ShownText(category)),
                 advice};
  }
  return Done{};
}

}  // namespace tracedb
