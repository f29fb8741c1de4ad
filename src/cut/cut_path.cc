#include "cut/cut_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "cut/time_text.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// Columns of critical_path, in its order.
enum Column { kRun, kCapture, kStep, kRank, kStart, kDuration, kKind, kName, kOp, kModule };

// Milliseconds with a fraction hold every nanosecond of 26 days.
int64_t Nanoseconds(double ms) { return std::llround(ms * 1e6); }

Status BindAll(SqliteStatement& rows, const CutSources& sources) {
  const std::vector<int64_t> captures = sources.Captures();
  for (int i = 1; i <= rows.ParameterCount(); ++i) {
    const std::string_view name = rows.ParameterName(i);
    if (name == ":run") TRACEDB_TRY(rows.Bind(i, std::string_view(sources.run())));
    if (name == ":capture" && captures.size() == 1) TRACEDB_TRY(rows.Bind(i, captures.front()));
  }
  return Done{};
}

// Processes and threads of the traces that are written, as far as they are numbers.
Result<std::set<int64_t>> IdsIn(SqliteDb& db, const CutSources& sources) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT CAST(pid AS INTEGER), CAST(tid AS INTEGER) FROM _track "
                                  "WHERE trace_id IN (" +
                                  sources.TraceIdList() + ")"));
  std::set<int64_t> ids;
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return ids;
    ids.insert(rows.Int(0));
    ids.insert(rows.Int(1));
  }
}

// Above all others that Perfetto's 32 bits hold; where the last one is taken, in the highest gap.
int64_t FreeId(const std::set<int64_t>& ids, int64_t threads) {
  const int64_t last = std::numeric_limits<int32_t>::max() - threads;
  int64_t id = last;
  for (auto at = ids.upper_bound(last); at != ids.begin();) {
    --at;
    if (*at < id) return *at + 1;
    id = *at - 1;
  }
  return std::max<int64_t>(id, 1);
}

std::string Metadata(std::string_view what, int64_t pid, int64_t tid, std::string_view key,
                     const std::string& value) {
  return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"{}":{}}}}})", what, pid,
                     tid, key, value);
}

// A slice called ProfilerStep#3 would be one more step 3 to whoever reads the file.
std::string NameOf(std::string_view name) {
  return name.starts_with("ProfilerStep") ? fmt::format("in {}", name) : std::string(name);
}

void AppendMember(std::string& out, std::string_view key, std::string_view text) {
  out += fmt::format(",\"{}\":", key);
  AppendJsonText(out, text);
}

}  // namespace

CutPath::Stretch CutPath::StretchOf(const SqliteStatement& row, int64_t start_ns, int64_t end_ns) {
  Stretch stretch{row.Int(kCapture), start_ns, end_ns - start_ns, "", ""};
  const bool is_named = row.Type(kName) != SqlType::kNull;
  AppendJsonText(stretch.name_json, NameOf(row.Text(is_named ? kName : kKind)));
  stretch.args_json = fmt::format("{{\"rank\":{}", row.Int(kRank));
  if (row.Type(kStep) != SqlType::kNull) {
    stretch.args_json += fmt::format(",\"step\":{}", row.Int(kStep));
  }
  AppendMember(stretch.args_json, "kind", row.Text(kKind));
  if (row.Type(kOp) != SqlType::kNull) AppendMember(stretch.args_json, "op", row.Text(kOp));
  if (row.Type(kModule) != SqlType::kNull) {
    AppendMember(stretch.args_json, "module", row.Text(kModule));
  }
  stretch.args_json += '}';
  return stretch;
}

Result<CutPath> CutPath::Read(SqliteDb& db, const std::string& sql, const CutSources& sources,
                              bool clip, int64_t largest_pid) {
  CutPath path;
  std::map<int64_t, int64_t> capture_ids;
  for (const CutSource& trace : sources.traces()) capture_ids[trace.capture] = trace.capture_id;
  TRACEDB_ASSIGN(ids, IdsIn(db, sources));
  ids.insert(largest_pid);
  path.pid_ = FreeId(ids, static_cast<int64_t>(capture_ids.size()));
  TRACEDB_ASSIGN(lowest, db.Integer("SELECT min(ifnull(min(sort_index), 0), 0) FROM _process"));
  path.sort_index_ = lowest - 1;
  TRACEDB_ASSIGN(run, db.Prepare("SELECT start_ns FROM runs WHERE run = ?1"));
  TRACEDB_TRY(run.Bind(1, std::string_view(sources.run())));
  TRACEDB_TRY(run.Step());
  const int64_t zero_ns = run.Int(0);
  TRACEDB_ASSIGN(rows, db.Prepare(sql));
  TRACEDB_TRY(BindAll(rows, sources));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return path;
    const int64_t capture = rows.Int(kCapture);
    const auto capture_id = capture_ids.find(capture);
    if (capture_id == capture_ids.end()) continue;
    const int64_t aligned_ns = zero_ns + Nanoseconds(rows.Real(kStart));
    const auto written = [&](int64_t ns) { return sources.FromAligned(capture_id->second, ns); };
    int64_t start = written(aligned_ns);
    int64_t end = written(aligned_ns + Nanoseconds(rows.Real(kDuration)));
    const std::optional<Interval> window = sources.WindowOf(capture_id->second);
    if (window.has_value() && (end <= window->start_ns || start >= window->end_ns)) continue;
    if (window.has_value() && clip) {
      start = std::max(start, window->start_ns);
      end = std::min(end, window->end_ns);
    }
    const auto thread = static_cast<int64_t>(path.threads_.size());
    path.threads_.emplace(capture, path.pid_ + thread);
    path.stretches_.push_back(StretchOf(rows, start, end));
  }
}

std::string CutPath::KeepLongest(int64_t most) {
  if (size() <= most) return "";
  std::vector<size_t> order(stretches_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    return stretches_[a].dur_ns > stretches_[b].dur_ns;
  });
  const int64_t longest_ns = stretches_[order[static_cast<size_t>(most)]].dur_ns;
  const int64_t left_out = size() - most;
  order.resize(static_cast<size_t>(most));
  std::sort(order.begin(), order.end());
  std::vector<Stretch> kept;
  kept.reserve(order.size());
  for (const size_t i : order) kept.push_back(std::move(stretches_[i]));
  stretches_ = std::move(kept);
  return fmt::format("{} stretch{} of the critical path of up to {:.3f} us", left_out,
                     left_out == 1 ? "" : "es", static_cast<double>(longest_ns) / 1e3);
}

std::vector<std::string> CutPath::Events(const CutSources& sources) const {
  std::vector<std::string> events;
  if (stretches_.empty()) return events;
  events.push_back(Metadata("process_name", pid_, 0, "name", "\"critical path\""));
  events.push_back(
      Metadata("process_sort_index", pid_, 0, "sort_index", std::to_string(sort_index_)));
  const bool many = sources.Captures().size() > 1;
  for (const auto& [capture, tid] : threads_) {
    const std::string name =
        many ? fmt::format("\"critical path, capture {}\"", capture) : "\"critical path\"";
    events.push_back(Metadata("thread_name", pid_, tid, "name", name));
  }
  for (const Stretch& stretch : stretches_) {
    std::string event =
        fmt::format(R"({{"ph":"X","cat":"critical_path","name":{},"pid":{},"tid":{},"ts":)",
                    stretch.name_json, pid_, threads_.at(stretch.capture));
    AppendMicros(event, stretch.start_ns - sources.OutputBase());
    event += ",\"dur\":";
    AppendMicros(event, stretch.dur_ns);
    event += ",\"args\":" + stretch.args_json + "}";
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace tracedb
