#include "report/shown_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr auto kOverTime = std::to_array<std::string_view>(
    {"report/stream_heat", "report/timeline", "report/memory_line", "step_times"});
constexpr int64_t kFirstCapture = 1;

Error NoSuchRun(SqliteDb& db, const std::string& name) {
  std::string known;
  auto runs = db.Prepare("SELECT group_concat(run, ', ') FROM (SELECT run FROM runs ORDER BY 1)");
  if (runs.ok()) {
    auto row = runs.value().Step();
    if (row.ok() && row.value()) known = "there are: " + ShownText(runs.value().Text(0));
  }
  return Error{ErrorKind::kUsage, fmt::format("there is no run {}", ShownText(name)), known};
}

}  // namespace

Result<ShownRun> ChooseRun(SqliteDb& db, const ReportOptions& options) {
  ShownRun shown;
  TRACEDB_ASSIGN(runs, db.Integer("SELECT count(*) FROM runs"));
  shown.runs = runs;
  TRACEDB_ASSIGN(found, db.Prepare("SELECT run, captures FROM runs WHERE ?1 = '' OR run = ?1 "
                                   "ORDER BY start_ns DESC, run_id DESC LIMIT 1"));
  TRACEDB_TRY(found.Bind(1, options.run));
  TRACEDB_ASSIGN(is_there, found.Step());
  if (is_there) {
    shown.name = found.Text(0);
    shown.captures = found.Int(1);
  } else if (!options.run.empty()) {
    return NoSuchRun(db, options.run);
  }
  if (options.capture.has_value() && (*options.capture < 1 || *options.capture > shown.captures)) {
    return Error{
        ErrorKind::kUsage,
        fmt::format("there is no capture {} in run {}", *options.capture, ShownText(shown.name)),
        fmt::format("its captures are 1 to {}", shown.captures)};
  }
  shown.capture = options.capture;
  return shown;
}

std::optional<int64_t> CaptureOf(std::string_view query, const ShownRun& shown) {
  if (shown.captures < 2 || shown.capture.has_value()) return shown.capture;
  const bool is_over_time = std::find(kOverTime.begin(), kOverTime.end(), query) != kOverTime.end();
  return is_over_time ? std::optional(kFirstCapture) : std::nullopt;
}

std::vector<std::string> ParamsOf(const QueryDoc& doc, const ShownRun& shown) {
  std::vector<std::string> params;
  if (shown.runs > 1 && doc.FindParam("run") != nullptr) params.push_back("run=" + shown.name);
  const std::optional<int64_t> capture = CaptureOf(doc.name, shown);
  if (capture.has_value() && doc.FindParam("capture") != nullptr) {
    params.push_back(fmt::format("capture={}", *capture));
  }
  return params;
}

std::string AboutRun(const ShownRun& shown) {
  std::string text;
  if (shown.runs > 1) {
    text =
        fmt::format("Run {}, one of {} in the database: tracedb report --run NAME shows another.",
                    ShownText(shown.name), shown.runs);
  }
  if (shown.captures < 2) return text;
  if (!text.empty()) text += ' ';
  if (shown.capture.has_value()) {
    return text + fmt::format("Capture {} of {}.", *shown.capture, shown.captures);
  }
  return text + fmt::format(
                    "Figures are sums over its {} captures; charts over time are of the "
                    "first: tracedb report --capture N shows another by itself.",
                    shown.captures);
}

}  // namespace tracedb
