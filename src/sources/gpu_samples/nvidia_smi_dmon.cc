#include "sources/gpu_samples/nvidia_smi_dmon.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "sources/gpu_samples/sample_rows.h"
#include "sources/gpu_samples/sample_text.h"

namespace tracedb {
namespace {

using Words = std::vector<std::string_view>;

bool Has(const Words& words, std::string_view wanted) {
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

// "bar1", "gtemp": columns have short names.
bool IsColumnName(std::string_view word) {
  constexpr size_t kNameBytesMax = 12;
  return word.size() <= kNameBytesMax && std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// "# gpu   pwr", "#Date Time gpu pwr". `pmon`, which lists processes, has pids.
bool IsNames(const Words& words) {
  constexpr std::array kOwn =
      std::to_array<std::string_view>({"pwr", "sm", "mclk", "pviol", "fb", "sbecc", "rxpci"});
  const auto gpu = std::find_if(words.begin(), words.end(), [](std::string_view word) {
    return word != "Date" && word != "Time";
  });
  return gpu != words.end() && *gpu == "gpu" && std::all_of(gpu, words.end(), IsColumnName) &&
         !Has(words, "pid") &&
         std::any_of(kOwn.begin(), kOwn.end(),
                     [&words](std::string_view name) { return Has(words, name); });
}

// The words of a line that begins with #; empty: it does not.
void HeaderWords(std::string_view line, Words& words) {
  words.clear();
  const std::string_view text = TrimBlanks(line);
  if (!text.starts_with('#')) return;
  SplitWords(text.substr(1), words);
}

struct Layout {
  std::vector<std::string> names;
  std::vector<std::string> units;
  std::optional<size_t> gpu, date, time;

  void SetNames(const Words& words) {
    names.assign(words.begin(), words.end());
    units.assign(names.size(), "");
    gpu = date = time = std::nullopt;
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == "gpu") gpu = i;
      if (names[i] == "Date") date = i;
      if (names[i] == "Time") time = i;
    }
  }
};

// Local time of lines; a time of day without a date counts days from 1970 on, by going back.
class Clock {
 public:
  std::optional<int64_t> Of(const Layout& layout, const Words& words) {
    if (!layout.time.has_value()) return std::nullopt;
    const auto time = TimeOfDay(words[*layout.time]);
    if (!time.has_value()) return std::nullopt;
    if (layout.date.has_value()) {
      const auto midnight = CompactDate(words[*layout.date]);
      if (!midnight.has_value()) return std::nullopt;
      return *midnight + *time;
    }
    constexpr int64_t kHalfDayNs = int64_t{43'200} * 1'000'000'000;
    if (*time + kHalfDayNs < last_) midnight_ += 2 * kHalfDayNs;
    last_ = *time;
    return midnight_ + *time;
  }

 private:
  int64_t last_ = 0;
  int64_t midnight_ = 0;
};

Status AddLine(const Layout& layout, const Words& words, Clock& clock, uint64_t offset,
               std::string_view line, SourceRows& rows, SampleRows& samples) {
  const auto local_ns = clock.Of(layout, words);
  if (layout.time.has_value() && !local_ns.has_value()) {
    rows.issues.Add("time_unknown", offset, line);
  }
  const auto gpu = WholeNumber(words[*layout.gpu]);
  if (!gpu.has_value()) rows.issues.Add("gpu_unknown", offset, line);
  TRACEDB_TRY(samples.Begin(gpu, local_ns, offset));
  for (size_t i = 0; i < words.size(); ++i) {
    if (layout.gpu == i || layout.time == i || layout.date == i) continue;
    TRACEDB_TRY(samples.Add(layout.names[i], layout.units[i], words[i]));
  }
  return Done{};
}

}  // namespace

// A remark may hold such words: below names stand units, or values of as many columns.
bool NvidiaSmiDmon::Fits(const SourceHead& head) const {
  constexpr int kLinesMax = 20;
  std::string_view rest = head.text;
  Layout layout;
  Words words;
  for (int i = 0; i < kLinesMax && !rest.empty(); ++i) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    HeaderWords(line, words);
    if (layout.gpu.has_value() && !TrimBlanks(line).empty()) {
      const bool is_units = Has(words, "Idx");
      if (!is_units) SplitWords(line, words);
      if (words.size() == layout.names.size() &&
          (is_units || WholeNumber(words[*layout.gpu]).has_value())) {
        return true;
      }
      HeaderWords(line, words);
      layout = {};
    }
    if (IsNames(words)) layout.SetNames(words);
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + 1);
  }
  return false;
}

Status NvidiaSmiDmon::Read(SourceText& text, SourceRows& rows) const {
  TRACEDB_ASSIGN(samples, SampleRows::Open(rows));
  Layout layout;
  Clock clock;
  Words words;
  bool any_date = true;
  std::string_view line;
  for (;;) {
    TRACEDB_ASSIGN(is_line, text.NextLine(line));
    if (!is_line) break;
    if (TrimBlanks(line).empty()) continue;
    HeaderWords(line, words);
    if (IsNames(words)) {
      layout.SetNames(words);
      any_date = layout.date.has_value();
      continue;
    }
    if (Has(words, "Idx")) {
      if (words.size() == layout.units.size()) layout.units.assign(words.begin(), words.end());
      continue;
    }
    SplitWords(line, words);
    if (!layout.gpu.has_value() || words.size() > layout.names.size()) {
      rows.issues.Add("not_a_sample", text.line_offset(), line);
    } else if (words.size() < layout.names.size()) {
      rows.issues.Add("half_line", text.line_offset(), line);
    } else {
      TRACEDB_TRY(AddLine(layout, words, clock, text.line_offset(), line, rows, samples));
    }
  }
  return samples.Finish(any_date);
}

}  // namespace tracedb
