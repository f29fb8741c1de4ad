#include "sources/gpu_samples/nvidia_smi_table.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sources/gpu_samples/sample_rows.h"
#include "sources/gpu_samples/sample_text.h"

namespace tracedb {
namespace {

using Cells = std::vector<std::string_view>;

// Of one table. More than any node has; what is beyond is counted as no sample.
constexpr size_t kGpusMax = 512;
constexpr size_t kProcessBytesMax = 65'536;  // of one GPU's processes

// |   0  NVIDIA H200                    On  |   00000000:18:00.0 Off |                    0 |
// | N/A   32C    P0             77W /  700W |      12MiB / 143771MiB |      0%      Default |
// |                                         |                        |             Disabled |
struct Gpu {
  int64_t number = 0;
  uint64_t offset = 0;
  std::string identity, bus, errors;  // what the first line has between bars
  std::string load, memory, use;      // the second
  std::string mig;                    // the third
  std::string processes;
};

enum class Part { kBefore, kGpus, kProcesses, kOther };

// Between the bars at both ends; empty when it has none.
std::string_view Inside(std::string_view line) {
  line = TrimBlanks(line);
  if (line.size() < 2 || !line.starts_with('|') || !line.ends_with('|')) return {};
  return line.substr(1, line.size() - 2);
}

bool IsRule(std::string_view line) {
  return line.find_first_not_of("+-=| ") == std::string_view::npos;
}

// 00000000:18:00.0
bool IsBus(std::string_view text) {
  return text.size() >= 7 && std::count(text.begin(), text.end(), ':') >= 1 &&
         text.find('.') != std::string_view::npos &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

std::optional<Gpu> FirstLine(std::string_view line, uint64_t offset) {
  Cells cells, words;
  SplitAt(Inside(line), '|', cells);
  if (cells.size() != 3) return std::nullopt;
  SplitWords(cells[0], words);
  if (words.empty()) return std::nullopt;
  const auto number = WholeNumber(words[0]);
  const std::string_view bus = cells[1].substr(0, cells[1].find(' '));
  if (!number.has_value() || *number < 0 || !IsBus(bus)) return std::nullopt;
  Gpu gpu;
  gpu.number = *number;
  gpu.offset = offset;
  gpu.identity = TrimBlanks(cells[0].substr(words[0].size()));
  gpu.bus = bus;
  gpu.errors = cells[2];
  return gpu;
}

bool IsHeading(std::string_view inside) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"GPU  Name", "Fan  Temp", "MIG M.", "GPU   GI   CI", "ID   ID", "GPU  GI  CI", "ID  ID",
       "GPU       PID", "No running processes found", "Usage"});
  return TrimBlanks(inside).empty() ||
         std::any_of(kWords.begin(), kWords.end(), [inside](std::string_view word) {
           return inside.find(word) != std::string_view::npos;
         });
}

// "77W / 700W", "12MiB / 143771MiB": both numbers.
Status AddOf(std::string_view text, std::string_view unit, std::string_view name,
             std::string_view limit_name, SampleRows& samples) {
  Cells sides;
  SplitAt(text, '/', sides);
  if (sides.size() != 2) return Done{};
  const auto number = [unit](std::string_view side) {
    return side.ends_with(unit) ? side.substr(0, side.size() - unit.size()) : std::string_view();
  };
  TRACEDB_TRY(samples.Add(name, unit, number(sides[0])));
  return samples.Add(limit_name, unit, number(sides[1]));
}

// "N/A   32C    P0             77W /  700W". Drivers write either side of a power that they do not
// know as N/A, which has a slash of its own.
Status AddLoad(std::string_view load, SampleRows& samples) {
  Cells words;
  SplitWords(load, words);
  if (words.size() < 3) return Done{};
  if (words[0].ends_with('%')) {
    TRACEDB_TRY(samples.Add("fan.speed", "%", words[0].substr(0, words[0].size() - 1)));
  }
  if (words[1].ends_with('C')) {
    TRACEDB_TRY(samples.Add("temperature.gpu", "C", words[1].substr(0, words[1].size() - 1)));
  }
  TRACEDB_TRY(samples.Add("pstate", "", words[2]));
  std::string power;
  for (size_t i = 3; i < words.size(); ++i) power += words[i];
  for (size_t at; (at = power.find("N/A")) != std::string::npos;) power.erase(at, 3);
  return AddOf(power, "W", "power.draw", "power.limit", samples);
}

Status AddIdentity(std::string_view identity, SampleRows& samples) {
  const size_t blank = identity.find_last_of(" \t");
  if (blank == std::string_view::npos) return samples.Add("name", "", identity);
  TRACEDB_TRY(samples.Add("name", "", TrimBlanks(identity.substr(0, blank))));
  return samples.Add("persistence_mode", "", identity.substr(blank + 1));
}

class Tables {
 public:
  Tables(SampleRows& samples, SourceRows& rows) : samples_(&samples), rows_(&rows) {}

  Status Take(std::string_view line, uint64_t offset) {
    if (TrimBlanks(line).empty() || IsRule(line)) return Done{};
    size_t at = 0;
    const std::string_view inside = Inside(line);
    if (inside.empty()) {
      const auto time = CalendarTime(line, at);
      if (!time.has_value()) return NoSample(line, offset);
      TRACEDB_TRY(Store());
      local_ns_ = time;
      return Done{};
    }
    if (inside.find("NVIDIA-SMI") != std::string_view::npos) {
      TRACEDB_TRY(Store());
      SetDriver(inside);
      return Done{};
    }
    // Headings last: a process may have any name.
    if (TakeTitle(inside) || TakeRow(line, inside, offset) || IsHeading(inside)) return Done{};
    return NoSample(line, offset);
  }

  // What is held becomes rows: the table is over.
  Status Store() {
    for (const Gpu& gpu : gpus_) TRACEDB_TRY(StoreGpu(gpu));
    gpus_.clear();
    part_ = Part::kBefore;
    return Done{};
  }

 private:
  Status NoSample(std::string_view line, uint64_t offset) {
    rows_->issues.Add("not_a_sample", offset, line);
    return Done{};
  }

  // | NVIDIA-SMI 580.159.04   Driver Version: 580.159.04   CUDA Version: 13.0 |
  void SetDriver(std::string_view inside) {
    const auto after = [inside](std::string_view label) {
      const size_t at = inside.find(label);
      if (at == std::string_view::npos) return std::string();
      const std::string_view rest = TrimBlanks(inside.substr(at + label.size()));
      return std::string(rest.substr(0, rest.find(' ')));
    };
    driver_ = after("Driver Version:");
    cuda_ = after("CUDA Version:");
    part_ = Part::kGpus;
    line_ = 0;
  }

  bool TakeTitle(std::string_view inside) {
    const std::string_view title = TrimBlanks(inside);
    if (title.starts_with("Processes:")) {
      part_ = Part::kProcesses;
      return true;
    }
    if (!title.starts_with("MIG devices:")) return false;
    part_ = Part::kOther;
    return true;
  }

  bool TakeRow(std::string_view line, std::string_view inside, uint64_t offset) {
    if (part_ == Part::kProcesses) return TakeProcess(inside);
    if (part_ != Part::kGpus) return false;
    if (std::optional<Gpu> gpu = FirstLine(line, offset); gpu.has_value()) {
      if (gpus_.size() >= kGpusMax) return false;
      gpus_.push_back(std::move(*gpu));
      line_ = 1;
      return true;
    }
    Cells cells;
    SplitAt(inside, '|', cells);
    if (cells.size() != 3 || gpus_.empty() || line_ == 0 || line_ > 2) return false;
    Gpu& gpu = gpus_.back();
    if (line_ == 1) {
      gpu.load = cells[0];
      gpu.memory = cells[1];
      gpu.use = cells[2];
    } else {
      gpu.mig = cells[2];
    }
    ++line_;
    return true;
  }

  //    0   N/A  N/A            1234      C   python                           1234MiB
  bool TakeProcess(std::string_view inside) {
    Cells words;
    SplitWords(inside, words);
    const auto number = words.empty() ? std::nullopt : WholeNumber(words[0]);
    if (!number.has_value()) return false;
    const auto gpu = std::find_if(gpus_.begin(), gpus_.end(),
                                  [&](const Gpu& one) { return one.number == *number; });
    if (gpu == gpus_.end() || gpu->processes.size() > kProcessBytesMax) return false;
    std::string process;
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "N/A") continue;
      process += (process.empty() ? "" : " ") + std::string(words[i]);
    }
    gpu->processes += (gpu->processes.empty() ? "" : ", ") + process;
    return true;
  }

  Status StoreGpu(const Gpu& gpu) {
    TRACEDB_TRY(samples_->Begin(gpu.number, local_ns_, gpu.offset));
    TRACEDB_TRY(samples_->Add("driver_version", "", driver_));
    TRACEDB_TRY(samples_->Add("cuda_version", "", cuda_));
    TRACEDB_TRY(AddIdentity(gpu.identity, *samples_));
    TRACEDB_TRY(samples_->Add("pci.bus_id", "", gpu.bus));
    TRACEDB_TRY(samples_->Add("ecc.errors.uncorrected.volatile.total", "", gpu.errors));
    TRACEDB_TRY(AddLoad(gpu.load, *samples_));
    TRACEDB_TRY(AddOf(gpu.memory, "MiB", "memory.used", "memory.total", *samples_));
    // "0%      Default", "N/A      E. Process"
    const std::string_view use = gpu.use;
    const size_t blank = std::min(use.find(' '), use.size());
    const std::string_view share = use.substr(0, blank);
    TRACEDB_TRY(samples_->Add("utilization.gpu", "%", share.substr(0, share.find('%'))));
    TRACEDB_TRY(samples_->Add("compute_mode", "", TrimBlanks(use.substr(blank))));
    TRACEDB_TRY(samples_->Add("mig.mode.current", "", gpu.mig));
    return samples_->Add("processes", "", gpu.processes);
  }

  SampleRows* samples_;
  SourceRows* rows_;
  std::optional<int64_t> local_ns_;
  std::string driver_, cuda_;
  std::vector<Gpu> gpus_;
  Part part_ = Part::kBefore;
  int line_ = 0;  // of the last GPU
};

}  // namespace

bool NvidiaSmiTable::Fits(const SourceHead& head) const {
  constexpr int kLinesMax = 30;
  std::string_view rest = head.text;
  bool is_table = false;
  for (int i = 0; i < kLinesMax && !rest.empty(); ++i) {
    const size_t end = rest.find('\n');
    const std::string line = WithoutEscapes(rest.substr(0, std::min<size_t>(end, 4096)));
    is_table = is_table || (!Inside(line).empty() && line.find("NVIDIA-SMI") != line.npos);
    if (is_table && FirstLine(line, 0).has_value()) return true;
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + 1);
  }
  return false;
}

Status NvidiaSmiTable::Read(SourceText& text, SourceRows& rows) const {
  TRACEDB_ASSIGN(samples, SampleRows::Open(rows));
  Tables tables(samples, rows);
  std::string_view line;
  for (;;) {
    TRACEDB_ASSIGN(is_line, text.NextLine(line));
    if (!is_line) break;
    TRACEDB_TRY(tables.Take(WithoutEscapes(line), text.line_offset()));
  }
  TRACEDB_TRY(tables.Store());
  return samples.Finish();
}

}  // namespace tracedb
