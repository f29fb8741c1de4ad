#include "tracedb/export/export_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "export/asked_query.h"
#include "export/parquet_folder.h"
#ifdef TRACEDB_WITH_XLSX
#include "export/workbook_export.h"
#endif
#include "tracedb/query/run/query_database.h"
#include "tracedb/schema/schema_doc.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/output_file.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// The questions that people record traces for; those that find no row have no sheet.
constexpr std::array kUsualQueries = {"info_runs",          "recommendations",   "step_times",
                                      "time_partition",     "overlap",           "overlap_by_step",
                                      "stream_utilization", "nccl_stall_ranks",  "nccl_stall_roots",
                                      "nccl_stalls",        "straggler_steps",   "nccl_bandwidth",
                                      "gpu_gaps",           "kernels_top",       "ops_top",
                                      "module_time",        "sync_points",       "memcpy_summary",
                                      "memory_peak",        "training_progress", "job_status"};

constexpr size_t kQueriesMax = 200;

// All rows of a public table or view, with what the schema says of it; nothing where there is none.
Result<std::optional<QueryDoc>> TableQuery(const std::string& name) {
  TRACEDB_ASSIGN(relations, ReadSchemaDoc());
  for (const RelationDoc& relation : relations) {
    if (relation.name != name) continue;
    TRACEDB_ASSIGN(doc, ParseQueryDoc(name, fmt::format("SELECT * FROM \"{}\"", name)));
    doc.name = name;
    doc.title = relation.text;
    return std::optional(std::move(doc));
  }
  return std::optional<QueryDoc>();
}

// As Parquet tables are exported too.
Error NoneCalled(const std::string& name, const ExportOptions& options,
                 const QueryCatalog& catalog) {
  auto error = catalog.Get(name).error();
  const auto relations = ReadSchemaDoc();
  if (options.format != ExportFormat::kParquet || !relations.ok()) return error;
  std::vector<std::string> names;
  for (const QueryDoc& doc : catalog.queries()) {
    if (!doc.IsInFolder()) names.push_back(doc.name);
  }
  for (const RelationDoc& relation : relations.value()) names.push_back(relation.name);
  const auto near = NearNames(name, names);
  error.what = fmt::format("there is no query or table '{}'", ShownText(name));
  error.advice = (near.empty() ? "" : DidYouMean(near) + " ") +
                 "all are listed by: tracedb query, and tracedb query --schema";
  return error;
}

std::string_view KeyOf(const std::string& param) {
  return std::string_view(param).substr(0, param.find('='));
}

// Each parameter goes to the queries that have it.
Result<std::vector<AskedQuery>> FindQueries(const ExportOptions& options,
                                            const QueryCatalog& catalog,
                                            std::deque<QueryDoc>& tables) {
  std::vector<std::string> names = options.queries;
  if (names.empty()) names.assign(kUsualQueries.begin(), kUsualQueries.end());
  if (names.size() > kQueriesMax) {
    return Error{ErrorKind::kUsage, fmt::format("over {} queries", kQueriesMax), ""};
  }
  std::vector<AskedQuery> asked;
  for (const std::string& name : names) {
    if (catalog.Find(name) == nullptr && options.format == ExportFormat::kParquet) {
      TRACEDB_ASSIGN(table, TableQuery(name));
      if (table.has_value()) {
        asked.push_back({&tables.emplace_back(*std::move(table)), {}});
        continue;
      }
    }
    if (catalog.Find(name) == nullptr) return NoneCalled(name, options, catalog);
    TRACEDB_ASSIGN(doc, catalog.Get(name));
    const bool is_twice = std::ranges::any_of(
        asked, [doc = doc](const AskedQuery& before) { return before.doc == doc; });
    if (!is_twice) asked.push_back({doc, {}});
  }
  for (const std::string& param : options.params) {
    bool is_known = false;
    std::set<std::string> known;
    for (AskedQuery& query : asked) {
      for (const QueryParam& one : query.doc->params) known.insert(one.name);
      if (query.doc->FindParam(KeyOf(param)) == nullptr) continue;
      query.params.push_back(param);
      is_known = true;
    }
    if (is_known) continue;
    const std::vector<std::string> all(known.begin(), known.end());
    const auto near = NearNames(std::string(KeyOf(param)), all);
    return Error{ErrorKind::kUsage,
                 fmt::format("none of the queries has a parameter '{}'", ShownText(KeyOf(param))),
                 near.empty() ? "they have: " + JoinNames(all) : DidYouMean(near)};
  }
  return asked;
}

Error NotWritten(const ExportOptions& options, const char* what, const char* advice) {
  return Error{ErrorKind::kUsage, fmt::format("{}: {}", ShownText(options.output.string()), what),
               advice};
}

Status CheckOutput(const ExportOptions& options) {
  const std::string ending = EndingOf(options.output);
  if (options.format == ExportFormat::kParquet) {
    if (ending != ".parquet" && ending != ".xlsx") return Done{};
    return NotWritten(options,
                      "the name of a file, and Parquet files of several queries need a folder",
                      "for example: tracedb export --format parquet -o job; one query as one file: "
                      "tracedb query NAME -o NAME.parquet");
  }
  if (ending != ".xlsx") {
    return NotWritten(options, "a workbook's name ends with .xlsx",
                      "for example: tracedb export -o job.xlsx; --format parquet writes a folder");
  }
#ifdef TRACEDB_WITH_XLSX
  return Done{};
#else
  return Error{ErrorKind::kUsage, "this build of tracedb writes no workbooks",
               "csv is read by every spreadsheet: tracedb query overlap -o overlap.csv; "
               "--format parquet writes a folder of Parquet files"};
#endif
}

}  // namespace

Result<ExportOutcome> RunExport(const ExportOptions& options, const QueryCatalog& catalog) {
  TRACEDB_TRY(CheckOutput(options));
  std::deque<QueryDoc> tables;  // that have no query of their own
  TRACEDB_ASSIGN(asked, FindQueries(options, catalog, tables));
  TRACEDB_ASSIGN(db, OpenTraceDatabase(options.database));
  if (options.on_open) TRACEDB_TRY(options.on_open(db));
#ifdef TRACEDB_WITH_XLSX
  if (options.format == ExportFormat::kWorkbook) return ExportWorkbook(db, options, asked);
#endif
  return ExportParquet(db, options, asked);
}

}  // namespace tracedb
