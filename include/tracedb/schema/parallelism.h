// What the ranks of a communicator share out among them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

enum class Parallelism : uint8_t { kPipeline, kData, kTensor, kExpert, kContext, kOther };
inline constexpr size_t kParallelisms = 6;

// As the table parallelism_rules has them.
inline constexpr std::array<std::string_view, kParallelisms> kParallelismNames = {
    "pipeline", "data", "tensor", "expert", "context", "other"};

std::optional<Parallelism> ParallelismByName(std::string_view name);

// A row of parallelism_rules, which says how patterns are written.
struct ParallelismRule {
  std::string pattern;
  Parallelism parallelism = Parallelism::kOther;
};

class ParallelismRules {
 public:
  ParallelismRules() = default;
  explicit ParallelismRules(std::vector<ParallelismRule> rules);
  // By the communicator's description; kOther where no rule fits.
  Parallelism Of(std::string_view description) const;

 private:
  std::vector<ParallelismRule> rules_;  // the longest pattern first: the first that fits decides
};

}  // namespace tracedb
