// Which kernels communicate, told by their names: the rules of the table kind_rule.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct KindRule {
  std::string pattern;  // lower case
  bool communication = false;
};

class KindRules {
 public:
  // The longest pattern comes first, so that the first one that fits decides.
  explicit KindRules(std::vector<KindRule> rules);
  bool IsCommunication(std::string_view kernel_name) const;

 private:
  std::vector<KindRule> rules_;
};

}  // namespace tracedb
