// Convolutions and attention: FLOPs and bytes worked out by hand, pairs counted one by one.
#include <gtest/gtest.h>

#include "cost/cost_attention.h"
#include "op_cost_cases.h"

namespace tracedb {
namespace {

TEST(OpCost, convolutions) {
  // out (9 + 2 - 4 - 1) / 2 + 1 = 4: 2 * 2 * 4 * 27 * 16 = 6912;
  // 4 * (2*6*81 + 4*27 + 2*4*16) = 4832, the bias 16 more
  EXPECT_EQ(Costs("aten::convolution",
                  "f32[2,6,9,9] f32[4,3,3,3] f32[4] [2,_2] [1,_1] [2,_2] "
                  "False [0,_0] 2"),
            "6912 4848 fp32");
  // out 7: 2 * 2 * 4 * 18 * 7 = 2016; 4 * (2*6*9 + 4*6*3 + 2*4*7) = 944
  EXPECT_EQ(Costs("aten::convolution", "f32[2,6,9] f32[4,6,3] - [1] [0] [1] False [0] 1"),
            "2016 944 fp32");
  // transposed: each of 25 places goes through 6 * 4 * 4 taps: 2 * 2 * 96 * 25 = 9600
  EXPECT_EQ(
      Costs("aten::convolution", "f32[2,6,5,5] f32[6,4,2,2] - [2,_2] [0,_0] [1,_1] True [0,_0] 1"),
      "9600 - fp32");
  // three dimensions: out 2 each: 2 * 1 * 2 * 3 * 8 * 8 = 768
  EXPECT_EQ(Costs("aten::conv3d", "f32[1,3,3,3,3] f32[2,3,2,2,2] - 1 0 1 1"), "768 580 fp32");
  // other orders of the same args
  EXPECT_EQ(Costs("aten::cudnn_convolution", "f32[2,6,9] f32[4,6,3] [0] [1] [1] 1 False"),
            "2016 944 fp32");
  EXPECT_EQ(Costs("aten::miopen_convolution", "f32[2,6,9] f32[4,6,3] - [0] [1] [1] 1 False False"),
            "2016 944 fp32");
}

TEST(OpCost, gradients_of_a_convolution_that_were_needed) {
  const std::string rest = " [0] [2,_2] [1,_1] [2,_2] False [0,_0] 2 ";
  const std::string words = "f32[2,4,4,4] f32[2,6,9,9] f32[4,3,3,3]" + rest;
  // the gradient (128) is read; of the weight: the input (972) read, 108 written
  EXPECT_EQ(Costs("aten::convolution_backward", words + "[False,_True,_False]"), "6912 4832 fp32");
  // of the input: the weight read, 972 written
  EXPECT_EQ(Costs("aten::convolution_backward", words + "[True,_False,_False]"), "6912 4832 fp32");
  // both, and the bias (4): 4 * (128 + 2 * 972 + 2 * 108 + 4) = 9168
  EXPECT_EQ(Costs("aten::convolution_backward", words + "[True,_True,_True]"), "13824 9168 fp32");
  EXPECT_EQ(Costs("aten::convolution_backward", words + "[False,_False,_True]"), "none");
  EXPECT_EQ(Costs("aten::convolution_backward", words), "none");
  EXPECT_EQ(Costs("aten::convolution_backward",
                  "f32[2,4,5,4] f32[2,6,9,9] f32[4,3,3,3]" + rest + "[True,_True,_True]"),
            "none");
}

TEST(OpCost, impossible_convolutions_are_no_figure) {
  for (const char* words :
       {"f32[2,6,9] f32[4,5,3] - [1] [0] [1] False [0] 1",
        "f32[2,6,2] f32[4,6,3] - [1] [0] [1] "
        "False [0] 1",
        "f32[2,6,9] f32[4,6,3] - [0] [0] [1] False [0] 1",
        "f32[2,6,9] f32[4,6,3] - [1] [0] [1] - [0] 1",
        "f32[2,6,9] f32[4,6,3] - same [0] [1] False [0] 1",
        "f32[2,6,9] f32[4,6,3] - [1] [0] [1] False [0] 0",
        "f32[2,6,9] f32[4,6,281474976710656] - [1] [0] [1000000000] False [0] 1",
        "f32[2,6] f32[4,6] - [1] [0] [1] False [0] 1"}) {
    EXPECT_EQ(Costs("aten::convolution", words), "none") << words;
  }
}

// A query's place is moved so that the last one meets the last key, unless the mask is of the top.
int64_t CountedPairs(const AttentionShape& shape) {
  int64_t pairs = 0;
  const bool is_top = shape.causal == CausalEnd::kTopLeft;
  for (int64_t query = 0; query < shape.q_length; ++query) {
    const int64_t place = query + (is_top ? 0 : shape.k_length - shape.q_length);
    for (int64_t key = 0; key < shape.k_length; ++key) {
      if (shape.causal != CausalEnd::kNone && key > place) continue;
      if (shape.left.has_value() && key < place - *shape.left) continue;
      if (shape.right.has_value() && key > place + *shape.right) continue;
      ++pairs;
    }
  }
  return pairs;
}

TEST(Attention, pairs_are_those_that_the_mask_leaves) {
  for (int64_t q = 0; q <= 7; ++q) {
    for (int64_t k = 0; k <= 7; ++k) {
      for (const CausalEnd end : {CausalEnd::kNone, CausalEnd::kTopLeft, CausalEnd::kBottomRight}) {
        for (int64_t left = -1; left <= 8; ++left) {
          for (int64_t right = -1; right <= 8; ++right) {
            AttentionShape shape;
            shape.q_length = q;
            shape.k_length = k;
            shape.causal = end;
            if (left >= 0) shape.left = left;
            if (right >= 0) shape.right = right;
            ASSERT_EQ(PairsOf(shape).value(), CountedPairs(shape))
                << q << " " << k << " " << static_cast<int>(end) << " " << left << " " << right;
          }
        }
      }
    }
  }
}

TEST(OpCost, attention_of_pytorch) {
  // 2 * 2 * 8 * (4 * 5 / 2 = 10 pairs) * (16 + 16) = 10240;
  // 4 * (2*8*4*16 * 2 (q, out) + 2*2*4*16 * 2 (k, v)) = 10240
  const std::string qkv = "f32[2,8,4,16] f32[2,2,4,16] f32[2,2,4,16]";
  EXPECT_EQ(Costs("aten::_scaled_dot_product_flash_attention", qkv + " 0. True False -"),
            "10240 10240 fp32");
  EXPECT_EQ(Costs("aten::_scaled_dot_product_efficient_attention", qkv + " - True 0. True -"),
            "10240 10240 fp32");
  EXPECT_EQ(Costs("aten::_scaled_dot_product_cudnn_attention", qkv + " - True 0. True False -"),
            "10240 10240 fp32");
  EXPECT_EQ(Costs("aten::_scaled_dot_product_attention_math", qkv + " - 0. False -"),
            "16384 10240 fp32");
  EXPECT_EQ(Costs("aten::scaled_dot_product_attention", qkv + " - 0. True"), "10240 10240 fp32");
  EXPECT_EQ(Costs("aten::_scaled_dot_product_fused_attention_overrideable", qkv + " - 0. True"),
            "10240 10240 fp32");
  EXPECT_EQ(Costs("aten::_cudnn_attention_forward", qkv + " - - - 4 4 True 0. True False -"),
            "10240 10240 fp32");
  // lengths before heads
  const std::string lqkv = "f32[2,4,8,16] f32[2,4,2,16] f32[2,4,2,16]";
  EXPECT_EQ(Costs("aten::_flash_attention_forward", lqkv + " - - 4 4 0. True False 0.25 - - - -"),
            "10240 10240 fp32");
  EXPECT_EQ(Costs("aten::_efficient_attention_forward", lqkv + " - - - 4 4 0. 1 True - -"),
            "10240 10240 fp32");
  EXPECT_EQ(Costs("aten::_efficient_attention_forward", lqkv + " - - - 4 4 0. 3 True - -"), "none");
  // values of another size: 2 * 16 * 16 pairs * (16 + 32) = 24576
  EXPECT_EQ(Costs("aten::_scaled_dot_product_cudnn_attention",
                  "f32[2,8,4,16] f32[2,2,4,16] f32[2,2,4,32] - True 0. False False -"),
            "24576 15360 fp32");
}

TEST(OpCost, backward_is_two_and_a_half_times_forward) {
  // 2 * 16 * 10 * (3 * 16 + 2 * 16) = 25600 = 2.5 * 10240; all of it in and out: 2 * 10240
  const std::string words =
      "f32[2,8,4,16] f32[2,8,4,16] f32[2,2,4,16] f32[2,2,4,16] f32[2,8,4,16] "
      "f32[2,8,4]";
  EXPECT_EQ(
      Costs("aten::_scaled_dot_product_flash_attention_backward", words + " - - 4 4 0. True - - -"),
      "25600 20480 fp32");
  EXPECT_EQ(Costs("aten::_scaled_dot_product_cudnn_attention_backward",
                  words + " - - - - - 4 4 0. True -"),
            "25600 20480 fp32");
  EXPECT_EQ(Costs("aten::_cudnn_attention_backward", words + " - - - - - 4 4 0. True -"),
            "25600 20480 fp32");
  EXPECT_EQ(Costs("aten::_scaled_dot_product_efficient_attention_backward",
                  "f32[2,8,4,16] f32[2,8,4,16] f32[2,2,4,16] f32[2,2,4,16] - f32[2,8,4,16] "
                  "f32[2,8,4] - - 0. [True,_True,_True,_False] True -"),
            "25600 20480 fp32");
  const std::string turned =
      "f32[2,4,8,16] f32[2,4,8,16] f32[2,4,2,16] f32[2,4,2,16] "
      "f32[2,4,8,16] f32[2,8,4]";
  EXPECT_EQ(Costs("aten::_flash_attention_backward", turned + " - - 4 4 0. True - - 0.25 - -"),
            "25600 20480 fp32");
  EXPECT_EQ(Costs("aten::_efficient_attention_backward",
                  "f32[2,4,8,16] f32[2,4,8,16] f32[2,4,2,16] f32[2,4,2,16] - f32[2,4,8,16] - - 4 4 "
                  "f32[2,8,4] 0. - - 1 False"),
            "25600 20480 fp32");
  EXPECT_EQ(
      Costs("flash_attn::_flash_attn_backward", turned + " - - - 0. 0.25 True -1 -1 0. - False"),
      "25600 20480 fp32");
}

TEST(OpCost, flash_attention_of_its_own_library) {
  const std::string qkv = "bf16[2,4,8,16] bf16[2,4,2,16] bf16[2,4,2,16]";
  EXPECT_EQ(Costs("flash_attn::_flash_attn_forward", qkv + " 0. 0.25 True -1 -1 0. - False"),
            "10240 5120 bf16");
  EXPECT_EQ(Costs("FlashAttnFunc", qkv + " 0. 0.25 True -"), "10240 5120 bf16");
  // one query, 4 keys: the mask ends at the last of both, all 4 are seen: 2 * 16 * 4 * 32 = 4096
  EXPECT_EQ(Costs("flash_attn::_flash_attn_forward",
                  "bf16[2,1,8,16] bf16[2,4,2,16] bf16[2,4,2,16] 0. 0.25 True -1 -1 0. - False"),
            "4096 2048 bf16");
  // a window of 1 key before: 7 of 16 pairs: 2 * 16 * 7 * 32 = 7168
  EXPECT_EQ(Costs("flash_attn::_flash_attn_forward", qkv + " 0. 0.25 True 1 0 0. - False"),
            "7168 5120 bf16");
  const std::string nones = " - - - -";
  EXPECT_EQ(Costs("flash_attn_3::fwd", qkv + nones + nones +
                                           " - 4 4 - - - - - - - - - 0.25 True "
                                           "-1 -1 0"),
            "10240 5120 bf16");
  EXPECT_EQ(Costs("flash_attn_3::bwd", "bf16[2,4,8,16] " + qkv +
                                           " bf16[2,4,8,16] f32[2,8,4] - - - - - - - 4 4 0.25 "
                                           "True -1 -1 0."),
            "25600 10240 bf16");
}

TEST(OpCost, packed_sequences_count_where_their_lengths_are_certain) {
  // two of 4 tokens each, as the longest: as a batch of two
  const std::string rest = " i32[3] i32[3] 4 4 0. 0.25 True -1 -1 0. - False";
  EXPECT_EQ(Costs("flash_attn::_flash_attn_varlen_forward",
                  "bf16[8,8,16] bf16[8,2,16] bf16[8,2,16]" + rest),
            "10240 5120 bf16");
  // 7 tokens in two sequences: of which lengths is not in the trace; what is moved is
  EXPECT_EQ(Costs("flash_attn::_flash_attn_varlen_forward",
                  "bf16[7,8,16] bf16[7,2,16] bf16[7,2,16]" + rest),
            "- 4480 bf16");
  // one sequence is as long as all: 2 * 8 * 28 * 32 = 14336
  EXPECT_EQ(Costs("FlashAttnVarlenFunc",
                  "bf16[7,8,16] bf16[7,2,16] bf16[7,2,16] i32[2] i32[2] 7 7 0. 0.25 True"),
            "14336 4480 bf16");
  EXPECT_EQ(Costs("flash_attn::_flash_attn_varlen_backward",
                  "bf16[8,8,16] bf16[8,8,16] bf16[8,2,16] bf16[8,2,16] bf16[8,8,16] f32[8,8] - - - "
                  "i32[3] i32[3] 4 4 0. 0.25 True -1 -1 0."),
            "25600 10240 bf16");
  EXPECT_EQ(Costs("aten::_flash_attention_forward",
                  "bf16[8,8,16] bf16[8,2,16] bf16[8,2,16] i32[3] i32[3] 4 4 0. True False - - - -"),
            "10240 5120 bf16");
  // keys in pages: how many is not in the args
  EXPECT_EQ(Costs("_vllm_fa2_C::varlen_fwd",
                  "bf16[2,8,16] bf16[99,16,2,16] bf16[99,16,2,16] - i32[3] i32[3] i32[2] - "
                  "i32[2,9] - 1 40 0. 0.25 False True -1 -1"),
            "none");
}

TEST(OpCost, fused_attention_of_transformer_engine) {
  // [length 4, batch 2, heads 8, 16]; the mask is a text, which Kineto leaves out
  const std::string words = "True 4 4 i32[3] i32[3] bf16[4,2,8,16] bf16[4,2,8,16] bf16[4,2,8,16]";
  EXPECT_EQ(Costs("FusedAttnFunc", words + " - 0.25 0. True - - -"), "- 8192 bf16");
  EXPECT_EQ(Costs("FusedAttnFunc", words + " - 0.25 0. True sbhd_sbhd_sbhd no"
                                           "_bias causal"),
            "10240 8192 bf16");
  EXPECT_EQ(Costs("FusedAttnFunc", "True 5 5 bf16[4,2,8,16] bf16[4,2,8,16] bf16[4,2,8,16]"),
            "none");
}

TEST(OpCost, engines_attention_by_their_annotations) {
  // TraceLens' golden figures of the same calls: 0.902529024 GFLOP and 108.08984375 MiB,
  // 0.53714944 GFLOP and 128.56640625 MiB.
  const char* decode =
      "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)";
  const std::string unified = "bf16[32,64,64] bf16[32,8,64] bf16[32,8,64] bf16[32,64,64] - - -";
  EXPECT_EQ(Costs("vllm::unified_attention_with_output", unified, "", decode),
            "902529024 113340416 bf16");
  EXPECT_EQ(
      Costs("sglang_profiler::attention_paged_attention_ragged_100",
            "bf16[32,32,128] u8[10905190400] bf16[32,32,128] bf16[835874,1,8,128] "
            "bf16[835874,1,8,128] i32[33] i32[20971520] i32[4096]",
            "", "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)"),
      "537149440 134811648 bf16");
  // one of 4 tokens read in whole, 10 pairs, and one that goes on after 6: 2 * 8 * 17 * 32 = 8704;
  // 2 * (5 * 8 * 32 + (4 + 7) * 2 * 32) = 3968
  EXPECT_EQ(Costs("vllm::unified_attention_with_output",
                  "bf16[5,8,16] bf16[5,2,16] bf16[5,2,16] bf16[5,8,16]", "",
                  "execute_5_context_1(sq4sk4sqsq16sqsk16)_generation_1(sq1sk7sqsq1sqsk7)"),
            "8704 3968 bf16");
  EXPECT_EQ(Costs("vllm::unified_attention_with_output", unified), "none");
  EXPECT_EQ(Costs("vllm::unified_attention_with_output", unified, "",
                  "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq33sk1sqsq33sqsk1)"),
            "none");
  // vLLM's own cache: one sequence of 100 tokens, 2 * 8 * 100 * 32; 2 * (8 * 32 + 100 * 2 * 32)
  EXPECT_EQ(
      Costs("_C::paged_attention_v1",
            "bf16[1,8,16] bf16[1,8,16] bf16[9,2,2,16,8] bf16[9,2,16,16] 2 0.25 i32[1,7] i32[1] "
            "16 100"),
      "51200 13312 bf16");
  EXPECT_EQ(
      Costs("_C::paged_attention_v1",
            "bf16[2,8,16] bf16[2,8,16] bf16[9,2,2,16,8] bf16[9,2,16,16] 2 0.25 i32[2,7] i32[2] "
            "16 100"),
      "none");
}

TEST(OpCost, latent_attention_works_on_the_rows_of_the_cache) {
  // 2 tokens after 10 and 20 keys, 4 heads, rows of 512 + 64: 2 * 4 * 30 * (576 + 512) = 261120;
  // 2 * (2 * 4 * (576 + 512) + 30 * 576) = 51968
  const char* decode = "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk30sqsq2sqsk30)";
  EXPECT_EQ(Costs("vllm::unified_mla_attention_with_output",
                  "bf16[2,4,192] bf16[2,512] bf16[2,1,64] bf16[2,512]", "", decode),
            "261120 51968 bf16");
  EXPECT_EQ(Costs("sgl_kernel::cutlass_mla_decode",
                  "bf16[2,4,512] bf16[2,4,512] bf16[2,4,64] bf16[9,16,576] i32[2] i32[2,4] u8[99]",
                  "", decode),
            "261120 51968 bf16");
  EXPECT_EQ(Costs("_flashmla_C::fwd_kvcache_mla",
                  "bf16[2,1,4,576] bf16[9,64,1,576] 512 i32[2] i32[2,4] 0.1 True", "", decode),
            "261120 51968 bf16");
  // read in: 3 tokens, 6 pairs, on keys of 192 and values of 128: 2 * 4 * 6 * 320 = 15360;
  // 2 * (3 + 3) * 4 * 320 = 15360
  EXPECT_EQ(Costs("vllm::unified_mla_attention_with_output",
                  "bf16[3,4,192] bf16[3,512] bf16[3,1,64] bf16[3,512]", "",
                  "execute_3_context_1(sq3sk3sqsq9sqsk9)_generation_0(sq0sk0sqsq0sqsk0)"),
            "15360 15360 bf16");
}

TEST(OpCost, impossible_attention_is_no_figure) {
  for (const char* words :
       {"f32[2,8,4,16] f32[2,3,4,16] f32[2,3,4,16] 0. True False -",
        "f32[2,8,4,16] f32[3,2,4,16] f32[3,2,4,16] 0. True False -",
        "f32[2,8,4,16] f32[2,2,4,15] f32[2,2,4,15] 0. True False -",
        "f32[2,8,4,16] f32[2,2,4,16] f32[2,2,5,16] 0. True False -",
        "f32[2,8,4,16] f32[2,2,4,16] f32[2,2,4,16] 0. - False -", "f32[2,8,4,16] f32[2,2,4,16]",
        "f32[8,4,16] f32[2,4,16] f32[2,4,16] 0. True False -",
        "f32[99999999,99999999,99999999,16] f32[99999999,99999999,99999999,16] "
        "f32[99999999,99999999,99999999,16] 0. False False -"}) {
    EXPECT_EQ(Costs("aten::_scaled_dot_product_flash_attention", words), "none") << words;
  }
}

}  // namespace
}  // namespace tracedb
