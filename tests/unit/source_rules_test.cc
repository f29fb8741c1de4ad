#include "ranks/runs/source_rules.h"

#include <gtest/gtest.h>

namespace tracedb {
namespace {

using Runs = std::vector<Run>;

Run RunAt(int64_t run_id, const std::string& path) {
  return {run_id, path.substr(path.rfind('/') + 1), path, {}};
}

std::optional<int64_t> PlaceOf(const RecordedSource& source, Runs runs) {
  return SortSources({source}, runs).front().run_id;
}

TEST(SourceRules, a_file_in_the_folder_of_a_run_or_below_it_is_of_that_run) {
  const Runs runs{RunAt(1, "/jobs/a"), RunAt(2, "/jobs/b"), RunAt(3, "/jobs")};
  EXPECT_EQ(PlaceOf({9, "/jobs/a", {}, {}}, runs), 1);
  EXPECT_EQ(PlaceOf({9, "/jobs/b/logs/1", {}, {}}, runs), 2);
  EXPECT_EQ(PlaceOf({9, "/jobs/c", {}, {}}, runs), 3);
}

TEST(SourceRules, a_name_that_begins_alike_is_another_folder) {
  EXPECT_EQ(PlaceOf({9, "/jobs/ab", {}, {}}, {RunAt(1, "/jobs/a")}), -9);
}

TEST(SourceRules, above_the_one_run_of_its_search_it_is_of_that_run) {
  EXPECT_EQ(PlaceOf({9, "/jobs", "/jobs", {}}, {RunAt(1, "/jobs/a")}), 1);
  EXPECT_EQ(PlaceOf({9, "/jobs/logs", "/jobs", {}}, {RunAt(1, "/jobs/a")}), 1);
}

TEST(SourceRules, above_several_runs_it_is_of_none) {
  EXPECT_EQ(PlaceOf({9, "/jobs", "/jobs", {}}, {RunAt(1, "/jobs/a"), RunAt(2, "/jobs/b")}),
            std::nullopt);
}

TEST(SourceRules, a_file_named_itself_is_not_of_runs_elsewhere) {
  EXPECT_EQ(PlaceOf({9, "/tmp", {}, {}}, {RunAt(1, "/tmp/job")}), -9);
}

TEST(SourceRules, where_no_trace_is_the_files_of_a_search_are_one_run) {
  Runs runs;
  const auto places = SortSources(
      {{4, "/jobs/a/logs", "/jobs/a", {}}, {5, "/jobs/a", "/jobs/a", {}}, {6, "/else/a", {}, {}}},
      runs);
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[0].run_id, -4);
  EXPECT_EQ(places[1].run_id, -4);
  EXPECT_EQ(places[2].run_id, -6);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].name, "a");
  EXPECT_EQ(runs[0].path, "/jobs/a");
  EXPECT_EQ(runs[1].name, "/else/a");  // a is taken
}

TEST(SourceRules, what_a_person_says_counts_before_folders) {
  Runs runs{RunAt(1, "/jobs/a"), RunAt(2, "/jobs/b")};
  EXPECT_EQ(PlaceOf({9, "/jobs/a", {}, "b"}, runs), 2);
  EXPECT_EQ(PlaceOf({9, "/jobs/a", {}, "mine"}, runs), -9);
}

}  // namespace
}  // namespace tracedb
