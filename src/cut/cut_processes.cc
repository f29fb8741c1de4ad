#include "cut/cut_processes.h"

#include <fmt/format.h>

#include <algorithm>

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
  int64_t stride = 100;  // rank 3's processes are 301, 302 and so on
  for (const auto& [rank, size] : sizes) {
    while (size >= stride) stride *= 10;
  }
  // Perfetto takes 32 bits.
  const bool by_rank =
      processes.empty() || (processes.back().rank + 1) < (int64_t{1} << 31) / stride;
  const bool many_captures = sources.Captures().size() > 1;
  CutProcesses numbered;
  int64_t ordinal = -1;
  int64_t in_rank = 0;
  int64_t sort_index = 0;
  for (size_t i = 0; i < processes.size(); ++i) {
    const Process& process = processes[i];
    const bool is_next = i == 0 || process.rank != processes[i - 1].rank;
    ordinal += is_next ? 1 : 0;
    in_rank = is_next ? 1 : in_rank + 1;
    const int64_t pid = (by_rank ? process.rank : ordinal) * stride + in_rank;
    numbered.pids_[{process.trace_id, process.pid}] = pid;
    std::string name = fmt::format("rank {}", process.rank);
    if (many_captures) name += fmt::format(", capture {}", process.capture);
    if (!process.name.empty()) name += ": " + process.name;
    std::string labels = process.labels;
    if (!process.pid.empty()) {
      labels += fmt::format("{}pid {}", labels.empty() ? "" : ", ", process.pid);
    }
    numbered.metadata_.push_back(Metadata(pid, "process_name", "name", Json(name)));
    numbered.metadata_.push_back(Metadata(pid, "process_labels", "labels", Json(labels)));
    numbered.metadata_.push_back(
        Metadata(pid, "process_sort_index", "sort_index", std::to_string(sort_index++)));
  }
  return numbered;
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
         name_json == "\"process_sort_index\"";
}

}  // namespace tracedb
