// Tables for people leave out run and capture where they say nothing; what is left out is said.
#include "tracedb/text/same_runs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tracedb/text/output_stream.h"

namespace tracedb {
namespace {

struct Place {
  std::string run;
  std::optional<int64_t> capture;
};

std::string Table(const std::vector<Place>& places) {
  StringOutput output;
  const auto table = MakeSink(Format::kTable, {}, output);
  SameRuns sink(*table);
  const std::vector<std::string> names = {"run", "capture", "n"};
  EXPECT_TRUE(sink.Begin(names).ok());
  int64_t n = 0;
  for (const Place& place : places) {
    // The text dies with the row, as one of SQLite does.
    const std::string run = place.run;
    std::vector<Cell> cells(3);
    cells[0] = {SqlType::kText, 0, 0, run};
    if (place.capture.has_value()) cells[1] = {SqlType::kInteger, *place.capture, 0, {}};
    cells[2] = {SqlType::kInteger, ++n, 0, {}};
    EXPECT_TRUE(sink.Row(cells).ok());
  }
  EXPECT_TRUE(sink.End().ok());
  EXPECT_TRUE(output.Flush().ok());
  return output.text();
}

TEST(SameRuns, one_value_is_said_once) {
  EXPECT_EQ(Table({{"job", 1}, {"job", 1}}), "run job, capture 1\nn\n-\n1\n2\n");
  EXPECT_EQ(Table({{"job", 1}, {"job", 2}}),
            "run job\ncapture  n\n-------  -\n      1  1\n      2  2\n");
  EXPECT_EQ(Table({{"a", 1}, {"b", 1}}), "capture 1\nrun  n\n---  -\na    1\nb    2\n");
}

TEST(SameRuns, nothing_is_left_out_that_says_something) {
  EXPECT_EQ(Table({}), "run  capture  n\n---  -------  -\n");
  EXPECT_EQ(Table({{"job", {}}}), "run job\ncapture  n\n-------  -\n         1\n");
  EXPECT_EQ(Table({{"a", 1}, {"b", 2}}),
            "run  capture  n\n---  -------  -\na          1  1\nb          2  2\n");
}

TEST(SameRuns, a_long_result_goes_on_as_it_is) {
  const std::vector<Place> places(SameRuns::kHeldRowsMax + 1, {"job", 1});
  const std::string text = Table(places);
  EXPECT_TRUE(text.starts_with("run  capture"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<long>(places.size()) + 2);
}

}  // namespace
}  // namespace tracedb
