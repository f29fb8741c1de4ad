#include "tracedb/compare/compare_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

std::string Shown(const std::string& value) { return value.empty() ? "none" : ShownText(value); }

// "GPUs: A in a1.db, a2.db; B in b1.db".
std::string Told(const UnlikeRuns& unlike) {
  std::string text = ShownText(unlike.fact) + ": ";
  for (const ValueOfRuns& value : unlike.values) {
    text += fmt::format("{}{} in ", &value == unlike.values.data() ? "" : "; ", Shown(value.value));
    for (const std::string& run : value.runs) {
      text += (&run == value.runs.data() ? "" : ", ") + ShownText(run);
    }
  }
  return text;
}

}  // namespace

std::string_view UnitOf(const Comparison& comparison) {
  if (comparison.IsWhole()) return "the recording";
  return comparison.IsOfLogs() ? "an iteration" : "a step";
}

std::string_view UnitName(const Comparison& comparison) {
  if (comparison.between_runs) return "run";
  if (comparison.IsWhole()) return "recording";
  return comparison.IsOfLogs() ? "iteration" : "step";
}

std::string WhyNotComparable(const Comparison& comparison) {
  constexpr size_t kToldMax = 3;
  std::vector<std::string> reasons;
  for (const FactDifference& difference : comparison.differences) {
    if (!difference.decides) continue;
    reasons.push_back(fmt::format("{}: {} in base, {} in new", ShownText(difference.fact),
                                  Shown(difference.base), Shown(difference.now)));
  }
  for (const UnlikeRuns& unlike : comparison.unlike) {
    if (unlike.decides) reasons.push_back(Told(unlike));
  }
  std::string text;
  for (size_t i = 0; i < std::min(kToldMax, reasons.size()); ++i) {
    text += (i == 0 ? "" : "; ") + reasons[i];
  }
  if (reasons.size() > kToldMax) text += fmt::format("; {} more", reasons.size() - kToldMax);
  return text;
}

std::vector<std::string> UnlikeTexts(const Comparison& comparison) {
  std::vector<std::string> texts;
  for (const UnlikeRuns& unlike : comparison.unlike) {
    texts.push_back(fmt::format("The runs of {} are not alike: {}.", unlike.in_new ? "new" : "base",
                                Told(unlike)));
  }
  return texts;
}

}  // namespace tracedb
