// The replay ends soon after somebody asked for it, also where no SQL runs.
#include <gtest/gtest.h>

#include "replay/graph/replay_graph.h"
#include "replay/graph/stop_watch.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {
namespace {

constexpr uint32_t kMany = 2'000'000;

// Calls on one thread, a nanosecond apart.
JobRows ManyCalls() {
  JobRows rows;
  rows.traces = {{1, 0}};
  rows.threads = {{1, 0, 0}};
  rows.process_count = 1;
  for (uint32_t i = 0; i < kMany; ++i) {
    Call call{};
    call.start_ns = call.end_ns = i;
    call.slice_id = i;
    call.kind = CallKind::kLaunch;
    rows.calls.push_back(call);
  }
  return rows;
}

TEST(ReplayStop, not_asked) {
  auto db = SqliteDb::OpenInMemory();
  int looked = 0;
  db.value().StopIf([&] { return ++looked < 0; });
  StopWatch watch(db.value());
  const ReplayGraph graph = ReplayGraph::Build(ManyCalls(), &watch);
  EXPECT_EQ(graph.Replay(graph.weights(), &watch).back(), kMany - 1);
  EXPECT_TRUE(watch.status().ok());
  EXPECT_GE(looked, 8);
}

TEST(ReplayStop, while_the_graph_is_built_and_replayed) {
  auto db = SqliteDb::OpenInMemory();
  int looked = 0;
  db.value().StopIf([&] { return ++looked > 2; });
  StopWatch building(db.value());
  const ReplayGraph part = ReplayGraph::Build(ManyCalls(), &building);
  ASSERT_FALSE(building.status().ok());
  EXPECT_TRUE(building.status().error().what.ends_with("interrupted"));
  EXPECT_LT(part.edge_count(), kMany / 2);
  EXPECT_EQ(looked, 3);

  const ReplayGraph graph = ReplayGraph::Build(ManyCalls());
  looked = 0;
  StopWatch replaying(db.value());
  const std::vector<int64_t> times = graph.Replay(graph.weights(), &replaying);
  EXPECT_FALSE(replaying.status().ok());
  EXPECT_EQ(times[kMany / 2], 0);
  EXPECT_EQ(looked, 3);
}

}  // namespace
}  // namespace tracedb
