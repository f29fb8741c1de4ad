// Operators that compute little for what they move: element by element, copies, fills.
#include <algorithm>
#include <array>
#include <optional>

#include "cost/cost_models.h"

namespace tracedb {
namespace {

// "aten::mul_" is mul in place.
struct PointwiseName {
  std::string_view base;
  bool is_in_place = false;
};
PointwiseName NameOf(std::string_view op) {
  op.remove_prefix(op.starts_with("aten::") ? 6 : 0);
  const bool is_in_place = op.ends_with('_') && !op.ends_with("__");
  if (is_in_place) op.remove_suffix(1);
  return {op, is_in_place};
}

// How many of the first args may be tensors that are read; further ones are the result's.
size_t InputsOf(std::string_view base) {
  constexpr std::array<std::string_view, 62> kUnary = {
      "abs",        "neg",     "exp",         "exp2",        "expm1",      "log",
      "log2",       "log10",   "log1p",       "sqrt",        "rsqrt",      "reciprocal",
      "sin",        "cos",     "tan",         "sinh",        "cosh",       "tanh",
      "asin",       "acos",    "atan",        "erf",         "erfc",       "erfinv",
      "sigmoid",    "silu",    "gelu",        "relu",        "leaky_relu", "elu",
      "celu",       "selu",    "hardswish",   "hardsigmoid", "hardtanh",   "mish",
      "softplus",   "floor",   "ceil",        "round",       "trunc",      "sign",
      "logit",      "square",  "logical_not", "bitwise_not", "isnan",      "isinf",
      "isfinite",   "signbit", "threshold",   "hardshrink",  "softshrink", "angle",
      "digamma",    "lgamma",  "i0",          "sgn",         "frac",       "relu6",
      "nan_to_num", "positive"};
  constexpr std::array<std::string_view, 4> kTernary = {"where", "lerp", "addcmul", "addcdiv"};
  if (std::count(kUnary.begin(), kUnary.end(), base) > 0) return 1;
  if (std::count(kTernary.begin(), kTernary.end(), base) > 0) return 3;
  return base == "clamp" ? 3 : 2;
}

// Of whole numbers these make FP32.
bool MakesFloats(std::string_view base) {
  constexpr std::array<std::string_view, 17> kNames = {
      "div",  "true_divide", "exp", "log", "sqrt", "rsqrt",   "reciprocal", "sin",  "cos",
      "tanh", "sigmoid",     "erf", "tan", "log2", "sigmoid", "log1p",      "expm1"};
  return std::count(kNames.begin(), kNames.end(), base) > 0;
}

enum class Family { kNone, kBool, kWhole, kFloating, kComplex };
Family FamilyOf(DType type) {
  switch (type) {
    case DType::kUnknown:
      return Family::kNone;
    case DType::kBool:
      return Family::kBool;
    case DType::kInt64:
    case DType::kInt32:
    case DType::kInt16:
    case DType::kInt8:
      return Family::kWhole;
    case DType::kComplex64:
    case DType::kComplex128:
      return Family::kComplex;
    default:
      return Family::kFloating;
  }
}

// Of two tensors of one family the wider one; FP16 and BF16 together make FP32.
DType Wider(DType a, DType b) {
  if (a == b) return a;
  if (FamilyOf(a) != FamilyOf(b)) return FamilyOf(a) > FamilyOf(b) ? a : b;
  if (BytesOf(a) == BytesOf(b)) return FamilyOf(a) == Family::kFloating ? DType::kFloat32 : a;
  return BytesOf(a) > BytesOf(b) ? a : b;
}

// As torch.result_type: those with dimensions decide, unless one without is of a higher family.
DType ResultType(const std::vector<const Tensor*>& inputs) {
  DType sized = DType::kUnknown;
  DType single = DType::kUnknown;
  for (const Tensor* input : inputs) {
    DType& type = input->dims.empty() ? single : sized;
    type = type == DType::kUnknown ? input->type : Wider(type, input->type);
  }
  if (sized == DType::kUnknown) return single;
  if (FamilyOf(single) <= FamilyOf(sized)) return sized;
  return FamilyOf(single) == Family::kFloating ? DType::kFloat32 : single;
}

// nullopt: they do not fit each other.
std::optional<std::vector<int64_t>> Broadcast(const std::vector<const Tensor*>& inputs) {
  std::vector<int64_t> sizes;  // from the innermost on
  for (const Tensor* input : inputs) {
    const size_t rank = input->dims.size();
    if (rank > sizes.size()) sizes.resize(rank, 1);
    for (size_t i = 0; i < rank; ++i) {
      const int64_t size = input->dims[rank - 1 - i];
      if (size == sizes[i] || size == 1) continue;
      if (sizes[i] != 1) return std::nullopt;
      sizes[i] = size;
    }
  }
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

// Numbers of the host show as tensors without dimensions: beside others they are not counted.
Count Read(const std::vector<const Tensor*>& inputs) {
  const bool any_sized = std::any_of(inputs.begin(), inputs.end(),
                                     [](const Tensor* input) { return !input->dims.empty(); });
  Count bytes;
  for (const Tensor* input : inputs) {
    if (!any_sized || !input->dims.empty()) bytes += DistinctBytes(*input);
  }
  return bytes;
}

bool PointwiseOf(const CostInput& in, bool makes_flags, CostDraft& draft) {
  const PointwiseName name = NameOf(in.op);
  const size_t inputs_max = InputsOf(name.base);
  std::vector<const Tensor*> inputs;
  for (size_t i = 0; i < inputs_max; ++i) {
    const Tensor* input = in.args.TensorAt(i);
    if (input == nullptr) continue;
    if (input->type == DType::kUnknown) return false;
    inputs.push_back(input);
  }
  if (inputs.empty()) return false;
  const auto sizes = Broadcast(inputs);
  if (!sizes.has_value()) return false;
  std::vector<const Tensor*> typed = inputs;
  // A mask is read, but gives the result no type.
  if (name.base == "where" && typed.size() > 1) typed.erase(typed.begin());
  if (name.base == "masked_fill" && typed.size() > 1) typed.resize(1);
  DType type = makes_flags ? DType::kBool : ResultType(typed);
  if (MakesFloats(name.base) && FamilyOf(type) < Family::kFloating) type = DType::kFloat32;
  const Tensor* first = in.args.TensorAt(0);
  if (name.is_in_place) {
    if (first == nullptr || first->dims != *sizes) return false;
    type = first->type;
  }
  for (size_t i = inputs_max; i < in.args.args.size(); ++i) {
    const Tensor* out = in.args.TensorAt(i);
    if (out != nullptr && BytesOf(out->type) > 0 && out->dims == *sizes) type = out->type;
  }
  draft.SetBytes(Read(inputs) + Product(*sizes) * BytesOf(type));
  draft.shapes = SizesText(*sizes);
  return true;
}

bool AllTyped(const CostInput& in) {
  bool any = false;
  for (const OpArg& arg : in.args.args) {
    if (arg.is_list) return false;
    for (const Tensor& tensor : arg.tensors) {
      if (tensor.type == DType::kUnknown) return false;
      any = any || !tensor.dims.empty();
    }
  }
  return any;
}

}  // namespace

bool Pointwise(const CostInput& in, CostDraft& draft) { return PointwiseOf(in, false, draft); }
bool Comparison(const CostInput& in, CostDraft& draft) { return PointwiseOf(in, true, draft); }

bool Fill(const CostInput& in, CostDraft& draft) {
  const Tensor* filled = in.args.TensorAt(0);
  if (filled == nullptr || filled->type == DType::kUnknown) return false;
  draft.SetBytes(DistinctBytes(*filled));
  draft.shapes = SizesText(filled->dims);
  return true;
}

// (self, src, non_blocking)
bool CopyInto(const CostInput& in, CostDraft& draft) {
  const Tensor* to = in.args.TensorAt(0);
  const Tensor* from = in.args.TensorAt(1);
  if (to == nullptr || from == nullptr) return false;
  if (to->type == DType::kUnknown || from->type == DType::kUnknown) return false;
  const auto sizes = Broadcast({to, from});
  if (!sizes.has_value() || *sizes != to->dims) return false;
  draft.SetBytes(DistinctBytes(*from) + DistinctBytes(*to));
  draft.shapes = SizesText(to->dims);
  return true;
}

// (input, p, train): the result, and a mask of a byte each.
bool Dropout(const CostInput& in, CostDraft& draft) {
  const Tensor* input = in.args.TensorAt(0);
  if (input == nullptr || input->type == DType::kUnknown) return false;
  draft.SetBytes(DistinctBytes(*input) + FullBytes(*input) + Numel(*input));
  draft.shapes = SizesText(input->dims);
  return true;
}

// Operators that are given where their results go.
bool EachArgOnce(const CostInput& in, CostDraft& draft) {
  if (!AllTyped(in)) return false;
  draft.SetBytes(0);
  for (const OpArg& arg : in.args.args) {
    for (const Tensor& tensor : arg.tensors) draft.bytes += DistinctBytes(tensor);
  }
  const Tensor* first = in.args.TensorAt(0);
  if (first == nullptr) return false;
  draft.shapes = SizesText(first->dims);
  return true;
}

// The first two are read and written, what follows is read.
bool FirstTwoTwice(const CostInput& in, CostDraft& draft) {
  const Tensor* first = in.args.TensorAt(0);
  const Tensor* second = in.args.TensorAt(1);
  if (first == nullptr || second == nullptr || first->dims != second->dims) return false;
  if (!EachArgOnce(in, draft)) return false;
  draft.bytes += DistinctBytes(*first) + DistinctBytes(*second);
  return true;
}

// (tensors, dim) and split_with_sizes_copy: all is read once and written once. The args do not tell
// the type of lists, the kernel does.
bool Concatenate(const CostInput& in, CostDraft& draft) {
  if (const Tensor* whole = in.args.TensorAt(0)) {  // split_with_sizes_copy
    if (whole->type == DType::kUnknown) return false;
    draft.SetBytes(DistinctBytes(*whole) + FullBytes(*whole));
    draft.shapes = SizesText(whole->dims);
    return true;
  }
  const std::vector<Tensor>* parts = in.args.ListAt(0);
  const int64_t item = ItemBytesFromKernel(in.around.kernel);
  if (parts == nullptr || parts->empty() || item == 0) return false;
  Count all;
  for (const Tensor& part : *parts) all += Numel(part);
  draft.SetBytes(all * item * 2);
  draft.shapes = std::to_string(parts->size()) + " tensors";
  return true;
}

}  // namespace tracedb
