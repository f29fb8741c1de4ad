// Products: FLOPs and bytes worked out by hand in the comments.
#include <gtest/gtest.h>

#include "op_cost_cases.h"

namespace tracedb {
namespace {

TEST(OpCost, products_of_matrices) {
  // 2 * 100 * 200 * 500 = 20e6; 4 * (100 * 200 + 200 * 500 + 100 * 500) = 680e3
  EXPECT_EQ(Costs("aten::mm", "f32[100,200] f32[200,500]"), "20000000 680000 fp32");
  // 2 * 3 * 5 * 7 = 210; 2 * (15 + 35) + 4 * 21 (the result is FP32)
  EXPECT_EQ(Costs("aten::mm", "bf16[3,5] bf16[5,7] f32[3,7]"), "210 184 bf16");
  // 2 * 4 * 10 * 20 * 30 = 48e3; 2 * 4 * (200 + 600 + 300) = 8800
  EXPECT_EQ(Costs("aten::bmm", "f16[4,10,20] f16[4,20,30]"), "48000 8800 fp16");
  // an expanded matrix is read once: 2 * (200 + 4 * 600 + 4 * 300) = 7600
  EXPECT_EQ(Costs("aten::bmm", "f16[4,10,20/0,20,1] f16[4,20,30/600,30,1]"), "48000 7600 fp16");
  // 8-bit factors, 32-bit result: 8 * 8 * 16 + 16 * 8 ... = 128 + 128 + 4 * 64 = 512
  EXPECT_EQ(Costs("aten::_int_mm", "i8[8,16] i8[16,8]"), "2048 512 int8");
}

TEST(OpCost, products_that_are_added) {
  // 2 * 10 * 20 * 30 = 12e3; 2 * (30 + 200 + 600 + 300) = 2260
  EXPECT_EQ(Costs("aten::addmm", "bf16[30] bf16[10,20] bf16[20,30] 1 1"), "12000 2260 bf16");
  // beta is 0: what is added is not read
  EXPECT_EQ(Costs("aten::addmm", "bf16[30] bf16[10,20] bf16[20,30] 0. 1"), "12000 2200 bf16");
  EXPECT_EQ(Costs("aten::_addmm_activation", "bf16[30] bf16[10,20] bf16[20,30] 1 1 True"),
            "12000 2260 bf16");
  // 2 * (4 * 300 + 4 * 200 + 4 * 600 + 4 * 300) = 11200
  EXPECT_EQ(Costs("aten::baddbmm", "bf16[4,10,30] bf16[4,10,20] bf16[4,20,30] 1 1"),
            "48000 11200 bf16");
}

TEST(OpCost, products_with_vectors) {
  // 2 * 5 * 7 = 70; 4 * (35 + 7 + 5) = 188; with 5 more to add 208
  EXPECT_EQ(Costs("aten::mv", "f32[5,7] f32[7]"), "70 188 fp32");
  EXPECT_EQ(Costs("aten::addmv", "f32[5] f32[5,7] f32[7] 1 1"), "70 208 fp32");
  EXPECT_EQ(Costs("aten::dot", "f32[9] f32[9]"), "18 76 fp32");
}

TEST(OpCost, linear_and_matmul) {
  // rows 2 * 3: 2 * 6 * 5 * 4 = 240; 2 * (24 + 20 + 5 + 30) = 158
  EXPECT_EQ(Costs("aten::linear", "bf16[2,3,4] bf16[5,4] bf16[5]"), "240 158 bf16");
  EXPECT_EQ(Costs("aten::linear", "bf16[2,3,4] bf16[5,4] -"), "240 148 bf16");
  // batches 7 x 2 by broadcasting: 2 * 14 * 3 * 4 * 5 = 1680; 4 * (2*12 + 7*20 + 14*15) = 1496
  EXPECT_EQ(Costs("aten::matmul", "f32[2,3,4] f32[7,1,4,5]"), "1680 1496 fp32");
  EXPECT_EQ(Costs("aten::matmul", "f32[4] f32[4,5]"), "40 116 fp32");
  EXPECT_EQ(Costs("aten::matmul", "f32[4] f32[4]"), "8 36 fp32");
}

TEST(OpCost, einsum_where_the_equation_is_known) {
  // b 2, i 3, j 4, k 5: 2 * 2 * 3 * 4 * 5 = 240
  EXPECT_EQ(Costs("aten::einsum", "bij,bjk->bik list(x[2,3,4];x[2,4,5])"), "240 -");
}

TEST(OpCost, scaled_products) {
  // 2 * 16 * 32 * 64 = 65536; 512 + 2048 + 2 * 1024 + scales 2 * 4 = 4616: the result is BF16 (15)
  EXPECT_EQ(Costs("aten::_scaled_mm", "f8[16,32] f8[32,64] f32[1] f32[1] - - 15 False"),
            "65536 4616 fp8");
  // FP4: 16 bytes of k are 32 numbers: 2 * 8 * 32 * 8 = 4096; 128 + 128 + 2 * 64 + 8 scales each
  EXPECT_EQ(Costs("aten::_scaled_mm", "f4[8,16] f4[16,8] f8[8] f8[8] - - 15 False"),
            "4096 400 fp4");
}

TEST(OpCost, products_of_groups) {
  // 10 rows in 3 groups: 2 * 10 * 4 * 5 = 400; 2 * (40 + 60 + 50) = 300
  EXPECT_EQ(Costs("aten::_grouped_mm", "bf16[10,4] bf16[3,4,5] i32[3] - -"), "400 300 bf16");
  // columns in groups: [3,6,4] x [4,10]: 2 * 6 * 4 * 10 = 480; 2 * (72 + 40 + 60) = 344
  EXPECT_EQ(Costs("aten::_grouped_mm", "bf16[3,6,4] bf16[4,10] i32[3] - -"), "480 344 bf16");
  // the inner size in groups, the result is 3 x 6 x 5: 2 * 6 * 10 * 5 = 600; 2 * (60 + 50 + 90)
  EXPECT_EQ(Costs("aten::_grouped_mm", "bf16[6,10] bf16[10,5] i32[3] - -"), "600 400 bf16");
  // a batch: 2 * 3 * 6 * 4 * 5 = 720; 2 * (72 + 60 + 90) = 444
  EXPECT_EQ(Costs("aten::_grouped_mm", "bf16[3,6,4] bf16[3,4,5] - - -"), "720 444 bf16");
  // FP8, the result BF16, scales of rows 10 and columns 15: 40 + 60 + 100 + 4 * 25 = 300
  EXPECT_EQ(
      Costs("aten::_scaled_grouped_mm", "f8[10,4] f8[3,4,5] f32[10] f32[3,5] i32[3] - - 15 False"),
      "400 300 fp8");
  EXPECT_EQ(Costs("aten::_grouped_mm", "bf16[10,4] bf16[3,4,5] i32[4] - -"), "none");
  EXPECT_EQ(Costs("aten::_grouped_mm", "bf16[10,4] bf16[3,4,5] - - -"), "none");
}

TEST(OpCost, fused_experts) {
  // 8 tokens of 2 experts each, hidden 16, inner 32 with a gate:
  // 2 * 16 pairs * 16 * (64 + 32) = 49152. Which experts are read is not known.
  EXPECT_EQ(Costs("vllm::outplace_fused_experts",
                  "bf16[8,16] bf16[4,64,16] bf16[4,16,32] f32[8,2] i32[8,2]"),
            "49152 - bf16");
  // one token: 2 experts' weights, 2 * 2 * (64 * 16 + 16 * 32) = 6144, its row in and out 64
  EXPECT_EQ(Costs("sglang::inplace_fused_experts",
                  "bf16[1,16] bf16[4,64,16] bf16[4,16,32] f32[1,2] i32[1,2]"),
            "6144 6208 bf16");
  // weights of four bits: as many products; what the units multiply is not told
  EXPECT_EQ(
      Costs("vllm::inplace_fused_experts", "bf16[8,16] u8[4,64,8] u8[4,16,16] f32[8,2] i32[8,2]"),
      "49152 -");
  EXPECT_EQ(Costs("vllm::inplace_fused_experts",
                  "bf16[8,16] bf16[4,64,15] bf16[4,16,32] f32[8,2] i32[8,2]"),
            "none");
  EXPECT_EQ(Costs("vllm::inplace_fused_experts",
                  "bf16[8,16] bf16[4,64,16] bf16[4,16,48] f32[8,2] i32[8,2]"),
            "none");
}

TEST(OpCost, transformer_engine) {
  // rows 6 * 2: 2 * 12 * 8 * 4 = 768; 2 * (12 * 4 + 8 * 4 + 8 + 12 * 8) = 368
  const char* kernel = "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT";
  EXPECT_EQ(Costs("_Linear", "bf16[8,4] bf16[6,2,4] bf16[8] True", kernel), "768 368 bf16");
  EXPECT_EQ(Costs("_Linear", "bf16[8,4] - - bf16[6,2,4] bf16[8] True", kernel), "768 368 bf16");
  EXPECT_EQ(Costs("_Linear", "bf16[8,4] u8[8,4] bf16[6,2,4] bf16[8] True",
                  "sm90_xmma_gemm_e4m3bf16_e4m3f32_f32"),
            "768 368 fp8");
  // with the norm's weight and bias, 2 * (4 + 4) more
  EXPECT_EQ(Costs("_LayerNormLinear", "bf16[6,2,4] bf16[4] bf16[4] bf16[8,4] bf16[8]", kernel),
            "768 384 bf16");
  EXPECT_EQ(Costs("_LayerNormLinear", "bf16[6,2,4] bf16[5] bf16[8,4] bf16[8]", kernel), "none");
  // each of 10 rows goes through one of three 8 x 4
  EXPECT_EQ(Costs("_GroupedLinear",
                  "bf16[10,4] [3,_3,_4] True bf16[8,4] bf16[8,4] bf16[8,4] bf16[8] bf16[8] bf16[8]",
                  kernel),
            "640 - bf16");
  // D = 6 x 8 of B = 6 x 4 (rows) and A = 8 x 4 (turned): 2 * 6 * 8 * 4 = 384; 2 * (32 + 24 + 48)
  EXPECT_EQ(Costs("tex_ts::te_gemm_ts", "bf16[8,4] - - 5 True bf16[6,4] - - 5 False bf16[6,8] - 5"),
            "384 208 bf16");
  EXPECT_EQ(Costs("tex_ts::te_gemm_ts", "bf16[8,4] - - 5 True bf16[6,5] - - 5 False bf16[6,8] - 5"),
            "none");
  // a backward pass is given the gradient of its result alone
  EXPECT_EQ(Costs("_LinearBackward", "bf16[6,2,8]", kernel), "none");
}

TEST(OpCost, fp32_runs_on_the_units_that_the_kernel_names) {
  const char* words = "f32[100,200] f32[200,500]";
  EXPECT_TRUE(Costs("aten::mm", words, "ampere_sgemm_128x64_nn").ends_with("fp32"));
  EXPECT_TRUE(Costs("aten::mm", words, "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n").ends_with("tf32"));
  EXPECT_TRUE(Costs("aten::mm", words,
                    "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128"
                    "_16x5_nn_align4>")
                  .ends_with("tf32"));
  EXPECT_TRUE(Costs("aten::mm", words, "nvjet_sm90_sss_128x128").ends_with("tf32"));
  EXPECT_TRUE(Costs("aten::mm", words, "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5>")
                  .ends_with("fp32"));
}

TEST(OpCost, wrong_sizes_are_no_figure) {
  for (const char* words :
       {"", "f32[100,200]", "f32[100,200] f32[201,500]", "f32[100] f32[200,500]",
        "f32[2,3,4] f32[4,5]", "f32[2,3,4] f32[3,4,5]", "b[3,4] b[4,5]",
        "f32[281474976710656,281474976710656] f32[281474976710656,281474976710656]",
        "f32[100000000,100000000] f32[100000000,100000000]", "f32[0,4] f32[4,0]",
        "c10::complex<float>[3,4] c10::complex<float>[4,5]", "what[3,4] what[4,5]"}) {
    EXPECT_EQ(Costs("aten::mm", words), "none") << words;
  }
  EXPECT_EQ(Costs("aten::bmm", "f32[3,4] f32[4,5]"), "none");
  EXPECT_EQ(Costs("aten::mm", "f32[2,3,4] f32[2,4,5]"), "none");
  EXPECT_EQ(Costs("aten::linear", "bf16[2,3,4] bf16[5,3] -"), "none");
  EXPECT_EQ(Costs("aten::matmul", "f32[2,3,4] f32[7,3,4,5]"), "none");
  EXPECT_EQ(Costs("aten::einsum", "- list(x[2,3,4];x[2,4,5])"), "none");
  EXPECT_EQ(Costs("aten::einsum", "bij,bjk->biz list(x[2,3,4];x[2,4,5])"), "none");
  EXPECT_EQ(Costs("aten::einsum", "bij,bij->bij list(x[2,3,4];x[2,3,4])"), "none");
  EXPECT_EQ(Costs("aten::_scaled_mm", "f8[16,32] f8[31,64] f32[1] f32[1] - - 15"), "none");
  EXPECT_EQ(Costs("no::operator", "f32[1] f32[1]"), "none");
}

}  // namespace
}  // namespace tracedb
