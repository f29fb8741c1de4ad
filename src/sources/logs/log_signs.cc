#include "sources/logs/log_signs.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sources/logs/log_line.h"
#include "sources/logs/log_pairs.h"
#include "sources/read/text_words.h"

namespace tracedb {
namespace {

// Two fields at least, each a name with a number.
bool HasNumbers(std::string_view fields) {
  std::vector<LogPair> pairs;
  bool ends_in_bar = false;
  if (ReadLogPairs(fields, pairs, ends_in_bar) != PairsEnd::kWhole) return false;
  return std::count_if(pairs.begin(), pairs.end(), [](const LogPair& pair) {
           return LeadingNumber(pair.value).has_value();
         }) >= 2;
}

bool IsIterationLine(std::string_view text) {
  const size_t bar = text.find('|');
  if (bar == std::string_view::npos) return false;
  const size_t at = text.substr(0, bar).find("iteration");
  if (at != std::string_view::npos) text.remove_prefix(at);
  return TakeLogHead(text) && HasNumbers(text);
}

// A block of these is what an argument or a timer looks like.
bool IsDotted(std::string_view text) {
  return text.find(" .....") != std::string_view::npos && text.substr(0, 1) != "#" &&
         text.substr(0, 2) != "//";
}

bool IsDate(std::string_view text) {
  constexpr std::string_view kDate = "] datetime: ";
  const size_t at = text.find(kDate);
  size_t length = 0;
  return text.starts_with('[') && at != std::string_view::npos &&
         ReadLogStamp(text.substr(at + kDate.size()), length).has_value();
}

bool IsStage(std::string_view text) {
  size_t length = 0;
  return text.starts_with("STAGE:") && ReadLogStamp(text.substr(6), length).has_value();
}

// "node3:4711:4790 [0] NCCL INFO Channel 00/24 : ...": thousands of them may come first.
bool IsNcclLine(std::string_view text) {
  std::string_view host = TakeLogWord(text);
  const size_t thread = host.rfind(':');
  if (thread == std::string_view::npos || host.rfind(':', thread - 1) == std::string_view::npos) {
    return false;
  }
  const std::string_view gpu = TakeLogWord(text);
  return gpu.starts_with('[') && gpu.ends_with(']') && text.starts_with("NCCL INFO ");
}

bool IsSign(const LogLine& line, std::string_view next) {
  const std::string_view text = line.text;
  if (text.empty()) return false;
  if (IsIterationLine(text) || IsDate(text) || IsStage(text)) return true;
  if (std::vector<LogPair> pairs; ReadSpacedPairs(text, pairs)) return true;
  if (text.starts_with("time (ms) |")) return HasNumbers(text.substr(11));
  if (text.ends_with("across ranks (ms):")) {
    return IsDotted(next) || (next.starts_with(' ') && next.ends_with(':'));
  }
  if (text.starts_with("-----") && text.find(" arguments -----") != std::string_view::npos) {
    return IsDotted(next);
  }
  if (text.find("memory (MB) | ") != std::string_view::npos) {
    return HasNumbers(text.substr(text.find('|') + 1));
  }
  if (text.starts_with("| MnRtt/Rnk: ") || IsNcclLine(text)) return true;
  if (text.starts_with("using world size: ")) return true;
  if (text.starts_with("NODE_RANK: ")) return next.starts_with("MASTER_ADDR: ");
  if (text == "Traceback (most recent call last):") return next.starts_with("  File \"");
  return text.starts_with("slurmstepd: error: ") || text.starts_with("srun: error: ");
}

}  // namespace

bool HoldsLogSigns(std::string_view text) {
  LogLineCleaner cleaner;
  while (!text.empty()) {
    const std::string_view line = TakeTextLine(text);
    std::string_view after = text;
    const std::string next(cleaner.Clean(TakeTextLine(after)).whole);
    if (IsSign(cleaner.Clean(line), next)) return true;
  }
  return false;
}

}  // namespace tracedb
