// What a kernel is for, by its name: for those that no operator is known of.
#include <array>
#include <string>

#include "tracedb/cost/op_cost.h"

namespace tracedb {

namespace {

struct Word {
  std::string_view word, category;
};

// In small letters; the first that is in the name decides, so what has parts of another kind (a
// norm that reduces) stands before the parts.
constexpr std::array kWords = std::to_array<Word>({
    {"memcpy", "copy"},
    {"memset", "copy"},
    {"copybuffer", "copy"},
    {"fillbuffer", "copy"},
    {"nccl", "communication"},
    {"rccl", "communication"},
    {"nvshmem", "communication"},
    {"deep_ep", "communication"},
    {"dpsk::ep", "communication"},
    {"all_reduce", "communication"},
    {"allreduce", "communication"},
    {"multi_tensor_apply", "optimizer"},
    {"multi_tensor", "optimizer"},
    {"adam", "optimizer"},
    {"flash", "attention"},
    {"fmha", "attention"},
    {"attention", "attention"},
    {"attn_", "attention"},
    {"sdpa", "attention"},
    {"splitkreduce", "GEMM"},
    {"layer_norm", "norm"},
    {"layernorm", "norm"},
    {"rms_norm", "norm"},
    {"rmsnorm", "norm"},
    {"batch_norm", "norm"},
    {"bn_fw", "norm"},
    {"bn_bw", "norm"},
    {"groupnorm", "norm"},
    {"group_norm", "norm"},
    {"softmax", "norm"},
    {"triton_poi", "elementwise"},
    {"triton_red", "reduction"},
    {"triton_per", "reduction"},
    {"conv1d", "convolution"},
    {"conv2d", "convolution"},
    {"conv3d", "convolution"},
    {"convol", "convolution"},
    {"fprop", "convolution"},
    {"dgrad", "convolution"},
    {"wgrad", "convolution"},
    {"winograd", "convolution"},
    {"igemm_", "convolution"},
    {"gemm", "GEMM"},
    {"gemv", "GEMM"},
    {"cijk_", "GEMM"},
    {"nvjet", "GEMM"},
    {"cutlass", "GEMM"},
    {"matmul", "GEMM"},
    {"xmma", "GEMM"},
    {"triton_tem", "GEMM"},
    {"fused_moe", "GEMM"},
    {"embedding", "embedding"},
    {"index_select", "embedding"},
    {"indexselect", "embedding"},
    {"indexing_", "embedding"},
    {"index_elementwise", "embedding"},
    {"gather", "embedding"},
    {"scatter", "embedding"},
    {"catarray", "copy"},
    {"fillfunctor", "copy"},
    {"direct_copy", "copy"},
    {"reduce_kernel", "reduction"},
    {"reduce", "reduction"},
    {"argmax", "reduction"},
    {"topk", "reduction"},
    {"sort", "reduction"},
    {"cub::", "reduction"},
    {"elementwise", "elementwise"},
    {"activation", "elementwise"},
    {"rotary", "elementwise"},
    {"distribution_", "elementwise"},
});

}  // namespace

std::string_view KernelCategory(std::string_view kernel) {
  constexpr size_t kBytesMax = 4096;
  std::string small(kernel.substr(0, kBytesMax));
  for (char& letter : small) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  for (const Word& word : kWords) {
    if (small.find(word.word) != small.npos) return word.category;
  }
  return {};
}

}  // namespace tracedb
