// Of which kind a kernel is, by its name: the rules of the table kind_rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracedb/schema/event_tables.h"

namespace tracedb {

struct KindRule {
  std::string pattern;  // in any case
  GpuKind kind = GpuKind::kCompute;
};

class KindRules {
 public:
  // The longest pattern comes first, so that the first one that fits decides.
  explicit KindRules(std::vector<KindRule> rules);
  // Compute where no rule fits.
  GpuKind KindOf(std::string_view kernel_name) const;

 private:
  std::vector<KindRule> rules_;
};

}  // namespace tracedb
