#include "report/verdict_words.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>

namespace tracedb {

std::string ShownMs(double ms) {
  if (ms >= 1000) return fmt::format("{:.2f} s", ms / 1000);
  if (ms >= 100) return fmt::format("{:.0f} ms", ms);
  if (ms >= 10) return fmt::format("{:.1f} ms", ms);
  return ms >= 1 ? fmt::format("{:.2f} ms", ms) : fmt::format("{:.1f} us", ms * 1000);
}

std::string StepName(const StepKey& key) {
  const std::string name =
      key.second.has_value() ? fmt::format("Step {}", *key.second) : "What was recorded";
  return key.first > 1 ? fmt::format("{} of capture {}", name, key.first) : name;
}

std::string WithinSentence(std::string text) {
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string MissingRanks(int64_t ranks, int64_t world_size) {
  if (world_size <= ranks) return "";
  return fmt::format(
      " Only {} of {} ranks {} recorded: who else waits, and for whom, cannot be "
      "told.",
      ranks, world_size, ranks == 1 ? "is" : "are");
}

}  // namespace tracedb
