#include "sources/nsys/other_rows.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tracedb {
namespace {

constexpr const char* kMetricNames = "TARGET_INFO_GPU_METRICS";
constexpr size_t kMetricsMax = 100'000;

enum OtherColumn { kTime, kEnd, kTid, kPid, kDevice, kNameId, kTextId, kText, kName, kOthers };

// What is said of the machine, of the recording and of numbers is no event.
bool IsFacts(std::string_view table) {
  return table.starts_with("TARGET_INFO_") || table.starts_with("META_DATA_") ||
         table.starts_with("ENUM_");
}

std::string TimeColumn(const ExportTables& tables, std::string_view table) {
  for (const char* column : {"start", "timestamp", "rawTimestamp"}) {
    if (tables.Has(table, column)) return column;
  }
  return "";
}

// The inside of a JSON string; never one that stands for calls or operators elsewhere.
std::string CategoryOf(const std::string& table) {
  if (table.starts_with("CUDNN")) return "cudnn";
  if (table.starts_with("CUBLAS")) return "cublas";
  if (table.starts_with("MPI_")) return "mpi";
  if (table.starts_with("OSRT_")) return "osrt";
  if (table.ends_with("OVERHEAD")) return "overhead";
  std::string lower = "nsys ";
  for (const char c : table) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  std::string inside;
  AppendJsonInside(inside, lower + " rows");
  return inside;
}

std::span<const std::string_view> OwnColumns(std::string_view time) {
  static constexpr std::string_view kSlice[] = {
      "start", "end", "globalTid", "globalPid", "deviceId", "nameId", "textId", "text", "name"};
  static constexpr std::string_view kTimestamp[] = {
      "timestamp", "end", "globalTid", "globalPid", "deviceId", "nameId", "textId", "text", "name"};
  static constexpr std::string_view kRaw[] = {"rawTimestamp", "end",      "globalTid",
                                              "globalPid",    "deviceId", "nameId",
                                              "textId",       "text",     "name"};
  if (time == "start") return kSlice;
  return time == "timestamp" ? std::span<const std::string_view>(kTimestamp) : kRaw;
}

}  // namespace

OtherRows::OtherRows(const ExportTables& tables, std::string table)
    : table_(std::move(table)),
      category_(CategoryOf(table_)),
      time_(TimeColumn(tables, table_)),
      is_slice_(tables.Has(table_, "end")),
      others_(tables, table_, OwnColumns(time_)) {}

bool OtherRows::Reads(const ExportTables& tables, const std::string& table) {
  return !IsFacts(table) && !TimeColumn(tables, table).empty();
}

std::string OtherRows::Sql(const PartReading& part) const {
  return "SELECT " + part.tables().Select(table_, OwnColumns(time_)) + others_.Select() + " FROM " +
         QuotedName(table_) + " WHERE " + part.Condition(table_);
}

void OtherRows::Write(const SqliteStatement& row, PartReading& part, EventJson& out) {
  const auto start = IntIn(row, kTime);
  if (!start.has_value()) return part.Unusable(table_, time_ + " is no number");
  std::string name;
  for (const int column : {kNameId, kTextId, kName}) {
    const std::string* const text = name.empty() ? part.Text(IntIn(row, column)) : nullptr;
    if (text != nullptr) name = *text;
  }
  for (const int column : {kText, kName}) {
    if (name.empty() && row.Type(column) == SqlType::kText)
      AppendJsonInside(name, row.Text(column));
  }
  if (name.empty()) AppendJsonInside(name, table_);
  const auto tid = IntIn(row, kTid);
  const auto pid = IntIn(row, kPid);
  const auto device = IntIn(row, kDevice);
  out.Begin(is_slice_ ? 'X' : 'i', category_, name);
  if (tid.has_value()) {
    out.Track(PidOf(*tid), TidOf(*tid));
  } else if (pid.has_value()) {
    out.Track(PidOf(*pid), PidOf(*pid));
  } else {
    out.Track(device.value_or(part.part().pid()), 0);
  }
  out.Time(*start);
  if (is_slice_) out.Duration(*start, IntIn(row, kEnd));
  out.Arg("deviceId", device);
  others_.Write(row, kOthers, out);
  out.End();
}

Result<std::unique_ptr<TableRows>> MetricRows::Make(PartReading& part, uint64_t rows_max) {
  auto made = std::make_unique<MetricRows>();
  if (part.tables().Has(kMetricNames, "metricName")) {
    TRACEDB_ASSIGN(rows, part.db().Prepare("SELECT " +
                                           part.tables().Select(
                                               kMetricNames, {"typeId", "metricId", "metricName"}) +
                                           " FROM " + kMetricNames));
    for (uint64_t count = 0; count < std::min<uint64_t>(rows_max, kMetricsMax); ++count) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) break;
      Metric metric{IntIn(rows, 0).value_or(0), IntIn(rows, 1).value_or(0), ""};
      AppendJsonInside(metric.name, rows.Text(2));
      made->metrics_.push_back(std::move(metric));
    }
    std::stable_sort(made->metrics_.begin(), made->metrics_.end(),
                     [](const Metric& a, const Metric& b) {
                       return std::pair(a.type, a.metric) < std::pair(b.type, b.metric);
                     });
  }
  return std::unique_ptr<TableRows>(std::move(made));
}

const MetricRows::Metric* MetricRows::Find(std::optional<int64_t> type,
                                           std::optional<int64_t> metric) const {
  const std::pair wanted(type.value_or(0), metric.value_or(0));
  const auto found = std::lower_bound(
      metrics_.begin(), metrics_.end(), wanted,
      [](const Metric& a, const auto& key) { return std::pair(a.type, a.metric) < key; });
  if (found == metrics_.end() || std::pair(found->type, found->metric) != wanted) return nullptr;
  return &*found;
}

std::string MetricRows::Sql(const PartReading& part) const {
  return "SELECT " +
         part.tables().Select(kMetricTable, {"timestamp", "typeId", "metricId", "value"}) +
         " FROM " + kMetricTable + " WHERE " + (part.is_first() ? "1" : "0");
}

// The samples of all GPUs are in the first part: they are of no process.
void MetricRows::Write(const SqliteStatement& row, PartReading& part, EventJson& out) {
  enum { kSampleTime, kType, kMetric, kValue };
  const auto at = IntIn(row, kSampleTime);
  if (!at.has_value()) return part.Unusable(kMetricTable, "timestamp is no number");
  const auto type = IntIn(row, kType);
  const auto metric = IntIn(row, kMetric);
  const auto value = IntIn(row, kValue);
  if (!value.has_value()) return part.Unusable(kMetricTable, "value is no number");
  const Metric* const found = Find(type, metric);
  const std::string name =
      found != nullptr ? found->name : "metric " + std::to_string(metric.value_or(0));
  const int64_t gpu = type.value_or(0) & 0xff;
  out.Begin('C', "gpu_metrics", name);
  out.Track(gpu, 0);
  out.Time(*at);
  out.Id(gpu);
  out.Arg("value", *value);
  out.End();
}

}  // namespace tracedb
