// RowLots: a file of rows that a thread writes is, byte for byte, that of rows written at once, and
// another thread gathers the same of them.

#include "ingest/build/row_lots.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "random_json.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

class RowLotsTest : public testing::Test {
 protected:
  RowLotsTest() : folder_(fs::path(testing::TempDir()) / ("row_lots" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~RowLotsTest() override { fs::remove_all(folder_); }

  // So many rows of all tables, with values and texts of all sizes.
  static Status Fill(RowLots& rows, size_t events) {
    test::Random random(events);
    int64_t text = 0;
    std::string large(200'000, 'x');
    TRACEDB_TRY(rows.EventName(++text, "[memory]", "cpu_instant_event", false));
    for (int64_t id = 1; id <= static_cast<int64_t>(events); ++id) {
      if (random.OneIn(50)) TRACEDB_TRY(rows.EventName(++text, "name", std::nullopt, true));
      if (random.OneIn(900)) TRACEDB_TRY(rows.Track(++text, {"1", "7", "0", "7"}));
      if (random.OneIn(300)) {
        ArgsText args;
        args.args = large.substr(0, random.OneIn(20) ? large.size() : random.Below(3000));
        args.grid = "[1, 2, 3]";
        args.occupancy_pct = 12.5;
        TRACEDB_TRY(rows.ArgsTextRow(++text, args));
      }
      if (random.OneIn(700)) TRACEDB_TRY(rows.Step(id, 2, id, id * 10, 9));
      EventRow row;
      row.id = id;
      row.track = 2;
      row.event_name = random.OneIn(4) ? 1 : 3;
      const auto table = static_cast<EventTable>(random.Below(kEventTables));
      if (!random.OneIn(9) || table != EventTable::kMetadataEvent) row.ts = id * 10;
      if (!random.OneIn(9)) row.dur = random.Between(-5, 1'000'000);
      row.phase = 'i';
      row.args_text = random.OneIn(3) ? 0 : 5;
      row.gpu_kind = static_cast<GpuKind>(random.Below(kGpuKindNames.size()));
      if (IsSliceTable(table)) row.ts = id * 10;
      if (!random.OneIn(5)) row.host_call.kind = static_cast<HostKind>(random.Below(kHostKinds));
      row.host_call.waits = random.OneIn(3);
      row.host_call.graph_call = static_cast<GraphCall>(random.Below(8));
      if (random.OneIn(6)) row.begin_args = random.Between(0, 9);
      ArgsValues values;
      values.mask = static_cast<uint32_t>(random.Below(size_t{1} << kArgsColumns));
      values.text_mask = random.OneIn(5) ? values.mask & 0x155 : 0;
      for (size_t i = 0; i < values.ints.size(); ++i) {
        values.ints[i] = random.Between(-100, 1'000'000'000'000);
        values.texts[i] =
            std::string_view(large).substr(0, random.OneIn(2000) ? 100'000 : random.Below(40));
      }
      TRACEDB_TRY(rows.Event(table, row, values));
    }
    return Done{};
  }

  fs::path MakeFile(const char* name) const {
    fs::path file = folder_ / name;
    std::ofstream(file).close();
    return file;
  }

  // All that is there, as numbers in a line each.
  static std::string TextOf(const GatheredSlices& gathered) {
    std::ostringstream text;
    const auto add = [&text](auto... values) {
      ((text << +values << ' '), ...);
      text << '\n';
    };
    EXPECT_TRUE(gathered.gpu_activities()
                    .ForEach([&](const GpuActivity& a) {
                      add(a.id, a.ts, a.dur, a.track, a.correlation, a.event_name, a.external_id,
                          a.args_text, a.seq, static_cast<int>(a.kind), a.has_dur,
                          a.has_correlation, a.has_external_id, a.has_seq);
                    })
                    .ok());
    EXPECT_TRUE(gathered.long_slices()
                    .ForEach([&](const LongSlice& slice) {
                      add(slice.id, slice.ts, slice.track, static_cast<int>(slice.table));
                    })
                    .ok());
    HostSlices::Reader host(gathered.host_slices());
    for (HostSlice slice; host.Next(slice);) {
      add(slice.ts, slice.dur, slice.id, slice.track, slice.event_name, slice.args_text,
          slice.correlation, slice.external_id, slice.sequence, slice.forward_thread,
          static_cast<int>(slice.kind), static_cast<int>(slice.graph_call), slice.waits,
          slice.has_correlation, slice.has_external_id, slice.has_sequence);
    }
    EXPECT_TRUE(host.status().ok());
    return text.str();
  }

  struct Made {
    std::string file;
    std::string gathered;
    bool operator==(const Made&) const = default;
  };
  Made MadeOf(const char* name, bool on_threads, size_t events) const {
    const fs::path file = MakeFile(name);
    auto writer = TableWriter::Create(file, 1, on_threads);
    EXPECT_TRUE(writer.ok());
    GatheredSlices gathered(LoadLimits::For(size_t{128} << 20, 7), folder_);
    RowLots rows(gathered, *writer.value(), on_threads);
    EXPECT_TRUE(Fill(rows, events).ok());
    EXPECT_TRUE(rows.Finish().ok());
    EXPECT_TRUE(gathered.Finish().ok());
    EXPECT_TRUE(writer.value()->FinishPages().ok());
    std::ifstream in(file, std::ios::binary);
    return {{std::istreambuf_iterator<char>(in), {}}, TextOf(gathered)};
  }

  fs::path folder_;
};

// And so is one whose pages another thread writes.
TEST_F(RowLotsTest, ThreadsGatherAndWriteTheSame) {
  for (const size_t events : {0U, 1U, 40U, 4095U, 4096U, 4097U, 60'000U}) {
    const Made at_once = MadeOf("at_once.db", false, events);
    EXPECT_FALSE(at_once.file.empty());
    EXPECT_EQ(at_once.gathered.empty(), events < 40);
    EXPECT_TRUE(MadeOf("by_threads.db", true, events) == at_once) << events;
  }
}

// Nothing can be written any more while rows come: that is said, and nothing waits for ever.
TEST_F(RowLotsTest, ItsErrorIsOfRowsGivenLater) {
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  for (const bool finishes : {true, false}) {
    auto writer = TableWriter::Create(MakeFile("full.db"), 1, true);
    ASSERT_TRUE(writer.ok());
    const rlimit small{1 << 20, usual.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    GatheredSlices gathered(LoadLimits::For(size_t{128} << 20, 7), folder_);
    RowLots rows(gathered, *writer.value(), true);
    const Status filled = Fill(rows, 200'000);
    EXPECT_FALSE(filled.ok());
    if (finishes) static_cast<void>(rows.Finish());
    EXPECT_FALSE(writer.value()->FinishPages().ok());
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &usual), 0);
  }
}

}  // namespace
}  // namespace tracedb
