// SliceWindows: what a look gives is what SQL gives, whatever was looked at before.

#include "ranks/stalls/slice_windows.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tracedb {
namespace {

constexpr int kTracks = 3;
constexpr int kRowsEach = 60'000;
constexpr int64_t kEnd = 180'000;

std::vector<int64_t> Ids(SqliteDb& db, int64_t track, int64_t end, size_t most) {
  auto rows = db.Prepare(
      "SELECT id FROM slice WHERE dur > 0 AND track = ?1 AND ts < ?2 "
      "ORDER BY ts DESC, id DESC LIMIT ?3");
  EXPECT_TRUE(rows.ok());
  EXPECT_TRUE(rows.value().Bind(1, track).ok());
  EXPECT_TRUE(rows.value().Bind(2, end).ok());
  EXPECT_TRUE(rows.value().Bind(3, static_cast<int64_t>(most)).ok());
  std::vector<int64_t> ids;
  while (rows.value().Step().value()) ids.push_back(rows.value().Int(0));
  return ids;
}

TEST(SliceWindows, gives_what_sql_gives_after_any_look) {
  auto opened = SqliteDb::OpenInMemory();
  ASSERT_TRUE(opened.ok());
  SqliteDb db = std::move(opened).value();
  ASSERT_TRUE(db.Execute("CREATE TABLE slice (id INTEGER PRIMARY KEY, track, ts, dur, tag);"
                         "CREATE INDEX slice_by_track ON slice (track, ts)")
                  .ok());
  // Three begin at a time, some do not count.
  ASSERT_TRUE(db.Execute("WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i "
                         "< " +
                         std::to_string(kTracks * kRowsEach - 1) +
                         ") INSERT INTO slice SELECT (i * 7919) % " +
                         std::to_string(kTracks * kRowsEach) +
                         " + 1, i % 3, i / 9 * 9, i % 5, i "
                         "FROM n")
                  .ok());
  auto windows = SliceWindows::Open(db, "SELECT id, ts, dur, tag FROM slice WHERE dur > 0");
  ASSERT_TRUE(windows.ok());
  std::mt19937 random(3);
  int64_t end = 0;
  for (int look = 0; look < 400; ++look) {
    // Near the one before, mostly; further on than is read at a time; anywhere; before the first.
    const auto step = static_cast<int64_t>(random() % 2000) - 500;
    const bool anywhere = random() % 16 == 0;
    end = anywhere ? static_cast<int64_t>(random() % (kEnd + 2000)) - 1000 : end + step;
    const auto track = static_cast<int64_t>(random() % kTracks);
    const size_t most = look % 50 == 0 ? 40'000 : random() % 3000;
    std::vector<int64_t> ids;
    const auto take = [&](const SliceRow& row) {
      if (ids.size() < most) ids.push_back(row.id);
      return ids.size() < most;
    };
    if (most == 0) continue;
    ASSERT_TRUE(windows.value().ForEachBefore(track, end, take).ok());
    ASSERT_EQ(ids, Ids(db, track, end, most)) << "track " << track << ", before " << end;
  }
}

}  // namespace
}  // namespace tracedb
