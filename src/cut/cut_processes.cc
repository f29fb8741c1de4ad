#include "cut/cut_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "cut/cut_texts.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

struct Process {
  int64_t trace_id = 0;
  int64_t rank = 0;
  int64_t capture = 0;
  std::string pid, name, labels;
};

Result<std::vector<Process>> ReadProcesses(SqliteDb& db, const CutSources& sources) {
  std::vector<Process> processes;
  const std::string ids = sources.TraceIdList();
  TRACEDB_ASSIGN(
      rows, db.Prepare("SELECT t.trace_id, t.rank, ifnull(c.capture, 0), t.pid, "
                       "ifnull(max(p.name), ''), ifnull(max(p.labels), '') "
                       "FROM (SELECT DISTINCT trace_id, rank, pid FROM _track WHERE trace_id IN (" +
                       ids +
                       ")) t LEFT JOIN _process p ON p.trace_id = t.trace_id AND p.pid = t.pid "
                       "JOIN _trace r ON r.trace_id = t.trace_id "
                       "LEFT JOIN _capture c ON c.capture_id = r.capture_id "
                       "GROUP BY t.trace_id, t.pid ORDER BY t.rank, c.capture, t.trace_id, "
                       "min(p.sort_index) IS NULL, min(p.sort_index), CAST(t.pid AS INTEGER), "
                       "t.pid"));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return processes;
    processes.push_back({rows.Int(0), rows.Int(1), rows.Int(2), std::string(rows.Text(3)),
                         std::string(rows.Text(4)), std::string(rows.Text(5))});
  }
}

std::string Metadata(int64_t pid, std::string_view name, std::string_view key,
                     const std::string& value_json) {
  return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":0,"args":{{"{}":{}}}}})", name, pid,
                     key, value_json);
}

// Perfetto takes 32 bits for ids.
constexpr int64_t kIdsMax = (int64_t{1} << 32) - 1;
// Tids beyond leave no room for process ids above them.
constexpr int64_t kTidsMax = 4'000'000'000;

std::optional<int64_t> NumberOf(const std::string& tid) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(tid.data(), tid.data() + tid.size(), number);
  const bool is_number = error == std::errc() && end == tid.data() + tid.size();
  return is_number && number <= kTidsMax ? std::optional(number) : std::nullopt;
}

// To one digit: 1756 -> 2000.
int64_t RoundUp(int64_t number) {
  int64_t unit = 100;
  while (unit * 10 <= number) unit *= 10;
  return (number + unit - 1) / unit * unit;
}

// ": GPU 1 (python)": what it is, and what it is called.
std::string NameOf(const std::string& name, const std::string& labels) {
  if (labels.empty()) return name.empty() ? "" : ": " + name;
  return ": " + labels + (name.empty() ? "" : " (" + name + ")");
}

std::string Json(const std::string& text) {
  std::string json;
  AppendJsonText(json, text);
  return json;
}

}  // namespace

Result<CutProcesses> CutProcesses::Read(SqliteDb& db, const CutSources& sources) {
  TRACEDB_ASSIGN(processes, ReadProcesses(db, sources));
  std::map<int64_t, int64_t> sizes;
  for (const Process& process : processes) ++sizes[process.rank];
  TRACEDB_ASSIGN(threads, ReadThreads(db, sources));
  CutProcesses numbered;
  const int64_t base = RoundUp(numbered.NumberTids(threads));
  int64_t stride = 100;  // rank 3's processes are base + 301, 302 and so on
  for (const auto& [rank, size] : sizes) {
    while (size >= stride) stride *= 10;
  }
  const bool by_rank = processes.empty() || processes.back().rank + 1 < (kIdsMax - base) / stride;
  const bool many_captures = sources.Captures().size() > 1;
  int64_t ordinal = -1;
  int64_t in_rank = 0;
  int64_t sort_index = 0;
  for (size_t i = 0; i < processes.size(); ++i) {
    const Process& process = processes[i];
    const bool is_next = i == 0 || process.rank != processes[i - 1].rank;
    ordinal += is_next ? 1 : 0;
    in_rank = is_next ? 1 : in_rank + 1;
    const int64_t pid = base + (by_rank ? process.rank : ordinal) * stride + in_rank;
    numbered.pids_[{process.trace_id, process.pid}] = pid;
    std::string name = fmt::format("rank {}", process.rank);
    if (many_captures) name += fmt::format(", capture {}", process.capture);
    name += NameOf(process.name, process.labels);
    std::string labels = process.labels;
    if (!process.pid.empty()) {
      labels += fmt::format("{}pid {}", labels.empty() ? "" : ", ", process.pid);
    }
    numbered.metadata_.push_back(Metadata(pid, "process_name", "name", Json(name)));
    numbered.metadata_.push_back(Metadata(pid, "process_labels", "labels", Json(labels)));
    numbered.metadata_.push_back(
        Metadata(pid, "process_sort_index", "sort_index", std::to_string(sort_index++)));
  }
  numbered.NameThreads(threads);
  return numbered;
}

Result<std::vector<CutProcesses::Thread>> CutProcesses::ReadThreads(SqliteDb& db,
                                                                    const CutSources& sources) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT k.trace_id, k.pid, k.tid, ifnull(max(h.name), ''), "
                                  "ifnull(max(CASE WHEN u.stream IS NULL THEN NULL WHEN "
                                  "u.compute_ns >= max(u.communication_ns, u.memory_ns) "
                                  "  THEN 'compute' WHEN u.communication_ns >= u.memory_ns "
                                  "  THEN 'communication' ELSE 'memory' END), '') "
                                  "FROM _track k LEFT JOIN _thread h ON h.trace_id = k.trace_id "
                                  "  AND h.pid = k.pid AND h.tid = k.tid "
                                  "LEFT JOIN _stream_use u ON u.trace_id = k.trace_id "
                                  "  AND u.device = k.device AND u.stream = k.stream "
                                  "WHERE k.trace_id IN (" +
                                  sources.TraceIdList() +
                                  ") GROUP BY k.trace_id, k.pid, k.tid ORDER BY min(k.id)"));
  std::vector<Thread> threads;
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return threads;
    threads.push_back({ThreadKey{rows.Int(0), std::string(rows.Text(1)), std::string(rows.Text(2))},
                       std::string(rows.Text(3)), std::string(rows.Text(4))});
  }
}

int64_t CutProcesses::NumberTids(const std::vector<Thread>& threads) {
  int64_t free = 0;
  for (const Thread& thread : threads) {
    if (const auto tid = NumberOf(std::get<2>(thread.key))) free = std::max(free, *tid + 1);
  }
  for (const Thread& thread : threads) {
    const std::string& tid = std::get<2>(thread.key);
    if (!tid.empty() && IdJson(tid).starts_with('"')) tids_.emplace(thread.key, free++);
  }
  return free;
}

// A stream's name is more than its number; a text tid is the thread's name where it has no other.
void CutProcesses::NameThreads(const std::vector<Thread>& threads) {
  for (const Thread& thread : threads) {
    const auto& [trace_id, pid, tid] = thread.key;
    std::string name = thread.name;
    while (name.ends_with(' ')) name.pop_back();
    if (name.empty() && tids_.contains(thread.key)) name = tid;
    if (!thread.busiest.empty()) {
      name = fmt::format("{} ({})", name.empty() ? "stream " + tid : name, thread.busiest);
    }
    if (name.empty()) continue;
    const std::string number = TidJson(trace_id, pid, tid);
    metadata_.push_back(
        fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                    PidJson(trace_id, pid), number.empty() ? IdJson(tid) : number, Json(name)));
  }
}

std::string CutProcesses::TidJson(int64_t trace_id, const std::string& pid,
                                  const std::string& tid) const {
  const auto found = tids_.find(ThreadKey{trace_id, pid, tid});
  return found == tids_.end() ? "" : std::to_string(found->second);
}

std::string CutProcesses::PidJson(int64_t trace_id, const std::string& pid) const {
  const auto found = pids_.find({trace_id, pid});
  return found == pids_.end() ? "\"\"" : std::to_string(found->second);
}

int64_t CutProcesses::LargestPid() const {
  int64_t largest = 0;
  for (const auto& [process, pid] : pids_) largest = std::max(largest, pid);
  return largest;
}

bool CutProcesses::Replaces(const std::string& name_json) {
  return name_json == "\"process_name\"" || name_json == "\"process_labels\"" ||
         name_json == "\"process_sort_index\"" || name_json == "\"thread_name\"";
}

}  // namespace tracedb
