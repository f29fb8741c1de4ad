// Which threads the recorder held up, against the rule of MODEL.md read literally; and that so many
// threads and overheads take no memory for each pair of them.
#include "replay/graph/recorder_holds.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

constexpr int64_t kOverheadTrack = 1'000'000;
constexpr size_t kAny = 1'000'000;

struct Slice {
  int64_t id, track, start_ns, dur_ns;
};

struct Case {
  std::vector<HostThread> threads;  // by number, which is their track
  std::vector<Slice> slices;        // the overheads too; the id is the place
  size_t part_rows = 0;             // how many rows a row of _row_times is of; 0: it has none
};

// As ingest writes them.
std::string RowTimesSql(const Case& given) {
  std::string sql = "CREATE TABLE _row_times (id INTEGER PRIMARY KEY, last_id, start_ts, end_ts);";
  if (given.part_rows == 0) return sql;
  for (size_t from = 0; from < given.slices.size(); from += given.part_rows) {
    const size_t until = std::min(from + given.part_rows, given.slices.size());
    int64_t start_ns = given.slices[from].start_ns;
    int64_t end_ns = start_ns;
    for (size_t i = from; i < until; ++i) {
      start_ns = std::min(start_ns, given.slices[i].start_ns);
      end_ns = std::max(end_ns, given.slices[i].start_ns + given.slices[i].dur_ns);
    }
    sql += "INSERT INTO _row_times VALUES (" + std::to_string(from) + "," +
           std::to_string(until - 1) + "," + std::to_string(start_ns) + "," +
           std::to_string(end_ns) + ");";
  }
  return sql;
}

SqliteDb Stored(const Case& given) {
  auto db = SqliteDb::OpenInMemory();
  std::string sql =
      "CREATE TABLE _event_name (id, name, category); CREATE TABLE _track (id, base_ns);"
      "INSERT INTO _event_name VALUES (1, 'aten::add', 'cpu_op'), (2, 'Buffer Flush', 'overhead');"
      "INSERT INTO _track VALUES (" +
      std::to_string(kOverheadTrack) + ", 0);";
  for (const EventTable table : kLongSliceTables) {
    const std::string name(EventTableName(table));
    sql += "CREATE TABLE " + name + " (id INTEGER PRIMARY KEY, event_name, track, ts, dur);";
  }
  sql += RowTimesSql(given);
  sql += "CREATE INDEX _cpu_slice_long ON _cpu_slice (track, ts) WHERE dur >= " +
         std::to_string(kLongSliceNs) + "; BEGIN;";
  EXPECT_TRUE(db.value().Execute(sql).ok());
  auto insert = db.value().Prepare("INSERT INTO _cpu_slice VALUES (?, ?, ?, ?, ?)");
  for (const Slice& slice : given.slices) {
    const int64_t values[] = {slice.id, slice.track == kOverheadTrack ? 2 : 1, slice.track,
                              slice.start_ns, slice.dur_ns};
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(insert.value().Bind(i + 1, values[i]).ok());
    EXPECT_TRUE(insert.value().Run().ok());
  }
  return std::move(db.value());
}

using Hold = std::tuple<int64_t, int64_t, size_t, int64_t>;  // end, slice, thread, start

std::vector<Hold> FoundIn(SqliteDb& db, const Case& given, size_t holds_max = kAny) {
  CaptureTrace trace;
  trace.last_row = static_cast<int64_t>(given.slices.size()) - 1;
  trace.last_text = std::numeric_limits<int64_t>::max();
  const auto found = RecorderHolds(db, trace, given.threads, {}, holds_max);
  EXPECT_TRUE(found.ok());
  std::vector<Hold> holds;
  for (const RecorderHold& hold : found.value()) {
    holds.emplace_back(hold.range.end_ns, hold.slice_id, hold.thread, hold.range.start_ns);
  }
  return holds;
}

std::vector<Hold> Found(const Case& given, size_t holds_max = kAny) {
  SqliteDb db = Stored(given);
  return FoundIn(db, given, holds_max);
}

std::vector<Hold> ByTheRule(const Case& given) {
  std::vector<Hold> holds;
  for (const Slice& overhead : given.slices) {
    if (overhead.track != kOverheadTrack || overhead.dur_ns < kLongSliceNs) continue;
    const int64_t end_ns = overhead.start_ns + overhead.dur_ns;
    std::map<size_t, int64_t> last, next;  // by thread
    for (const Slice& slice : given.slices) {
      if (slice.track == kOverheadTrack) continue;
      const auto thread = static_cast<size_t>(slice.track);
      for (const int64_t at_ns : {slice.start_ns, slice.start_ns + slice.dur_ns}) {
        auto& side = at_ns <= end_ns ? last : next;
        const auto [known, is_new] = side.emplace(thread, at_ns);
        if (is_new) continue;
        known->second =
            at_ns <= end_ns ? std::max(known->second, at_ns) : std::min(known->second, at_ns);
      }
    }
    for (const auto& boundary : last) {
      const size_t thread = boundary.first;
      const int64_t last_ns = boundary.second;
      const bool is_latest = std::all_of(last.begin(), last.end(), [&](const auto& other) {
        return other.first == thread || other.second < last_ns ||
               given.threads[other.first].process != given.threads[thread].process;
      });
      const int64_t start_ns = std::max(overhead.start_ns, last_ns);
      const bool goes_on = next.contains(thread) && next[thread] - end_ns <= 1'000'000;
      if (is_latest && goes_on && end_ns - start_ns >= kLongSliceNs) {
        holds.emplace_back(end_ns, overhead.id, thread, start_ns);
      }
    }
  }
  return holds;
}

void Number(Case& given) {
  for (size_t i = 0; i < given.slices.size(); ++i) given.slices[i].id = static_cast<int64_t>(i);
}

// Times that are often equal.
Case Random(uint32_t seed, size_t threads, size_t processes, size_t overheads) {
  std::mt19937 draw(seed);
  const auto below = [&](size_t bound) { return static_cast<int64_t>(draw() % bound); };
  Case made;
  for (size_t i = 0; i < threads; ++i) {
    made.threads.push_back({static_cast<int64_t>(i), 0, static_cast<uint32_t>(i % processes)});
    made.slices.push_back({0, static_cast<int64_t>(i), 0, 0});
  }
  for (size_t i = 0; i < 3 * threads; ++i) {
    made.slices.push_back({0, below(threads), 100'000 * below(200), 50'000 * below(9)});
  }
  for (size_t i = 0; i < overheads; ++i) {
    made.slices.push_back({0, kOverheadTrack, 100'000 * below(200), 100'000 * (1 + below(9))});
  }
  std::shuffle(made.slices.begin(), made.slices.end(), draw);
  Number(made);
  return made;
}

// As traces are: nearly in the order of time, so that most parts are far from any overhead's end.
Case InOrder(uint32_t seed, size_t threads, size_t processes, size_t overheads) {
  Case made = Random(seed, threads, processes, overheads);
  std::mt19937 draw(seed);
  for (Slice& slice : made.slices) slice.start_ns *= 1 + seed % 8;
  for (size_t i = 0; i < 20 * threads; ++i) {
    const auto at = static_cast<int64_t>(draw() % 1600);
    made.slices.push_back(
        {0, static_cast<int64_t>(draw() % threads), 100'000 * at, 10'000 * (at % 7)});
  }
  std::sort(made.slices.begin(), made.slices.end(), [](const Slice& left, const Slice& right) {
    return std::tie(left.start_ns, left.track) < std::tie(right.start_ns, right.track);
  });
  for (size_t i = 7; i + 7 < made.slices.size(); i += 7) {
    std::swap(made.slices[i], made.slices[i + draw() % 7]);
  }
  Number(made);
  made.part_rows = 1 + seed % 9;
  return made;
}

TEST(RecorderHolds, as_the_rule_says) {
  size_t holds = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Case made = Random(seed, 1 + seed % 7, 1 + seed % 3, 30);
    std::vector<Hold> expected = ByTheRule(made);
    std::vector<Hold> found = Found(made);
    const auto in_order = [](const Hold& left, const Hold& right) {
      return std::tie(std::get<0>(left), std::get<1>(left)) <
             std::tie(std::get<0>(right), std::get<1>(right));
    };
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end(), in_order));
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected) << seed;
    holds += expected.size();
  }
  EXPECT_GT(holds, 100u);
}

TEST(RecorderHolds, parts_of_the_trace_that_may_have_one_are_enough) {
  size_t holds = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Case made = InOrder(seed, 1 + seed % 5, 1 + seed % 3, 1 + seed % 40);
    std::vector<Hold> expected = ByTheRule(made);
    std::vector<Hold> found = Found(made);
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected) << seed;
    holds += expected.size();
  }
  EXPECT_GT(holds, 100u);
}

TEST(RecorderHolds, parts_are_believed_where_they_are_all_of_the_trace) {
  Case made = Random(3, 30, 10, 60);
  made.part_rows = 10;
  SqliteDb db = Stored(made);
  const std::vector<Hold> all = FoundIn(db, made);
  EXPECT_FALSE(all.empty());
  ASSERT_TRUE(db.Execute("UPDATE _row_times SET start_ts = 9000000000, end_ts = 9000000000").ok());
  EXPECT_TRUE(FoundIn(db, made).empty());
  for (const char* damage : {"UPDATE _row_times SET last_id = 12 WHERE id = 10",
                             "UPDATE _row_times SET last_id = 19, end_ts = 'x' WHERE id = 10",
                             "DELETE FROM _row_times WHERE id = 10", "DROP TABLE _row_times"}) {
    ASSERT_TRUE(db.Execute(damage).ok());
    EXPECT_EQ(FoundIn(db, made), all) << damage;
  }
}

TEST(RecorderHolds, one_more_than_asked_for_tells_that_there_are_more) {
  const Case made = Random(3, 30, 10, 60);
  const size_t all = Found(made).size();
  ASSERT_GT(all, 3u);
  EXPECT_EQ(Found(made, 2).size(), 3u);
  EXPECT_EQ(Found(made, all).size(), all);
}

TEST(RecorderHolds, many_threads_and_overheads) {
  const Case made = Random(5, 8000, 1, 8000);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  Found(made);
  getrusage(RUSAGE_SELF, &after);
  // For each pair of them two times would take 1,000 MB.
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 200'000);  // kB
}

}  // namespace
}  // namespace tracedb
