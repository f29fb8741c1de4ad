#include "cost/cost_attention.h"

#include <algorithm>
#include <array>

namespace tracedb {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

enum class Layout {
  kHeadsFirst,   // [batch, heads, length, size]
  kLengthFirst,  // [batch, length, heads, size]
};
enum class MaskArg {
  kFlag,      // is_causal
  kMaskType,  // 0 none, 1 from the top left, 2 to the bottom right
};

// Where an operator has what.
struct AttentionArgs {
  std::string_view op;
  Layout layout;
  size_t q;  // k and v follow
  size_t causal;
  CausalEnd end;
  bool is_backward = false;
  size_t cu_seqlens = kNone;  // of queries; of keys follows: sequences of uneven lengths
  size_t max_length = kNone;  // of queries; of keys follows
  size_t window = kNone;      // left; right follows
  MaskArg mask = MaskArg::kFlag;
};
constexpr CausalEnd kTop = CausalEnd::kTopLeft;
constexpr CausalEnd kBottom = CausalEnd::kBottomRight;
constexpr Layout kHeads = Layout::kHeadsFirst;
constexpr Layout kLength = Layout::kLengthFirst;

constexpr std::array<AttentionArgs, 29> kAttentions = {{
    {"aten::scaled_dot_product_attention", kHeads, 0, 5, kTop},
    {"aten::_scaled_dot_product_attention_math", kHeads, 0, 5, kTop},
    {"aten::_scaled_dot_product_flash_attention", kHeads, 0, 4, kTop},
    {"aten::_scaled_dot_product_flash_attention_backward", kHeads, 1, 11, kTop, true},
    {"aten::_scaled_dot_product_efficient_attention", kHeads, 0, 6, kTop},
    {"aten::_scaled_dot_product_efficient_attention_backward", kHeads, 1, 11, kTop, true},
    {"aten::_scaled_dot_product_cudnn_attention", kHeads, 0, 6, kTop},
    {"aten::_scaled_dot_product_cudnn_attention_backward", kHeads, 1, 14, kTop, true},
    {"aten::_scaled_dot_product_fused_attention_overrideable", kHeads, 0, 5, kTop},
    {"aten::_scaled_dot_product_fused_attention_overrideable_backward", kHeads, 1, 13, kTop, true},
    {"aten::_cudnn_attention_forward", kHeads, 0, 10, kTop, false, 4, 6},
    {"aten::_cudnn_attention_backward", kHeads, 1, 14, kTop, true, 9, 11},
    {"aten::_flash_attention_forward", kLength, 0, 8, kBottom, false, 3, 5, 11},
    {"aten::_flash_attention_backward", kLength, 1, 11, kBottom, true, 6, 8, 15},
    {"aten::_efficient_attention_forward", kLength, 0, 9, kTop, false, 4, 6, kNone,
     MaskArg::kMaskType},
    {"aten::_efficient_attention_backward", kLength, 1, 14, kTop, true, 6, 8, kNone,
     MaskArg::kMaskType},
    {"flash_attn::_flash_attn_forward", kLength, 0, 5, kBottom, false, kNone, kNone, 6},
    {"flash_attn::_flash_attn_backward", kLength, 1, 11, kBottom, true, kNone, kNone, 12},
    {"flash_attn::_flash_attn_varlen_forward", kLength, 0, 9, kBottom, false, 3, 5, 10},
    {"flash_attn::_flash_attn_varlen_backward", kLength, 1, 15, kBottom, true, 9, 11, 16},
    {"FlashAttnFunc", kLength, 0, 5, kBottom},
    {"FlashAttnVarlenFunc", kLength, 0, 9, kBottom, false, 3, 5},
    {"flash_attn_3::fwd", kLength, 0, 24, kBottom, false, 7, 12, 25},
    {"flash_attn_3::bwd", kLength, 1, 16, kBottom, true, 9, 13, 17},
    {"_vllm_fa3_C::fwd", kLength, 0, 24, kBottom, false, 7, 12, 25},
    {"sgl_kernel::fwd", kLength, 0, 24, kBottom, false, 7, 12, 25},
    {"aiter::mha_fwd", kLength, 0, 5, kBottom, false, kNone, kNone, 6},
    {"aiter::_flash_attn_forward", kLength, 0, 5, kBottom, false, kNone, kNone, 6},
    {"_vllm_fa2_C::varlen_fwd", kLength, 0, 15, kBottom, false, 4, 10, 16},
}};

// Args after which keys come out of pages or are fewer than their tensor: what of them is used is
// not in the trace.
struct PagedArgs {
  std::string_view op;
  size_t first, last;
};
constexpr std::array<PagedArgs, 7> kPagedArgs = {{
    {"flash_attn_3::fwd", 9, 15},  // cu_seqlens_k_new, seqused_q and _k, .., .., page_table
    {"_vllm_fa3_C::fwd", 9, 15},
    {"sgl_kernel::fwd", 9, 15},
    {"_vllm_fa2_C::varlen_fwd", 6, 8},                   // seqused_k, leftpad_k, block_table
    {"flash_attn_3::bwd", 11, 12},                       // seqused_q and _k
    {"flash_attn::_flash_attn_varlen_forward", 15, 17},  // block_table, leftpad_k, seqused_k
    {"FlashAttnVarlenFunc", 15, 15},
}};

bool HasTensor(const CostInput& in, size_t at) {
  const Tensor* tensor = at == kNone ? nullptr : in.args.TensorAt(at);
  return tensor != nullptr && !tensor->dims.empty();
}

bool IsPaged(const CostInput& in) {
  for (const PagedArgs& paged : kPagedArgs) {
    if (paged.op != in.op) continue;
    for (size_t at = paged.first; at <= paged.last; ++at) {
      if (HasTensor(in, at)) return true;
    }
  }
  return false;
}

std::optional<CausalEnd> MaskOf(const CostInput& in, const AttentionArgs& args) {
  const std::string_view given = in.args.GivenAt(args.causal);
  if (args.mask == MaskArg::kMaskType) {
    if (given == "0") return CausalEnd::kNone;
    if (given == "1") return CausalEnd::kTopLeft;
    if (given == "2") return CausalEnd::kBottomRight;
    return std::nullopt;
  }
  const std::optional<bool> flag = FlagFromText(given);
  if (!flag.has_value()) return std::nullopt;
  return *flag ? args.end : CausalEnd::kNone;
}

// -1, and nothing: no window.
bool TakeWindow(const CostInput& in, size_t at, std::optional<int64_t>& keys) {
  const std::string_view given = in.args.GivenAt(at);
  if (given.empty()) return true;
  const std::optional<int64_t> size = IntFromText(given);
  if (!size.has_value()) return false;
  if (*size >= 0) keys = *size;
  return true;
}

// [batch, ...] of equal lengths.
bool TakeBatch(const Tensor& q, const Tensor& k, const Tensor& v, Layout layout,
               AttentionShape& shape) {
  if (q.dims.size() != 4 || k.dims.size() != 4 || v.dims.size() != 4) return false;
  const size_t head = layout == Layout::kHeadsFirst ? 1 : 2;
  const size_t length = 3 - head;
  if (k.dims[0] != q.dims[0] || v.dims[0] != q.dims[0]) return false;
  if (k.dims[length] != v.dims[length] || k.dims[head] != v.dims[head]) return false;
  if (k.dims[3] != q.dims[3]) return false;
  shape.batch = q.dims[0];
  shape.heads = q.dims[head];
  shape.kv_heads = k.dims[head];
  shape.q_length = q.dims[length];
  shape.k_length = k.dims[length];
  shape.qk_size = q.dims[3];
  shape.v_size = v.dims[3];
  return true;
}

// Sequences one after another, [total, heads, size] or [1, total, heads, size]; their ends are
// values that no trace has. Known where all must be as long as the longest.
bool TakePacked(const CostInput& in, const AttentionArgs& args, Tensor q, Tensor k, Tensor v,
                AttentionShape& shape, bool& is_even) {
  for (Tensor* tensor : {&q, &k, &v}) {
    if (tensor->dims.size() == 4 && tensor->dims[0] == 1) tensor->dims.erase(tensor->dims.begin());
    if (tensor->dims.size() != 3) return false;
  }
  const Tensor* ends = in.args.TensorAt(args.cu_seqlens);
  if (ends == nullptr || ends->dims.size() != 1 || ends->dims[0] < 2) return false;
  if (k.dims[0] != v.dims[0] || k.dims[1] != v.dims[1] || k.dims[2] != q.dims[2]) return false;
  shape.batch = ends->dims[0] - 1;
  shape.heads = q.dims[1];
  shape.kv_heads = k.dims[1];
  shape.qk_size = q.dims[2];
  shape.v_size = v.dims[2];
  const auto q_longest = IntFromText(in.args.GivenAt(args.max_length));
  const auto k_longest = IntFromText(in.args.GivenAt(args.max_length + 1));
  is_even = shape.batch == 1;
  if (!is_even && q_longest.has_value() && k_longest.has_value() && *q_longest > 0) {
    is_even = Count(shape.batch * Count(*q_longest)).value() == q.dims[0] &&
              Count(shape.batch * Count(*k_longest)).value() == k.dims[0];
  }
  if (!is_even) shape.batch = 1;  // then bytes alone hold, and these are of the totals
  shape.q_length = q.dims[0] / shape.batch;
  shape.k_length = k.dims[0] / shape.batch;
  return true;
}

}  // namespace

bool Attention(const CostInput& in, CostDraft& draft) {
  const auto args = std::find_if(kAttentions.begin(), kAttentions.end(),
                                 [&](const AttentionArgs& known) { return known.op == in.op; });
  if (args == kAttentions.end() || IsPaged(in)) return false;
  const Tensor* q = in.args.TensorAt(args->q);
  const Tensor* k = in.args.TensorAt(args->q + 1);
  const Tensor* v = in.args.TensorAt(args->q + 2);
  if (q == nullptr || k == nullptr || v == nullptr) return false;
  AttentionShape shape;
  shape.is_backward = args->is_backward;
  bool is_even = true;
  const bool is_taken = HasTensor(in, args->cu_seqlens)
                            ? TakePacked(in, *args, *q, *k, *v, shape, is_even)
                            : TakeBatch(*q, *k, *v, args->layout, shape);
  if (!is_taken) return false;
  const std::optional<CausalEnd> mask = MaskOf(in, *args);
  if (!mask.has_value()) return false;
  shape.causal = *mask;
  if (args->window != kNone && (!TakeWindow(in, args->window, shape.left) ||
                                !TakeWindow(in, args->window + 1, shape.right))) {
    return false;
  }
  if (!SetAttention(shape, q->type, in.around.kernel, draft)) return false;
  draft.has_flops = draft.has_flops && is_even;
  return true;
}

namespace {

// Of 0 + 1 + ... + (n - 1); n * (n - 1) / 2 without leaving the range on the way.
Count Triangle(int64_t n) {
  if (n < 1) return 0;
  return n % 2 == 0 ? Count(n / 2) * (n - 1) : Count(n) * ((n - 1) / 2);
}

// The sum over queries i < rows of min(i + first, top), where first and top are not below 0.
Count Climb(int64_t rows, int64_t first, int64_t top) {
  if (first >= top) return Count(rows) * top;
  const int64_t climbing = std::min(rows, top - first);
  return Count(climbing) * first + Triangle(climbing) + Count(rows - climbing) * top;
}

// Of the keys before place `i + shift`, it alone left out, those below k: summed over all queries.
Count KeysBefore(int64_t queries, int64_t shift, int64_t keys) {
  const int64_t skipped = std::clamp<int64_t>(-shift, 0, queries);
  return Climb(queries - skipped, std::max<int64_t>(shift, 0), keys);
}

}  // namespace

// A query sees the keys from its place less `left` to its place plus `right`; its place is its own
// number, moved so that the last query meets the last key where the mask ends there.
Count PairsOf(const AttentionShape& shape) {
  const int64_t queries = shape.q_length;
  const int64_t keys = shape.k_length;
  const bool is_windowed = shape.left.has_value() || shape.right.has_value();
  if (shape.causal == CausalEnd::kNone && !is_windowed) return Count(queries) * keys;
  const int64_t shift = shape.causal == CausalEnd::kTopLeft ? 0 : keys - queries;
  constexpr int64_t kFar = int64_t{1} << 50;
  int64_t right = shape.causal == CausalEnd::kNone ? kFar : 0;
  right = std::min(right, shape.right.value_or(kFar));
  const int64_t left = std::min(shape.left.value_or(kFar), kFar);
  const std::optional<int64_t> upto = KeysBefore(queries, shift + right + 1, keys).value();
  const std::optional<int64_t> missed = KeysBefore(queries, shift - left, keys).value();
  if (!upto.has_value() || !missed.has_value()) return -1;
  return *upto - *missed;
}

bool SetAttention(const AttentionShape& shape, DType type, std::string_view kernel,
                  CostDraft& draft) {
  if (shape.kv_heads < 1 || shape.heads % shape.kv_heads != 0) return false;
  draft.dtype = ProductType(type, type, kernel);
  if (draft.dtype.empty()) return false;
  const Count qk = shape.is_backward ? Count(3) * shape.qk_size : Count(shape.qk_size);
  const Count v = shape.is_backward ? Count(2) * shape.v_size : Count(shape.v_size);
  draft.SetFlops(Count(2) * shape.batch * shape.heads * PairsOf(shape) * (qk + v));
  const Count item = BytesOf(type);
  const Count q_rows = Count(shape.batch) * shape.heads * shape.q_length * item;
  const Count k_rows = Count(shape.batch) * shape.kv_heads * shape.k_length * item;
  // Read and written: q, k, v and the result; backward its gradient and those of q, k and v too.
  const Count q_bytes = q_rows * shape.qk_size;
  const Count out_bytes = q_rows * shape.v_size;
  const Count kv_bytes = k_rows * shape.qk_size + k_rows * shape.v_size;
  draft.SetBytes(shape.is_backward ? Count(2) * (q_bytes + out_bytes + kv_bytes)
                                   : q_bytes + out_bytes + kv_bytes);
  const auto text = [&](int64_t heads, int64_t length, int64_t size) {
    return SizesText(std::vector<int64_t>{shape.batch, heads, length, size});
  };
  draft.shapes = "q " + text(shape.heads, shape.q_length, shape.qk_size) + " k " +
                 text(shape.kv_heads, shape.k_length, shape.qk_size);
  if (shape.causal != CausalEnd::kNone) draft.shapes += " causal";
  if (shape.left.has_value()) draft.shapes += " window " + std::to_string(*shape.left);
  return true;
}

}  // namespace tracedb
