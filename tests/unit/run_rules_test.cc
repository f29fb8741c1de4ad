// Which traces are one run and one capture: the rules of run_rules.h on folders and times, and that
// the order in which traces come makes no difference.
#include "ranks/runs/run_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "random_json.h"

namespace tracedb {
namespace {

class Job {
 public:
  // A trace of `rank` in `folder`, found because `given` was given to ingest.
  Job& Add(int64_t rank, const std::string& folder, const std::string& given, int64_t start_ns = 0,
           int64_t end_ns = 10) {
    RecordedTrace trace;
    trace.trace_id = static_cast<int64_t>(traces.size()) + 1;
    trace.rank = rank;
    trace.folder = folder;
    if (!given.empty()) trace.input_folder = given;
    trace.start_ns = start_ns;
    trace.end_ns = end_ns;
    traces.push_back(trace);
    return *this;
  }
  Job& Named(const std::string& run) {
    traces.back().named_run = run;
    return *this;
  }

  // "name: rank rank | rank" for each run, its captures parted by |, in the order of names.
  std::vector<std::string> Sorted() const {
    const RunsAndCaptures sorted = SortIntoRuns(traces);
    std::vector<std::string> lines;
    for (const Run& run : sorted.runs) {
      std::string line = run.name + ":";
      std::map<int64_t, std::multiset<int64_t>> captures;
      for (const TracePlace& place : sorted.places) {
        if (place.run_id != run.run_id) continue;
        const auto capture =
            std::find_if(sorted.captures.begin(), sorted.captures.end(),
                         [&](const Capture& c) { return c.capture_id == place.capture_id; });
        captures[capture->number].insert(traces[static_cast<size_t>(place.trace_id - 1)].rank);
      }
      for (const auto& [number, ranks] : captures) {
        if (number > 1) line += " |";
        for (const int64_t rank : ranks) line += " " + std::to_string(rank);
      }
      lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  std::vector<RecordedTrace> traces;
};

using Lines = std::vector<std::string>;

TEST(RunRules, a_folder_is_one_run_whatever_lies_below_it) {
  EXPECT_EQ(Job().Add(0, "/x/job", "/x/job").Add(1, "/x/job", "/x/job").Sorted(),
            Lines({"job: 0 1"}));
  EXPECT_EQ(Job().Add(0, "/x/job/node0", "/x/job").Add(1, "/x/job/node1", "/x/job").Sorted(),
            Lines({"job: 0 1"}));
  EXPECT_EQ(Job().Add(0, "/x/job/a/b", "/x/job").Sorted(), Lines({"job: 0"}));
}

TEST(RunRules, folders_that_hold_the_same_ranks_are_runs) {
  EXPECT_EQ(Job()
                .Add(0, "/x/first/n0", "/x")
                .Add(1, "/x/first/n1", "/x")
                .Add(0, "/x/second/n0", "/x", 100, 110)
                .Add(1, "/x/second/n1", "/x", 100, 110)
                .Sorted(),
            Lines({"first: 0 1", "second: 0 1"}));
  EXPECT_EQ(Job().Add(0, "/x", "/x").Add(0, "/x/again", "/x", 100, 110).Sorted(),
            Lines({"again: 0", "x: 0"}));
  // The same ranks in folders of one node are what the profiler wrote twice.
  EXPECT_EQ(Job()
                .Add(0, "/x/n0/a", "/x")
                .Add(0, "/x/n0/b", "/x", 100, 110)
                .Add(1, "/x/n1/a", "/x")
                .Add(1, "/x/n1/b", "/x", 100, 110)
                .Sorted(),
            Lines({"x: 0 1 | 0 1"}));
}

TEST(RunRules, a_folder_given_later_takes_in_what_lies_below_it) {
  EXPECT_EQ(Job().Add(0, "/x/a", "/x/a").Add(0, "/x/b", "/x", 100, 110).Sorted(),
            Lines({"a: 0", "b: 0"}));
  EXPECT_EQ(Job().Add(0, "/x/a", "").Add(1, "/x/b", "/x").Sorted(), Lines({"x: 0 1"}));
  EXPECT_EQ(Job().Add(0, "/x/a", "").Add(1, "/x/b", "").Sorted(), Lines({"a: 0", "b: 1"}));
  EXPECT_EQ(Job().Add(0, "/x/ab", "").Add(1, "/x/a", "/x/a").Sorted(), Lines({"a: 1", "ab: 0"}));
}

TEST(RunRules, names_are_as_long_as_it_takes) {
  EXPECT_EQ(Job().Add(0, "/x/a/prof", "").Add(0, "/x/b/prof", "").Add(0, "/c", "").Sorted(),
            Lines({"a/prof: 0", "b/prof: 0", "c: 0"}));
  EXPECT_EQ(Job().Add(0, "/", "").Sorted(), Lines({"/: 0"}));
  EXPECT_EQ(Job().Add(0, "/prof", "").Add(0, "/x/prof", "").Sorted(),
            Lines({"/prof: 0", "x/prof: 0"}));
}

TEST(RunRules, a_name_that_is_given_decides) {
  EXPECT_EQ(Job().Add(0, "/x", "/x").Named("r").Add(1, "/y", "/y").Named("r").Sorted(),
            Lines({"r: 0 1"}));
  EXPECT_EQ(Job().Add(0, "/x", "/x").Add(1, "/y", "/y").Named("x").Sorted(), Lines({"x: 0 1"}));
  EXPECT_EQ(Job().Add(0, "/x", "/x").Add(0, "/x", "/x", 100, 110).Named("again").Sorted(),
            Lines({"again: 0", "x: 0"}));
}

TEST(RunRules, traces_that_overlap_are_a_capture) {
  EXPECT_EQ(Job()
                .Add(0, "/x", "/x", 0, 10)
                .Add(1, "/x", "/x", 10, 20)
                .Add(0, "/x", "/x", 21, 30)
                .Add(1, "/x", "/x", 31, 40)
                .Sorted(),
            Lines({"x: 0 1 | 0 | 1"}));
  // Rank 1 is late with its first; its second is rank 0's second all the same.
  EXPECT_EQ(Job()
                .Add(0, "/x", "/x", 0, 10)
                .Add(1, "/x", "/x", 0, 25)
                .Add(0, "/x", "/x", 20, 40)
                .Add(1, "/x", "/x", 26, 40)
                .Sorted(),
            Lines({"x: 0 1 | 0 1"}));
  EXPECT_EQ(Job().Add(0, "/x", "/x", 0, 10).Add(0, "/x", "/x", 0, 10).Sorted(),
            Lines({"x: 0 | 0"}));
}

TEST(RunRules, senseless_times_are_sorted_somewhere) {
  Job job;
  job.Add(0, "/x", "/x", INT64_MIN, INT64_MAX).Add(1, "/x", "/x", INT64_MAX, INT64_MIN);
  job.Add(2, "/x", "/x");
  job.traces.back().start_ns.reset();
  job.traces.back().end_ns.reset();
  EXPECT_EQ(SortIntoRuns(job.traces).places.size(), 3u);
  EXPECT_TRUE(SortIntoRuns({}).runs.empty());
}

TEST(RunRules, the_order_in_which_traces_come_makes_no_difference) {
  test::Random random(23);
  for (int round = 0; round < 200; ++round) {
    Job job;
    const int64_t count = 1 + static_cast<int64_t>(random.Below(12));
    for (int64_t i = 0; i < count; ++i) {
      std::string folder = "/x";
      for (uint64_t depth = random.Below(3); depth > 0; --depth) {
        folder += "/" + std::string(1, static_cast<char>('a' + random.Below(2)));
      }
      const std::string given = random.Below(3) == 0 ? "" : "/x";
      // Starts are apart: of equal ones the first that came is taken first.
      const int64_t start = static_cast<int64_t>(random.Below(5)) * 1000 + i;
      job.Add(static_cast<int64_t>(random.Below(3)), folder, given, start, start + 900);
    }
    const Lines before = job.Sorted();
    Job other = job;
    for (size_t i = other.traces.size() - 1; i > 0; --i) {
      std::swap(other.traces[i], other.traces[random.Below(i + 1)]);
    }
    for (size_t i = 0; i < other.traces.size(); ++i) {
      other.traces[i].trace_id = static_cast<int64_t>(i) + 1;
    }
    ASSERT_EQ(other.Sorted(), before) << "round " << round;
  }
}

}  // namespace
}  // namespace tracedb
