// FindCausesOf: with any number of threads each stall has the cause that one finds alone.

#include "ranks/stalls/cause_threads.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <tuple>

#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/ranks/clocks/align_clocks.h"
#include "tracedb/ranks/stalls/stall_causes.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// Four ranks of a real job.
class CauseThreads : public ::testing::Test {
 protected:
  CauseThreads()
      : folder_(fs::path(::testing::TempDir()) / ("causes" + std::to_string(getpid()))),
        database_(folder_ / "ranks.db") {
    fs::create_directories(folder_);
    LoadOptions options;
    options.limits = LoadLimits::For(LoadLimits::kMemoryBytesDefault, 1);
    for (const char* rank : {"rank0", "rank1", "rank2", "rank3"}) {
      const InputFile input(fs::path(TRACEDB_FIXTURES) / "megatron" /
                            (std::string(rank) + ".pt.trace.json.gz"));
      EXPECT_TRUE(LoadTrace(input, database_, options).ok()) << rank;
    }
    auto db = OpenToCompare(database_, 4096, nullptr);
    EXPECT_TRUE(db.ok());
    EXPECT_TRUE(AlignClocks(db.value(), AlignScope::kEverything).ok());
    EXPECT_TRUE(Explain(1).ok());
  }
  ~CauseThreads() override { fs::remove_all(folder_); }

  Status Explain(unsigned threads, const std::atomic<bool>* stop = nullptr) {
    TRACEDB_ASSIGN(db, OpenToCompare(database_, 4096, nullptr));
    ExplainOptions options;
    options.scope = ExplainScope::kEverything;
    options.threads = threads;
    options.stalls_each = 1;
    options.stop = stop;
    return ExplainStalls(db, options);
  }

  std::string Stored() {
    auto db = SqliteDb::Open(database_, SqliteMode::kReadOnly);
    EXPECT_TRUE(db.ok());
    auto rows = db.value().Prepare("SELECT * FROM _collective_cause ORDER BY id");
    EXPECT_TRUE(rows.ok());
    std::string all;
    for (;;) {
      const auto row = rows.value().Step();
      EXPECT_TRUE(row.ok());
      if (!row.ok() || !row.value()) return all;
      for (int column = 0; column < rows.value().ColumnCount(); ++column) {
        all += std::string(rows.value().Text(column)) + '|';
      }
      all += '\n';
    }
  }

  // What is found of the stalls that are stored, in batches of `size`.
  using Told = std::tuple<int, int64_t, std::string, int64_t, int64_t>;
  Status Find(unsigned threads, size_t size, std::map<int64_t, Told>& found) {
    TRACEDB_ASSIGN(db, OpenToCompare(database_, 4096, nullptr));
    TRACEDB_ASSIGN(clocks, RankClocks::Read(db));
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT c.id, c.trace_id, c.step, c.first_start_ns, "
                                    "c.start_ns, p.ts_ns FROM _collective_cause c "
                                    "JOIN _collective_part p ON p.id = c.id ORDER BY c.id"));
    const auto next = [&]() -> Result<StallBatch> {
      StallBatch batch;
      while (batch.size() < size) {
        TRACEDB_ASSIGN(row, rows.Step());
        if (!row) break;
        Stall stall;
        stall.id = rows.Int(0);
        stall.trace_id = rows.Int(1);
        stall.step = rows.OptionalInt(2);
        stall.first_ns = rows.Int(3);
        stall.start_ns = rows.Int(4);
        stall.range = {rows.Int(5) - (rows.Int(4) - rows.Int(3)), rows.Int(5)};
        batch.push_back({stall, {}});
      }
      return batch;
    };
    return FindCausesOf(db, clocks, {threads}, next, [&](StallBatch& batch) -> Status {
      for (const StallCause& each : batch) {
        const Cause& cause = each.cause;
        const Told told{static_cast<int>(cause.kind), cause.slice_id,
                        std::to_string(cause.event_name) + std::string(cause.text),
                        cause.upstream_id, cause.clear_ns};
        if (!found.emplace(each.stall.id, told).second) ADD_FAILURE() << "twice";
      }
      return Done{};
    });
  }

  fs::path folder_;
  fs::path database_;
};

TEST_F(CauseThreads, find_what_one_finds) {
  std::map<int64_t, Told> alone;
  ASSERT_TRUE(Find(1, 1000, alone).ok());
  EXPECT_GT(alone.size(), 20u);
  for (const auto& [threads, size] : {std::pair<unsigned, size_t>{2, 1}, {3, 7}, {8, 1000}}) {
    std::map<int64_t, Told> found;
    const Status done = Find(threads, size, found);
    ASSERT_TRUE(done.ok()) << done.error().what;
    EXPECT_EQ(found, alone) << threads << " threads, batches of " << size;
  }
}

TEST_F(CauseThreads, store_what_one_stores) {
  const std::string alone = Stored();
  EXPECT_GT(alone.size(), 1000u);
  for (const unsigned threads : {2u, 5u}) {
    const Status done = Explain(threads);
    ASSERT_TRUE(done.ok()) << done.error().what;
    EXPECT_EQ(Stored(), alone) << threads;
  }
}

TEST_F(CauseThreads, that_are_stopped_leave_all_as_it_was) {
  const std::string before = Stored();
  const std::atomic<bool> stop = true;
  EXPECT_FALSE(Explain(3, &stop).ok());
  EXPECT_EQ(Stored(), before);
}

TEST_F(CauseThreads, an_error_of_any_ends_all) {
  auto db = OpenToCompare(database_, 4096, nullptr);
  ASSERT_TRUE(db.ok());
  const RankClocks clocks;
  const Error no{ErrorKind::kOutput, "no", ""};
  int given = 0;
  const auto endless = [&]() -> Result<StallBatch> {
    ++given;
    return StallBatch(1);
  };
  const Status refused =
      FindCausesOf(db.value(), clocks, {3}, endless, [&](StallBatch&) { return Status(no); });
  EXPECT_FALSE(refused.ok());
  const Status none_left = FindCausesOf(
      db.value(), clocks, {3}, [&]() -> Result<StallBatch> { return no; },
      [](StallBatch&) { return Status(Done{}); });
  EXPECT_FALSE(none_left.ok());
  // The threads' own: a table that they read is gone.
  ASSERT_TRUE(db.value().Execute("ALTER TABLE _launch RENAME TO elsewhere").ok());
  const Status gone =
      FindCausesOf(db.value(), clocks, {3}, endless, [](StallBatch&) { return Status(Done{}); });
  ASSERT_FALSE(gone.ok());
  EXPECT_NE(gone.error().what.find("_launch"), std::string::npos) << gone.error().what;
  EXPECT_LT(given, 1000);
}

}  // namespace
}  // namespace tracedb
