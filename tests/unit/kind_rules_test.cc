// KindRules: which rule decides.

#include "tracedb/schema/kind_rules.h"

#include <gtest/gtest.h>

namespace tracedb {
namespace {

TEST(KindRules, a_name_without_a_rule_is_computation) {
  EXPECT_FALSE(KindRules({}).IsCommunication("ncclDevKernel"));
  EXPECT_FALSE(KindRules({{"nccl", true}}).IsCommunication("gemm"));
}

TEST(KindRules, case_does_not_matter_in_rule_or_name) {
  const KindRules rules({{"NCCL", true}});
  EXPECT_TRUE(rules.IsCommunication("ncclDevKernel_AllReduce"));
  EXPECT_TRUE(rules.IsCommunication("void NcclKernel()"));
}

TEST(KindRules, the_longest_pattern_decides_whatever_the_order) {
  const KindRule kRule{"nccl", true};
  const KindRule kException{"nccl_copy_kernel", false};
  EXPECT_FALSE(KindRules({kRule, kException}).IsCommunication("my_nccl_copy_kernel_2"));
  EXPECT_FALSE(KindRules({kException, kRule}).IsCommunication("my_nccl_copy_kernel_2"));
  EXPECT_TRUE(KindRules({kException, kRule}).IsCommunication("nccl_copy"));
}

}  // namespace
}  // namespace tracedb
