// What attention computes: for each pair of a query and a key that its mask lets meet, two products
// forward, five backward (the scores are worked out again).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cost/cost_models.h"

namespace tracedb {

// Where the triangle of a causal mask ends when there are not as many keys as queries: torch's
// is_causal begins in the upper left corner, FlashAttention's ends in the lower right one.
enum class CausalEnd { kNone, kTopLeft, kBottomRight };

struct AttentionShape {
  int64_t batch = 0;
  int64_t heads = 0;  // of queries
  int64_t kv_heads = 0;
  int64_t q_length = 0;
  int64_t k_length = 0;
  int64_t qk_size = 0;
  int64_t v_size = 0;
  CausalEnd causal = CausalEnd::kNone;
  // Of a sliding window: as many keys before and after a query's own; nullopt: all.
  std::optional<int64_t> left, right;
  bool is_backward = false;
};

// Pairs of one head: exact, in constant time but for windows, which are at most kWindowRowsMax
// queries long.
Count PairsOf(const AttentionShape& shape);

// False: sizes that do not fit each other, or a type that is not multiplied.
bool SetAttention(const AttentionShape& shape, DType type, std::string_view kernel,
                  CostDraft& draft);

}  // namespace tracedb
