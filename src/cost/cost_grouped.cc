// Products of scaled numbers (FP8, FP4), of groups of rows, and of experts.
#include <optional>

#include "cost/cost_models.h"

namespace tracedb {
namespace {

struct Places {
  size_t bias, out_type;
};

// FP4 stands two in a byte, in the direction of k.
int64_t InnerFactor(const Tensor& tensor) { return tensor.type == DType::kFloat4x2 ? 2 : 1; }

DType OutType(const CostInput& in, size_t at, DType otherwise) {
  const DType given = TypeFromNumber(in.args.GivenAt(at));
  return given == DType::kUnknown ? otherwise : given;
}

void AddScales(const CostInput& in, size_t first, size_t last, CostDraft& draft) {
  for (size_t i = first; i <= last; ++i) {
    if (const Tensor* scale = in.args.TensorAt(i)) draft.bytes += DistinctBytes(*scale);
  }
}

}  // namespace

// _scaled_mm (self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum), and
// _scaled_mm_v2 (self, mat2, scale_a[], recipe_a, swizzle_a, scale_b[], .., .., bias, out_dtype).
bool ScaledProduct(const CostInput& in, CostDraft& draft) {
  const Places places = in.op.ends_with("_v2") ? Places{8, 9} : Places{4, 6};
  const Tensor* a = in.args.TensorAt(0);
  const Tensor* b = in.args.TensorAt(1);
  if (a == nullptr || b == nullptr || a->dims.size() != 2 || b->dims.size() != 2) return false;
  if (a->dims[1] != b->dims[0] || InnerFactor(*a) != InnerFactor(*b)) return false;
  draft.dtype = ProductType(a->type, b->type, in.around.kernel);
  if (draft.dtype.empty()) return false;
  const Count out = Count(a->dims[0]) * b->dims[1];
  const DType out_type = OutType(in, places.out_type, a->type);
  draft.SetFlops(Count(2) * out * a->dims[1] * InnerFactor(*a));
  draft.SetBytes(DistinctBytes(*a) + DistinctBytes(*b) + out * BytesOf(out_type));
  if (places.bias == 4) AddScales(in, 2, 3, draft);
  AddScales(in, places.bias, places.bias, draft);
  draft.shapes = SizesText(a->dims) + " x " + SizesText(b->dims);
  return true;
}

namespace {

// Which of the four forms: rows in groups (2D x 3D), columns in groups (3D x 2D), the inner size in
// groups (2D x 2D), or a batch (3D x 3D). Where groups end is in offs, whose values no trace has:
// rows beyond the last end are counted.
bool GroupedProductOf(const CostInput& in, size_t offs_at, DType out_type, CostDraft& draft) {
  const Tensor* a = in.args.TensorAt(0);
  const Tensor* b = in.args.TensorAt(1);
  const Tensor* offs = in.args.TensorAt(offs_at);
  if (a == nullptr || b == nullptr) return false;
  const size_t a_rank = a->dims.size();
  const size_t b_rank = b->dims.size();
  if (a_rank < 2 || a_rank > 3 || b_rank < 2 || b_rank > 3) return false;
  const int64_t inner = a->dims[a_rank - 1];
  if (inner != b->dims[b_rank - 2] || InnerFactor(*a) != InnerFactor(*b)) return false;
  const bool has_offs = offs != nullptr && offs->dims.size() == 1;
  Count groups = 1;
  if (a_rank == 3 && b_rank == 3) {
    if (a->dims[0] != b->dims[0]) return false;
    groups = a->dims[0];
  } else if (!has_offs) {
    return false;
  } else if (a_rank == 3 ? a->dims[0] != offs->dims[0]
                         : b_rank == 3 && b->dims[0] != offs->dims[0]) {
    return false;
  }
  draft.dtype = ProductType(a->type, b->type, in.around.kernel);
  if (draft.dtype.empty()) return false;
  const Count out = groups * a->dims[a_rank - 2] * b->dims[b_rank - 1];
  draft.SetFlops(Count(2) * out * inner * InnerFactor(*a));
  const Count written = a_rank == 2 && b_rank == 2 ? out * offs->dims[0] : out;
  draft.SetBytes(DistinctBytes(*a) + DistinctBytes(*b) + written * BytesOf(out_type));
  draft.shapes = SizesText(a->dims) + " x " + SizesText(b->dims);
  return true;
}

}  // namespace

// (self, mat2, offs, bias, out_dtype)
bool GroupedProduct(const CostInput& in, CostDraft& draft) {
  const Tensor* a = in.args.TensorAt(0);
  return a != nullptr && GroupedProductOf(in, 2, OutType(in, 4, a->type), draft);
}

// (self, mat2, scale_a, scale_b, offs, bias, scale_result, out_dtype), and of _v2 (self, mat2,
// scale_a[], .., .., scale_b[], .., .., offs, bias, out_dtype). The result is BF16.
bool ScaledGroupedProduct(const CostInput& in, CostDraft& draft) {
  const bool is_second = in.op.ends_with("_v2");
  const DType out = OutType(in, is_second ? 10 : 7, DType::kBFloat16);
  if (!GroupedProductOf(in, is_second ? 8 : 4, out, draft)) return false;
  if (!is_second) AddScales(in, 2, 3, draft);
  return true;
}

// (hidden_states, w1, w2, topk_weights, topk_ids, ...): each token's row goes through both products
// of each of its experts. w1 is [experts, inner or twice that, hidden], w2 [experts, hidden,
// inner]; weights of four bits stand two in a byte. Which experts are read is in the values of
// topk_ids, so bytes are known of a single token alone.
bool FusedExperts(const CostInput& in, CostDraft& draft) {
  const Tensor* rows = in.args.TensorAt(0);
  const Tensor* up = in.args.TensorAt(1);
  const Tensor* down = in.args.TensorAt(2);
  const Tensor* chosen = in.args.TensorAt(4);
  if (rows == nullptr || up == nullptr || down == nullptr || chosen == nullptr) return false;
  if (rows->dims.size() != 2 || up->dims.size() != 3 || down->dims.size() != 3) return false;
  if (chosen->dims.size() != 2 || chosen->dims[0] != rows->dims[0]) return false;
  const int64_t hidden = rows->dims[1];
  if (up->dims[0] != down->dims[0] || down->dims[1] != hidden) return false;
  const int64_t packed = up->dims[2] == hidden ? 1 : 2;
  if (up->dims[2] > hidden || Count(up->dims[2] * packed).value() != hidden) return false;
  const Count inner = Count(down->dims[2]) * packed;
  if (inner.value() != up->dims[1] && (inner * 2).value() != up->dims[1]) return false;
  if (chosen->dims[1] > up->dims[0]) return false;
  const Count pairs = Count(chosen->dims[0]) * chosen->dims[1];
  draft.SetFlops(Count(2) * pairs * hidden * (Count(up->dims[1]) + inner));
  if (rows->dims[0] == 1 && BytesOf(up->type) > 0 && BytesOf(down->type) > 0) {
    const Count weights = Count(up->dims[1]) * up->dims[2] * BytesOf(up->type) +
                          Count(down->dims[1]) * down->dims[2] * BytesOf(down->type);
    draft.SetBytes(weights * chosen->dims[1] + FullBytes(*rows) * 2);
  }
  // Whether rows are made FP8 first is not in the args.
  if (up->type == rows->type) {
    draft.dtype = ProductType(rows->type, up->type, in.around.kernel);
    if (draft.dtype.empty()) return false;
  }
  draft.shapes = SizesText(rows->dims) + " x " + SizesText(up->dims) + " x " +
                 SizesText(down->dims) + " top " + std::to_string(chosen->dims[1]);
  return true;
}

}  // namespace tracedb
