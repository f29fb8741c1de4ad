// TraceLoads: files read side by side make the database that they make one after the other. In this
// process, so that a sanitizer of threads sees readers, landings and their parts at once.

#include "tracedb/ingest/load/trace_loads.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tracedb/base/sqlite_db.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// Real ranks of a job, which land row by row, and made ones that are large enough for pages.
class TraceLoadsTest : public ::testing::Test {
 protected:
  TraceLoadsTest()
      : folder_(fs::path(::testing::TempDir()) / ("loads" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~TraceLoadsTest() override { fs::remove_all(folder_); }

  static std::vector<InputFile> Fixtures() {
    std::vector<InputFile> files;
    for (const char* name : {"seqpar/rank0", "megatron/rank0", "seqpar/rank1", "megatron/rank1",
                             "seqpar/rank2", "seqpar/rank3"}) {
      files.emplace_back(fs::path(TRACEDB_FIXTURES) / (std::string(name) + ".pt.trace.json.gz"));
    }
    return files;
  }

  // Of so many rows that they are added as pages.
  fs::path MakeLarge(int rank, int events) const {
    const fs::path file = folder_ / ("rank" + std::to_string(rank) + ".json");
    std::ofstream json(file);
    json << "{\"distributedInfo\": {\"rank\": " << rank << "}, \"traceEvents\": [\n";
    for (int i = 0; i < events; ++i) {
      json << R"({"ph": "X", "pid": 1, "dur": 7, "ts": )" << i * 11 + rank;
      if (i % 3 == 0) {
        json << R"(, "cat": "kernel", "name": "kernel)" << i % 9 << R"(", "tid": )" << i % 5
             << R"(, "args": {"device": 0, "stream": )" << i % 5 << R"(, "correlation": )" << i;
      } else {
        json << R"(, "cat": "cpu_op", "name": "aten::op)" << i % 7 << rank
             << R"(", "tid": 1, "args": {"External id": )" << i;
      }
      json << "}},\n";
    }
    json << R"({"ph": "i", "name": "end", "pid": 1, "tid": 1, "ts": 1}]})";
    return file;
  }

  // What becomes of each.
  std::vector<Result<LoadSummary>> LoadAll(const fs::path& database,
                                           const std::vector<InputFile>& files,
                                           const FilesAtATime& at_a_time) const {
    LoadOptions options;
    options.limits = LoadLimits::For(LoadLimits::kMemoryBytesDefault, 3);
    PrepareToReadTraces();
    TraceLoads loads(files, database, options, at_a_time);
    std::vector<Result<LoadSummary>> all;
    for (size_t i = 0; i < files.size(); ++i) all.push_back(loads.Next());
    return all;
  }

  // All of them land.
  std::vector<LoadSummary> Load(const fs::path& database, const std::vector<InputFile>& files,
                                const FilesAtATime& at_a_time) const {
    std::vector<LoadSummary> summaries;
    for (auto& loaded : LoadAll(database, files, at_a_time)) {
      EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().what);
      if (loaded.ok()) summaries.push_back(std::move(loaded.value()));
    }
    return summaries;
  }

  static std::vector<std::string> Outcomes(const std::vector<Result<LoadSummary>>& all) {
    std::vector<std::string> outcomes;
    for (const auto& loaded : all) {
      outcomes.emplace_back(!loaded.ok() ? "fails" : loaded.value().skipped ? "is there" : "new");
    }
    return outcomes;
  }

  static void ExpectSame(const fs::path& wanted_in, const fs::path& found_in,
                         const std::vector<const char*>& tables) {
    auto wanted = SqliteDb::Open(wanted_in, SqliteMode::kReadOnly);
    auto found = SqliteDb::Open(found_in, SqliteMode::kReadOnly);
    ASSERT_TRUE(wanted.ok() && found.ok());
    for (const char* table : tables) {
      const std::string rows = Rows(wanted.value(), table);
      EXPECT_FALSE(rows.empty()) << table;
      EXPECT_TRUE(Rows(found.value(), table) == rows) << table;
    }
    EXPECT_EQ(Rows(found.value(), "pragma_integrity_check"), "ok|\n");
  }

  // Every row of a table, with its ids.
  static std::string Rows(SqliteDb& db, const std::string& table) {
    auto rows = db.Prepare("SELECT * FROM " + table);
    EXPECT_TRUE(rows.ok()) << table;
    std::string all;
    for (;;) {
      const auto row = rows.value().Step();
      EXPECT_TRUE(row.ok()) << table;
      if (!row.ok() || !row.value()) return all;
      for (int column = 0; column < rows.value().ColumnCount(); ++column) {
        all += std::string(rows.value().Text(column)) + '|';
      }
      all += '\n';
    }
  }

  fs::path folder_;
};

// Also those whose ids are known before they are read, and where one of them fails.
TEST_F(TraceLoadsTest, ReadWhileTheOneBeforeIsWorkedOut) {
  std::vector<InputFile> files = Fixtures();
  files.emplace(files.begin() + 2, folder_ / "is_not_there.json");
  files.emplace_back(MakeLarge(9, 30'000));
  files.emplace_back(files[3]);  // its content is there already
  files.emplace_back(MakeLarge(10, 30'000));
  const std::vector<const char*> tables = {
      "_event_name", "_args_text",    "_track",    "_gpu_slice", "_cpu_slice",
      "_launch",     "_call_path",    "_host_use", "_step_use",  "_collective_part",
      "_kernel_use", "_busy_segment", "_process"};
  const auto one = Outcomes(LoadAll(folder_ / "one.db", files, {1, 1}));
  const auto two = Outcomes(LoadAll(folder_ / "two.db", files, {2, 1}));
  EXPECT_EQ(two, one);
  EXPECT_EQ(std::count(one.begin(), one.end(), "fails"), 1);
  EXPECT_EQ(std::count(one.begin(), one.end(), "is there"), 1);
  ExpectSame(folder_ / "one.db", folder_ / "two.db", tables);
}

TEST_F(TraceLoadsTest, SideBySideIsOneAfterTheOther) {
  Load(folder_ / "one.db", Fixtures(), {1, 1});
  Load(folder_ / "four.db", Fixtures(), {4, 4});
  ExpectSame(folder_ / "one.db", folder_ / "four.db",
             {"_event_name", "_args_text", "_track", "_gpu_slice", "_cpu_slice", "_runtime_slice",
              "_launch", "_call_path", "_host_use", "_kernel_use", "_busy_segment", "_step_use",
              "_collective_part", "_process_group"});
}

// The first takes longest to read: when it is done, so are the others. Those that landed together
// took as long each.
TEST_F(TraceLoadsTest, LargeOnesLandTogether) {
  std::vector<InputFile> files;
  for (int rank = 0; rank < 5; ++rank) {
    files.emplace_back(MakeLarge(rank, rank == 1 ? 60'000 : 30'000));
  }
  Load(folder_ / "one.db", files, {1, 1});
  bool together = false;
  for (int trial = 0; trial < 20 && !together; ++trial) {
    const fs::path database = folder_ / ("four" + std::to_string(trial) + ".db");
    const auto summaries = Load(database, files, {4, 4});
    for (size_t i = 1; i < summaries.size(); ++i) {
      together = together || summaries[i].land_seconds == summaries[i - 1].land_seconds;
    }
    ExpectSame(folder_ / "one.db", database,
               {"_event_name", "_args_text", "_track", "_gpu_slice", "_cpu_slice", "_call_path",
                "_host_use", "_busy_segment"});
  }
  EXPECT_TRUE(together);
}

}  // namespace
}  // namespace tracedb
