#include "tracedb/sources/nsys/nsys_export.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "sources/nsys/export_tables.h"
#include "sources/nsys/gpu_rows.h"
#include "sources/nsys/host_rows.h"
#include "sources/nsys/nsys_source.h"
#include "sources/nsys/part_ranks.h"
#include "sources/nsys/range_rows.h"
#include "tracedb/base/database_files.h"
#include "tracedb/ingest/read/rank_in_name.h"
#include "tracedb/schema/database_id.h"

namespace tracedb {
namespace {

// Processes of one export that used a GPU. What others did is kept with the first.
constexpr size_t kPartsMax = 4096;
constexpr size_t kContextsMax = 65536;  // of all of them
constexpr size_t kCommunicatorsMax = 65536;

// What was seen of one process.
struct Process {
  std::map<int64_t, int64_t> devices;  // by context
  bool has_graph_kernels = false;
};

class ProcessSearch {
 public:
  ProcessSearch(SqliteDb& db, const ExportTables& tables, uint64_t rows_max)
      : db_(db), tables_(tables), rows_max_(rows_max) {}

  Status Look(const char* table) {
    if (!tables_.Has(table, "start")) return Done{};
    TRACEDB_ASSIGN(
        rows,
        db_.Prepare("SELECT " +
                    tables_.Select(table, {"globalPid", "contextId", "deviceId", "graphNodeId"}) +
                    " FROM " + table));
    const bool kernels = std::string_view(table) == kKernelTable;
    for (uint64_t count = 0;; ++count) {
      TRACEDB_ASSIGN(row, StepRow(rows, count, rows_max_));
      if (!row) return Done{};
      enum { kPid, kContext, kDevice, kNode };
      Add(IntIn(rows, kPid), IntIn(rows, kContext), IntIn(rows, kDevice),
          kernels && IntIn(rows, kNode).value_or(0) != 0);
    }
    return Done{};
  }

  const std::map<int64_t, Process>& processes() const { return processes_; }
  const Process& nobody() const { return nobody_; }

 private:
  void Add(std::optional<int64_t> pid, std::optional<int64_t> context,
           std::optional<int64_t> device, bool of_graph) {
    Process* process = &nobody_;
    if (pid.has_value()) {
      if (last_ == nullptr || last_pid_ != *pid) {
        const auto found = processes_.find(*pid);
        if (found == processes_.end() && processes_.size() == kPartsMax) return;
        last_ = &processes_[*pid];
        last_pid_ = *pid;
      }
      process = last_;
    }
    process->has_graph_kernels = process->has_graph_kernels || of_graph;
    if (!device.has_value() || contexts_ == kContextsMax) return;
    contexts_ += process->devices.emplace(context.value_or(0), *device).second ? 1 : 0;
  }

  SqliteDb& db_;
  const ExportTables& tables_;
  uint64_t rows_max_;
  std::map<int64_t, Process> processes_;
  Process nobody_;  // of rows without a process
  Process* last_ = nullptr;
  int64_t last_pid_ = 0;
  size_t contexts_ = 0;
};

NsysPart PartOf(const Process& process) {
  NsysPart part;
  for (const auto& [context, device] : process.devices) part.contexts.push_back({context, device});
  part.has_graph_kernels = process.has_graph_kernels;
  return part;
}

int64_t FirstDevice(const NsysPart& part) {
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const NsysContext& context : part.contexts) first = std::min(first, context.device);
  return first;
}

std::vector<NsysPart> PartsOf(const ProcessSearch& search) {
  std::vector<NsysPart> parts;
  for (const auto& [pid, process] : search.processes()) {
    parts.push_back(PartOf(process));
    parts.back().has_pid = true;
    parts.back().global_pid = pid;
  }
  if (parts.empty()) parts.push_back(PartOf(search.nobody()));
  std::stable_sort(parts.begin(), parts.end(), [](const NsysPart& a, const NsysPart& b) {
    return FirstDevice(a) < FirstDevice(b);
  });
  if (parts.size() == 1) return parts;
  std::map<int64_t, int> pids;
  for (const NsysPart& part : parts) ++pids[part.pid()];
  for (NsysPart& part : parts) {
    part.name = std::to_string(pids[part.pid()] == 1 ? part.pid() : part.global_pid);
  }
  return parts;
}

// Any of the tables that an export has for what it recorded.
bool IsExport(const ExportTables& tables) {
  for (const char* table : kGpuTables) {
    if (tables.Has(table, "start")) return true;
  }
  return tables.Has(kCallTable, "start") || tables.Has(kRangeTable, "start") ||
         tables.Has("META_DATA_EXPORT") || tables.Has("EXPORT_META_DATA") ||
         tables.Has("TARGET_INFO_SESSION_START_TIME");
}

Error OtherDatabase(const std::filesystem::path& path, SqliteDb& db) {
  const auto id = db.Integer("PRAGMA application_id");
  const bool ours = id.ok() && id.value() == kApplicationId;
  return {ErrorKind::kNoTrace,
          path.string() + (ours ? ": this is a database of tracedb, not a trace"
                                : ": this is an SQLite file, but neither a database of tracedb nor "
                                  "an export of Nsight Systems"),
          ours ? "to ask it something: tracedb query --db FILE"
               : "an export has tables such as CUPTI_ACTIVITY_KIND_KERNEL or NVTX_EVENTS: nsys "
                 "export --type sqlite"};
}

}  // namespace

Result<std::shared_ptr<const NsysExport>> NsysExport::Look(const std::filesystem::path& path,
                                                           const NsysOptions& options,
                                                           const std::atomic<bool>* stop) {
  std::shared_ptr<NsysExport> found(new NsysExport(path, options));
  Status looked = found->FindParts(stop);
  if (!looked.ok()) {
    if (looked.error().kind == ErrorKind::kNoTrace) return looked.error();
    return ExportError(path, looked.error());
  }
  return std::shared_ptr<const NsysExport>(std::move(found));
}

Status NsysExport::FindParts(const std::atomic<bool>* stop) {
  TRACEDB_ASSIGN(db, OpenExport(path_, stop));
  TRACEDB_ASSIGN(tables, ExportTables::Read(db));
  if (!IsExport(tables)) return OtherDatabase(path_, db);
  TRACEDB_ASSIGN(rows_max, RowsMax(db));
  ProcessSearch search(db, tables, rows_max);
  for (const char* table : kGpuTables) TRACEDB_TRY(search.Look(table));
  parts_ = PartsOf(search);
  TRACEDB_TRY(FindCommunicators(db, tables, rows_max));
  const std::filesystem::path& named = options_.made_of.empty() ? path_ : options_.made_of;
  return DecideRanks(db, tables, rows_max, RankInName(named.filename().string()), parts_);
}

Status NsysExport::FindCommunicators(SqliteDb& db, const ExportTables& tables, uint64_t rows_max) {
  TRACEDB_ASSIGN(payloads, NcclPayloads::Read(db, tables));
  if (!payloads.Any()) return Done{};
  TRACEDB_ASSIGN(rows,
                 db.Prepare("SELECT " + tables.Select(kRangeTable, {"globalTid", "binaryData"}) +
                            " FROM " + kRangeTable + " WHERE binaryData IS NOT NULL"));
  size_t left = kCommunicatorsMax;
  for (uint64_t count = 0;; ++count) {
    TRACEDB_ASSIGN(row, StepRow(rows, count, rows_max));
    if (!row) break;
    const auto payload = payloads.Of(rows.Text(1));
    if (!payload.has_value() || !payload->ranks.has_value() || !payload->own_rank.has_value() ||
        *payload->own_rank >= *payload->ranks) {
      continue;
    }
    const int64_t process = ProcessOf(IntIn(rows, 0).value_or(0));
    for (NsysPart& part : parts_) {
      if (part.has_pid && part.global_pid != process) continue;
      constexpr size_t kOfPartMax = 1000;
      std::vector<NsysCommunicator>& known = part.communicators;
      const bool is_new = std::none_of(known.begin(), known.end(), [&](const auto& one) {
        return one.id == payload->communicator;
      });
      if (!is_new || known.size() == kOfPartMax || left == 0) continue;
      --left;
      known.push_back({payload->communicator, *payload->ranks, *payload->own_rank});
    }
  }
  return Done{};
}

std::string NsysExport::ReadMark(size_t part) const {
  return "#nsys:" + std::to_string(parts_[part].global_pid) + (options_.keep_osrt ? ":osrt" : "");
}

Result<std::unique_ptr<ByteSource>> NsysExport::Open(size_t part, const std::atomic<bool>* stop,
                                                     size_t memory_bytes) const {
  return NsysSource::Open(path_, options_, parts_, part, stop, memory_bytes);
}

}  // namespace tracedb
