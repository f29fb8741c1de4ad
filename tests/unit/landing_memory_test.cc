// Each piece of memory that the landing of several traces asks for, not to be had once: they land
// all the same, or one of them does not and says that memory is what was missing. What the landing
// had begun is in nobody's way. The operators that give memory are replaced for this.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "tracedb/base/run_caught.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_loads.h"

namespace {

// Of the thread that lands: those that read files beside it go on.
thread_local int64_t pieces = 0;      // asked for
thread_local int64_t refused_at = 0;  // by number; 0: none

void* Give(size_t bytes) {
  if (++pieces == refused_at) throw std::bad_alloc();
  void* const piece = std::malloc(bytes > 0 ? bytes : 1);
  if (piece == nullptr) throw std::bad_alloc();
  return piece;
}

}  // namespace

void* operator new(size_t bytes) { return Give(bytes); }
void* operator new[](size_t bytes) { return Give(bytes); }
void* operator new(size_t bytes, const std::nothrow_t& /*says*/) noexcept {
  return std::malloc(bytes > 0 ? bytes : 1);
}
void* operator new[](size_t bytes, const std::nothrow_t& /*says*/) noexcept {
  return std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void* piece, const std::nothrow_t& /*says*/) noexcept { std::free(piece); }
void operator delete[](void* piece, const std::nothrow_t& /*says*/) noexcept { std::free(piece); }
void operator delete(void* piece) noexcept { std::free(piece); }
void operator delete[](void* piece) noexcept { std::free(piece); }
void operator delete(void* piece, size_t) noexcept { std::free(piece); }
void operator delete[](void* piece, size_t) noexcept { std::free(piece); }

namespace tracedb {
namespace {

namespace fs = std::filesystem;

class LandingMemoryTest : public ::testing::Test {
 protected:
  LandingMemoryTest()
      : folder_(fs::path(::testing::TempDir()) / ("landings" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    // The first takes longest to read: when it is done, so are the others.
    for (const int events : {100, 20'000, 3'000, 3'000}) files_.emplace_back(MakeTrace(events));
    LandFirst();
  }
  ~LandingMemoryTest() override { fs::remove_all(folder_); }

  fs::path MakeTrace(int events) const {
    const std::string rank = std::to_string(files_.size());
    const fs::path file = folder_ / ("rank" + rank + ".json");
    std::ofstream json(file);
    json << R"({"distributedInfo": {"rank": )" << rank << R"(}, "traceEvents": [)";
    for (int i = 0; i < events; ++i) {
      json << R"({"ph": "X", "cat": "cpu_op", "name": "aten::op)" << i % 7
           << R"(", "pid": 1, "tid": 1, "dur": 7, "ts": )" << i * 11 << "},\n";
    }
    json << R"({"ph": "i", "name": "end", "pid": 1, "tid": 1, "ts": 1}]})";
    return file;
  }

  LoadOptions Options() const {
    LoadOptions options;
    options.limits = LoadLimits::For(LoadLimits::kMemoryBytesDefault, 3);
    return options;
  }

  void LandFirst() {
    PrepareToReadTraces();
    TraceLoads loads({files_.front()}, folder_ / "first.db", Options(), {1, 1});
    ASSERT_TRUE(loads.Next().ok());
    files_.erase(files_.begin());
  }

  // What each of the others says; a landing that ends them all, once.
  // Pieces are counted from the `counted`-th file's outcome on.
  std::vector<std::string> LandOthers(const fs::path& database, int64_t refused, bool is_new,
                                      size_t counted = 0) const {
    if (!is_new) fs::copy_file(folder_ / "first.db", database);
    TraceLoads loads(files_, database, Options(), {4, 4});
    std::vector<std::string> said;
    said.reserve(files_.size());
    for (size_t i = 0; i < files_.size(); ++i) {
      if (i == counted) {
        pieces = 0;
        refused_at = refused;
      }
      bool is_over = true;
      const auto loaded = RunCaught([&] {
        auto next = loads.Next();
        is_over = false;
        return next;
      });
      const bool is_skipped = loaded.ok() && loaded.value().skipped;
      said.push_back(is_skipped ? "skipped" : loaded.ok() ? "" : loaded.error().what);
      if (is_over) break;
    }
    refused_at = 0;
    return said;
  }

  void RefuseEach(bool is_new) const;
  void Refuse(int64_t piece, bool is_new, size_t counted) const;

  // None where there is no database.
  static int64_t Traces(const fs::path& database) {
    if (!fs::exists(database)) return 0;
    auto db = SqliteDb::Open(database, SqliteMode::kReadOnly);
    EXPECT_TRUE(db.ok());
    return db.value().Integer("SELECT count(*) FROM _trace").value();
  }

  fs::path folder_;
  std::vector<InputFile> files_;
};

void LandingMemoryTest::RefuseEach(bool is_new) const {
  const fs::path whole = folder_ / "whole.db";
  EXPECT_EQ(LandOthers(whole, 0, is_new), std::vector<std::string>(3));
  EXPECT_EQ(Traces(whole), is_new ? 3 : 4);
  const int64_t asked = pieces;
  constexpr int64_t kTrials = 60;
  for (int64_t piece = 1; piece <= asked; piece += asked / kTrials + 1) Refuse(piece, is_new, 0);
}

void LandingMemoryTest::Refuse(int64_t piece, bool is_new, size_t counted) const {
  const fs::path database =
      folder_ / ("refused" + std::to_string(piece) + "from" + std::to_string(counted) + ".db");
  const auto said = LandOthers(database, piece, is_new, counted);
  int64_t landed = is_new ? 0 : 1;
  for (const std::string& what : said) {
    landed += what.empty() ? 1 : 0;
    EXPECT_TRUE(what.empty() || what == kOutOfMemoryText) << piece << ": " << what;
  }
  EXPECT_EQ(Traces(database), landed) << piece;
}

// The others have landed together with the first, most often: they are only told of.
TEST_F(LandingMemoryTest, WhatHasLandedIsTold) {
  for (int64_t piece = 1; piece <= 8; ++piece) {
    Refuse(piece, false, 1);
    Refuse(piece, false, 2);
  }
}

TEST_F(LandingMemoryTest, OnePieceThatIsNotToBeHadIsInNobodysWay) { RefuseEach(false); }

TEST_F(LandingMemoryTest, NorOfANewDatabase) { RefuseEach(true); }

}  // namespace
}  // namespace tracedb
