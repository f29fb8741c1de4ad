#include "cut/cut_header.h"

#include <fmt/format.h>

#include "cut/cut_text_check.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kEvents = "\"traceEvents\":[\n";

Status WriteOwn(SqliteDb& db, const CutSource& trace, OutputStream& output) {
  TRACEDB_ASSIGN(row, db.Prepare("SELECT header FROM _trace WHERE trace_id = ?1"));
  TRACEDB_TRY(row.Bind(1, trace.trace_id));
  TRACEDB_ASSIGN(any, row.Step());
  std::string_view header = any && row.Type(0) != SqlType::kNull ? row.Text(0) : "{}";
  TRACEDB_ASSIGN(is_empty, CheckHeaderText(header));
  if (!is_empty) {
    header.remove_suffix(1);
    TRACEDB_TRY(output.Write(header));
    TRACEDB_TRY(output.Write(","));
  } else {
    TRACEDB_TRY(output.Write("{"));
  }
  return output.Write(kEvents);
}

// "key":value, for each key that all headers have with the same value.
Status WriteCommonKeys(SqliteDb& db, const CutSources& sources, OutputStream& output) {
  const std::string ids = sources.TraceIdList();
  TRACEDB_ASSIGN(
      rows, db.Prepare("WITH entry AS (SELECT j.key, CASE WHEN j.type IN ('object', 'array') THEN "
                       "j.value WHEN j.type IN ('true', 'false', 'null') THEN j.type "
                       "ELSE json_quote(j.value) END AS text, t.rank, j.id AS place "
                       "FROM _trace t, json_each(t.header) j WHERE t.trace_id IN (" +
                       ids +
                       ")) SELECT json_quote(key), min(text) FROM entry WHERE key NOT IN "
                       "('baseTimeNanoseconds', 'distributedInfo', 'traceName') GROUP BY key "
                       "HAVING count(*) = ?1 AND min(text) = max(text) ORDER BY min(place), key"));
  TRACEDB_TRY(rows.Bind(1, static_cast<int64_t>(sources.traces().size())));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return Done{};
    const std::string member = fmt::format("{}:{}", rows.Text(0), rows.Text(1));
    if (AreJsonMembers(member)) TRACEDB_TRY(output.Write(member + ","));
  }
}

Status WriteEachTrace(SqliteDb& db, const CutSources& sources, OutputStream& output) {
  TRACEDB_TRY(output.Write("\"traces\":["));
  TRACEDB_ASSIGN(row, db.Prepare("SELECT rank, path, ifnull(header, '{}') FROM _trace "
                                 "WHERE trace_id = ?1"));
  bool first = true;
  for (const CutSource& trace : sources.traces()) {
    row.Reset();
    TRACEDB_TRY(row.Bind(1, trace.trace_id));
    TRACEDB_ASSIGN(any, row.Step());
    if (!any) return DamagedError(fmt::format("trace {} cannot be found", trace.trace_id));
    TRACEDB_TRY(CheckHeaderText(row.Text(2)));
    std::string text = first ? "\n" : ",\n";
    first = false;
    text += fmt::format("{{\"rank\":{},\"path\":", row.Int(0));
    AppendJsonText(text, row.Text(1));
    text += ",\"header\":";
    text += row.Text(2);
    text += '}';
    TRACEDB_TRY(output.Write(text));
  }
  return output.Write("\n],\n");
}

}  // namespace

Status WriteHeader(SqliteDb& db, const CutSources& sources, OutputStream& output) {
  if (!sources.HasManyTraces()) return WriteOwn(db, sources.traces().front(), output);
  TRACEDB_TRY(output.Write("{"));
  if (sources.OutputBase() != 0) {
    TRACEDB_TRY(output.Write(fmt::format("\"baseTimeNanoseconds\":{},", sources.OutputBase())));
  }
  TRACEDB_TRY(WriteCommonKeys(db, sources, output));
  TRACEDB_TRY(WriteEachTrace(db, sources, output));
  return output.Write(kEvents);
}

}  // namespace tracedb
