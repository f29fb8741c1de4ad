#include "sources/gpu_samples/nvidia_smi_csv.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "sources/gpu_samples/sample_rows.h"
#include "sources/gpu_samples/sample_text.h"

namespace tracedb {
namespace {

struct Column {
  std::string name;
  std::string unit;
};

using Cells = std::vector<std::string_view>;

// What only a query of GPUs asks for; `--query-compute-apps` and tables of others have none of
// these.
constexpr std::array kOwnNames = std::to_array<std::string_view>(
    {"utilization.", "memory.total", "memory.used", "memory.free", "memory.reserved", "power.draw",
     "power.limit", "enforced.power.limit", "temperature.gpu", "temperature.memory", "clocks.",
     "clocks_throttle_reasons.", "clocks_event_reasons.", "pcie.link.", "ecc.", "fan.speed",
     "encoder.stats.", "pstate"});

// What such a query asks for to tell GPUs and moments apart, and so do others.
constexpr std::array kIds =
    std::to_array<std::string_view>({"uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "serial"});
constexpr std::array kCommonNames = std::to_array<std::string_view>(
    {"timestamp", "index", "name", "gpu_name", "count", "driver_version"});

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// "memory.used [MiB]"
bool TakeColumn(std::string_view cell, Column& column) {
  const size_t blank = cell.find(' ');
  const std::string_view name = cell.substr(0, blank);
  if (name.empty() || !(name.front() >= 'a' && name.front() <= 'z')) return false;
  if (!std::all_of(name.begin(), name.end(), IsNameChar)) return false;
  column.name = name;
  column.unit.clear();
  if (blank == std::string_view::npos) return true;
  const std::string_view unit = TrimBlanks(cell.substr(blank));
  if (unit.size() < 3 || unit.front() != '[' || unit.back() != ']') return false;
  column.unit = unit.substr(1, unit.size() - 2);
  return true;
}

bool IsOwn(const Column& column) {
  return std::any_of(kOwnNames.begin(), kOwnNames.end(),
                     [&](std::string_view name) { return column.name.starts_with(name); });
}

bool IsCommon(const Column& column) {
  return std::find(kIds.begin(), kIds.end(), column.name) != kIds.end() ||
         std::find(kCommonNames.begin(), kCommonNames.end(), column.name) != kCommonNames.end();
}

// Empty: the line is no header. Two columns are known: only nvidia-smi's, or one of them with its
// unit in brackets, as other monitors do not write it.
std::vector<Column> HeaderColumns(const Cells& cells) {
  std::vector<Column> columns(cells.size());
  int own = 0, with_unit = 0, common = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (!TakeColumn(cells[i], columns[i])) return {};
    const bool is_own = IsOwn(columns[i]);
    own += is_own ? 1 : 0;
    with_unit += is_own && !columns[i].unit.empty() ? 1 : 0;
    common += IsCommon(columns[i]) ? 1 : 0;
  }
  if (own < 2 && (with_unit == 0 || common == 0)) return {};
  return columns;
}

bool HasUnit(std::string_view cell) {
  constexpr std::array kUnits = std::to_array<std::string_view>({" %", " MiB", " W", " MHz"});
  return std::any_of(kUnits.begin(), kUnits.end(), [cell](std::string_view unit) {
    return cell.ends_with(unit) && DecimalNumber(cell.substr(0, cell.size() - unit.size()));
  });
}

// `noheader`: nothing says what the values are but a time in nvidia-smi's form, and two units, or
// one and a GPU's number.
std::vector<Column> NamelessColumns(const Cells& cells) {
  constexpr int64_t kGpusMax = 1024;
  std::vector<Column> columns(cells.size());
  bool any_time = false;
  int units = 0, numbers = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    columns[i].name = "column " + std::to_string(i + 1);
    if (SlashTime(cells[i]).has_value()) {
      any_time = true;
      columns[i].name = "timestamp";
    }
    const int64_t number = WholeNumber(cells[i]).value_or(-1);
    units += HasUnit(cells[i]) ? 1 : 0;
    numbers += number >= 0 && number < kGpusMax ? 1 : 0;
  }
  if (!any_time || units == 0 || (units == 1 && numbers == 0)) return {};
  return columns;
}

struct Layout {
  std::vector<Column> columns;
  std::optional<size_t> time, index, id;

  explicit Layout(std::vector<Column> header) : columns(std::move(header)) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string& name = columns[i].name;
      if (name == "timestamp") time = i;
      if (name == "index") index = i;
      if (std::find(kIds.begin(), kIds.end(), name) != kIds.end() && !id.has_value()) id = i;
    }
  }
};

Status AddLine(const Layout& layout, const Cells& cells, uint64_t offset, std::string_view line,
               SourceRows& rows, SampleRows& samples) {
  std::optional<int64_t> gpu;
  if (layout.index.has_value()) {
    gpu = WholeNumber(cells[*layout.index]);
  } else if (layout.id.has_value()) {
    gpu = samples.GpuOf(cells[*layout.id]);
  }
  if (!gpu.has_value()) rows.issues.Add("gpu_unknown", offset, line);
  std::optional<int64_t> local_ns;
  if (layout.time.has_value()) {
    local_ns = SlashTime(cells[*layout.time]);
    if (!local_ns.has_value()) rows.issues.Add("time_unknown", offset, line);
  }
  TRACEDB_TRY(samples.Begin(gpu, local_ns, offset));
  for (size_t i = 0; i < cells.size(); ++i) {
    if (layout.time == i || layout.index == i) continue;
    TRACEDB_TRY(samples.Add(layout.columns[i].name, layout.columns[i].unit, cells[i]));
  }
  return Done{};
}

}  // namespace

bool NvidiaSmiCsv::Fits(const SourceHead& head) const {
  constexpr int kLinesMax = 20;  // troubles of single GPUs are told first
  std::string_view rest = head.text;
  Cells cells;
  for (int i = 0; i < kLinesMax && !rest.empty(); ++i) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos && !head.is_whole) return false;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.find('\0') != std::string_view::npos) return false;
    SplitAt(line, ',', cells);
    if (!HeaderColumns(cells).empty() || !NamelessColumns(cells).empty()) return true;
  }
  return false;
}

Status NvidiaSmiCsv::Read(SourceText& text, SourceRows& rows) const {
  TRACEDB_ASSIGN(samples, SampleRows::Open(rows));
  std::optional<Layout> layout;
  Cells cells;
  std::string_view line;
  for (;;) {
    TRACEDB_ASSIGN(is_line, text.NextLine(line));
    if (!is_line) break;
    if (TrimBlanks(line).empty()) continue;
    SplitAt(line, ',', cells);
    if (std::vector<Column> header = HeaderColumns(cells); !header.empty()) {
      layout.emplace(std::move(header));  // and again where a file was added to
      continue;
    }
    if (!layout.has_value()) {
      if (std::vector<Column> nameless = NamelessColumns(cells); !nameless.empty()) {
        layout.emplace(std::move(nameless));
        rows.issues.Add("names_missing", text.line_offset(), line);
      }
    }
    if (!layout.has_value()) {
      rows.issues.Add("not_a_sample", text.line_offset(), line);
    } else if (cells.size() != layout->columns.size()) {
      rows.issues.Add(cells.size() < layout->columns.size() ? "half_line" : "not_a_sample",
                      text.line_offset(), line);
    } else {
      TRACEDB_TRY(AddLine(*layout, cells, text.line_offset(), line, rows, samples));
    }
  }
  return samples.Finish();
}

}  // namespace tracedb
