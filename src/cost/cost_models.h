// The models: each a function of an operator's args, false where they are none that it can have.
// Sizes are checked against each other: a product whose inner sizes differ is not one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/count.h"
#include "cost/op_args.h"
#include "tracedb/cost/op_cost.h"

namespace tracedb {

struct CostInput {
  std::string_view op;  // without what a profiler's numbering added
  const OpArgs& args;
  OpSurroundings around;
};

// What a model has worked out; counts that left their range become no row.
struct CostDraft {
  Count flops;
  Count bytes;
  bool has_flops = false;
  bool has_bytes = false;
  std::string_view dtype;
  std::optional<int64_t> narrow;
  std::string shapes;

  void SetFlops(const Count& count) {
    flops = count;
    has_flops = true;
  }
  void SetBytes(const Count& count) {
    bytes = count;
    has_bytes = true;
  }
};

using CostModel = bool (*)(const CostInput& in, CostDraft& draft);

// The model of an operator, and its category; from op_models.cc.
struct OpModel {
  std::string_view category;
  CostModel model = nullptr;
};
OpModel ModelOf(std::string_view op);

// cost_tensors.cc
Count Product(std::span<const int64_t> sizes);
Count Numel(const Tensor& tensor);
// Elements that stand in memory: an expanded tensor's once.
Count DistinctBytes(const Tensor& tensor);
Count FullBytes(const Tensor& tensor);
std::string SizesText(std::span<const int64_t> sizes);
// What the units multiply that a product of both types runs on. Of float TF32 where the kernel's
// name says so. Empty: they do not multiply such types.
std::string_view ProductType(DType a, DType b, std::string_view kernel);
bool IsFloating(DType type);
// As torch's ScalarType numbers them, as the args of out_dtype do.
DType TypeFromNumber(std::string_view number);
// Of what PyTorch writes into its kernels' names: FusedAdamMathFunctor<float, 4, ...>.
int64_t ItemBytesFromKernel(std::string_view kernel);
bool Contains(std::string_view text, std::string_view piece);

// cost_products.cc
bool MatrixProduct(const CostInput& in, CostDraft& draft);      // mm, bmm
bool MatrixProductPlus(const CostInput& in, CostDraft& draft);  // addmm, baddbmm
bool MatrixByVector(const CostInput& in, CostDraft& draft);
bool MatrixByVectorPlus(const CostInput& in, CostDraft& draft);
bool VectorProduct(const CostInput& in, CostDraft& draft);
bool Linear(const CostInput& in, CostDraft& draft);
bool Matmul(const CostInput& in, CostDraft& draft);
bool Einsum(const CostInput& in, CostDraft& draft);
// cost_grouped.cc
bool ScaledProduct(const CostInput& in, CostDraft& draft);
bool GroupedProduct(const CostInput& in, CostDraft& draft);
bool ScaledGroupedProduct(const CostInput& in, CostDraft& draft);
bool FusedExperts(const CostInput& in, CostDraft& draft);
// cost_transformer_engine.cc
bool EngineLinear(const CostInput& in, CostDraft& draft);
bool EngineNormLinear(const CostInput& in, CostDraft& draft);
bool EngineGroupedLinear(const CostInput& in, CostDraft& draft);
bool EngineGemm(const CostInput& in, CostDraft& draft);
bool EngineAttention(const CostInput& in, CostDraft& draft);
// cost_convolution.cc
bool Convolution(const CostInput& in, CostDraft& draft);
bool ConvolutionBackward(const CostInput& in, CostDraft& draft);
// cost_attention.cc
bool Attention(const CostInput& in, CostDraft& draft);
// cost_engines.cc: of vLLM and SGLang
bool EngineContextAttention(const CostInput& in, CostDraft& draft);
bool RotaryEmbedding(const CostInput& in, CostDraft& draft);
bool CacheStore(const CostInput& in, CostDraft& draft);
// cost_bytes.cc
bool Pointwise(const CostInput& in, CostDraft& draft);
bool Comparison(const CostInput& in, CostDraft& draft);
bool Fill(const CostInput& in, CostDraft& draft);
bool CopyInto(const CostInput& in, CostDraft& draft);
bool Dropout(const CostInput& in, CostDraft& draft);
bool EachArgOnce(const CostInput& in, CostDraft& draft);
bool FirstTwoTwice(const CostInput& in, CostDraft& draft);
bool Concatenate(const CostInput& in, CostDraft& draft);
// cost_norms.cc
bool LayerNorm(const CostInput& in, CostDraft& draft);
bool OtherNorm(const CostInput& in, CostDraft& draft);
bool NormBackward(const CostInput& in, CostDraft& draft);
bool Softmax(const CostInput& in, CostDraft& draft);
bool Reduction(const CostInput& in, CostDraft& draft);
bool Lookup(const CostInput& in, CostDraft& draft);
bool EmbeddingBackward(const CostInput& in, CostDraft& draft);
bool GatherAlong(const CostInput& in, CostDraft& draft);
// cost_selects.cc
bool RunningSum(const CostInput& in, CostDraft& draft);
bool Sort(const CostInput& in, CostDraft& draft);
bool TopK(const CostInput& in, CostDraft& draft);
bool Variance(const CostInput& in, CostDraft& draft);
bool IndexInto(const CostInput& in, CostDraft& draft);
bool ScatterInto(const CostInput& in, CostDraft& draft);
// cost_lists.cc
bool Foreach(const CostInput& in, CostDraft& draft);
bool FusedOptimizer(const CostInput& in, CostDraft& draft);
bool InductorKernel(const CostInput& in, CostDraft& draft);

}  // namespace tracedb
