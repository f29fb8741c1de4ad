#include "tracedb/doctor/doctor_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "tracedb/base/run_caught.h"
#include "tracedb/query/run/gathered_notes.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kFolder = "doctor/";

// The column's place; as many as there are columns when there is none of that name.
size_t PlaceOf(const QueryDoc& doc, std::string_view column) {
  const auto at = std::find_if(doc.columns.begin(), doc.columns.end(),
                               [&](const QueryColumn& known) { return known.name == column; });
  return static_cast<size_t>(at - doc.columns.begin());
}

Status CheckHeader(const QueryDoc& doc) {
  std::string_view missing;
  if (PlaceOf(doc, "severity") == doc.columns.size()) missing = "column: severity";
  if (PlaceOf(doc, "count") == doc.columns.size()) missing = "column: count";
  if (doc.meaning.empty()) missing = "meaning:";
  if (doc.advice.empty()) missing = "advice:";
  if (missing.empty()) return Done{};
  return Error{ErrorKind::kQuery, fmt::format("{}: a check without '{}'", doc.file, missing),
               "queries/README.md says what a check needs"};
}

FoundValue Keep(const Cell& cell) {
  FoundValue value{cell.type, cell.integer, cell.real, ""};
  std::string_view text = cell.text;
  size_t bytes = 0;
  while (bytes < text.size()) {
    const size_t next = ReadUtf8(text.substr(bytes)).bytes;
    if (bytes + next > CheckResult::kTextBytesMax) break;
    bytes += next;
  }
  value.text = text.substr(0, bytes);
  if (bytes < text.size()) value.text += "…";
  return value;
}

// Keeps the first rows of a check, and counts all.
class FindingSink : public RowSink {
 public:
  explicit FindingSink(CheckResult& result)
      : result_(result),
        severity_(PlaceOf(*result.doc, "severity")),
        count_(PlaceOf(*result.doc, "count")) {}

  Status Begin(std::span<const std::string> column_names) override {
    if (column_names.size() == result_.doc->columns.size()) return Done{};
    return Error{
        ErrorKind::kQuery,
        fmt::format("{}: its column lines are not the result's columns", result_.doc->file), ""};
  }

  Status Row(std::span<const Cell> cells) override {
    ++result_.rows_found;
    result_.count += cells[count_].integer;
    if (cells[severity_].text == "finding") result_.is_finding = true;
    if (result_.rows.size() == CheckResult::kRowsKeptMax) return Done{};
    std::vector<FoundValue>& row = result_.rows.emplace_back();
    for (const Cell& cell : cells) row.push_back(Keep(cell));
    return Done{};
  }

  Status End() override { return Done{}; }

 private:
  CheckResult& result_;
  const size_t severity_;
  const size_t count_;
};

}  // namespace

const CheckResult* DoctorReport::Find(std::string_view name) const {
  for (const CheckResult& check : checks) {
    if (check.name == name && check.error.empty()) return &check;
  }
  return nullptr;
}

size_t DoctorReport::Findings() const {
  return static_cast<size_t>(std::count_if(checks.begin(), checks.end(),
                                           [](const CheckResult& c) { return c.is_finding; }));
}

size_t DoctorReport::Notes() const {
  return static_cast<size_t>(std::count_if(checks.begin(), checks.end(), [](const CheckResult& c) {
    return c.rows_found > 0 && !c.is_finding;
  }));
}

size_t DoctorReport::Failed() const {
  return static_cast<size_t>(std::count_if(checks.begin(), checks.end(),
                                           [](const CheckResult& c) { return !c.error.empty(); }));
}

namespace {

Status RunCheck(SqliteDb& db, CheckResult& result) {
  TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db, *result.doc, {}));
  FindingSink sink(result);
  TRACEDB_TRY(query.Run(sink));
  return Done{};
}

// Takes one check after the other that no other thread has taken.
Status RunWaiting(SqliteDb& db, std::vector<CheckResult>& checks, std::atomic<size_t>& waiting,
                  const OnCheck& on_check) {
  for (size_t i = waiting++; i < checks.size(); i = waiting++) {
    if (on_check) on_check(checks[i].name, i + 1, checks.size());
    const Status run = RunCheck(db, checks[i]);
    if (run.ok()) continue;
    if (!FailsAlone(run.error())) {
      waiting = checks.size();
      return run.error();
    }
    CheckResult failed;
    failed.doc = checks[i].doc;
    failed.name = checks[i].name;
    failed.error = run.error().what;
    checks[i] = std::move(failed);
  }
  return Done{};
}

Status RunOnBoth(SqliteDb& db, SqliteDb& other, std::vector<CheckResult>& checks,
                 const OnCheck& on_check) {
  std::atomic<size_t> waiting = 0;
  Status beside = Done{};
  Status here = Done{};
  {
    const std::jthread thread(
        [&] { beside = RunCaught([&] { return RunWaiting(other, checks, waiting, on_check); }); });
    here = RunCaught([&] { return RunWaiting(db, checks, waiting, on_check); });
    if (!here.ok()) other.Interrupt();
  }
  TRACEDB_TRY(here);
  return beside;
}

}  // namespace

Result<DoctorReport> RunChecks(SqliteDb& db, const QueryCatalog& catalog,
                               const std::function<Result<SqliteDb>()>& open_another,
                               const OnCheck& on_check) {
  DoctorReport report;
  TRACEDB_ASSIGN(traces, db.Integer("SELECT count(*) FROM traces"));
  report.traces = traces;
  for (const QueryDoc& doc : catalog.queries()) {
    if (!doc.name.starts_with(kFolder)) continue;
    TRACEDB_TRY(CheckHeader(doc));
    TRACEDB_ASSIGN(left_out, LeftOutOf(db, doc.sql));
    if (!left_out.empty()) {
      ++report.left_out;
      continue;
    }
    CheckResult& result = report.checks.emplace_back();
    result.doc = &doc;
    result.name = doc.name.substr(kFolder.size());
  }
  if (open_another) {
    auto other = open_another();
    if (other.ok()) {
      TRACEDB_TRY(RunOnBoth(db, other.value(), report.checks, on_check));
      return report;
    }
  }
  std::atomic<size_t> waiting = 0;
  TRACEDB_TRY(RunWaiting(db, report.checks, waiting, on_check));
  return report;
}

}  // namespace tracedb
