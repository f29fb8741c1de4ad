// TransformerEngine: autograd functions of Python, whose args vary from version to version. Tensors
// are found by their order and checked by their sizes.
#include <algorithm>
#include <optional>

#include "cost/cost_attention.h"
#include "cost/cost_models.h"

namespace tracedb {
namespace {

// Tensors with dimensions and elements, in the order of the args.
std::vector<const Tensor*> TensorsOf(const CostInput& in) {
  std::vector<const Tensor*> tensors;
  for (const OpArg& arg : in.args.args) {
    if (arg.is_list || arg.tensors.size() != 1) continue;
    const Tensor& tensor = arg.tensors[0];
    const bool is_empty = std::count(tensor.dims.begin(), tensor.dims.end(), 0) > 0;
    if (!tensor.dims.empty() && !is_empty) tensors.push_back(&tensor);
  }
  return tensors;
}

// Inputs are made FP8 within the call: the kernel's name says so.
std::string_view EngineType(const Tensor& input, const Tensor& weight, std::string_view kernel) {
  const bool is_fp8 = Contains(kernel, "e4m3") || Contains(kernel, "e5m2") ||
                      Contains(kernel, "E4M3") || Contains(kernel, "nvjet_qq") ||
                      Contains(kernel, "_qq");
  if (is_fp8) return "fp8";
  // Float8Tensor shows as the type that it stands for, its data as bytes.
  if (kernel.empty() || !IsFloating(weight.type) || !IsFloating(input.type)) return {};
  return ProductType(input.type, weight.type, kernel);
}

Count RowsOf(const Tensor& input) {
  const std::span<const int64_t> sizes = input.dims;
  return Product(sizes.first(sizes.size() - 1));
}

bool LinearOf(const CostInput& in, const Tensor& input, const Tensor& weight, CostDraft& draft) {
  if (weight.dims.size() != 2 || weight.dims[1] != input.dims.back()) return false;
  if (!IsFloating(input.type)) return false;
  draft.dtype = EngineType(input, weight, in.around.kernel);
  const Count rows = RowsOf(input);
  draft.SetFlops(Count(2) * rows * weight.dims[0] * weight.dims[1]);
  draft.SetBytes(DistinctBytes(input) + DistinctBytes(weight) +
                 rows * weight.dims[0] * BytesOf(input.type));
  draft.shapes = SizesText(input.dims) + " x " + SizesText(weight.dims);
  return true;
}

// A vector of that size, after the tensor: its bias.
void AddBias(const std::vector<const Tensor*>& tensors, size_t from, int64_t size,
             CostDraft& draft) {
  for (size_t i = from; i < tensors.size(); ++i) {
    if (tensors[i]->dims.size() != 1 || tensors[i]->dims[0] != size) continue;
    draft.bytes += DistinctBytes(*tensors[i]);
    return;
  }
}

}  // namespace

// _Linear (weight, [its FP8 copies,] input, bias, ...)
bool EngineLinear(const CostInput& in, CostDraft& draft) {
  const std::vector<const Tensor*> tensors = TensorsOf(in);
  if (tensors.size() < 2 || tensors[0]->dims.size() != 2) return false;
  for (size_t i = 1; i < tensors.size(); ++i) {
    const Tensor& input = *tensors[i];
    const bool is_copy = input.dims == tensors[0]->dims && !IsFloating(input.type);
    if (is_copy || input.dims.size() < 2) continue;
    if (!LinearOf(in, input, *tensors[0], draft)) return false;
    AddBias(tensors, i + 1, tensors[0]->dims[0], draft);
    return true;
  }
  return false;
}

// _LayerNormLinear (input, norm's weight, its bias, weight, bias, ...): FLOPs of the product alone.
bool EngineNormLinear(const CostInput& in, CostDraft& draft) {
  const std::vector<const Tensor*> tensors = TensorsOf(in);
  if (tensors.size() < 3 || tensors[0]->dims.size() < 2) return false;
  const Tensor& input = *tensors[0];
  size_t at = 1;
  Count norm;
  for (; at < tensors.size() && tensors[at]->dims.size() == 1; ++at) {
    if (tensors[at]->dims[0] != input.dims.back()) return false;
    norm += DistinctBytes(*tensors[at]);
  }
  if (at == 1 || at == tensors.size()) return false;
  if (!LinearOf(in, input, *tensors[at], draft)) return false;
  draft.bytes += norm;
  AddBias(tensors, at + 1, tensors[at]->dims[0], draft);
  return true;
}

// _GroupedLinear (input, ..., weights, biases): each row goes through one of the weights.
bool EngineGroupedLinear(const CostInput& in, CostDraft& draft) {
  const std::vector<const Tensor*> tensors = TensorsOf(in);
  if (tensors.size() < 2 || tensors[0]->dims.size() < 2) return false;
  const Tensor& input = *tensors[0];
  std::vector<const Tensor*> weights;
  Count bytes;
  for (size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i]->dims.size() == 2) weights.push_back(tensors[i]);
  }
  if (weights.empty()) return false;
  for (const Tensor* weight : weights) {
    if (weight->dims != weights[0]->dims) return false;
    bytes += DistinctBytes(*weight);
  }
  if (!LinearOf(in, input, *weights[0], draft)) return false;
  // Weights of groups without a row are not read; how rows are split is not in all args.
  draft.has_bytes = weights.size() == 1;
  if (draft.has_bytes) AddBias(tensors, 1, weights[0]->dims[0], draft);
  draft.shapes += " of " + std::to_string(weights.size());
  return true;
}

// tex_ts::te_gemm_ts (A, its scale, .., .., transa, B, its scale, .., .., transb, D, ...): as
// cuBLAS sees it, D = B A with rows of B.
bool EngineGemm(const CostInput& in, CostDraft& draft) {
  const Tensor* a = in.args.TensorAt(0);
  const Tensor* b = in.args.TensorAt(5);
  const Tensor* out = in.args.TensorAt(10);
  if (a == nullptr || b == nullptr || out == nullptr) return false;
  const auto flag = [&](size_t at) -> std::optional<bool> {
    const std::string_view given = in.args.GivenAt(at);
    if (given == "1" || given == "0") return given == "1";
    return FlagFromText(given);
  };
  const std::optional<bool> a_turned = flag(4);
  const std::optional<bool> b_turned = flag(9);
  if (!a_turned.has_value() || !b_turned.has_value()) return false;
  if (a->dims.size() != 2 || b->dims.size() != 2 || out->dims.size() != 2) return false;
  const int64_t columns = *a_turned ? a->dims[0] : a->dims[1];
  const int64_t inner = *a_turned ? a->dims[1] : a->dims[0];
  const int64_t rows = *b_turned ? b->dims[1] : b->dims[0];
  if (inner != (*b_turned ? b->dims[0] : b->dims[1])) return false;
  if (out->dims != std::vector<int64_t>{rows, columns}) return false;
  const bool is_fp8 = a->type == DType::kInt8 || b->type == DType::kInt8;
  draft.dtype = is_fp8 ? "fp8" : ProductType(a->type, b->type, in.around.kernel);
  if (draft.dtype.empty()) return false;
  draft.SetFlops(Count(2) * rows * columns * inner);
  draft.SetBytes(DistinctBytes(*a) + DistinctBytes(*b) + DistinctBytes(*out));
  draft.shapes = SizesText(b->dims) + " x " + SizesText(a->dims);
  return true;
}

namespace {

bool IsHeads(const Tensor& tensor) { return tensor.dims.size() == 4 && IsFloating(tensor.type); }

// The text of the mask where a writer has it; Kineto does not.
std::optional<bool> CausalFromTexts(const CostInput& in) {
  for (const OpArg& arg : in.args.args) {
    if (arg.given == "no_mask") return false;
    if (arg.given == "causal") return true;
  }
  return std::nullopt;
}

}  // namespace

// FusedAttnFunc (is_training, max_seqlen_q, max_seqlen_kv, ..., q, k, v, ...): q, k and v are
// [batch, length, heads, size] or [length, batch, ...]; which, the longest length tells. The mask
// is a text, which Kineto does not write: then what is computed is not known, but what is moved.
bool EngineAttention(const CostInput& in, CostDraft& draft) {
  const std::vector<const Tensor*> tensors = TensorsOf(in);
  const auto first = std::find_if(tensors.begin(), tensors.end(),
                                  [](const Tensor* tensor) { return IsHeads(*tensor); });
  if (tensors.end() - first < 3) return false;
  const Tensor* q = first[0];
  const Tensor* k = first[1];
  const Tensor* v = first[2];
  if (!IsHeads(*k) || !IsHeads(*v)) return false;
  std::optional<int64_t> length;
  for (size_t i = 0; i < 2 && !length.has_value(); ++i) {
    length = IntFromText(in.args.GivenAt(i));
  }
  if (!length.has_value()) return false;
  const bool is_batch_first = q->dims[1] == *length;
  if (!is_batch_first && q->dims[0] != *length) return false;
  const size_t at = is_batch_first ? 1 : 0;
  AttentionShape shape;
  shape.batch = q->dims[1 - at];
  shape.q_length = q->dims[at];
  shape.k_length = k->dims[at];
  shape.heads = q->dims[2];
  shape.kv_heads = k->dims[2];
  shape.qk_size = q->dims[3];
  shape.v_size = v->dims[3];
  if (k->dims[1 - at] != shape.batch || v->dims[at] != shape.k_length) return false;
  if (k->dims[3] != shape.qk_size || v->dims[2] != shape.kv_heads) return false;
  const std::optional<bool> causal = CausalFromTexts(in);
  shape.causal = causal.value_or(false) ? CausalEnd::kTopLeft : CausalEnd::kNone;
  if (!SetAttention(shape, q->type, in.around.kernel, draft)) return false;
  draft.has_flops = causal.has_value();
  return true;
}

}  // namespace tracedb
