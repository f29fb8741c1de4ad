#include "sources/gpu_samples/gpustat.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sources/gpu_samples/sample_rows.h"
#include "sources/gpu_samples/sample_text.h"

namespace tracedb {
namespace {

using Cells = std::vector<std::string_view>;

// [0] NVIDIA A10 | 49'C, 30 %, 0 %, 20 / 150 W | 0 / 22731 MB | user(1234M)
struct GpuLine {
  int64_t gpu = 0;
  std::string_view name, load, memory, processes;
};

// "49'C" or "??'C", and with a degree sign.
bool IsTemperature(std::string_view cell) {
  for (const std::string_view sign : {"'C",
                                      "\xc2\xb0"
                                      "C"}) {
    if (!cell.ends_with(sign)) continue;
    const std::string_view digits = cell.substr(0, cell.size() - sign.size());
    return digits == "??" || WholeNumber(digits).has_value();
  }
  return false;
}

// "0 / 22731 MB"
bool IsMemory(std::string_view cell) {
  if (!cell.ends_with(" MB")) return false;
  Cells sides;
  SplitAt(cell.substr(0, cell.size() - 3), '/', sides);
  return sides.size() == 2 && std::all_of(sides.begin(), sides.end(), [](std::string_view side) {
           return side == "??" || WholeNumber(side).has_value();
         });
}

bool TakeGpuLine(std::string_view line, GpuLine& gpu) {
  line = TrimBlanks(line);
  const size_t bracket = line.find(']');
  if (!line.starts_with('[') || bracket == std::string_view::npos) return false;
  const auto number = WholeNumber(line.substr(1, bracket - 1));
  Cells cells;
  SplitAt(line.substr(bracket + 1), '|', cells);
  if (!number.has_value() || *number < 0 || cells.size() < 3) return false;
  if (!IsTemperature(TrimBlanks(cells[1].substr(0, cells[1].find(',')))) || !IsMemory(cells[2])) {
    return false;
  }
  gpu = {*number, cells[0], cells[1], cells[2], cells.size() > 3 ? cells[3] : ""};
  return true;
}

// "12 / 150 W": both numbers.
Status AddOf(std::string_view text, std::string_view unit, std::string_view name,
             std::string_view limit_name, SampleRows& samples) {
  Cells sides;
  SplitAt(text.substr(0, text.rfind(unit)), '/', sides);
  if (!sides.empty()) TRACEDB_TRY(samples.Add(name, unit, sides[0]));
  if (sides.size() > 1) TRACEDB_TRY(samples.Add(limit_name, unit, sides[1]));
  return Done{};
}

Status AddLoad(std::string_view load, SampleRows& samples) {
  Cells cells;
  SplitAt(load, ',', cells);
  std::vector<std::string_view> shares;  // the fan's comes first, where it is shown
  for (const std::string_view cell : cells) {
    if (cell.ends_with('C')) {
      const size_t digits = cell.find_first_not_of("0123456789");
      TRACEDB_TRY(samples.Add("temperature.gpu", "C", cell.substr(0, digits)));
    } else if (cell.ends_with('W')) {
      TRACEDB_TRY(AddOf(cell, "W", "power.draw", "power.limit", samples));
    } else if (cell.starts_with("E:")) {  // E: 10 %  D: 0 %
      const size_t decoder = cell.find("D:");
      TRACEDB_TRY(
          samples.Add("utilization.encoder", "%",
                      TrimBlanks(cell.substr(2, decoder == cell.npos ? decoder : decoder - 2))));
      if (decoder != std::string_view::npos) {
        TRACEDB_TRY(samples.Add("utilization.decoder", "%", TrimBlanks(cell.substr(decoder + 2))));
      }
    } else if (cell.ends_with('%')) {
      shares.push_back(TrimBlanks(cell.substr(0, cell.size() - 1)));
    }
  }
  if (shares.size() > 1) TRACEDB_TRY(samples.Add("fan.speed", "%", shares[0]));
  if (!shares.empty()) TRACEDB_TRY(samples.Add("utilization.gpu", "%", shares.back()));
  return Done{};
}

Status AddGpu(const GpuLine& gpu, std::optional<int64_t> local_ns, uint64_t offset,
              SampleRows& samples) {
  TRACEDB_TRY(samples.Begin(gpu.gpu, local_ns, offset));
  TRACEDB_TRY(samples.Add("name", "", gpu.name));
  TRACEDB_TRY(AddLoad(gpu.load, samples));
  TRACEDB_TRY(AddOf(gpu.memory, "MB", "memory.used", "memory.total", samples));
  return samples.Add("processes", "", gpu.processes);
}

}  // namespace

bool Gpustat::Fits(const SourceHead& head) const {
  constexpr int kLinesMax = 5;
  constexpr size_t kLineBytesMax = 4096;
  std::string_view rest = head.text;
  for (int i = 0; i < kLinesMax && !rest.empty(); ++i) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    GpuLine gpu;
    if (line.size() <= kLineBytesMax && TakeGpuLine(WithoutEscapes(line), gpu)) return true;
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + 1);
  }
  return false;
}

Status Gpustat::Read(SourceText& text, SourceRows& rows) const {
  TRACEDB_ASSIGN(samples, SampleRows::Open(rows));
  std::optional<int64_t> local_ns;
  std::string_view line;
  for (;;) {
    TRACEDB_ASSIGN(is_line, text.NextLine(line));
    if (!is_line) break;
    const std::string plain = WithoutEscapes(line);
    GpuLine gpu;
    size_t at = 0;
    if (TrimBlanks(plain).empty()) continue;
    if (TakeGpuLine(plain, gpu)) {
      TRACEDB_TRY(AddGpu(gpu, local_ns, text.line_offset(), samples));
    } else if (const auto time = CalendarTime(plain, at); time.has_value()) {
      local_ns = time;
      const std::string_view host = TrimBlanks(std::string_view(plain).substr(0, at));
      if (!host.empty() && !rows.host.has_value()) rows.host = host;
    } else {
      rows.issues.Add("not_a_sample", text.line_offset(), plain);
    }
  }
  return samples.Finish();
}

}  // namespace tracedb
