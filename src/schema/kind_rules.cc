#include "tracedb/schema/kind_rules.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tracedb {
namespace {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace

KindRules::KindRules(std::vector<KindRule> rules) : rules_(std::move(rules)) {
  for (KindRule& rule : rules_) rule.pattern = LowerCase(rule.pattern);
  std::stable_sort(rules_.begin(), rules_.end(), [](const KindRule& a, const KindRule& b) {
    return a.pattern.size() > b.pattern.size();
  });
}

GpuKind KindRules::KindOf(std::string_view kernel_name) const {
  const std::string name = LowerCase(kernel_name);
  for (const KindRule& rule : rules_) {
    if (name.find(rule.pattern) != std::string::npos) return rule.kind;
  }
  return GpuKind::kCompute;
}

}  // namespace tracedb
