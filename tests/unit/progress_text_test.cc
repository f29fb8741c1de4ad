#include "tracedb/text/progress_text.h"

#include <gtest/gtest.h>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr const char* kPath = "/data/traces/hta/hta_control_of_a_long_job_rank13.json.gz";

WorkDone Reading(uint64_t done) {
  return {kPath, "file 2 of 5", done, 1000, 156'000'000, 1'193'153, {}, true};
}

TEST(ProgressText, bar_percent_time_and_rate_fit_79_columns) {
  EXPECT_EQ(ProgressText(Reading(250), 2, 79),
            "file 2 of 5: hta_contr…13.json.gz  [####.............]  25 %  6 s left  78 MB/s");
  EXPECT_EQ(ProgressText(Reading(1000), 2, 79),
            "file 2 of 5: hta_contr…13.json.gz  [###############]  100 %  finishing  78 MB/s");
}

TEST(ProgressText, a_wide_terminal_has_all_of_it) {
  EXPECT_EQ(ProgressText(Reading(250), 2, 119),
            "file 2 of 5: hta_control_of…_rank13.json.gz  [#####...............]  25 %  6 s left  "
            "156 MB  1,193,153 events  78 MB/s");
}

TEST(ProgressText, no_line_is_wider_than_it_may_be) {
  for (size_t width = 1; width < 130; ++width) {
    EXPECT_LE(DisplayWidth(ProgressText(Reading(250), 2, width)), width);
  }
}

TEST(ProgressText, other_work_is_named_in_full) {
  EXPECT_EQ(ProgressText({"check a/b", "check 3 of 4", 2, 4}, 0.5, 79),
            "check 3 of 4: check a/b  [##########..........]  50 %");
  EXPECT_EQ(ProgressText({"comparing clocks"}, 3, 79), "comparing clocks  3 s");
}

TEST(ShortFileName, is_the_last_part_of_a_path) {
  EXPECT_EQ(ShortFileName("a/b/c.json", 30), "c.json");
  EXPECT_EQ(ShortFileName("a/b/", 30), "b");
  EXPECT_EQ(ShortFileName("/", 30), "/");
  EXPECT_EQ(ShortFileName("-", 30), "-");
  EXPECT_EQ(ShortFileName("0123456789", 7), "012…789");
}

}  // namespace
}  // namespace tracedb
