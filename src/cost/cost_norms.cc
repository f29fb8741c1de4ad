// Norms, softmax, reductions and look-ups, by what they move.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "cost/cost_models.h"

namespace tracedb {
namespace {

// Of all tensors among the args; false: one has no type.
bool AddReads(const CostInput& in, CostDraft& draft) {
  for (const OpArg& arg : in.args.args) {
    if (arg.is_list) continue;
    for (const Tensor& tensor : arg.tensors) {
      if (tensor.type == DType::kUnknown) return false;
      if (!tensor.dims.empty()) draft.bytes += DistinctBytes(tensor);
    }
  }
  return true;
}

}  // namespace

// (input, normalized_shape, weight, bias, eps): also writes a mean and a deviation for each row.
bool LayerNorm(const CostInput& in, CostDraft& draft) {
  const Tensor* input = in.args.TensorAt(0);
  const auto normalized = IntsFromText(in.args.GivenAt(1));
  if (input == nullptr || !normalized.has_value() || normalized->empty()) return false;
  const size_t rank = input->dims.size();
  if (normalized->size() > rank || BytesOf(input->type) == 0) return false;
  const std::span<const int64_t> sizes = input->dims;
  const auto rows = sizes.first(rank - normalized->size());
  const auto last = sizes.subspan(rows.size());
  if (!std::equal(normalized->begin(), normalized->end(), last.begin())) {
    return false;
  }
  draft.SetBytes(FullBytes(*input));
  if (!AddReads(in, draft)) return false;
  const int64_t statistic = input->type == DType::kFloat64 ? 8 : 4;
  draft.bytes += Product(rows) * 2 * statistic;
  draft.shapes = SizesText(input->dims);
  return true;
}

// The first tensor is read and written, the others are read.
bool OtherNorm(const CostInput& in, CostDraft& draft) {
  const Tensor* input = in.args.TensorAt(0);
  if (input == nullptr || input->dims.empty() || BytesOf(input->type) == 0) return false;
  draft.SetBytes(FullBytes(*input));
  draft.shapes = SizesText(input->dims);
  return AddReads(in, draft);
}

// All tensors are read; written are the gradients of input, weight and bias that were asked for.
bool NormBackward(const CostInput& in, CostDraft& draft) {
  struct Places {
    std::string_view op;
    size_t input, weight, mask;
  };
  constexpr size_t kNone = static_cast<size_t>(-1);
  constexpr std::array<Places, 6> kPlaces = {{
      {"aten::native_layer_norm_backward", 1, 5, 7},
      {"aten::native_group_norm_backward", 1, 4, 9},
      {"aten::native_batch_norm_backward", 1, 2, 9},
      {"aten::_fused_rms_norm_backward", 1, 4, 5},
      {"aten::cudnn_batch_norm_backward", 0, 2, kNone},
      {"aten::miopen_batch_norm_backward", 0, 2, kNone},
  }};
  const auto places = std::find_if(kPlaces.begin(), kPlaces.end(),
                                   [&](const Places& known) { return known.op == in.op; });
  if (places == kPlaces.end()) return false;
  const Tensor* input = in.args.TensorAt(places->input);
  const Tensor* weight = in.args.TensorAt(places->weight);
  if (input == nullptr || input->dims.empty() || BytesOf(input->type) == 0) return false;
  std::vector<bool> mask = {true, true, true};
  if (places->mask != kNone) {
    const auto given = FlagsFromText(in.args.GivenAt(places->mask));
    if (!given.has_value() || given->size() < 2) return false;
    mask = *given;
  }
  draft.SetBytes(0);
  if (!AddReads(in, draft)) return false;
  if (mask[0]) draft.bytes += FullBytes(*input);
  for (size_t i = 1; i < mask.size(); ++i) {
    if (mask[i] && weight != nullptr) draft.bytes += FullBytes(*weight);
  }
  draft.shapes = SizesText(input->dims);
  return true;
}

// (self, dim, half_to_float), and backward (grad, output, dim, input_dtype).
bool Softmax(const CostInput& in, CostDraft& draft) {
  const Tensor* first = in.args.TensorAt(0);
  if (first == nullptr || BytesOf(first->type) == 0) return false;
  draft.shapes = SizesText(first->dims);
  if (!in.op.ends_with("_backward_data")) {
    const bool widens = FlagFromText(in.args.GivenAt(2)).value_or(false);
    const DType out = widens ? DType::kFloat32 : first->type;
    draft.SetBytes(DistinctBytes(*first) + Numel(*first) * BytesOf(out));
    return true;
  }
  const Tensor* output = in.args.TensorAt(1);
  if (output == nullptr || output->dims != first->dims || BytesOf(output->type) == 0) return false;
  const DType given = TypeFromNumber(in.args.GivenAt(3));
  const DType out = given == DType::kUnknown ? first->type : given;
  draft.SetBytes(DistinctBytes(*first) + DistinctBytes(*output) + Numel(*first) * BytesOf(out));
  return true;
}

namespace {

// Elements that are left when these dimensions are summed up; nullopt: no such dimension.
std::optional<Count> LeftAfter(const Tensor& input, const std::vector<int64_t>& summed) {
  std::vector<int64_t> sizes = input.dims;
  const auto rank = static_cast<int64_t>(sizes.size());
  for (const int64_t dim : summed) {
    const int64_t at = dim < 0 ? dim + rank : dim;
    if (at < 0 || at >= rank) return std::nullopt;
    sizes[static_cast<size_t>(at)] = 1;
  }
  return summed.empty() ? Count(1) : Product(sizes);
}

// What an element of the result takes. `type`: that of sum, mean and prod, as a number; 0: it is
// not known.
int64_t ResultBytes(const CostInput& in, std::string_view type, DType input) {
  if (in.op == "aten::argmax" || in.op == "aten::argmin") return 8;
  if (in.op == "aten::any" || in.op == "aten::all") return 1;
  const bool sums = in.op == "aten::sum" || in.op == "aten::mean" || in.op == "aten::prod";
  if (!sums) return BytesOf(input);
  if (!type.empty()) return BytesOf(TypeFromNumber(type));
  const bool is_whole = input == DType::kBool || input == DType::kInt8 || input == DType::kInt16 ||
                        input == DType::kInt32;
  return is_whole ? 8 : BytesOf(input);
}

}  // namespace

// (self, dim, keepdim, ...); of linalg_vector_norm dim comes after ord.
bool Reduction(const CostInput& in, CostDraft& draft) {
  const Tensor* input = in.args.TensorAt(0);
  if (input == nullptr || BytesOf(input->type) == 0) return false;
  const bool after = in.op == "aten::linalg_vector_norm" || in.op == "aten::norm";
  const std::string_view given = in.args.GivenAt(after ? 2 : 1);
  // Sums of everything have a type there, as a number; dims of sum and mean stand in brackets.
  const bool sums = in.op == "aten::sum" || in.op == "aten::mean" ||
                    (in.op == "aten::prod" && in.args.args.size() == 2);
  const bool is_type = sums && !given.empty() && !given.starts_with('[');
  const auto summed = given.empty() || is_type ? std::vector<int64_t>() : IntsFromText(given);
  draft.SetBytes(DistinctBytes(*input));
  draft.shapes = SizesText(input->dims);
  if (!summed.has_value()) return true;  // what is written is not known
  const std::optional<Count> left = LeftAfter(*input, *summed);
  if (!left.has_value()) return false;
  const int64_t item = ResultBytes(in, is_type ? given : in.args.GivenAt(3), input->type);
  if (item > 0) draft.bytes += *left * item;
  // max and min along a dimension say where it was, too.
  const bool has_places = (in.op == "aten::max" || in.op == "aten::min") && !given.empty();
  if (has_places) draft.bytes += *left * 8;
  return true;
}

// embedding (weight, indices) and index_select (self, dim, index): a row for each index. Rows are
// read as often as they are asked for, but not more of them than there are.
bool Lookup(const CostInput& in, CostDraft& draft) {
  const bool is_select = in.op == "aten::index_select";
  const Tensor* table = in.args.TensorAt(0);
  const Tensor* index = in.args.TensorAt(is_select ? 2 : 1);
  const auto given = is_select ? IntFromText(in.args.GivenAt(1)) : std::optional<int64_t>(0);
  if (table == nullptr || index == nullptr || !given.has_value()) return false;
  const auto rank = static_cast<int64_t>(table->dims.size());
  const int64_t dim = *given < 0 ? *given + rank : *given;
  if (dim < 0 || dim >= rank || BytesOf(table->type) == 0 || BytesOf(index->type) == 0) {
    return false;
  }
  std::vector<int64_t> row = table->dims;
  const int64_t rows = std::exchange(row[static_cast<size_t>(dim)], 1);
  const auto asked = Numel(*index).value();
  if (!asked.has_value()) return false;
  const Count row_bytes = Product(row) * BytesOf(table->type);
  draft.SetBytes(DistinctBytes(*index) + row_bytes * std::min(*asked, rows) + row_bytes * *asked);
  draft.shapes = SizesText(table->dims) + " at " + SizesText(index->dims);
  return true;
}

// (grad_output, indices, num_weights, ...): a gradient for the whole table.
bool EmbeddingBackward(const CostInput& in, CostDraft& draft) {
  const Tensor* grad = in.args.TensorAt(0);
  const Tensor* index = in.args.TensorAt(1);
  const auto rows = IntFromText(in.args.GivenAt(2));
  if (grad == nullptr || index == nullptr || !rows.has_value() || *rows < 0) return false;
  if (grad->dims.empty() || BytesOf(grad->type) == 0 || BytesOf(index->type) == 0) return false;
  draft.SetBytes(DistinctBytes(*grad) + DistinctBytes(*index) +
                 Count(*rows) * grad->dims.back() * BytesOf(grad->type));
  draft.shapes = SizesText(grad->dims) + " at " + SizesText(index->dims);
  return true;
}

// gather (self, dim, index): an element for each index.
bool GatherAlong(const CostInput& in, CostDraft& draft) {
  const Tensor* table = in.args.TensorAt(0);
  const Tensor* index = in.args.TensorAt(2);
  if (table == nullptr || index == nullptr || table->dims.size() != index->dims.size())
    return false;
  if (BytesOf(table->type) == 0 || BytesOf(index->type) == 0) return false;
  const auto asked = Numel(*index).value();
  const auto there = Numel(*table).value();
  if (!asked.has_value() || !there.has_value()) return false;
  draft.SetBytes(DistinctBytes(*index) +
                 (Count(std::min(*asked, *there)) + *asked) * BytesOf(table->type));
  draft.shapes = SizesText(table->dims) + " at " + SizesText(index->dims);
  return true;
}

}  // namespace tracedb
