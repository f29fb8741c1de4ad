#include "sources/ncu/ncu_descriptions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "sources/read/text_words.h"
#include "tracedb/sources/read/source_text.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, 5> kTypes = {"Counter", "Ratio", "Throughput", "Instanced",
                                                    "Metric"};

std::string_view TakeWord(std::string_view& text) {
  text = TrimBlanks(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

struct Description {
  std::string metric, type, unit, text, parts;
};

bool IsMetricName(std::string_view word) {
  return word.find("__") != std::string_view::npos &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '.' || c == ':';
         });
}

// Columns are parted by two blanks at least, or where one is full by one. A unit may be missing:
// then its place is blank.
std::optional<Description> DescriptionLine(std::string_view line) {
  if (line.empty() || line[0] == ' ') return std::nullopt;
  Description found;
  std::string_view rest = line;
  const std::string_view name = TakeWord(rest);
  const std::string_view type = TakeWord(rest);
  if (!IsMetricName(name) || std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
    return std::nullopt;
  }
  found.metric = name;
  found.type = type;
  // A unit begins where its column does, 16 after the type's, a description 32 after.
  constexpr size_t kUnitWithin = 20;
  std::string_view after_unit = rest;
  const std::string_view unit = TakeWord(after_unit);
  if (!unit.empty() && static_cast<size_t>(unit.data() - type.data()) <= kUnitWithin) {
    found.unit = unit;
    rest = after_unit;
  }
  found.text = TrimBlanks(rest);
  return found;
}

bool IsPartsLine(std::string_view line) {
  line = TrimBlanks(line);
  if (!line.starts_with('.')) return false;
  while (!line.empty()) {
    const std::string_view word = TakeWord(line);
    if (word.size() < 2 || word[0] != '.' || word.find_first_of("()[]{}\"=") != word.npos) {
      return false;
    }
    line = TrimBlanks(line);
  }
  return true;
}

bool IsFrameLine(std::string_view line) {
  line = TrimBlanks(line);
  return line.empty() || line.starts_with("--") || line.starts_with("==") ||
         line.starts_with("Metric Name");
}

std::optional<std::string_view> DeviceLine(std::string_view line) {
  constexpr std::string_view kDevice = "Device ";
  line = TrimBlanks(line);
  if (!line.starts_with(kDevice)) return std::nullopt;
  return TrimBlanks(line.substr(kDevice.size()));
}

class DescriptionRows {
 public:
  explicit DescriptionRows(SourceRows& rows) : rows_(rows) {}
  Status Begin() {
    TRACEDB_ASSIGN(insert, rows_.db->Prepare("INSERT INTO _ncu_metric_description VALUES (?1, ?2, "
                                             "?3, ?4, ?5, ?6, ?7)"));
    insert_ = std::move(insert);
    return insert_->Bind(1, rows_.source_id);
  }
  Status Line(const SourceText& text, std::string_view line) {
    if (const auto device = DeviceLine(line)) {
      TRACEDB_TRY(Flush());
      device_ = *device;
    } else if (auto found = DescriptionLine(line)) {
      TRACEDB_TRY(Flush());
      open_ = std::move(found);
    } else if (open_ && IsPartsLine(line)) {
      open_->parts += (open_->parts.empty() ? "" : " ") + std::string(TrimBlanks(line));
    } else if (open_ && line.starts_with("  ") && !TrimBlanks(line).empty()) {
      open_->text += " " + std::string(TrimBlanks(line));  // a description of several lines
    } else if (!IsFrameLine(line)) {
      rows_.issues.Add("line_without_metric", text.line_offset(), line);
    }
    return Done{};
  }
  Status Flush() {
    if (!open_) return Done{};
    int at = 1;
    for (const std::string& cell :
         {open_->metric, open_->type, open_->unit, open_->text, open_->parts, device_}) {
      TRACEDB_TRY(cell.empty() ? insert_->BindNull(++at)
                               : insert_->Bind(++at, std::string_view(cell)));
    }
    open_.reset();
    ++rows_.rows;
    return insert_->Run();
  }

 private:
  SourceRows& rows_;
  std::optional<SqliteStatement> insert_;
  std::optional<Description> open_;
  std::string device_;
};

}  // namespace

bool LooksLikeNcuDescriptions(std::string_view text, bool is_whole) {
  size_t descriptions = 0, others = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos && !is_whole) break;  // half a line
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (DescriptionLine(line)) {
      ++descriptions;
    } else if (!IsFrameLine(line) && !IsPartsLine(line) && !DeviceLine(line) &&
               !line.starts_with("  ")) {
      ++others;
    }
  }
  return descriptions > others && descriptions > 0;
}

Status ReadNcuDescriptions(SourceText& text, SourceRows& rows) {
  DescriptionRows found(rows);
  TRACEDB_TRY(found.Begin());
  std::string_view line;
  for (;;) {
    TRACEDB_ASSIGN(is_line, text.NextLine(line));
    if (!is_line) break;
    TRACEDB_TRY(found.Line(text, line));
  }
  return found.Flush();
}

}  // namespace tracedb
