#include "tracedb/schema/parallelism.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tracedb {
namespace {

// "mesh_dp" and "DP" both have _dp_, "adp" has not.
std::string Words(std::string_view description) {
  std::string words = "_";
  for (const char c : description) {
    const auto byte = static_cast<unsigned char>(c);
    words += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return words + '_';
}

}  // namespace

std::optional<Parallelism> ParallelismByName(std::string_view name) {
  const auto at = std::find(kParallelismNames.begin(), kParallelismNames.end(), name);
  if (at == kParallelismNames.end()) return std::nullopt;
  return static_cast<Parallelism>(at - kParallelismNames.begin());
}

ParallelismRules::ParallelismRules(std::vector<ParallelismRule> rules) : rules_(std::move(rules)) {
  std::sort(rules_.begin(), rules_.end(), [](const ParallelismRule& a, const ParallelismRule& b) {
    return a.pattern.size() != b.pattern.size() ? a.pattern.size() > b.pattern.size()
                                                : a.pattern < b.pattern;
  });
}

Parallelism ParallelismRules::Of(std::string_view description) const {
  const std::string words = Words(description);
  for (const ParallelismRule& rule : rules_) {
    if (words.find(rule.pattern) != std::string::npos) return rule.parallelism;
  }
  return Parallelism::kOther;
}

}  // namespace tracedb
