// KindRules: which rule decides.

#include "tracedb/schema/kind_rules.h"

#include <gtest/gtest.h>

namespace tracedb {
namespace {

TEST(KindRules, a_name_without_a_rule_is_computation) {
  EXPECT_EQ(KindRules({}).KindOf("ncclDevKernel"), GpuKind::kCompute);
  EXPECT_EQ(KindRules({{"nccl", GpuKind::kCommunication}}).KindOf("gemm"), GpuKind::kCompute);
}

TEST(KindRules, case_does_not_matter_in_rule_or_name) {
  const KindRules rules({{"NCCL", GpuKind::kCommunication}});
  EXPECT_EQ(rules.KindOf("ncclDevKernel_AllReduce"), GpuKind::kCommunication);
  EXPECT_EQ(rules.KindOf("void NcclKernel()"), GpuKind::kCommunication);
}

TEST(KindRules, the_longest_pattern_decides_whatever_the_order) {
  const KindRule kRule{"nccl", GpuKind::kCommunication};
  const KindRule kException{"nccl_copy_kernel", GpuKind::kMemory};
  EXPECT_EQ(KindRules({kRule, kException}).KindOf("my_nccl_copy_kernel_2"), GpuKind::kMemory);
  EXPECT_EQ(KindRules({kException, kRule}).KindOf("my_nccl_copy_kernel_2"), GpuKind::kMemory);
  EXPECT_EQ(KindRules({kException, kRule}).KindOf("nccl_copy"), GpuKind::kCommunication);
}

}  // namespace
}  // namespace tracedb
