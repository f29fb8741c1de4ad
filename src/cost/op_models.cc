// Which operator has which model. Operators of PyTorch that only call others are not here: what
// they call has the figures.
#include <algorithm>
#include <array>

#include "cost/cost_models.h"

namespace tracedb {
namespace {

struct Known {
  std::string_view op;
  std::string_view category;
  CostModel model;
};

constexpr std::string_view kGemm = "GEMM";
constexpr std::string_view kConvolution = "convolution";
constexpr std::string_view kAttention = "attention";
constexpr std::string_view kNorm = "norm";
constexpr std::string_view kElementwise = "elementwise";
constexpr std::string_view kReduction = "reduction";
constexpr std::string_view kEmbedding = "embedding";
constexpr std::string_view kOptimizer = "optimizer";
constexpr std::string_view kCommunication = "communication";
constexpr std::string_view kCopy = "copy";

constexpr std::array kProducts = std::to_array<Known>({
    {"aten::mm", kGemm, MatrixProduct},
    {"aten::bmm", kGemm, MatrixProduct},
    {"aten::_int_mm", kGemm, MatrixProduct},
    {"aten::addmm", kGemm, MatrixProductPlus},
    {"aten::addmm_", kGemm, MatrixProductPlus},
    {"aten::_addmm_activation", kGemm, MatrixProductPlus},
    {"aten::baddbmm", kGemm, MatrixProductPlus},
    {"aten::baddbmm_", kGemm, MatrixProductPlus},
    {"aten::mv", kGemm, MatrixByVector},
    {"aten::addmv", kGemm, MatrixByVectorPlus},
    {"aten::addmv_", kGemm, MatrixByVectorPlus},
    {"aten::dot", kGemm, VectorProduct},
    {"aten::linear", kGemm, Linear},
    {"aten::matmul", kGemm, Matmul},
    {"aten::einsum", kGemm, Einsum},
    {"aten::_scaled_mm", kGemm, ScaledProduct},
    {"aten::_scaled_mm_v2", kGemm, ScaledProduct},
    {"aten::_grouped_mm", kGemm, GroupedProduct},
    {"aten::_scaled_grouped_mm", kGemm, ScaledGroupedProduct},
    {"aten::_scaled_grouped_mm_v2", kGemm, ScaledGroupedProduct},
    {"vllm::inplace_fused_experts", kGemm, FusedExperts},
    {"vllm::outplace_fused_experts", kGemm, FusedExperts},
    {"sglang::inplace_fused_experts", kGemm, FusedExperts},
    {"sglang::outplace_fused_experts", kGemm, FusedExperts},
    {"aiter::fused_moe_", kGemm, FusedExperts},
    {"aiter::fused_moe", kGemm, FusedExperts},
    {"vllm::moe_forward", kGemm, nullptr},
    {"vllm::moe_forward_shared", kGemm, nullptr},
    {"_Linear", kGemm, EngineLinear},
    {"_LayerNormLinear", kGemm, EngineNormLinear},
    {"_GroupedLinear", kGemm, EngineGroupedLinear},
    {"_LinearBackward", kGemm, nullptr},
    {"_LayerNormLinearBackward", kGemm, nullptr},
    {"_LayerNormMLP", kGemm, nullptr},
    {"_LayerNormMLPBackward", kGemm, nullptr},
    {"_GroupedLinearBackward", kGemm, nullptr},
    {"tex_ts::te_gemm_ts", kGemm, EngineGemm},
    {"FusedAttnFunc", kAttention, EngineAttention},
    {"FusedAttnFuncBackward", kAttention, nullptr},
    {"FlashAttnFuncBackward", kAttention, nullptr},
    {"FlashAttnVarlenFuncBackward", kAttention, nullptr},
    {"aten::convolution_backward", kConvolution, ConvolutionBackward},
    {"vllm::unified_attention_with_output", kAttention, EngineContextAttention},
    {"vllm::unified_attention", kAttention, EngineContextAttention},
    {"vllm::unified_mla_attention_with_output", kAttention, EngineContextAttention},
    {"sglang::unified_attention_with_output", kAttention, EngineContextAttention},
    {"sglang_profiler::attention_paged_attention_ragged", kAttention, EngineContextAttention},
    {"aiter::paged_attention_ragged", kAttention, EngineContextAttention},
    {"_C::paged_attention_v1", kAttention, EngineContextAttention},
    {"_C::paged_attention_v2", kAttention, EngineContextAttention},
    {"sgl_kernel::cutlass_mla_decode", kAttention, EngineContextAttention},
    {"sgl_kernel::fwd_kvcache_mla", kAttention, EngineContextAttention},
    {"_flashmla_C::fwd_kvcache_mla", kAttention, EngineContextAttention},
});

constexpr std::array kMoves = std::to_array<Known>({
    {"aten::native_layer_norm", kNorm, LayerNorm},
    {"aten::native_group_norm", kNorm, OtherNorm},
    {"aten::native_batch_norm", kNorm, OtherNorm},
    {"aten::cudnn_batch_norm", kNorm, OtherNorm},
    {"aten::miopen_batch_norm", kNorm, OtherNorm},
    {"aten::_fused_rms_norm", kNorm, OtherNorm},
    {"aiter::rms_norm", kNorm, OtherNorm},
    {"aten::native_layer_norm_backward", kNorm, NormBackward},
    {"aten::native_group_norm_backward", kNorm, NormBackward},
    {"aten::native_batch_norm_backward", kNorm, NormBackward},
    {"aten::cudnn_batch_norm_backward", kNorm, NormBackward},
    {"aten::miopen_batch_norm_backward", kNorm, NormBackward},
    {"aten::_fused_rms_norm_backward", kNorm, NormBackward},
    {"_C::rms_norm", kNorm, EachArgOnce},
    {"_C::fused_add_rms_norm", kNorm, FirstTwoTwice},
    {"sgl_kernel::rmsnorm", kNorm, EachArgOnce},
    {"sgl_kernel::fused_add_rmsnorm", kNorm, FirstTwoTwice},
    {"aiter::rmsnorm", kNorm, EachArgOnce},
    {"aiter::add_rmsnorm", kNorm, EachArgOnce},
    {"aiter::rmsnorm2d_fwd_with_add_ck", kNorm, EachArgOnce},
    {"aten::_softmax", kNorm, Softmax},
    {"aten::_log_softmax", kNorm, Softmax},
    {"aten::_softmax_backward_data", kNorm, Softmax},
    {"aten::_log_softmax_backward_data", kNorm, Softmax},
    {"aten::sum", kReduction, Reduction},
    {"aten::mean", kReduction, Reduction},
    {"aten::amax", kReduction, Reduction},
    {"aten::amin", kReduction, Reduction},
    {"aten::max", kReduction, Reduction},
    {"aten::min", kReduction, Reduction},
    {"aten::prod", kReduction, Reduction},
    {"aten::any", kReduction, Reduction},
    {"aten::all", kReduction, Reduction},
    {"aten::argmax", kReduction, Reduction},
    {"aten::argmin", kReduction, Reduction},
    {"aten::linalg_vector_norm", kReduction, Reduction},
    {"aten::norm", kReduction, Reduction},
    {"aten::var", kReduction, Variance},
    {"aten::std", kReduction, Variance},
    {"aten::var_mean", kReduction, Variance},
    {"aten::std_mean", kReduction, Variance},
    {"aten::cumsum", kReduction, RunningSum},
    {"aten::cumsum_", kReduction, RunningSum},
    {"aten::cumprod", kReduction, RunningSum},
    {"aten::cumprod_", kReduction, RunningSum},
    {"aten::topk", kReduction, TopK},
    {"aten::sort", kReduction, Sort},
    {"aten::nll_loss_forward", kReduction, nullptr},
    {"aten::nll_loss_backward", kReduction, nullptr},
    {"aten::embedding", kEmbedding, Lookup},
    {"aten::index_select", kEmbedding, Lookup},
    {"aten::gather", kEmbedding, GatherAlong},
    {"aten::embedding_dense_backward", kEmbedding, EmbeddingBackward},
    {"aten::_embedding_bag", kEmbedding, nullptr},
    {"aten::index", kEmbedding, nullptr},
    {"aten::index_put_", kEmbedding, nullptr},
    {"aten::_index_put_impl_", kEmbedding, nullptr},
    {"aten::index_add_", kEmbedding, IndexInto},
    {"aten::index_copy_", kEmbedding, IndexInto},
    {"aten::scatter", kEmbedding, ScatterInto},
    {"aten::scatter_", kEmbedding, ScatterInto},
    {"aten::scatter_add", kEmbedding, ScatterInto},
    {"aten::scatter_add_", kEmbedding, ScatterInto},
    {"aten::masked_select", kEmbedding, nullptr},
    {"aten::_fused_adam_", kOptimizer, FusedOptimizer},
    {"aten::_fused_adamw_", kOptimizer, FusedOptimizer},
    {"aten::_fused_sgd_", kOptimizer, FusedOptimizer},
    {"aten::_fused_adagrad_", kOptimizer, FusedOptimizer},
    {"aten::copy_", kCopy, CopyInto},
    {"aten::cat", kCopy, Concatenate},
    {"aten::stack", kCopy, Concatenate},
    {"aten::split_with_sizes_copy", kCopy, Concatenate},
    {"aten::_chunk_cat", kCopy, nullptr},
    {"aten::_local_scalar_dense", kCopy, nullptr},
    {"aten::fill_", kCopy, Fill},
    {"aten::zero_", kCopy, Fill},
    {"_C_cache_ops::reshape_and_cache_flash", kCopy, CacheStore},
    {"_C_cache_ops::reshape_and_cache", kCopy, CacheStore},
    {"sglang::store_cache", kCopy, CacheStore},
    {"aten::normal_", kElementwise, Fill},
    {"aten::uniform_", kElementwise, Fill},
    {"aten::bernoulli_", kElementwise, Fill},
    {"aten::exponential_", kElementwise, Fill},
    {"aten::random_", kElementwise, Fill},
    {"aten::native_dropout", kElementwise, Dropout},
    {"aten::native_dropout_backward", kElementwise, Pointwise},
    {"_C::rotary_embedding", kElementwise, RotaryEmbedding},
    {"sgl_kernel::rotary_embedding", kElementwise, RotaryEmbedding},
    {"_C::silu_and_mul", kElementwise, EachArgOnce},
    {"_C::gelu_and_mul", kElementwise, EachArgOnce},
    {"sgl_kernel::silu_and_mul", kElementwise, EachArgOnce},
    {"sgl_kernel::gelu_and_mul", kElementwise, EachArgOnce},
    {"aiter::silu_and_mul", kElementwise, EachArgOnce},
    {"aten::arange", kElementwise, nullptr},
});

constexpr std::array kPointwise = std::to_array<std::string_view>({"abs",
                                                                   "neg",
                                                                   "exp",
                                                                   "exp2",
                                                                   "expm1",
                                                                   "log",
                                                                   "log2",
                                                                   "log10",
                                                                   "log1p",
                                                                   "sqrt",
                                                                   "rsqrt",
                                                                   "reciprocal",
                                                                   "sin",
                                                                   "cos",
                                                                   "tan",
                                                                   "sinh",
                                                                   "cosh",
                                                                   "tanh",
                                                                   "asin",
                                                                   "acos",
                                                                   "atan",
                                                                   "erf",
                                                                   "erfc",
                                                                   "erfinv",
                                                                   "sigmoid",
                                                                   "silu",
                                                                   "gelu",
                                                                   "relu",
                                                                   "leaky_relu",
                                                                   "elu",
                                                                   "celu",
                                                                   "selu",
                                                                   "hardswish",
                                                                   "hardsigmoid",
                                                                   "hardtanh",
                                                                   "mish",
                                                                   "softplus",
                                                                   "floor",
                                                                   "ceil",
                                                                   "round",
                                                                   "trunc",
                                                                   "sign",
                                                                   "logit",
                                                                   "square",
                                                                   "bitwise_not",
                                                                   "threshold",
                                                                   "hardshrink",
                                                                   "softshrink",
                                                                   "digamma",
                                                                   "lgamma",
                                                                   "i0",
                                                                   "sgn",
                                                                   "frac",
                                                                   "relu6",
                                                                   "nan_to_num",
                                                                   "positive",
                                                                   "add",
                                                                   "sub",
                                                                   "rsub",
                                                                   "mul",
                                                                   "div",
                                                                   "true_divide",
                                                                   "floor_divide",
                                                                   "remainder",
                                                                   "fmod",
                                                                   "pow",
                                                                   "maximum",
                                                                   "minimum",
                                                                   "fmax",
                                                                   "fmin",
                                                                   "atan2",
                                                                   "bitwise_and",
                                                                   "bitwise_or",
                                                                   "bitwise_xor",
                                                                   "clamp",
                                                                   "clamp_min",
                                                                   "clamp_max",
                                                                   "where",
                                                                   "masked_fill",
                                                                   "lerp",
                                                                   "addcmul",
                                                                   "addcdiv",
                                                                   "threshold_backward",
                                                                   "gelu_backward",
                                                                   "silu_backward",
                                                                   "sigmoid_backward",
                                                                   "tanh_backward",
                                                                   "leaky_relu_backward",
                                                                   "elu_backward",
                                                                   "hardswish_backward",
                                                                   "mish_backward",
                                                                   "softplus_backward",
                                                                   "log_sigmoid_backward"});

constexpr std::array kFlags = std::to_array<std::string_view>(
    {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "logical_not",
     "isnan", "isinf", "isfinite", "signbit"});

// Families of operators, by how their names begin; the first that fits.
struct Prefix {
  std::string_view begin, category;
  CostModel model;
};
constexpr std::array kPrefixes = std::to_array<Prefix>({
    {"aten::_foreach_", kOptimizer, Foreach},
    {"aten::_amp_foreach_", kOptimizer, nullptr},
    {"aten::_fused_ad", kOptimizer, nullptr},
    {"triton_poi_", kElementwise, InductorKernel},
    {"triton_red_", kReduction, InductorKernel},
    {"triton_per_", kReduction, InductorKernel},
    {"triton_tem_", kGemm, nullptr},
    {"triton_mm", kGemm, nullptr},
    {"triton_bmm", kGemm, nullptr},
    {"triton_for_", kOptimizer, nullptr},
    {"record_param_comms", kCommunication, nullptr},
    {"c10d::", kCommunication, nullptr},
    {"_c10d_functional::", kCommunication, nullptr},
    {"c10d_functional::", kCommunication, nullptr},
    {"symm_mem::", kCommunication, nullptr},
    {"nccl:", kCommunication, nullptr},
    {"vllm::all_reduce", kCommunication, nullptr},
    {"vllm::all_gather", kCommunication, nullptr},
    {"vllm::reduce_scatter", kCommunication, nullptr},
    {"fsdp::", kCommunication, nullptr},
});

// Where the whole name is not known.
struct Word {
  std::string_view word, category;
};
constexpr std::array kWords = std::to_array<Word>({
    {"attention", kAttention},
    {"Attention", kAttention},
    {"attn", kAttention},
    {"Attn", kAttention},
    {"_mla", kAttention},
    {"fmha", kAttention},
    {"convolution", kConvolution},
    {"Convolution", kConvolution},
    {"conv1d", kConvolution},
    {"_conv_", kConvolution},
    {"conv2d", kConvolution},
    {"conv3d", kConvolution},
    {"_norm", kNorm},
    {"rmsnorm", kNorm},
    {"layernorm", kNorm},
    {"Norm", kNorm},
    {"softmax", kNorm},
    {"Softmax", kNorm},
    {"moe_", kGemm},
    {"experts", kGemm},
    {"gemm", kGemm},
    {"Gemm", kGemm},
    {"_mm", kGemm},
    {"matmul", kGemm},
    {"Matmul", kGemm},
    {"MatMul", kGemm},
    {"Linear", kGemm},
    {"embedding", kEmbedding},
    {"Embedding", kEmbedding},
    {"_and_mul", kElementwise},
    {"_optimizer", kOptimizer},
});

}  // namespace

OpModel ModelOf(std::string_view op) {
  const auto find = [&](const auto& list) {
    return std::find_if(list.begin(), list.end(),
                        [&](const auto& known) { return known.op == op; });
  };
  if (const auto known = find(kProducts); known != kProducts.end()) {
    return {known->category, known->model};
  }
  if (const auto known = find(kMoves); known != kMoves.end()) {
    return {known->category, known->model};
  }
  if (op.starts_with("aten::")) {
    std::string_view base = op.substr(6);
    if (base.ends_with('_')) base.remove_suffix(1);
    if (std::count(kPointwise.begin(), kPointwise.end(), base) > 0)
      return {kElementwise, Pointwise};
    if (std::count(kFlags.begin(), kFlags.end(), base) > 0) return {kElementwise, Comparison};
  }
  for (const Prefix& prefix : kPrefixes) {
    if (op.starts_with(prefix.begin)) return {prefix.category, prefix.model};
  }
  for (const Word& word : kWords) {
    if (!Contains(op, word.word)) continue;
    // The lists of these models know their own operators.
    if (word.category == kAttention) return {kAttention, Attention};
    if (word.category == kConvolution) return {kConvolution, Convolution};
    return {word.category, nullptr};
  }
  if (op == "flash_attn_3::fwd" || op == "flash_attn_3::bwd" || op == "_vllm_fa3_C::fwd" ||
      op == "_vllm_fa2_C::varlen_fwd" || op == "sgl_kernel::fwd" || op == "aiter::mha_fwd") {
    return {kAttention, Attention};
  }
  return {};
}

}  // namespace tracedb
