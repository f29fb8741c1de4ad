#include "cut/cut_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "tracedb/text/number_ranges.h"

namespace tracedb {
namespace {

using RankRanges = std::vector<NumberRange>;

Error BadRanks(std::string_view text) {
  return Error{ErrorKind::kUsage, fmt::format("--rank: '{}' names no ranks", text),
               "write 3, or 0,3, or 0..7"};
}

bool IsIn(const RankRanges& ranges, int64_t rank) {
  return std::any_of(ranges.begin(), ranges.end(), [rank](const auto& range) {
    return range.first <= rank && rank <= range.second;
  });
}

// Of the run and the capture that were asked for.
Status NoSuchRank(SqliteDb& db, const CutSelection& selection) {
  TRACEDB_ASSIGN(row, db.Prepare("SELECT count(DISTINCT rank), min(rank), max(rank) FROM traces "
                                 "WHERE (?1 = '' OR run = ?1) AND (?2 IS NULL OR capture = ?2)"));
  TRACEDB_TRY(row.Bind(1, std::string_view(selection.run)));
  if (selection.capture.has_value()) TRACEDB_TRY(row.Bind(2, *selection.capture));
  TRACEDB_TRY(row.Step());
  const int64_t count = row.Int(0);
  const bool is_whole = selection.run.empty() && !selection.capture.has_value();
  return Error{ErrorKind::kInput,
               fmt::format("--rank {}: {} has no such rank", selection.ranks,
                           is_whole ? "the database" : "that part of the database"),
               count == 1
                   ? fmt::format("it has rank {}", row.Int(1))
                   : fmt::format("it has {} ranks from {} to {}", count, row.Int(1), row.Int(2))};
}

Status NoSuchRun(SqliteDb& db, const std::string& run) {
  TRACEDB_ASSIGN(row, db.Prepare("SELECT group_concat(run, ', ') FROM "
                                 "(SELECT run FROM runs ORDER BY run)"));
  TRACEDB_TRY(row.Step());
  return Error{ErrorKind::kInput, fmt::format("--run {}: the database has no such run", run),
               fmt::format("there is {}", row.Text(0))};
}

Status NoSuchCapture(SqliteDb& db, const CutSelection& selection) {
  TRACEDB_ASSIGN(row, db.Prepare("SELECT group_concat(run || ' has ' || captures, ', ') FROM "
                                 "(SELECT run, captures FROM runs WHERE ?1 = '' OR run = ?1 "
                                 "ORDER BY run)"));
  TRACEDB_TRY(row.Bind(1, std::string_view(selection.run)));
  TRACEDB_TRY(row.Step());
  return Error{ErrorKind::kInput,
               fmt::format("--capture {}: there is no such capture", *selection.capture),
               fmt::format("their numbers begin with 1; {}", row.Text(0))};
}

// Why there is no trace of that kind.
Status WhyNone(SqliteDb& db, const CutSelection& selection) {
  TRACEDB_ASSIGN(row, db.Prepare("SELECT count(*), count(*) FILTER (WHERE ?1 = '' OR run = ?1), "
                                 "count(*) FILTER (WHERE (?1 = '' OR run = ?1) AND "
                                 "(?2 IS NULL OR capture = ?2)) FROM traces"));
  TRACEDB_TRY(row.Bind(1, std::string_view(selection.run)));
  if (selection.capture.has_value()) TRACEDB_TRY(row.Bind(2, *selection.capture));
  TRACEDB_TRY(row.Step());
  if (row.Int(0) == 0) {
    return Error{ErrorKind::kInput, "there is no trace in the database",
                 "add one with: tracedb ingest FILE..."};
  }
  if (row.Int(1) == 0) return NoSuchRun(db, selection.run);
  if (row.Int(2) == 0) return NoSuchCapture(db, selection);
  return NoSuchRank(db, selection);
}

bool IsInWindow(const CutSource& trace) {
  if (!trace.window.has_value()) return true;
  return trace.start_ns.has_value() && trace.end_ns.has_value() &&
         *trace.start_ns < trace.window->end_ns && *trace.end_ns >= trace.window->start_ns;
}

}  // namespace

int64_t TimeInRows(const CutSource& trace, int64_t ts_ns) {
  int64_t ts;
  if (!__builtin_sub_overflow(ts_ns, trace.base_ns, &ts)) return ts;
  return ts_ns < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

Result<RankRanges> ParseRanks(std::string_view text) {
  if (text.empty()) return RankRanges();
  auto ranges = ParseRanges(text);
  if (!ranges.has_value()) return BadRanks(text);
  return *std::move(ranges);
}

Result<std::vector<CutSources>> CutSources::Read(SqliteDb& db, const CutSelection& selection) {
  TRACEDB_ASSIGN(ranges, ParseRanks(selection.ranks));
  TRACEDB_ASSIGN(clocks, RankClocks::Read(db));
  TRACEDB_ASSIGN(
      rows,
      db.Prepare("SELECT t.trace_id, t.rank, t.first_row, t.last_row, ifnull((SELECT base_ns FROM "
                 "_track k WHERE k.id BETWEEN first_text AND last_text LIMIT 1), 0), "
                 "ifnull(t.base_time_ns, 0), t.start_ns, t.end_ns, ifnull(c.capture, 0), "
                 "ifnull(t.capture_id, 0), ifnull(r.run, '') FROM _trace t "
                 "LEFT JOIN _run r ON r.run_id = t.run_id "
                 "LEFT JOIN _capture c ON c.capture_id = t.capture_id "
                 "WHERE (?1 = '' OR r.run = ?1) AND (?2 IS NULL OR c.capture = ?2) "
                 "ORDER BY r.run, t.rank, c.capture, t.trace_id"));
  TRACEDB_TRY(rows.Bind(1, std::string_view(selection.run)));
  if (selection.capture.has_value()) TRACEDB_TRY(rows.Bind(2, *selection.capture));
  std::vector<CutSources> runs;
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) break;
    if (!ranges.empty() && !IsIn(ranges, rows.Int(1))) continue;
    CutSource trace;
    trace.trace_id = rows.Int(0);
    trace.rank = rows.Int(1);
    trace.first_row = rows.Int(2);
    trace.last_row = rows.Int(3);
    trace.base_ns = rows.Int(4);
    trace.file_base_ns = rows.Int(5);
    if (rows.Type(6) == SqlType::kInteger) trace.start_ns = rows.Int(6);
    if (rows.Type(7) == SqlType::kInteger) trace.end_ns = rows.Int(7);
    trace.capture = rows.Int(8);
    trace.capture_id = rows.Int(9);
    if (runs.empty() || runs.back().run_ != rows.Text(10)) {
      runs.emplace_back();
      runs.back().run_ = rows.Text(10);
      runs.back().clocks_ = clocks;
    }
    runs.back().traces_.push_back(trace);
  }
  if (runs.empty()) {
    Status why = WhyNone(db, selection);
    return std::move(why).error();
  }
  for (CutSources& run : runs) run.ChooseBase();
  return runs;
}

void CutSources::ChooseBase() {
  output_base_ns_ = std::numeric_limits<int64_t>::max();
  for (const CutSource& trace : traces_) {
    output_base_ns_ = std::min(output_base_ns_, trace.file_base_ns);
  }
}

std::vector<int64_t> CutSources::Captures() const {
  std::set<int64_t> captures;
  for (const CutSource& trace : traces_) captures.insert(trace.capture);
  return {captures.begin(), captures.end()};
}

std::string CutSources::TraceIdList() const {
  std::string list;
  for (const CutSource& trace : traces_) {
    list += fmt::format("{}{}", list.empty() ? "" : ",", trace.trace_id);
  }
  return list;
}

int64_t CutSources::OutputTime(const CutSource& trace, int64_t ts_ns) const {
  return HasManyRanks() ? clocks_.Of(trace.trace_id).Aligned(ts_ns) : ts_ns;
}

int64_t CutSources::FromTrace(int64_t trace_id, int64_t capture_id, int64_t ts_ns) const {
  if (!HasManyRanks()) {
    for (const CutSource& trace : traces_) {
      if (trace.trace_id == trace_id) return ts_ns;
    }
  }
  return FromAligned(capture_id, clocks_.Of(trace_id).Aligned(ts_ns));
}

int64_t CutSources::FromAligned(int64_t capture_id, int64_t aligned_ns) const {
  if (HasManyRanks()) return aligned_ns;
  for (const CutSource& trace : traces_) {
    if (trace.capture_id == capture_id) return clocks_.Of(trace.trace_id).Own(aligned_ns);
  }
  return aligned_ns;
}

std::optional<Interval> CutSources::Span() const {
  std::optional<Interval> span;
  for (const CutSource& trace : traces_) {
    if (!trace.start_ns.has_value() || !trace.end_ns.has_value()) continue;
    const int64_t start = OutputTime(trace, *trace.start_ns);
    const int64_t end = OutputTime(trace, *trace.end_ns);
    if (!span.has_value()) span = Interval{start, end};
    span->start_ns = std::min(span->start_ns, start);
    span->end_ns = std::max(span->end_ns, end);
  }
  return span;
}

Interval CutSources::OwnWindow(const CutSource& trace, const Interval& window) const {
  if (!HasManyRanks()) return window;
  const RankClock clock = clocks_.Of(trace.trace_id);
  return {clock.Own(window.start_ns), clock.Own(window.end_ns)};
}

void CutSources::SetWindow(const Interval& window) {
  for (CutSource& trace : traces_) {
    trace.window = OwnWindow(trace, window);
    windows_[trace.capture_id] = window;
  }
}

void CutSources::SetWindows(const std::map<int64_t, Interval>& by_capture_id) {
  windows_ = by_capture_id;
  std::set<int64_t> captures;
  for (CutSource& trace : traces_) {
    const auto found = by_capture_id.find(trace.capture_id);
    if (found == by_capture_id.end()) continue;
    trace.window = OwnWindow(trace, found->second);
    captures.insert(trace.capture_id);
  }
  KeepCaptures(captures);
}

std::optional<Interval> CutSources::WindowOf(int64_t capture_id) const {
  const auto found = windows_.find(capture_id);
  return found == windows_.end() ? std::nullopt : std::optional(found->second);
}

bool CutSources::HasSomethingInWindow() const {
  return std::any_of(traces_.begin(), traces_.end(), IsInWindow);
}

void CutSources::DropCapturesOutside() {
  std::set<int64_t> inside;
  for (const CutSource& trace : traces_) {
    if (IsInWindow(trace)) inside.insert(trace.capture_id);
  }
  if (!inside.empty()) KeepCaptures(inside);
}

void CutSources::KeepCaptures(const std::set<int64_t>& capture_ids) {
  std::erase_if(traces_,
                [&](const CutSource& trace) { return !capture_ids.contains(trace.capture_id); });
  ChooseBase();
}

}  // namespace tracedb
