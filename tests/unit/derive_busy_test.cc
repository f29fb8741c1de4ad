// DeriveBusy against the way that most traces take (derive_trace.cc): busy time worked out by SQL
// must be what was written as pages while a trace was ingested.

#include "derive/derive_busy.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "random_json.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// A trace of two devices, whose activities overlap, lack a duration, or have one of 0 or less.
void WriteTrace(const fs::path& path, int64_t rank, test::Random& random) {
  std::ofstream file(path);
  file << R"({"distributedInfo":{"rank":)" << rank << R"(},"traceEvents":[)";
  for (int64_t number = 0; number < 3000; ++number) {
    const std::string category = random.Pick({"kernel", "kernel", "gpu_memcpy", "gpu_memset"});
    const std::string name =
        random.Pick({"gemm", "ncclDevKernel_AllReduce_Sum", "Memcpy HtoD", "event_wait"});
    const std::string dur = random.OneIn(9)
                                ? random.Pick({"", R"(,"dur":0)", R"(,"dur":-2)"})
                                : R"(,"dur":)" + std::to_string(random.Between(1, 90)) + ".125";
    const size_t device = random.Below(2);
    const size_t stream = 7 + 6 * random.Below(3);
    if (number > 0) file << ",\n";
    file << R"({"ph":"X","cat":")" << category << R"(","name":")" << name << R"(","pid":)" << device
         << R"(,"tid":)" << stream << R"(,"ts":)" << random.Between(0, 60'000) << ".5" << dur
         << R"(,"args":{"device":)" << device << R"(,"stream":)" << stream << "}}";
  }
  file << "]}";
}

// All rows of the three tables, in an order of their own.
std::string BusyTables(const fs::path& path) {
  auto db = SqliteDb::Open(path, SqliteMode::kReadOnly);
  EXPECT_TRUE(db.ok());
  std::string all;
  for (const char* sql :
       {"SELECT trace_id, device, ts_ns, dur_ns, kinds FROM _busy_segment ORDER BY 1, 2, 3",
        "SELECT trace_id, device, start_ns, end_ns, compute_ns, communication_ns, overlap_ns, "
        "exposed_communication_ns, exposed_memory_ns, idle_ns FROM _device_use ORDER BY 1, 2",
        "SELECT trace_id, device, stream, activities, start_ns, end_ns, busy_ns, compute_ns, "
        "communication_ns, memory_ns FROM _stream_use ORDER BY 1, 2, 3"}) {
    auto rows = db.value().Prepare(sql);
    EXPECT_TRUE(rows.ok()) << sql;
    for (;;) {
      const auto row = rows.value().Step();
      EXPECT_TRUE(row.ok());
      if (!row.ok() || !row.value()) break;
      for (int column = 0; column < rows.value().ColumnCount(); ++column) {
        all += std::string(rows.value().Text(column)) + '|';
      }
      all += '\n';
    }
  }
  return all;
}

TEST(DeriveBusy, by_sql_is_what_was_written_as_pages) {
  std::string name = testing::TempDir() + "derive_busy_test_XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path folder = name;
  test::Random random(51);
  LoadOptions options;
  options.limits = LoadLimits::For(LoadLimits::kMemoryBytesMin, 1);
  for (int64_t rank = 0; rank < 3; ++rank) {
    const fs::path trace = folder / ("rank" + std::to_string(rank) + ".json");
    WriteTrace(trace, rank, random);
    const fs::path database = trace.string() + ".db";
    const auto loaded = LoadTrace(trace, database, options);
    ASSERT_TRUE(loaded.ok()) << loaded.error().what;
    const std::string as_pages = BusyTables(database);
    EXPECT_GT(as_pages.size(), 3'000u);
    auto db = SqliteDb::Open(database, SqliteMode::kReadWrite);
    ASSERT_TRUE(db.ok());
    for (const char* table : {"_busy_segment", "_stream_use", "_device_use"}) {
      ASSERT_TRUE(db.value().Execute(std::string("DELETE FROM ") + table).ok());
    }
    EXPECT_NE(BusyTables(database), as_pages);
    ASSERT_TRUE(db.value().Execute("BEGIN").ok());
    const Status derived = DeriveBusy(db.value(), loaded.value().trace_id);
    ASSERT_TRUE(derived.ok()) << derived.error().what;
    ASSERT_TRUE(db.value().Execute("COMMIT").ok());
    EXPECT_EQ(BusyTables(database), as_pages);
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tracedb
