// TraceLoads: files read side by side make the database that they make one after the other. In this
// process, so that a sanitizer of threads sees readers, landings and their parts at once.

#include "tracedb/ingest/load/trace_loads.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tracedb/base/sqlite_db.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// Real ranks of a job: some that land row by row, and two that are large enough for pages.
class TraceLoadsTest : public ::testing::Test {
 protected:
  TraceLoadsTest()
      : folder_(fs::path(::testing::TempDir()) / ("loads" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~TraceLoadsTest() override { fs::remove_all(folder_); }

  static std::vector<InputFile> Files() {
    std::vector<InputFile> files;
    for (const char* name : {"seqpar/rank0", "megatron/rank0", "seqpar/rank1", "megatron/rank1",
                             "seqpar/rank2", "seqpar/rank3"}) {
      files.emplace_back(fs::path(TRACEDB_FIXTURES) / (std::string(name) + ".pt.trace.json.gz"));
    }
    return files;
  }

  fs::path Load(const char* name, unsigned side_by_side) const {
    const fs::path database = folder_ / name;
    LoadOptions options;
    options.limits = LoadLimits::For(LoadLimits::kMemoryBytesDefault, 3);
    PrepareToReadTraces();
    TraceLoads loads(Files(), database, options, side_by_side);
    for (const InputFile& file : Files()) {
      const auto loaded = loads.Next();
      EXPECT_TRUE(loaded.ok()) << file.path << ": " << (loaded.ok() ? "" : loaded.error().what);
    }
    return database;
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

TEST_F(TraceLoadsTest, SideBySideIsOneAfterTheOther) {
  auto one = SqliteDb::Open(Load("one.db", 1), SqliteMode::kReadOnly);
  auto four = SqliteDb::Open(Load("four.db", 4), SqliteMode::kReadOnly);
  ASSERT_TRUE(one.ok() && four.ok());
  for (const char* table : {"_event_name", "_args_text", "_track", "_gpu_slice", "_cpu_slice",
                            "_runtime_slice", "_launch", "_call_path", "_host_use", "_kernel_use",
                            "_busy_segment", "_step_use", "_collective_part", "_process_group"}) {
    const std::string wanted = Rows(one.value(), table);
    EXPECT_FALSE(wanted.empty()) << table;
    EXPECT_TRUE(Rows(four.value(), table) == wanted) << table;
  }
}

}  // namespace
}  // namespace tracedb
