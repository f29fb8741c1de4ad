#include "tracedb/shards/gather.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "shards/shard_manifest.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/ingest/read/content_hash.h"
#include "tracedb/parquet/parquet_reader.h"
#include "tracedb/parquet/parquet_writer.h"
#include "tracedb/ranks/clocks/align_clocks.h"
#include "tracedb/ranks/stalls/stall_causes.h"
#include "tracedb/shards/launch_environment.h"
#include "tracedb/shards/summary_write.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// Summaries of two ranks of a real job.
class Gathering : public ::testing::Test {
 protected:
  Gathering() : folder_(fs::path(::testing::TempDir()) / ("g" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    LoadOptions options;
    options.limits = LoadLimits::For(LoadLimits::kMemoryBytesDefault, 1);
    const fs::path database = folder_ / "ranks.db";
    for (const char* name : {"rank0.pt.trace.json.gz", "rank1.pt.trace.json.gz"}) {
      const InputFile input(fs::path(TRACEDB_FIXTURES) / "parallel" / "pipeline" / name);
      EXPECT_TRUE(LoadTrace(input, database, options).ok());
    }
    auto db = SqliteDb::Open(database, SqliteMode::kReadOnly);
    EXPECT_TRUE(db.ok());
    const SummaryPlace place{out(), "node", database.string(), {}};
    auto written = WriteSummaries(db.value(), {1, 2}, place, std::atomic<bool>(false));
    EXPECT_TRUE(written.ok());
    shard_ = written.value()[1].folder;
  }
  ~Gathering() override { fs::remove_all(folder_); }

  fs::path out() const { return folder_ / "out"; }

  // All that `tracedb gather` does; an error where it cannot be done at all.
  Result<GatherReport> Gather() {
    const fs::path job = folder_ / "job.db";
    std::ofstream(job, std::ios::trunc).flush();
    GatherOptions options;
    options.folder = out();
    options.database = job;
    TRACEDB_ASSIGN(gathered, GatheredDatabase::Make(options));
    TRACEDB_ASSIGN(db, OpenToCompare(job, 4096, nullptr));
    TRACEDB_ASSIGN(report, AlignClocks(db, AlignScope::kEverything));
    (void)report;
    ExplainOptions explain;
    explain.scope = ExplainScope::kEverything;
    explain.before_causes = [&](SqliteDb& at) { return gathered.AddStallSlices(at); };
    TRACEDB_TRY(ExplainStalls(db, explain));
    TRACEDB_ASSIGN(sound, db.Prepare("PRAGMA integrity_check"));
    TRACEDB_ASSIGN(any, sound.Step());
    EXPECT_TRUE(any && sound.Text(0) == "ok");
    return gathered.report();
  }

  // Lets the manifest say what the file is now.
  void Vouch(const std::string& name) {
    auto manifest = ReadManifest(shard_ / kManifestName);
    ASSERT_TRUE(manifest.ok());
    for (ShardManifest::File& file : manifest.value().files) {
      if (file.name != name) continue;
      file.bytes = static_cast<int64_t>(fs::file_size(shard_ / name));
      file.hash = HashFile(shard_ / name).value();
    }
    std::ofstream(shard_ / kManifestName) << ManifestText(manifest.value());
  }

  // Writes one value of the file anew. What it was is said for a failure's message.
  std::string Change(const std::string& name, std::mt19937& chance) {
    auto reader = ParquetReader::Open(shard_ / name);
    const std::vector<ParquetColumn> columns = reader.value().columns();
    std::vector<ParquetValues> values;
    for (size_t i = 0; i < columns.size(); ++i) {
      values.push_back(reader.value().Read(0, i).value());
    }
    const size_t column = chance() % columns.size();
    const size_t row = chance() % values.front().rows();
    constexpr std::array<int64_t, 8> kOdd = {std::numeric_limits<int64_t>::min(),
                                             std::numeric_limits<int64_t>::max(),
                                             int64_t{1} << 61,
                                             -(int64_t{1} << 61),
                                             -1,
                                             0,
                                             1,
                                             int64_t{1} << 40};
    const int64_t odd = kOdd[chance() % kOdd.size()];
    const bool is_null = chance() % 5 == 0;
    auto writer = ParquetWriter::Create(shard_ / name, columns);
    for (size_t r = 0; r < values.front().rows(); ++r) {
      for (size_t c = 0; c < columns.size(); ++c) {
        const bool is_it = r == row && c == column;
        if (is_it ? is_null : values[c].is_there[r] == 0) {
          writer.value().AddNull(c);
        } else if (columns[c].type == ParquetType::kInteger) {
          writer.value().Add(c, is_it ? odd : values[c].integers[r]);
        } else if (columns[c].type == ParquetType::kReal) {
          writer.value().Add(c, is_it ? static_cast<double>(odd) : values[c].reals[r]);
        } else {
          writer.value().Add(c, is_it ? std::string_view("[\"\xff") : values[c].Text(r));
        }
      }
      EXPECT_TRUE(writer.value().EndRow().ok());
    }
    EXPECT_TRUE(writer.value().Finish().ok());
    return name + ", " + columns[column].name + ", row " + std::to_string(row) + ": " +
           (is_null ? "NULL" : std::to_string(odd));
  }

  fs::path folder_;
  fs::path shard_;  // of rank 1
};

TEST_F(Gathering, both_ranks_are_there) {
  const auto report = Gather();
  ASSERT_TRUE(report.ok()) << report.error().what;
  EXPECT_EQ(report.value().ranks, 2);
  EXPECT_TRUE(report.value().troubles.empty());
}

// A thousand are named, the others are counted, in the database as well.
TEST_F(Gathering, ranks_that_are_missing_are_all_counted) {
  auto manifest = ReadManifest(shard_ / kManifestName);
  ASSERT_TRUE(manifest.ok());
  manifest.value().world_size = 5000;
  std::ofstream(shard_ / kManifestName) << ManifestText(manifest.value());
  const auto report = Gather();
  ASSERT_TRUE(report.ok()) << report.error().what;
  EXPECT_EQ(report.value().troubles.size(), 1001u);
  EXPECT_EQ(report.value().MissingRanks(), 4998);
  auto db = SqliteDb::Open(folder_ / "job.db", SqliteMode::kReadOnly);
  ASSERT_TRUE(db.ok());
  EXPECT_EQ(
      db.value().Integer("SELECT sum(count) FROM _issue WHERE kind = 'shard_missing'").value(),
      4998);
}

TEST_F(Gathering, a_value_that_is_another_harms_no_other_rank) {
  std::mt19937 chance(5);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(shard_)) {
    if (entry.path().extension() == ".parquet") names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  int broken = 0;
  constexpr int kTimes = 30;
  const fs::path kept = folder_ / "kept";
  fs::copy(shard_, kept);
  for (int i = 0; i < kTimes; ++i) {
    const std::string name = names[chance() % names.size()];
    const std::string what = Change(name, chance);
    Vouch(name);
    const auto report = Gather();
    ASSERT_TRUE(report.ok()) << what << ": " << report.error().what;
    const GatherReport& got = report.value();
    ASSERT_EQ(got.ranks + static_cast<int64_t>(got.troubles.size()), 2) << what;
    broken += got.troubles.empty() ? 0 : 1;
    for (const char* file : {name.c_str(), kManifestName}) {
      fs::copy_file(kept / file, shard_ / file, fs::copy_options::overwrite_existing);
    }
  }
  EXPECT_GT(broken, kTimes / 20);
  EXPECT_LT(broken, kTimes);
}

TEST_F(Gathering, a_byte_that_is_another_is_named) {
  std::mt19937 chance(9);
  for (const char* name : {"trace.parquet", "step.parquet", kManifestName}) {
    std::ifstream in(shard_ / name, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    for (int i = 0; i < 10; ++i) {
      std::string bytes = whole;
      if (i % 2 == 0) {
        bytes.resize(chance() % bytes.size());
      } else {
        char& byte = bytes[chance() % bytes.size()];
        byte = static_cast<char>(byte ^ 4);
      }
      std::ofstream(shard_ / name, std::ios::binary) << bytes;
      const auto report = Gather();
      ASSERT_TRUE(report.ok()) << report.error().what;
      const bool is_free_text = name == std::string(kManifestName);  // a path in it, for example
      if (is_free_text && report.value().troubles.empty()) continue;
      ASSERT_EQ(report.value().ranks, 1) << name;
      EXPECT_NE(report.value().troubles[0].text.find("rank 1 of run"), std::string::npos);
    }
    std::ofstream(shard_ / name, std::ios::binary) << whole;
  }
}

TEST(HiveName, comes_back_as_it_was) {
  for (const std::string name : {"job", "a/b=c %41", ".hidden", "ä", "..", "x.y"}) {
    const std::string folder = "run=" + HiveName(name);
    EXPECT_EQ(folder.find('/'), std::string::npos);
    EXPECT_EQ(FromHiveName(folder, "run"), name);
  }
  EXPECT_FALSE(FromHiveName("run=%4", "run").has_value());
  EXPECT_FALSE(FromHiveName("runs=a", "run").has_value());
}

TEST(LaunchEnvironment, who_started_it_tells_the_task) {
  const auto read = [](std::vector<std::pair<std::string, const char*>> variables) {
    return ReadLaunchEnvironment([=](const char* name) -> const char* {
      for (const auto& [known, value] : variables) {
        if (known == name) return value;
      }
      return nullptr;
    });
  };
  EXPECT_FALSE(read({}).task.has_value());
  EXPECT_EQ(read({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "8"}}).task, 3);
  EXPECT_EQ(read({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "8"}}).tasks, 8);
  EXPECT_EQ(read({{"SLURM_PROCID", "3"},
                  {"SLURM_NTASKS", "64"},
                  {"SLURM_NNODES", "8"},
                  {"SLURM_STEP_NUM_TASKS", "8"}})
                .node_tasks,
            1);
  EXPECT_EQ(read({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "63"}, {"SLURM_NNODES", "8"}}).node_tasks,
            8);
  // torchrun, once a node, started by srun.
  EXPECT_EQ(read({{"SLURM_PROCID", "1"}, {"RANK", "12"}, {"WORLD_SIZE", "16"}}).task, 12);
  EXPECT_EQ(read({{"OMPI_COMM_WORLD_RANK", "5"}}).task, 5);
  EXPECT_EQ(read({{"PMI_RANK", "6"}, {"PMI_SIZE", "7"}}).tasks, 7);
  for (const char* odd : {"", "x", "-1", "3x", "99999999999999999999"}) {
    EXPECT_FALSE(read({{"RANK", odd}}).task.has_value()) << odd;
  }
}

}  // namespace
}  // namespace tracedb
