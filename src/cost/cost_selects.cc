// Operators that go along a dimension and keep it, put in order, or write where an index says.
#include <algorithm>
#include <optional>
#include <utility>

#include "cost/cost_models.h"

namespace tracedb {
namespace {

constexpr int64_t kIndexBytes = 8;  // places are written as 64-bit numbers

bool IsKnown(const Tensor* tensor) { return tensor != nullptr && BytesOf(tensor->type) != 0; }

// A dimension as an arg has it, from 0; a tensor without dimensions has one of size 1.
std::optional<size_t> DimAt(const CostInput& in, size_t at, const Tensor& tensor) {
  const auto given = IntFromText(in.args.GivenAt(at));
  const auto rank = std::max<int64_t>(static_cast<int64_t>(tensor.dims.size()), 1);
  if (!given.has_value() || *given < -rank || *given >= rank) return std::nullopt;
  return static_cast<size_t>(*given < 0 ? *given + rank : *given);
}

// Sums of whole numbers are 64 bits wide.
DType SumType(DType type) {
  switch (type) {
    case DType::kBool:
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
      return DType::kInt64;
    default:
      return type;
  }
}

// As many elements as `tensor` has, but for `size` of them along a dimension.
Count NumelWith(const Tensor& tensor, size_t dim, int64_t size) {
  std::vector<int64_t> sizes = tensor.dims;
  if (sizes.empty()) return size;
  sizes[dim] = size;
  return Product(sizes);
}

}  // namespace

// cumsum, cumprod (self, dim, dtype)
bool RunningSum(const CostInput& in, CostDraft& draft) {
  const Tensor* input = in.args.TensorAt(0);
  if (!IsKnown(input) || !DimAt(in, 1, *input).has_value()) return false;
  const DType given = TypeFromNumber(in.args.GivenAt(2));
  // An arg that is a type which is not known: what is written is not known either.
  if (given == DType::kUnknown && !in.args.GivenAt(2).empty()) return false;
  const DType out = given != DType::kUnknown ? given : SumType(input->type);
  const bool in_place = in.op.ends_with('_');
  draft.SetBytes(DistinctBytes(*input) + Numel(*input) * BytesOf(in_place ? input->type : out));
  draft.shapes = SizesText(input->dims);
  return true;
}

// sort (self, dim, descending) or (self, stable, dim, descending): values and where they were.
bool Sort(const CostInput& in, CostDraft& draft) {
  const Tensor* input = in.args.TensorAt(0);
  if (!IsKnown(input)) return false;
  const bool has_stable = !IntFromText(in.args.GivenAt(1)).has_value();
  if (!DimAt(in, has_stable ? 2 : 1, *input).has_value()) return false;
  draft.SetBytes(DistinctBytes(*input) + Numel(*input) * (BytesOf(input->type) + kIndexBytes));
  draft.shapes = SizesText(input->dims);
  return true;
}

// topk (self, k, dim, ...): likewise, k of them.
bool TopK(const CostInput& in, CostDraft& draft) {
  const Tensor* input = in.args.TensorAt(0);
  if (!IsKnown(input)) return false;
  const auto dim = DimAt(in, 2, *input);
  const auto k = IntFromText(in.args.GivenAt(1));
  if (!dim.has_value() || !k.has_value()) return false;
  const int64_t size = input->dims.empty() ? 1 : input->dims[*dim];
  if (*k < 0 || *k > size) return false;
  draft.SetBytes(DistinctBytes(*input) +
                 NumelWith(*input, *dim, *k) * (BytesOf(input->type) + kIndexBytes));
  draft.shapes = SizesText(input->dims) + " top " + std::to_string(*k);
  return true;
}

// var, std (self, dims or none or whether unbiased, ...); with _mean two results.
bool Variance(const CostInput& in, CostDraft& draft) {
  const Tensor* input = in.args.TensorAt(0);
  if (!IsKnown(input) || !IsFloating(input->type)) return false;
  const std::string_view given = in.args.GivenAt(1);
  std::vector<int64_t> left = input->dims;
  const auto summed = given.starts_with('[') ? IntsFromText(given) : std::nullopt;
  const bool is_whole =
      given.empty() || FlagFromText(given).has_value() || (summed.has_value() && summed->empty());
  if (!is_whole && !summed.has_value()) return false;
  if (is_whole) left.clear();
  for (size_t i = 0; !is_whole && i < summed->size(); ++i) {
    const auto rank = static_cast<int64_t>(left.size());
    const int64_t dim = (*summed)[i] < 0 ? (*summed)[i] + rank : (*summed)[i];
    if (dim < 0 || dim >= rank) return false;
    left[static_cast<size_t>(dim)] = 1;
  }
  const int64_t results = in.op.ends_with("_mean") ? 2 : 1;
  draft.SetBytes(DistinctBytes(*input) + Product(left) * results * BytesOf(input->type));
  draft.shapes = SizesText(input->dims);
  return true;
}

// index_add_, index_copy_ (self, dim, index, source): a slice of source for each index. As many of
// self are written as are asked for, but not more than there are; what is added to is read too.
bool IndexInto(const CostInput& in, CostDraft& draft) {
  const Tensor* self = in.args.TensorAt(0);
  const Tensor* index = in.args.TensorAt(2);
  const Tensor* source = in.args.TensorAt(3);
  if (!IsKnown(self) || !IsKnown(index) || !IsKnown(source)) return false;
  const auto dim = DimAt(in, 1, *self);
  const auto asked = Numel(*index).value();
  if (!dim.has_value() || !asked.has_value() || index->dims.size() > 1) return false;
  std::vector<int64_t> wanted = self->dims;
  const int64_t there = wanted.empty() ? 1 : std::exchange(wanted[*dim], *asked);
  if (source->dims != wanted || source->type != self->type) return false;
  const int64_t times = in.op.starts_with("aten::index_add") ? 2 : 1;
  draft.SetBytes(DistinctBytes(*index) + DistinctBytes(*source) +
                 NumelWith(*self, *dim, std::min(*asked, there)) * times * BytesOf(self->type));
  draft.shapes = SizesText(self->dims) + " at " + SizesText(index->dims);
  return true;
}

// scatter_, scatter_add_ (self, dim, index, source or a number): an element for each index.
bool ScatterInto(const CostInput& in, CostDraft& draft) {
  const Tensor* self = in.args.TensorAt(0);
  const Tensor* index = in.args.TensorAt(2);
  const Tensor* source = in.args.TensorAt(3);
  if (!IsKnown(self) || !IsKnown(index) || !DimAt(in, 1, *self).has_value()) return false;
  if (index->dims.size() != self->dims.size()) return false;
  const bool adds = in.op.starts_with("aten::scatter_add");
  const bool has_source = IsKnown(source) && !source->dims.empty();
  if (adds && !has_source) return false;
  if (has_source) {
    if (source->type != self->type || source->dims.size() != index->dims.size()) return false;
    for (size_t i = 0; i < index->dims.size(); ++i) {
      if (index->dims[i] > source->dims[i]) return false;
    }
  }
  const auto asked = Numel(*index).value();
  const auto there = Numel(*self).value();
  if (!asked.has_value() || !there.has_value()) return false;
  const Count written = Count(std::min(*asked, *there)) * (adds ? 2 : 1);
  draft.SetBytes(DistinctBytes(*index) +
                 (written + (has_source ? *asked : 0)) * BytesOf(self->type));
  draft.shapes = SizesText(self->dims) + " at " + SizesText(index->dims);
  return true;
}

}  // namespace tracedb
