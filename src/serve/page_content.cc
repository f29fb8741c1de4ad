#include "serve/page_content.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>

#include "serve/html_table.h"
#include "serve/result_request.h"
#include "serve/table_query.h"
#include "tracedb/query/plot/result_plot.h"
#include "tracedb/query/run/gathered_notes.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/schema/schema_doc.h"
#include "tracedb/text/html_text.h"
#include "tracedb/text/output_stream.h"
#include "tracedb/text/same_runs.h"

namespace tracedb {
namespace {

using std::chrono::nanoseconds;

// What may be spent: of this thread's CPU time, so that a busy machine shows the same page, and of
// a person's patience.
constexpr nanoseconds kPageTime = std::chrono::milliseconds(1500);  // for all that nobody asked for
constexpr nanoseconds kPieceTime = std::chrono::milliseconds(500);  // for one of them
constexpr nanoseconds kAskedTime = std::chrono::seconds(60);        // for what the person asked for
constexpr int kPatience = 4;  // so many times the CPU time, by the clock on the wall
constexpr int64_t kPreviewRows = 5;
// Its rows can only be counted by working all of them out: a second on 85,000 slices.
constexpr std::string_view kUncounted = "slice_tree";
constexpr int64_t kAskedRows = 100;
constexpr int64_t kChartRows = 100'000;
constexpr size_t kChartWidth = 110;

nanoseconds TimeOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

// When a piece of the page has taken too long.
struct Deadline {
  nanoseconds cpu;
  nanoseconds wall;

  static Deadline In(nanoseconds time) {
    return {TimeOf(CLOCK_THREAD_CPUTIME_ID) + time, TimeOf(CLOCK_MONOTONIC) + kPatience * time};
  }
  bool IsOver() const {
    return TimeOf(CLOCK_THREAD_CPUTIME_ID) >= cpu || TimeOf(CLOCK_MONOTONIC) >= wall;
  }
  Deadline Before(const Deadline& other) const {
    return {std::min(cpu, other.cpu), std::min(wall, other.wall)};
  }
};

// Of one thread: its CPU time is what is counted.
class PageGatherer {
 public:
  PageGatherer(SqliteDb& db, const std::function<bool()>& stop) : db_(db), stop_(stop) {
    db_.StopIf([this] { return IsStopped(); });
  }

  // The database's connection asks this object from now on.
  ~PageGatherer() { db_.StopIf({}); }
  PageGatherer(const PageGatherer&) = delete;
  PageGatherer& operator=(const PageGatherer&) = delete;

  void BeginPiece() { piece_end_ = Deadline::In(kPieceTime).Before(page_end_); }
  void BeginAsked() { piece_end_ = Deadline::In(kAskedTime); }
  bool IsStopped() const { return piece_end_.IsOver() || stop_(); }

  PageResult Preview(const QueryDoc& doc, const GivenParams& given, int64_t rows_max);
  // The same drawn, as its header says; nothing where there is nothing to draw.
  std::string Chart(const QueryDoc& doc, const GivenParams& given);
  std::optional<int64_t> Count(const std::string& table);
  bool is_whole() const { return is_whole_; }

 private:
  SqliteDb& db_;
  const std::function<bool()>& stop_;
  const Deadline page_end_ = Deadline::In(kPageTime);
  Deadline piece_end_ = page_end_;
  bool is_whole_ = true;
};

std::vector<std::string> ParamsOf(const GivenParams& given) {
  std::vector<std::string> params;
  for (const auto& [name, value] : given) params.push_back(fmt::format("{}={}", name, value));
  return params;
}

PageResult Trouble(const Error& error) {
  return {.html = fmt::format("<p class=\"warn\">{}. {}</p>\n", EscapedHtml(error.what),
                              EscapedHtml(error.advice))};
}

PageResult PageGatherer::Preview(const QueryDoc& doc, const GivenParams& given, int64_t rows_max) {
  HtmlTable table;
  const auto run = [&]() -> Result<QueryOutcome> {
    TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db_, doc, {ParamsOf(given), ""}));
    SameRuns for_people(table);
    return query.Run(for_people, rows_max);
  };
  const auto outcome = run();
  if (!outcome.ok()) {
    if (IsStopped()) {
      is_whole_ = false;
      return {.html = "<p class=\"soft\">This takes a while: press Show.</p>\n"};
    }
    return Trouble(outcome.error());
  }
  PageResult result{.html = table.html(), .rows = table.rows(), .more_rows = outcome.value().cut};
  if (result.rows == 0) {
    result.html =
        fmt::format("<p class=\"soft\">No rows. {}</p>\n", EscapedHtml(outcome.value().note));
  }
  if (result.more_rows) {
    result.html +=
        fmt::format("<p class=\"soft\">The first {} rows; the CSV has all.</p>\n", table.rows());
  }
  return result;
}

std::string PageGatherer::Chart(const QueryDoc& doc, const GivenParams& given) {
  StringOutput text;
  PlotOptions plot;
  plot.spec = doc.plot;
  plot.file = doc.file;
  plot.style.width = kChartWidth;
  plot.style.unicode = true;
  const auto draw = [&]() -> Status {
    TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db_, doc, {ParamsOf(given), ""}));
    const std::unique_ptr<RowSink> sink = MakePlotSink(std::move(plot), text);
    SameRuns for_people(*sink);
    TRACEDB_TRY(query.Run(for_people, kChartRows));
    return text.Flush();
  };
  const bool is_drawn = draw().ok();
  if (!is_drawn && IsStopped()) is_whole_ = false;
  return is_drawn ? text.text() : "";
}

std::optional<int64_t> PageGatherer::Count(const std::string& table) {
  const auto rows = CountRows(db_, table, kExcelRowsMax);
  is_whole_ = is_whole_ && rows.ok();
  return rows.ok() ? std::optional(rows.value()) : std::nullopt;
}

GivenParams GivenOf(const WebRequest& request) {
  GivenParams given;
  for (const auto& [name, value] : request.params) {
    if (!value.empty() && !IsFormParam(name)) given.emplace_back(name, value);
  }
  return given;
}

// As the schema's own comments have it.
void DescribeTable(const std::vector<RelationDoc>& relations, const std::string& name,
                   const std::vector<std::string>& columns, PageTable& table) {
  const auto doc = std::ranges::find(relations, name, &RelationDoc::name);
  if (doc != relations.end()) table.meaning = doc->text;
  for (const std::string& column : columns) {
    PageTable::Column& added = table.columns.emplace_back();
    added.name = column;
    if (doc == relations.end()) continue;
    const auto known = std::ranges::find(doc->columns, column, &RelationDoc::Column::name);
    if (known != doc->columns.end()) added.meaning = known->text;
  }
}

Status AddTables(PageGatherer& gatherer, SqliteDb& db, PageContent& content) {
  TRACEDB_ASSIGN(names, ListTables(db));
  TRACEDB_ASSIGN(relations, ReadSchemaDoc());
  for (TableName& name : names) {
    if (name.name.starts_with('_')) continue;  // how rows are stored, not what people ask for
    PageTable table;
    gatherer.BeginPiece();
    if (name.name != kUncounted) table.rows = gatherer.Count(name.name);
    table.more_rows = table.rows == kExcelRowsMax;
    // A view may be broken; the others are shown all the same.
    const auto columns = ListColumns(db, name.name);
    if (columns.ok()) DescribeTable(relations, name.name, columns.value(), table);
    table.is_view = name.is_view;
    table.name = std::move(name.name);
    content.tables.push_back(std::move(table));
  }
  return Done{};
}

PageResult TablePreview(PageGatherer& gatherer, SqliteDb& db, const PageContent& content) {
  GivenParams params;
  std::string order;
  for (const auto& [name, value] : content.table_given) {
    if (name == "order") {
      order = value;
    } else {
      params.emplace_back(name, value);
    }
  }
  const auto doc = MakeTableQuery(db, content.table_shown, order);
  return doc.ok() ? gatherer.Preview(doc.value(), params, kAskedRows) : Trouble(doc.error());
}

void AddSql(PageGatherer& gatherer, const WebRequest& request, PageContent& content) {
  content.sql = request.Param("sql");
  if (content.sql.find_first_not_of(" \t\r\n") == std::string::npos) return content.sql.clear();
  gatherer.BeginAsked();
  const auto doc = ParseQueryDoc("SQL", content.sql);
  if (!doc.ok()) {
    content.sql_result = Trouble(doc.error());
    return;
  }
  content.sql_result = gatherer.Preview(doc.value(), {}, kAskedRows);
  if (content.sql_result.rows.value_or(0) > 0) {
    content.sql_result.chart = gatherer.Chart(doc.value(), {});
  }
}

}  // namespace

Result<PageContent> GatherPage(SqliteDb& db, const QueryCatalog& catalog, const WebRequest& request,
                               const std::function<bool()>& stop) {
  constexpr std::string_view kTables = "tables/";
  PageContent content;
  content.database = db.path().filename().string();
  content.origin = "http://" + (request.hosts.empty() ? "" : request.hosts[0]);
  content.token = request.Param("token");
  content.find = request.Param("find");
  const std::string show(request.Param("show"));
  PageGatherer gatherer(db, stop);
  for (const QueryDoc& doc : catalog.queries()) {
    if (doc.IsInFolder()) {
      if (doc.name.starts_with("doctor/")) content.checks.push_back(&doc);
      continue;
    }
    PageQuery query;
    query.doc = &doc;
    const bool is_asked = doc.name == show;
    is_asked ? gatherer.BeginAsked() : gatherer.BeginPiece();
    query.is_asked = is_asked;
    if (is_asked) query.given = GivenOf(request);
    query.result = gatherer.Preview(doc, query.given, is_asked ? kAskedRows : kPreviewRows);
    if (is_asked && query.result.rows.value_or(0) > 0) {
      query.result.chart = gatherer.Chart(doc, query.given);
    }
    content.queries.push_back(std::move(query));
  }
  gatherer.BeginAsked();
  TRACEDB_ASSIGN(missing, MissingRanksNote(db));
  content.missing = std::move(missing);
  if (const QueryDoc* traces = catalog.Find("info_traces"); traces != nullptr) {
    content.traces = gatherer.Preview(*traces, {}, kAskedRows).html;
  }
  TRACEDB_TRY(AddTables(gatherer, db, content));
  const bool shows_table =
      show.starts_with(kTables) && std::ranges::find(content.tables, show.substr(kTables.size()),
                                                     &PageTable::name) != content.tables.end();
  if (shows_table) {
    content.table_shown = show.substr(kTables.size());
    content.table_given = GivenOf(request);
    gatherer.BeginAsked();
    content.table_result = TablePreview(gatherer, db, content);
  }
  AddSql(gatherer, request, content);
  content.is_whole = gatherer.is_whole();
  return content;
}

}  // namespace tracedb
