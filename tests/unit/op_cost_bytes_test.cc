// Operators that are counted by what they move, worked out by hand; and what operators are for.
#include <gtest/gtest.h>

#include "op_cost_cases.h"

namespace tracedb {
namespace {

constexpr char kFloats[] =
    "multi_tensor_apply_kernel<TensorListMetadata<3>, "
    "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>";
constexpr char kHalves[] =
    "multi_tensor_apply_kernel<TensorListMetadata<3>, "
    "BinaryOpListAlphaFunctor<c10::BFloat16, 2, 2, 0>, std::plus<float> >";

TEST(OpCost, element_by_element) {
  EXPECT_EQ(Costs("aten::add", "bf16[10,20] bf16[10,20] 1"), "- 1200");
  // broadcast: 10 * 20 * 2 + 20 * 2 read, 10 * 20 * 2 written
  EXPECT_EQ(Costs("aten::mul", "bf16[10,20] bf16[20]"), "- 840");
  // FP32 and BF16 make FP32: 800 + 400 + 800
  EXPECT_EQ(Costs("aten::add", "f32[10,20] bf16[10,20] 1"), "- 2000");
  // a number of the host is not read; BF16 stays BF16
  EXPECT_EQ(Costs("aten::mul", "bf16[10,20] f64[]"), "- 800");
  // in place: the type is that of the first
  EXPECT_EQ(Costs("aten::add_", "f32[10,20] bf16[10,20] 1"), "- 2000");
  EXPECT_EQ(Costs("aten::add_", "f32[20] f32[10,20] 1"), "none");
  // flags are bytes; whole numbers divided make FP32
  EXPECT_EQ(Costs("aten::gt", "f32[10,20] 0"), "- 1000");
  EXPECT_EQ(Costs("aten::div", "i64[10] i64[10]"), "- 200");
  EXPECT_EQ(Costs("aten::sigmoid", "f32[10,20]"), "- 1600");
  EXPECT_EQ(Costs("aten::gelu", "bf16[10,20] -"), "- 800");
  EXPECT_EQ(Costs("aten::gelu_backward", "bf16[10,20] bf16[10,20] -"), "- 1200");
  // mask 200, both 800, 800 written
  EXPECT_EQ(Costs("aten::where", "b[10,20] f32[10,20] f32[10,20]"), "- 2600");
  EXPECT_EQ(Costs("aten::masked_fill_", "bf16[4,10,20] b[1,10,20] 0"), "- 3400");
  // an expanded one is one number: 4 read, 800 written
  EXPECT_EQ(Costs("aten::neg", "f32[10,20/0,0]"), "- 804");
  EXPECT_EQ(Costs("aten::native_dropout", "bf16[10,20] 0.1 True"), "- 1000");
  EXPECT_EQ(Costs("aten::native_dropout_backward", "bf16[10,20] b[10,20] 1.1"), "- 1000");
  EXPECT_EQ(Costs("aten::add", "f32[10,20] f32[10,21]"), "none");
  EXPECT_EQ(Costs("aten::add", "what[10,20] f32[10,20]"), "none");
}

TEST(OpCost, copies_and_fills) {
  EXPECT_EQ(Costs("aten::copy_", "f32[10,20] bf16[10,20] False"), "- 1200");
  EXPECT_EQ(Costs("aten::copy_", "f32[10,20] bf16[10,20/0,1] False"), "- 840");
  EXPECT_EQ(Costs("aten::copy_", "f32[10,20] bf16[11,20] False"), "none");
  EXPECT_EQ(Costs("aten::fill_", "f32[10,20] 0"), "- 800");
  EXPECT_EQ(Costs("aten::zero_", "bf16[10,20]"), "- 400");
  EXPECT_EQ(Costs("aten::cat", "list(x[3,5];x[4,5]) 0",
                  "CatArrayBatchedCopy<OpaqueType<2u>, "
                  "unsigned int, 2, 64, 64>"),
            "- 140");
  EXPECT_EQ(Costs("aten::cat", "list(x[3,5];x[4,5]) 0", "what"), "none");
  EXPECT_EQ(Costs("aten::split_with_sizes_copy", "bf16[2,100] [50,_50] 1"), "- 800");
}

TEST(OpCost, norms) {
  // 20 rows of 64: in and out 2 * 2 * 1280, weight and bias 256, two FP32 a row 160
  EXPECT_EQ(Costs("aten::native_layer_norm", "bf16[4,5,64] [64] bf16[64] bf16[64] 1e-05"),
            "- 5536");
  EXPECT_EQ(Costs("aten::native_layer_norm", "bf16[4,5,64] [65] bf16[64] bf16[64] 1e-05"), "none");
  // read: gradient and input 5120, statistics 160, weight and bias 256; written 2560 + 128 + 128
  EXPECT_EQ(Costs("aten::native_layer_norm_backward",
                  "bf16[4,5,64] bf16[4,5,64] [64] f32[4,5,1] f32[4,5,1] bf16[64] bf16[64] "
                  "[True,_True,_True]"),
            "- 8352");
  EXPECT_EQ(Costs("aten::native_layer_norm_backward",
                  "bf16[4,5,64] bf16[4,5,64] [64] f32[4,5,1] f32[4,5,1] bf16[64] bf16[64] "
                  "[True,_False,_False]"),
            "- 8096");
  EXPECT_EQ(Costs("aten::_fused_rms_norm", "bf16[4,5,64] [64] bf16[64] 1e-05"), "- 5248");
  // vLLM's is given its result: 3 tensors once
  EXPECT_EQ(Costs("_C::rms_norm", "bf16[20,64] bf16[20,64] bf16[64] 1e-05"), "- 5248");
  // input and residual are read and written
  EXPECT_EQ(Costs("_C::fused_add_rms_norm", "bf16[20,64] bf16[20,64] bf16[64] 1e-05"), "- 10368");
  EXPECT_EQ(Costs("aten::_softmax", "bf16[4,5,64] -1 False"), "- 5120");
  EXPECT_EQ(Costs("aten::_softmax", "bf16[4,5,64] -1 True"), "- 7680");
  EXPECT_EQ(Costs("aten::_softmax_backward_data", "bf16[4,5,64] bf16[4,5,64] -1 15"), "- 7680");
  EXPECT_EQ(Costs("aten::_log_softmax_backward_data", "f32[4,5,64] f32[4,5,64] -1 15"), "- 12800");
}

TEST(OpCost, sums_of_whole_numbers_are_wide) {
  // 10 * 20 flags read, 20 sums of 8 bytes written
  EXPECT_EQ(Costs("aten::sum", "b[10,20] [0] False -"), "- 360");
  EXPECT_EQ(Costs("aten::prod", "i32[10,20] 1 False -"), "- 880");
  // of everything, as FP64 (7): 200 * 2 and one of 8; an unknown type: what is read alone
  EXPECT_EQ(Costs("aten::sum", "bf16[10,20] 7"), "- 408");
  EXPECT_EQ(Costs("aten::sum", "bf16[10,20] [0] False 6"), "- 480");
  EXPECT_EQ(Costs("aten::sum", "bf16[10,20] 99"), "- 400");
  EXPECT_EQ(Costs("aten::sum", "b[10,20] [0,_1] False 4"), "- 208");
  EXPECT_EQ(Costs("aten::prod", "f32[10,20] 7"), "- 808");
  // along a dimension places too: 20 * (4 + 8)
  EXPECT_EQ(Costs("aten::max", "f32[10,20] 0 False"), "- 1040");
  EXPECT_EQ(Costs("aten::max", "f32[10,20]"), "- 804");
  EXPECT_EQ(Costs("aten::any", "i64[10,20] 0 False"), "- 1620");
}

TEST(OpCost, along_a_dimension) {
  // 200 * 4 read and written; of 200 32-bit numbers sums of 8 bytes; as FP32 (6) from BF16
  EXPECT_EQ(Costs("aten::cumsum", "f32[10,20] 1 -"), "- 1600");
  EXPECT_EQ(Costs("aten::cumsum", "i32[10,20] -1 -"), "- 2400");
  EXPECT_EQ(Costs("aten::cumsum", "bf16[10,20] 0 6"), "- 1200");
  EXPECT_EQ(Costs("aten::cumsum_", "i32[10,20] 0 -"), "- 1600");
  EXPECT_EQ(Costs("aten::cumsum", "f32[10,20] 2 -"), "none");
  EXPECT_EQ(Costs("aten::cumsum", "f32[10,20] 0 99"), "none");
  EXPECT_EQ(Costs("aten::cumsum", "f32[10,20] - -"), "none");
  // 400 read; 200 values of 2 bytes and 200 places of 8
  EXPECT_EQ(Costs("aten::sort", "bf16[10,20] -1 True"), "- 2400");
  EXPECT_EQ(Costs("aten::sort", "bf16[10,20] True -1 False"), "- 2400");
  EXPECT_EQ(Costs("aten::sort", "bf16[10,20] True 5 False"), "none");
  // 400 read; of 10 rows 4 values and places: 10 * 4 * (2 + 8)
  EXPECT_EQ(Costs("aten::topk", "bf16[10,20] 4 -1 True True"), "- 800");
  EXPECT_EQ(Costs("aten::topk", "bf16[10,20] 4 0 True True"), "- 1200");
  EXPECT_EQ(Costs("aten::topk", "bf16[10,20] 21 -1 True True"), "none");
  EXPECT_EQ(Costs("aten::topk", "bf16[10,20] -1 -1 True True"), "none");
  // 800 read; 20 of 4 written, with the means twice; of everything one
  EXPECT_EQ(Costs("aten::var", "f32[10,20] [0] 1 False"), "- 880");
  EXPECT_EQ(Costs("aten::var_mean", "f32[10,20] [0] 1 False"), "- 960");
  EXPECT_EQ(Costs("aten::std", "f32[10,20] True"), "- 804");
  EXPECT_EQ(Costs("aten::std_mean", "f32[10,20] - 1 False"), "- 808");
  EXPECT_EQ(Costs("aten::var", "f32[10,20] [3] 1 False"), "none");
  EXPECT_EQ(Costs("aten::var", "i64[10,20] [0] 1 False"), "none");
}

TEST(OpCost, written_where_an_index_says) {
  // 4 indices of 8, 4 rows of 20 * 2 read from the source; 4 rows of self read and written
  EXPECT_EQ(Costs("aten::index_add_", "bf16[10,20] 0 i64[4] bf16[4,20] 1"), "- 512");
  EXPECT_EQ(Costs("aten::index_copy_", "bf16[10,20] 0 i64[4] bf16[4,20]"), "- 352");
  // 30 into 10 rows: 240 + 1200 + twice the 10 rows there are
  EXPECT_EQ(Costs("aten::index_add_", "bf16[10,20] 0 i64[30] bf16[30,20] 1"), "- 2240");
  EXPECT_EQ(Costs("aten::index_add_", "bf16[10,20] 1 i64[4] bf16[4,20] 1"), "none");
  EXPECT_EQ(Costs("aten::index_add_", "bf16[10,20] 0 i64[4] f32[4,20] 1"), "none");
  // 40 indices of 8, 40 of the source, 40 of self read and written
  EXPECT_EQ(Costs("aten::scatter_add_", "f32[10,20] 1 i64[10,4] f32[10,4]"), "- 800");
  EXPECT_EQ(Costs("aten::scatter_", "f32[10,20] 1 i64[10,4] f32[10,4]"), "- 640");
  EXPECT_EQ(Costs("aten::scatter_", "b[10,20] 1 i64[10,4] 1"), "- 360");
  EXPECT_EQ(Costs("aten::scatter_add_", "f32[10,20] 1 i64[10,4] f32[9,4]"), "none");
  EXPECT_EQ(Costs("aten::scatter_add_", "f32[10,20] 1 i64[10,4] 1"), "none");
  EXPECT_EQ(Costs("aten::scatter_", "f32[10,20] 1 i64[4] f32[4]"), "none");
}

TEST(OpCost, reductions_and_look_ups) {
  EXPECT_EQ(Costs("aten::sum", "bf16[10,20] [0] True -"), "- 440");
  EXPECT_EQ(Costs("aten::mean", "f32[10,20] [] False -"), "- 804");
  EXPECT_EQ(Costs("aten::sum", "f32[10,20/0,0] [] False -"), "- 8");
  EXPECT_EQ(Costs("aten::argmax", "f32[10,20] -1 False"), "- 880");
  EXPECT_EQ(Costs("aten::sum", "bf16[10,20] [2] True -"), "none");
  EXPECT_EQ(Costs("aten::linalg_vector_norm", "f32[100] 2 - False -"), "- 404");
  // 3 rows of 20 of a table of 1000: 24 + 120 + 120
  EXPECT_EQ(Costs("aten::embedding", "bf16[1000,20] i64[3]"), "- 264");
  // 5 look-ups in 2 rows: two are read, five written: 40 + 80 + 200
  EXPECT_EQ(Costs("aten::index_select", "bf16[2,20] 0 i64[5]"), "- 320");
  EXPECT_EQ(Costs("aten::index_select", "bf16[2,20] 2 i64[5]"), "none");
  EXPECT_EQ(Costs("aten::embedding_dense_backward", "bf16[3,20] i64[3] 1000 -1 False"), "- 40144");
  // indices that are one for each row: 3 of them; 60 read and 60 written
  EXPECT_EQ(Costs("aten::gather", "bf16[1000,20] 0 i64[3,20/1,0] False"), "- 264");
}

TEST(OpCost, optimizers) {
  const std::string list = "list(x[10,20];x[50])";  // 250 elements
  EXPECT_EQ(Costs("aten::_foreach_add_", list + " 1", kFloats), "- 2000");
  EXPECT_EQ(Costs("aten::_foreach_add_", list + " " + list + " 1", kHalves), "- 1500");
  EXPECT_EQ(Costs("aten::_foreach_addcdiv_", list + " " + list + " " + list + " 1", kFloats),
            "- 4000");
  // self is read and written; what it adds may be the square of one list, which is read once.
  EXPECT_EQ(Costs("aten::_foreach_addcmul_", list + " " + list + " " + list + " 1", kFloats),
            "- 3000");
  EXPECT_EQ(Costs("aten::_foreach_sqrt", list, kFloats), "- 2000");
  EXPECT_EQ(Costs("aten::_foreach_norm", list + " 2", kFloats), "- 1000");
  // FP32 from BF16
  EXPECT_EQ(Costs("aten::_foreach_copy_", list + " " + list + " False",
                  "CopyFunctor<float, c10::BFloat16, 2, 1, 1>, Copy<float, c10::BFloat16> >"),
            "- 1500");
  // parameters, both moments in and out, gradients in: 7 * 4 * 250
  EXPECT_EQ(Costs("aten::_fused_adamw_",
                  list + " " + list + " " + list + " " + list + " - list(x[];x[]) 0.1",
                  "multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, "
                  "FusedAdamMathFunctor<float, 4, (ADAM_MODE)1, false>, float const*>"),
            "- 7000");
  EXPECT_EQ(Costs("aten::_fused_sgd_", list + " " + list + " " + list,
                  "FusedSgdMathFunctor<float, 3, false, false>"),
            "- 5000");
  // no type, other sizes, lists too long to be recorded
  EXPECT_EQ(Costs("aten::_foreach_add_", list + " 1", "what"), "none");
  EXPECT_EQ(Costs("aten::_foreach_add_", list + " 1"), "none");
  EXPECT_EQ(Costs("aten::_fused_adamw_", list + " list(x[2]) " + list + " " + list + " - -",
                  "FusedAdamMathFunctor<float, 4>"),
            "none");
  EXPECT_FALSE(CostOf("aten::_foreach_add_",
                      R"({"Input Dims":[[],[]],"Input type":["TensorList","Scalar"]})",
                      {kFloats, ""})
                   .has_value());
}

std::string Triton(const std::string& words, const std::string& kwargs) {
  std::string args = CallArgs(words);
  args.insert(1, "\"kernel_kwargs\":\"" + kwargs + "\",");
  return args;
}

TEST(OpCost, kernels_of_inductor) {
  // two of 200 BF16 and one of 200 flags, over 200
  const std::string three = "b[10,20] bf16[10,20] bf16[10,20] ";
  const auto bytes = [](std::string_view op, const std::string& args) -> int64_t {
    const auto cost = CostOf(op, args);
    return cost.has_value() ? cost->bytes.value_or(-1) : -1;
  };
  EXPECT_EQ(bytes("triton_poi_fused_relu_0", Triton(three + "200", "XBLOCK=1024")), 1000);
  // the seed's place comes before the range
  EXPECT_EQ(bytes("triton_poi_fused_relu_0", Triton(three + "0 200", "XBLOCK=1024")), 1000);
  EXPECT_EQ(bytes("triton_poi_fused_relu_0", Triton(three + "10 20", "YBLOCK=8,XBLOCK=32")), 1000);
  EXPECT_EQ(bytes("triton_red_fused_sum_0", Triton("bf16[10,20] f32[10] 10 20", "XBLOCK=1")), 440);
  EXPECT_EQ(bytes("triton_per_fused_sum_0", Triton("bf16[10,20] f32[10] 10 20", "")), 440);
  // a table that is looked up in, no range, a range of nothing
  EXPECT_EQ(
      bytes("triton_poi_fused_embedding_0", Triton("bf16[1000,20] bf16[10,20] 200", "XBLOCK=64")),
      -1);
  EXPECT_EQ(bytes("triton_poi_fused_relu_0", Triton("bf16[10,20] bf16[10,20]", "XBLOCK=64")), -1);
  EXPECT_EQ(bytes("triton_poi_fused_relu_0", Triton(three + "0", "XBLOCK=64")), -1);
  EXPECT_EQ(bytes("triton_tem_fused_mm_0", Triton(three + "200", "XBLOCK=64")), -1);
}

TEST(OpCost, engines_own_operators) {
  EXPECT_EQ(Costs("sgl_kernel::silu_and_mul", "bf16[32,12288] bf16[32,24576]"), "- 2359296");
  // 32 positions, query and key in place: 256 + 2 * 2 * 32 * (4096 + 1024)
  EXPECT_EQ(Costs("sgl_kernel::rotary_embedding",
                  "i64[32] bf16[32,4096] bf16[32,1024] 128 bf16[41216,128] True"),
            "- 655616");
  // into a cache of FP8: 2 * 512 * (2 + 1) + 8 * 4
  EXPECT_EQ(Costs("_C_cache_ops::reshape_and_cache_flash",
                  "bf16[4,8,16] bf16[4,8,16] f8[99,32,8,16] f8[99,32,8,16] i64[4]"),
            "- 3104");
}

TEST(OpCost, categories) {
  const auto category = [](std::string_view op) { return std::string(OpCategory(op)); };
  EXPECT_EQ(category("aten::mm"), "GEMM");
  EXPECT_EQ(category("LinearWithGradAccumulationFP8Backward"), "GEMM");
  EXPECT_EQ(category("aten::miopen_convolution"), "convolution");
  EXPECT_EQ(category("aten::_flash_attention_forward"), "attention");
  EXPECT_EQ(category("RopeLoraFlashAttnVarlenFunc"), "attention");
  EXPECT_EQ(category("flash_attn_3::fwd"), "attention");
  EXPECT_EQ(category("aten::_softmax"), "norm");
  EXPECT_EQ(category("DropoutAddLayerNormFn"), "norm");
  EXPECT_EQ(category("aten::mul_"), "elementwise");
  EXPECT_EQ(category("triton_poi_fused_add_0"), "elementwise");
  EXPECT_EQ(category("triton_red_fused_sum_0"), "reduction");
  EXPECT_EQ(category("aten::sum"), "reduction");
  EXPECT_EQ(category("aten::embedding_dense_backward"), "embedding");
  EXPECT_EQ(category("aten::_fused_adamw_"), "optimizer");
  EXPECT_EQ(category("aten::_foreach_sqrt"), "optimizer");
  EXPECT_EQ(category("record_param_comms"), "communication");
  EXPECT_EQ(category("aten::copy_"), "copy");
  EXPECT_EQ(category("MyOperator"), "");
  const auto kernel = [](std::string_view name) { return std::string(KernelCategory(name)); };
  EXPECT_EQ(kernel("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT"), "GEMM");
  EXPECT_EQ(kernel("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64> >"),
            "attention");
  EXPECT_EQ(kernel("Memcpy DtoD (Device -> Device)"), "copy");
  EXPECT_EQ(kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL"), "communication");
  EXPECT_EQ(kernel("void at::native::vectorized_elementwise_kernel<4, Add>"), "elementwise");
  EXPECT_EQ(kernel("k"), "");
}

}  // namespace
}  // namespace tracedb
