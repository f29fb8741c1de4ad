#include "tracedb/cost/op_cost.h"

#include <utility>

#include "cost/cost_models.h"

namespace tracedb {
namespace {

// "sglang_profiler::attention_paged_attention_ragged_100" is the 100th of its kind.
std::string_view WithoutNumber(std::string_view op) {
  if (!op.starts_with("sglang_profiler::")) return op;
  const size_t last = op.find_last_not_of("0123456789");
  return last != op.npos && op[last] == '_' && last + 1 < op.size() ? op.substr(0, last) : op;
}

}  // namespace

std::string_view OpCategory(std::string_view op) { return ModelOf(WithoutNumber(op)).category; }

std::optional<OpCost> CostOf(std::string_view op, std::string_view text,
                             const OpSurroundings& around) {
  op = WithoutNumber(op);
  const OpModel model = ModelOf(op);
  if (model.model == nullptr) return std::nullopt;
  const std::optional<OpArgs> args = ReadOpArgs(text);
  if (!args.has_value()) return std::nullopt;
  CostDraft draft;
  if (!model.model({op, *args, around}, draft)) return std::nullopt;
  OpCost cost;
  if (draft.has_flops) cost.flops = draft.flops.value();
  if (draft.has_bytes) cost.bytes = draft.bytes.value();
  // A count beyond its range says that the sizes are none.
  if (draft.has_flops && !cost.flops.has_value()) return std::nullopt;
  if (draft.has_bytes && !cost.bytes.has_value()) return std::nullopt;
  // Nothing to do: an empty tensor.
  if (cost.flops.value_or(0) == 0 && cost.bytes.value_or(0) == 0) return std::nullopt;
  cost.dtype = draft.dtype;
  cost.narrow = draft.narrow;
  cost.shapes = std::move(draft.shapes);
  return cost;
}

}  // namespace tracedb
