// Products of matrices and vectors, one or a batch.
#include <algorithm>
#include <map>
#include <optional>

#include "cost/cost_models.h"

namespace tracedb {
namespace {

std::string TwoSizes(const Tensor& a, const Tensor& b) {
  return SizesText(a.dims) + " x " + SizesText(b.dims);
}

bool IsZero(std::string_view given) { return given == "0" || given == "0." || given == "0.0"; }

// a is [m, k] or [batch, m, k], b alike.
bool ProductOf(const Tensor& a, const Tensor& b, int64_t out_item_bytes, const CostInput& in,
               CostDraft& draft) {
  const size_t rank = a.dims.size();
  if (rank != (Contains(in.op, "bmm") ? 3 : 2) || b.dims.size() != rank) return false;
  if (a.dims[rank - 1] != b.dims[rank - 2]) return false;
  if (rank == 3 && a.dims[0] != b.dims[0]) return false;
  draft.dtype = ProductType(a.type, b.type, in.around.kernel);
  if (draft.dtype.empty()) return false;
  const Count batch = rank == 3 ? a.dims[0] : 1;
  const Count out = batch * a.dims[rank - 2] * b.dims[rank - 1];
  draft.SetFlops(Count(2) * out * a.dims[rank - 1]);
  draft.narrow = std::min(a.dims[rank - 2], b.dims[rank - 1]);
  draft.SetBytes(DistinctBytes(a) + DistinctBytes(b) + out * out_item_bytes);
  draft.shapes = TwoSizes(a, b);
  return true;
}

// The type of the result where it is among the args, else that of `like`.
int64_t OutItemBytes(const CostInput& in, size_t out_at, const Tensor& like) {
  if (in.op == "aten::_int_mm") return BytesOf(DType::kInt32);
  const Tensor* out = in.args.TensorAt(out_at);
  const int64_t bytes = out == nullptr ? 0 : BytesOf(out->type);
  return bytes > 0 ? bytes : BytesOf(like.type);
}

}  // namespace

bool MatrixProduct(const CostInput& in, CostDraft& draft) {
  const Tensor* a = in.args.TensorAt(0);
  const Tensor* b = in.args.TensorAt(1);
  return a != nullptr && b != nullptr && ProductOf(*a, *b, OutItemBytes(in, 2, *a), in, draft);
}

// (self, mat1, mat2, beta, alpha): self is not read where beta is 0.
bool MatrixProductPlus(const CostInput& in, CostDraft& draft) {
  const Tensor* added = in.args.TensorAt(0);
  const Tensor* a = in.args.TensorAt(1);
  const Tensor* b = in.args.TensorAt(2);
  if (added == nullptr || a == nullptr || b == nullptr) return false;
  if (!ProductOf(*a, *b, OutItemBytes(in, 5, *a), in, draft)) return false;
  if (!IsZero(in.args.GivenAt(3))) draft.bytes += DistinctBytes(*added);
  return true;
}

bool MatrixByVector(const CostInput& in, CostDraft& draft) {
  const Tensor* a = in.args.TensorAt(0);
  const Tensor* b = in.args.TensorAt(1);
  if (a == nullptr || b == nullptr || a->dims.size() != 2 || b->dims.size() != 1) return false;
  Tensor column = *b;
  column.dims.push_back(1);
  if (!column.strides.empty()) column.strides.push_back(1);
  return ProductOf(*a, column, BytesOf(a->type), in, draft);
}

bool MatrixByVectorPlus(const CostInput& in, CostDraft& draft) {
  const Tensor* added = in.args.TensorAt(0);
  if (added == nullptr || in.args.args.size() < 3) return false;
  OpArgs rest = in.args;
  rest.args.erase(rest.args.begin());
  if (!MatrixByVector({in.op, rest, in.around}, draft)) return false;
  if (!IsZero(in.args.GivenAt(3))) draft.bytes += DistinctBytes(*added);
  return true;
}

bool VectorProduct(const CostInput& in, CostDraft& draft) {
  const Tensor* a = in.args.TensorAt(0);
  const Tensor* b = in.args.TensorAt(1);
  if (a == nullptr || b == nullptr || a->dims.size() != 1 || a->dims != b->dims) return false;
  draft.dtype = ProductType(a->type, b->type, in.around.kernel);
  if (draft.dtype.empty()) return false;
  draft.SetFlops(Count(2) * a->dims[0]);
  draft.narrow = 1;
  draft.SetBytes(DistinctBytes(*a) + DistinctBytes(*b) + BytesOf(a->type));
  draft.shapes = TwoSizes(*a, *b);
  return true;
}

// (input, weight, bias): input [..., k], weight [n, k] or [k].
bool Linear(const CostInput& in, CostDraft& draft) {
  const Tensor* input = in.args.TensorAt(0);
  const Tensor* weight = in.args.TensorAt(1);
  if (input == nullptr || weight == nullptr || input->dims.empty()) return false;
  if (weight->dims.size() != 2 || weight->dims[1] != input->dims.back()) return false;
  draft.dtype = ProductType(input->type, weight->type, in.around.kernel);
  if (draft.dtype.empty()) return false;
  const std::span<const int64_t> all = input->dims;
  const Count rows = Product(all.first(all.size() - 1));
  draft.SetFlops(Count(2) * rows * weight->dims[0] * weight->dims[1]);
  draft.narrow = std::min(rows.value().value_or(weight->dims[0]), weight->dims[0]);
  draft.SetBytes(DistinctBytes(*input) + DistinctBytes(*weight) +
                 rows * weight->dims[0] * BytesOf(input->type));
  if (const Tensor* bias = in.args.TensorAt(2)) draft.bytes += DistinctBytes(*bias);
  draft.shapes = TwoSizes(*input, *weight);
  return true;
}

// As torch.matmul: vectors become matrices, batches are broadcast.
bool Matmul(const CostInput& in, CostDraft& draft) {
  const Tensor* a = in.args.TensorAt(0);
  const Tensor* b = in.args.TensorAt(1);
  if (a == nullptr || b == nullptr || a->dims.empty() || b->dims.empty()) return false;
  std::vector<int64_t> left = a->dims;
  std::vector<int64_t> right = b->dims;
  if (left.size() == 1) left.insert(left.begin(), 1);
  if (right.size() == 1) right.push_back(1);
  if (left.back() != right[right.size() - 2]) return false;
  draft.dtype = ProductType(a->type, b->type, in.around.kernel);
  if (draft.dtype.empty()) return false;
  Count batch = 1;
  const size_t batches = std::max(left.size(), right.size()) - 2;
  for (size_t i = 0; i < batches; ++i) {  // from the innermost on
    const int64_t x = i + 2 < left.size() ? left[left.size() - 3 - i] : 1;
    const int64_t y = i + 2 < right.size() ? right[right.size() - 3 - i] : 1;
    if (x != y && x != 1 && y != 1) return false;
    batch *= x == 1 ? y : x;
  }
  const Count out = batch * left[left.size() - 2] * right.back();
  draft.SetFlops(Count(2) * out * left.back());
  draft.narrow = std::min(left[left.size() - 2], right.back());
  draft.SetBytes(DistinctBytes(*a) + DistinctBytes(*b) + out * BytesOf(a->type));
  draft.shapes = TwoSizes(*a, *b);
  return true;
}

namespace {

// The size of each letter: "bij" of [2, 3, 4]. False: it does not fit, or a letter is there twice.
bool TakeLetters(std::string_view letters, const Tensor& tensor, std::map<char, int64_t>& sizes) {
  if (letters.size() != tensor.dims.size()) return false;
  for (size_t i = 0; i < letters.size(); ++i) {
    if (letters.find(letters[i]) != i) return false;
    const auto [known, is_new] = sizes.emplace(letters[i], tensor.dims[i]);
    if (!is_new && known->second != tensor.dims[i]) return false;
  }
  return true;
}

}  // namespace

// (equation, operands): of two operands. Kineto writes no equation (a text is none of its inputs),
// so most traces have no figure here: the products that einsum calls have theirs.
bool Einsum(const CostInput& in, CostDraft& draft) {
  std::string equation(in.args.GivenAt(0));
  std::erase(equation, ' ');
  const std::vector<Tensor>* operands = in.args.ListAt(1);
  if (operands == nullptr || operands->size() != 2 || Contains(equation, ".")) return false;
  const size_t comma = equation.find(',');
  const size_t arrow = equation.find("->");
  if (comma == equation.npos || arrow == equation.npos || comma > arrow) return false;
  const std::string_view text = equation;
  std::map<char, int64_t> sizes;
  const Tensor& a = (*operands)[0];
  const Tensor& b = (*operands)[1];
  if (!TakeLetters(text.substr(0, comma), a, sizes)) return false;
  if (!TakeLetters(text.substr(comma + 1, arrow - comma - 1), b, sizes)) return false;
  Count all = 1;
  Count out = 1;
  bool is_summed = false;
  const std::string_view result = text.substr(arrow + 2);
  for (const char letter : result) {
    if (!sizes.contains(letter)) return false;
  }
  for (const auto& [letter, size] : sizes) {
    const bool stays = result.find(letter) != result.npos;
    all *= size;
    if (stays) out *= size;
    is_summed = is_summed || !stays;
  }
  if (!is_summed) return false;  // element by element
  draft.SetFlops(Count(2) * all);
  const int64_t item = ItemBytesFromKernel(in.around.kernel);
  if (item > 0) draft.SetBytes((Numel(a) + Numel(b) + out) * item);
  draft.shapes = equation + " " + TwoSizes(a, b);
  return true;
}

}  // namespace tracedb
