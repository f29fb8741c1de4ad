#include "report/shown_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr auto kOverTime = std::to_array<std::string_view>(
    {"report/stream_heat", "report/timeline", "report/memory_line", "step_times", "report/slices",
     "report/lanes", "report/launch_links", "report/collective_links", "report/lane_segments",
     "report/lane_communication", "report/late_ranks", "report/path_line", "gpu_gaps"});
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

// A step or rank that is not there is a mistake of who asks.
Status CheckThereIs(SqliteDb& db, const std::string& run, std::string_view what,
                    std::optional<int64_t> number) {
  if (!number.has_value()) return Done{};
  const std::string source = what == "step"
                                 ? "steps s JOIN traces t ON t.trace_id = s.trace_id WHERE t.run"
                                 : "traces t WHERE t.run";
  const std::string column = what == "step" ? "s.step" : "t.rank";
  TRACEDB_ASSIGN(found,
                 db.Prepare(fmt::format("SELECT total({0} = ?2), min({0}), max({0}) FROM {1} "
                                        "= ?1",
                                        column, source)));
  TRACEDB_TRY(found.Bind(1, run));
  TRACEDB_TRY(found.Bind(2, *number));
  TRACEDB_TRY(found.Step());
  if (found.Real(0) > 0) return Done{};
  const std::string known =
      found.Type(1) == SqlType::kNull
          ? fmt::format("it has no {}s", what)
          : fmt::format("its {}s are between {} and {}", what, found.Int(1), found.Int(2));
  return Error{ErrorKind::kUsage,
               fmt::format("there is no {} {} in run {}", what, *number, ShownText(run)), known};
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
  TRACEDB_TRY(CheckThereIs(db, shown.name, "step", options.step));
  TRACEDB_TRY(CheckThereIs(db, shown.name, "rank", options.rank));
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
