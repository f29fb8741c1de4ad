#include "tracedb/text/progress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kNameWidth = 30;
constexpr size_t kNameWidthMin = 20;  // where the bar would be less than good else
constexpr size_t kBarWidth = 20;
constexpr size_t kBarWidthGood = 10;
constexpr size_t kBarWidthMin = 6;

std::string Bar(double share, size_t width) {
  const auto full = static_cast<size_t>(share * static_cast<double>(width));
  return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
}

std::string TimeLeft(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s left", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s left", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min left", whole / 3600, whole / 60 % 60);
}

struct Part {
  std::string text;
  int importance;  // the least goes first
};
constexpr int kBarImportance = 4;
constexpr int kNameImportance = 9;

std::string Joined(const std::vector<Part>& parts) {
  std::string line;
  for (const Part& part : parts) line += (line.empty() ? "" : "  ") + part.text;
  return line;
}

std::string Subject(const WorkDone& work, size_t name_width) {
  const std::string shown =
      work.is_file ? ShortFileName(work.what, name_width) : ShownText(work.what);
  return work.of.empty() ? shown : work.of + ": " + shown;
}

// What comes after the name.
std::vector<Part> Parts(const WorkDone& work, double share, double seconds) {
  std::vector<Part> parts;
  if (work.all > 0) {
    parts.push_back({Bar(share, kBarWidthMin), kBarImportance});
    parts.push_back({fmt::format("{:.0f} %", 100 * share), 8});
    // All has been read, and what is worked out at the end takes its time.
    if (share >= 1) {
      parts.push_back({"finishing", 7});
    } else if (share > 0.01 && seconds > 1) {
      parts.push_back({TimeLeft(seconds * (1 / share - 1)), 7});
    }
  }
  if (work.text_bytes > 0) {
    parts.push_back({BytesText(work.text_bytes), 3});
    if (work.events > 0) parts.push_back({GroupedText(work.events) + " events", 2});
    const double rate = static_cast<double>(work.text_bytes) / 1e6 / std::max(seconds, 1e-3);
    parts.push_back({fmt::format("{:.0f} MB/s", rate), 5});
  } else if (work.all == 0) {
    parts.push_back({fmt::format("{:.0f} s", seconds), 6});
  }
  return parts;
}

}  // namespace

std::string BytesText(uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  while (size >= 999.5 && unit + 1 < kUnits.size()) {
    size /= 1000;
    ++unit;
  }
  return unit == 0 || size >= 99.95 ? fmt::format("{:.0f} {}", size, kUnits[unit])
                                    : fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string GroupedText(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string ShortFileName(std::string_view path, size_t width) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash != std::string_view::npos && path.size() > 1) path.remove_prefix(slash + 1);
  const std::string shown = ShownText(path);
  if (DisplayWidth(shown) <= width) return shown;
  // The end tells ranks apart as often as the beginning does.
  const std::string begin = CutToWidth(shown, (width + 1) / 2);
  size_t end = 0;
  while (DisplayWidth(std::string_view(shown).substr(end)) > width / 2) {
    end += ReadUtf8(std::string_view(shown).substr(end)).bytes;
  }
  return begin + shown.substr(end);
}

std::string ProgressText(const WorkDone& work, double seconds, size_t width) {
  const double share =
      work.all == 0 ? 0
                    : std::min(1.0, static_cast<double>(work.done) / static_cast<double>(work.all));
  std::vector<Part> parts = Parts(work, share, seconds);
  parts.insert(parts.begin(), {Subject(work, kNameWidth), kNameImportance});
  const auto drop_least = [&](int below) {
    const auto least =
        std::min_element(parts.begin(), parts.end(),
                         [](const Part& a, const Part& b) { return a.importance < b.importance; });
    if (parts.size() == 1 || least->importance >= below) return false;
    parts.erase(least);
    return true;
  };
  while (DisplayWidth(Joined(parts)) > width && drop_least(kBarImportance)) {
  }
  if (DisplayWidth(Joined(parts)) + kBarWidthGood - kBarWidthMin > width) {
    parts.front().text = Subject(work, kNameWidthMin);
  }
  while (DisplayWidth(Joined(parts)) > width && drop_least(kNameImportance)) {
  }
  const size_t used = DisplayWidth(Joined(parts));
  for (Part& part : parts) {
    if (part.importance != kBarImportance || used > width) continue;
    part.text = Bar(share, std::min(kBarWidth, kBarWidthMin + width - used));
  }
  return CutToWidth(Joined(parts), width);
}

}  // namespace tracedb
