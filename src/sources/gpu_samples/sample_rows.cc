#include "sources/gpu_samples/sample_rows.h"

#include <algorithm>
#include <array>

#include "sources/gpu_samples/sample_text.h"

namespace tracedb {
namespace {

struct Known {
  std::string_view name;
  std::string_view quantity;
};

// Names of nvidia-smi and gpustat have a dot or are made by us; those of dmon are short.
constexpr std::array kKnown = std::to_array<Known>({
    {"utilization.gpu", "utilization"},
    {"utilization.memory", "memory_utilization"},
    {"memory.used", "memory_used"},
    {"memory.total", "memory_total"},
    {"memory.free", "memory_free"},
    {"memory.reserved", "memory_reserved"},
    {"power.draw", "power"},
    {"power.draw.instant", "power_instant"},
    {"power.draw.average", "power_average"},
    {"power.limit", "power_limit"},
    {"enforced.power.limit", "enforced_power_limit"},
    {"temperature.gpu", "temperature"},
    {"temperature.memory", "memory_temperature"},
    {"clocks.current.sm", "sm_clock"},
    {"clocks.sm", "sm_clock"},
    {"clocks.current.memory", "memory_clock"},
    {"clocks.mem", "memory_clock"},
    {"clocks.current.graphics", "graphics_clock"},
    {"clocks.gr", "graphics_clock"},
    {"clocks.max.sm", "sm_clock_max"},
    {"fan.speed", "fan"},
    {"sm", "utilization"},
    {"mem", "memory_utilization"},
    {"fb", "memory_used"},
    {"pwr", "power"},
    {"gtemp", "temperature"},
    {"temp", "temperature"},
    {"mtemp", "memory_temperature"},
    {"pclk", "sm_clock"},
    {"mclk", "memory_clock"},
    {"pviol", "throttle.power"},
    {"tviol", "throttle.thermal"},
});

// A reason to run slower has two names: nvidia-smi renamed them in 2023.
constexpr std::array<std::string_view, 2> kReasons = {"clocks_throttle_reasons.",
                                                      "clocks_event_reasons."};

bool IsMissing(std::string_view value) {
  return value.empty() || value == "-" || value == "N/A" || value == "??" ||
         value.front() == '[';  // [N/A], [Not Supported], [Unknown Error], ...
}

// 0x0000000000000004
std::optional<int64_t> HexNumber(std::string_view text) {
  constexpr size_t kDigitsMax = 16;
  if (!text.starts_with("0x") || text.size() == 2 || text.size() > 2 + kDigitsMax) {
    return std::nullopt;
  }
  uint64_t value = 0;
  for (const char digit : text.substr(2)) {
    const size_t at = std::string_view("0123456789abcdef").find(static_cast<char>(digit | 0x20));
    if (at == std::string_view::npos) return std::nullopt;
    value = value * 16 + at;
  }
  if (value > uint64_t{INT64_MAX}) return std::nullopt;
  return static_cast<int64_t>(value);
}

// What nvidia-smi writes after numbers. Any other word is no unit: each would be another name.
bool IsUnit(std::string_view text) {
  constexpr std::array kUnits = std::to_array<std::string_view>(
      {"%",   "KiB", "MiB", "GiB", "KB", "MB", "GB", "KB/s", "MB/s", "GB/s", "mW", "W",
       "kHz", "MHz", "C",   "ns",  "us", "ms", "s",  "mV",   "V",    "mJ",   "J"});
  return std::find(kUnits.begin(), kUnits.end(), text) != kUnits.end();
}

std::optional<int64_t> Flag(std::string_view text) {
  if (text == "Active") return 1;
  if (text == "Not Active") return 0;
  return std::nullopt;
}

}  // namespace

std::string_view QuantityOf(std::string_view name) {
  const auto* known = std::find_if(kKnown.begin(), kKnown.end(),
                                   [name](const Known& one) { return one.name == name; });
  return known == kKnown.end() ? std::string_view() : known->quantity;
}

Result<SampleRows> SampleRows::Open(SourceRows& rows) {
  TRACEDB_ASSIGN(moment, rows.db->Prepare("INSERT INTO _gpu_moment (source_id, moment, gpu, "
                                          "local_ns) VALUES (?1, ?2, ?3, ?4)"));
  TRACEDB_ASSIGN(sample, rows.db->Prepare("INSERT INTO _gpu_sample (source_id, moment, name_id, "
                                          "value) VALUES (?1, ?2, ?3, ?4)"));
  TRACEDB_ASSIGN(name, rows.db->Prepare("INSERT INTO _gpu_sample_name (source_id, name_id, name, "
                                        "quantity, unit) VALUES (?1, ?2, ?3, ?4, ?5)"));
  TRACEDB_TRY(moment.Bind(1, rows.source_id));
  TRACEDB_TRY(sample.Bind(1, rows.source_id));
  TRACEDB_TRY(name.Bind(1, rows.source_id));
  return SampleRows(rows, std::move(moment), std::move(sample), std::move(name));
}

Status SampleRows::Begin(std::optional<int64_t> gpu, std::optional<int64_t> local_ns,
                         uint64_t offset) {
  ++moment_;
  gpu_ = gpu;
  offset_ = offset;
  TRACEDB_TRY(moment_row_.Bind(2, moment_));
  TRACEDB_TRY(gpu ? moment_row_.Bind(3, *gpu) : moment_row_.BindNull(3));
  TRACEDB_TRY(local_ns ? moment_row_.Bind(4, *local_ns) : moment_row_.BindNull(4));
  if (local_ns.has_value()) {
    any_time_ = true;
    if (rows_->options.utc_offset_ns.has_value()) {
      rows_->SawTime(*local_ns - *rows_->options.utc_offset_ns);
    }
  }
  ++rows_->rows;
  return moment_row_.Run();
}

Result<std::optional<int64_t>> SampleRows::NameId(std::string_view name, std::string_view unit) {
  const auto known = names_.find(std::pair(std::string(name), std::string(unit)));
  if (known != names_.end()) return std::optional(known->second);
  if (names_.size() >= kNamesMax) {
    rows_->issues.Add("too_many_names", offset_, name);
    return std::optional<int64_t>();
  }
  const int64_t id = static_cast<int64_t>(names_.size()) + 1;
  names_.emplace(std::pair(std::string(name), std::string(unit)), id);
  std::string quantity(QuantityOf(name));
  for (const std::string_view prefix : kReasons) {
    if (!name.starts_with(prefix)) continue;
    const std::string reason(name.substr(prefix.size()));
    quantity = reason == "active"      ? "throttle_mask"
               : reason == "supported" ? ""
                                       : "throttle." + reason;
  }
  TRACEDB_TRY(name_row_.Bind(2, id));
  TRACEDB_TRY(name_row_.Bind(3, name));
  TRACEDB_TRY(quantity.empty() ? name_row_.BindNull(4) : name_row_.Bind(4, quantity));
  TRACEDB_TRY(unit.empty() ? name_row_.BindNull(5) : name_row_.Bind(5, unit));
  TRACEDB_TRY(name_row_.Run());
  return std::optional(id);
}

Status SampleRows::BindSample(int64_t name_id) {
  TRACEDB_TRY(sample_row_.Bind(2, moment_));
  return sample_row_.Bind(3, name_id);
}

Status SampleRows::AddText(std::string_view name, std::string_view text) {
  TRACEDB_ASSIGN(id, NameId(name, ""));
  if (!id.has_value()) return Done{};
  constexpr size_t kTextsMax = 100'000;
  const std::pair key(gpu_, *id);
  const auto before = texts_.find(key);
  if (before != texts_.end() && before->second == text) return Done{};
  if (before != texts_.end()) {
    before->second = text;
  } else if (texts_.size() < kTextsMax) {
    texts_.emplace(key, text);
  }
  TRACEDB_TRY(BindSample(*id));
  TRACEDB_TRY(sample_row_.Bind(4, text));
  return sample_row_.Run();
}

Status SampleRows::Add(std::string_view name, std::string_view unit, std::string_view value) {
  if (IsMissing(value)) return Done{};
  const size_t blank = value.find(' ');
  const std::string_view digits = value.substr(0, blank);
  std::optional<int64_t> whole = WholeNumber(digits);
  std::optional<double> decimal;
  if (!whole.has_value()) decimal = DecimalNumber(digits);
  if (whole.has_value() || decimal.has_value()) {
    const std::string_view behind =
        blank == std::string_view::npos ? "" : TrimBlanks(value.substr(blank));
    if (!behind.empty() && behind != unit && !IsUnit(behind)) return AddText(name, value);
    if (!behind.empty()) unit = behind;
  } else {
    whole = HexNumber(value);
    if (!whole.has_value()) whole = Flag(value);
    if (!whole.has_value()) return AddText(name, value);
  }
  TRACEDB_ASSIGN(id, NameId(name, unit));
  if (!id.has_value()) return Done{};
  TRACEDB_TRY(BindSample(*id));
  TRACEDB_TRY(whole ? sample_row_.Bind(4, *whole) : sample_row_.Bind(4, *decimal));
  return sample_row_.Run();
}

std::optional<int64_t> SampleRows::GpuOf(std::string_view id) {
  const auto known = std::find(gpu_ids_.begin(), gpu_ids_.end(), id);
  if (known == gpu_ids_.end() && gpu_ids_.size() == kGpusMax) return std::nullopt;
  const int64_t number = -1 - (known - gpu_ids_.begin());
  if (known == gpu_ids_.end()) gpu_ids_.emplace_back(id);
  return number;
}

Status SampleRows::Finish(bool any_date) {
  const std::optional<int64_t>& offset = rows_->options.utc_offset_ns;
  const bool is_known = any_time_ && any_date && offset.has_value();
  rows_->time_source = !any_time_  ? "no times"
                       : !any_date ? "date unknown"
                       : is_known  ? "zone given"
                                   : "zone unknown";
  if (!is_known) rows_->start_ns = rows_->end_ns = std::nullopt;
  TRACEDB_ASSIGN(zone, rows_->db->Prepare("INSERT INTO _gpu_sample_zone (source_id, utc_offset_ns, "
                                          "time_source) VALUES (?1, ?2, ?3)"));
  TRACEDB_TRY(zone.Bind(1, rows_->source_id));
  TRACEDB_TRY(is_known ? zone.Bind(2, *offset) : zone.BindNull(2));
  TRACEDB_TRY(zone.Bind(3, rows_->time_source));
  return zone.Run();
}

}  // namespace tracedb
