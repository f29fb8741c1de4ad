#include "sources/nsys/export_header.h"

#include <algorithm>
#include <array>
#include <map>

namespace tracedb {
namespace {

constexpr const char* kSessionTable = "TARGET_INFO_SESSION_START_TIME";
constexpr const char* kEnvironmentTable = "TARGET_INFO_SYSTEM_ENV";
constexpr int kFactsMax = 4096;
constexpr size_t kGpusMax = 256;

// A JSON object under construction.
class JsonObject {
 public:
  void Number(std::string_view key, int64_t value) { Key(key) += std::to_string(value); }
  void Text(std::string_view key, std::string_view value) {
    Key(key) += '"';
    AppendJsonInside(text_, value);
    text_ += '"';
  }
  void Json(std::string_view key, std::string_view json) { Key(key) += json; }
  std::string Take() { return std::move(text_) + "}"; }

 private:
  std::string& Key(std::string_view key) {
    text_ += text_.size() > 1 ? ",\"" : "\"";
    AppendJsonInside(text_, key);
    return text_ += "\":";
  }
  std::string text_ = "{";
};

using Facts = std::map<std::string, std::string>;

// Of a table of names and values; of a name that comes again the first.
Result<Facts> ReadFacts(PartReading& part, const char* table) {
  Facts facts;
  if (!part.tables().Has(table, "name") || !part.tables().Has(table, "value")) return facts;
  TRACEDB_ASSIGN(rows, part.db().Prepare(std::string("SELECT name, value FROM ") + table +
                                         " LIMIT " + std::to_string(kFactsMax)));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return facts;
    facts.emplace(rows.Text(0), rows.Text(1));
  }
}

std::string Chosen(const Facts& facts, std::initializer_list<const char*> names) {
  JsonObject chosen;
  for (const char* name : names) {
    const auto found = facts.find(name);
    if (found != facts.end() && !found->second.empty()) chosen.Text(name, found->second);
  }
  return chosen.Take();
}

struct GpuColumn {
  std::string_view of_export;
  std::string_view of_trace;
};
constexpr GpuColumn kGpuColumns[] = {{"totalMemory", "totalGlobalMem"},
                                     {"computeMajor", "computeMajor"},
                                     {"computeMinor", "computeMinor"},
                                     {"maxThreadsPerBlock", "maxThreadsPerBlock"},
                                     {"maxRegistersPerBlock", "regsPerBlock"},
                                     {"threadsPerWarp", "warpSize"},
                                     {"maxShmemPerBlock", "sharedMemPerBlock"},
                                     {"maxShmemPerBlockOptin", "sharedMemPerBlockOptin"},
                                     {"maxShmemPerSm", "sharedMemPerMultiprocessor"},
                                     {"maxRegistersPerSm", "regsPerMultiprocessor"},
                                     {"smCount", "numSms"}};

// The part's own GPU first: it is the one that is named elsewhere.
Result<std::string> DeviceProperties(PartReading& part) {
  constexpr const char* kTable = "TARGET_INFO_GPU";
  if (!part.tables().Has(kTable, "id")) return std::string();
  std::string sql = "SELECT " + part.tables().Select(kTable, {"id", "name", "maxWarpsPerSm"});
  for (const GpuColumn& column : kGpuColumns) {
    sql += ", " + part.tables().Select(kTable, {column.of_export});
  }
  TRACEDB_ASSIGN(rows, part.db().Prepare(sql + " FROM " + kTable));
  std::vector<std::string> own;
  std::vector<std::string> others;
  const auto is_own = [&part](int64_t id) {
    return std::any_of(part.part().contexts.begin(), part.part().contexts.end(),
                       [id](const NsysContext& context) { return context.device == id; });
  };
  while (own.size() + others.size() < kGpusMax) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    const int64_t id = IntIn(rows, 0).value_or(0);
    JsonObject gpu;
    gpu.Number("id", id);
    gpu.Text("name", rows.Text(1));
    std::optional<int64_t> warp;
    for (size_t i = 0; i < std::size(kGpuColumns); ++i) {
      const auto value = IntIn(rows, static_cast<int>(3 + i));
      if (!value.has_value()) continue;
      gpu.Number(kGpuColumns[i].of_trace, *value);
      if (kGpuColumns[i].of_trace == "warpSize") warp = value;
    }
    const auto warps = IntIn(rows, 2);
    constexpr int64_t kWarpsMax = 4096;
    if (warp.has_value() && warps.has_value() && *warp > 0 && *warps > 0 && *warp < kWarpsMax &&
        *warps < kWarpsMax) {
      gpu.Number("maxThreadsPerMultiprocessor", *warp * *warps);
    }
    (is_own(id) ? own : others).push_back(gpu.Take());
  }
  own.insert(own.end(), others.begin(), others.end());
  std::string list;
  for (const std::string& gpu : own) list += (list.empty() ? "[" : ",") + gpu;
  return list.empty() ? list : list + "]";
}

std::string NsysFacts(PartReading& part, const Facts& exported, const Facts& captured,
                      const Facts& environment) {
  JsonObject nsys;
  nsys.Json("export",
            Chosen(exported, {"EXPORT_PRODUCT_NAME", "EXPORT_PRODUCT_VERSION",
                              "EXPORT_SCHEMA_VERSION", "DERIVED_FROM", "DERIVED_WINDOW_NS"}));
  nsys.Json("capture", Chosen(captured, {"CUDA_GRAPH_TRACE_OPTIONS:MODE", "CUDA_TRACE_SCOPE",
                                         "START_TRIGGER", "STOP_TRIGGER"}));
  nsys.Json("system",
            Chosen(environment, {"CpuDescription", "CpuCores", "CpuArchitecture", "NvDriverVersion",
                                 "CudaDriverVersion", "OsDescription", "KernelVersion"}));
  if (part.part().has_pid) nsys.Number("globalPid", part.part().global_pid);
  return nsys.Take();
}

}  // namespace

Result<std::string> ExportHeader(PartReading& part, const std::string& groups) {
  TRACEDB_ASSIGN(environment, ReadFacts(part, kEnvironmentTable));
  TRACEDB_ASSIGN(exported, ReadFacts(part, "META_DATA_EXPORT"));
  if (exported.empty()) {
    TRACEDB_ASSIGN(older, ReadFacts(part, "EXPORT_META_DATA"));
    exported = std::move(older);
  }
  TRACEDB_ASSIGN(captured, ReadFacts(part, "META_DATA_CAPTURE"));
  JsonObject header;
  header.Number("schemaVersion", 1);
  TRACEDB_ASSIGN(gpus, DeviceProperties(part));
  if (!gpus.empty()) header.Json("deviceProperties", gpus);
  const NsysPart& told = part.part();
  if (told.rank.has_value()) {
    JsonObject distributed;
    distributed.Text("backend", "nccl");
    distributed.Number("rank", *told.rank);
    if (told.world_size.has_value()) distributed.Number("world_size", *told.world_size);
    if (!groups.empty()) distributed.Json("pg_config", groups);
    header.Json("distributedInfo", distributed.Take());
  }
  const auto host = environment.find("Hostname");
  if (host != environment.end() && !host->second.empty()) header.Text("host_name", host->second);
  header.Json("nsys", NsysFacts(part, exported, captured, environment));
  header.Text("displayTimeUnit", "ms");
  if (part.tables().Has(kSessionTable, "utcEpochNs")) {
    TRACEDB_ASSIGN(epoch, part.db().Prepare(std::string("SELECT utcEpochNs FROM ") + kSessionTable +
                                            " LIMIT 1"));
    TRACEDB_ASSIGN(row, epoch.Step());
    if (row && IntIn(epoch, 0).has_value()) header.Number("baseTimeNanoseconds", epoch.Int(0));
  }
  std::string text = header.Take();
  text.pop_back();
  return text + ",\"traceEvents\":[\n";
}

}  // namespace tracedb
