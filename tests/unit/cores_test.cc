// What a cgroup's limit on CPU time comes to in cores, and that the scheduler's is kept.

#include "tracedb/base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace tracedb {
namespace {

TEST(Cores, of_a_quota) {
  EXPECT_EQ(CoresOfQuota("max 100000"), std::nullopt);
  EXPECT_EQ(CoresOfQuota("200000 100000"), 2u);
  EXPECT_EQ(CoresOfQuota("250000 100000"), 3u);
  EXPECT_EQ(CoresOfQuota("50000 100000"), 1u);
  EXPECT_EQ(CoresOfQuota("1000 1000000\n"), 1u);
}

TEST(Cores, what_is_no_quota) {
  for (const char* text : {"", "max", "200000", "200000 ", "200000 x", "0 100000", "-1 100000",
                           "100000 0", "99999999999999999999 100000", "x 100000"}) {
    EXPECT_EQ(CoresOfQuota(text), std::nullopt) << text;
  }
  EXPECT_EQ(CoresOfQuota("9223372036854775807 1"), 2147483647u);
}

TEST(Cores, no_more_than_the_scheduler_gives) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_GE(CoresToUse(), 1u);
  EXPECT_LE(CoresToUse(), static_cast<unsigned>(CPU_COUNT(&set)));
}

}  // namespace
}  // namespace tracedb
