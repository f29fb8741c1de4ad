// Lists of tensors (foreach, fused optimizers), whose elements' type the kernel's name tells alone,
// and Inductor's kernels.
#include <algorithm>
#include <optional>

#include "cost/cost_models.h"

namespace tracedb {
namespace {

std::optional<Count> NumelOf(const std::vector<Tensor>* list) {
  if (list == nullptr || list->empty()) return std::nullopt;
  Count all;
  for (const Tensor& tensor : *list) all += Numel(tensor);
  return all;
}

std::string ListText(size_t tensors, const Count& numel) {
  return std::to_string(tensors) + " tensors, " + std::to_string(numel.value().value_or(0)) +
         " elements";
}

// Of the source, in CopyFunctor<to, from, ...>; 0: both are of one type.
int64_t CopiedItemBytes(std::string_view kernel) {
  constexpr std::string_view kMarker = "CopyFunctor<";
  const size_t at = kernel.find(kMarker);
  if (at == kernel.npos) return 0;
  std::string_view types = kernel.substr(at + kMarker.size());
  const size_t comma = types.find(", ");
  if (comma == types.npos) return 0;
  types.remove_prefix(comma + 2);
  return BytesOf(TypeFromText(types.substr(0, types.find_first_of(",>"))));
}

}  // namespace

// _foreach_add_ (self[], other[], ...): lists are read, the first is written. Lists that were too
// long to be recorded make no figure.
bool Foreach(const CostInput& in, CostDraft& draft) {
  const int64_t item = ItemBytesFromKernel(in.around.kernel);
  const auto first = NumelOf(in.args.ListAt(0));
  if (!first.has_value() || item == 0) return false;
  Count passes;
  for (size_t i = 0; i < in.args.args.size(); ++i) {
    if (!in.args.args[i].is_list) continue;
    const auto numel = NumelOf(in.args.ListAt(i));
    if (!numel.has_value()) return false;
    // Adam gives its gradients twice, to square them, and they are read once. Two lists that differ
    // look alike here: bytes are what is moved at least.
    if (i == 2 && in.op == "aten::_foreach_addcmul_") continue;
    // A list of numbers on the GPU: one for each tensor.
    if (numel->value() == first->value()) passes += 1;
  }
  if (in.op == "aten::_foreach_copy_") {
    const int64_t from = CopiedItemBytes(in.around.kernel);
    draft.SetBytes(*first * (item + (from > 0 ? from : item)));
    draft.shapes = ListText(in.args.ListAt(0)->size(), *first);
    return passes.value() == 2;
  }
  const bool is_read_alone = in.op == "aten::_foreach_norm";
  const bool overwrites = in.op == "aten::_foreach_zero_";
  if (!is_read_alone && !overwrites) passes += 1;
  draft.SetBytes(*first * item * passes);
  draft.shapes = ListText(in.args.ListAt(0)->size(), *first);
  return true;
}

// _fused_adam_ (self[], grads[], exp_avgs[], exp_avg_sqs[], max_exp_avg_sqs[], state_steps[], ...),
// _fused_sgd_ (self[], grads[], momentum_buffer_list[], ...) and _fused_adagrad_ (self[], grads[],
// state_sums[], ...): gradients are read, the others read and written. All have one type.
bool FusedOptimizer(const CostInput& in, CostDraft& draft) {
  const int64_t item = ItemBytesFromKernel(in.around.kernel);
  const auto first = NumelOf(in.args.ListAt(0));
  if (!first.has_value() || item == 0) return false;
  const bool is_adam = in.op.starts_with("aten::_fused_adam");
  const size_t lists = is_adam && !in.op.starts_with("aten::_fused_adagrad") ? 5 : 3;
  const size_t needed = lists == 5 ? 4 : 2;
  Count passes;
  for (size_t i = 0; i < lists; ++i) {
    const auto numel = NumelOf(in.args.ListAt(i));
    if (!numel.has_value() && i < needed) return false;
    if (!numel.has_value()) continue;
    if (numel->value() != first->value()) return false;
    passes += i == 1 ? 1 : 2;
  }
  draft.SetBytes(*first * item * passes);
  draft.shapes = ListText(in.args.ListAt(0)->size(), *first);
  return true;
}

namespace {

size_t Occurrences(std::string_view text, std::string_view piece) {
  size_t found = 0;
  for (size_t at = text.find(piece); at != text.npos; at = text.find(piece, at + 1)) ++found;
  return found;
}

// Over how many elements the kernel goes: its last numbers, one for each dimension of its grid, and
// of a reduction one more.
std::optional<int64_t> RangeOf(const CostInput& in, bool is_reduction) {
  const std::string_view kwargs = in.args.kernel_kwargs;
  size_t dimensions = 0;
  for (const std::string_view name : {"XBLOCK=", "YBLOCK=", "ZBLOCK="}) {
    dimensions += std::min<size_t>(Occurrences(kwargs, name), 1);
  }
  dimensions = std::max<size_t>(dimensions, 1) + (is_reduction ? 1 : 0);
  const std::vector<OpArg>& args = in.args.args;
  if (args.size() < dimensions) return std::nullopt;
  Count range = 1;
  for (size_t i = args.size() - dimensions; i < args.size(); ++i) {
    const auto size = IntFromText(args[i].given);
    if (!size.has_value() || *size < 1) return std::nullopt;
    range *= *size;
  }
  return range.value();
}

}  // namespace

// triton_poi_*, triton_red_*, triton_per_*: each arg once. An arg with more elements than the
// kernel goes over is looked up in, and how much of it is not in the args: then there is no figure.
bool InductorKernel(const CostInput& in, CostDraft& draft) {
  const bool is_reduction = in.op.starts_with("triton_red_") || in.op.starts_with("triton_per_");
  if (!is_reduction && !in.op.starts_with("triton_poi_")) return false;
  const std::optional<int64_t> range = RangeOf(in, is_reduction);
  if (!range.has_value()) return false;
  draft.SetBytes(0);
  size_t tensors = 0;
  for (const OpArg& arg : in.args.args) {
    if (arg.is_list) return false;
    for (const Tensor& tensor : arg.tensors) {
      const auto elements = Numel(tensor).value();
      if (tensor.type == DType::kUnknown || !elements.has_value() || *elements > *range) {
        return false;
      }
      draft.bytes += DistinctBytes(tensor);
      ++tensors;
    }
  }
  draft.shapes = std::to_string(tensors) + " args over " + std::to_string(*range);
  return tensors > 0;
}

}  // namespace tracedb
