// TreeGraft against SQLite: trees added as pages must leave what inserting their rows leaves, cell
// by cell, in the table and in its indexes, sound before and after SQLite has changed it.

#include "tracedb/pages/tree_graft.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "page_test_tools.h"
#include "tracedb/pages/staged_changes.h"

namespace tracedb {
namespace {

using test::Columns;
using test::Database;
using test::Row;

const std::string kSchema = "CREATE TABLE t(" + Columns() + "); CREATE INDEX t_c0 ON t(c0, c1); " +
                            "CREATE INDEX t_some ON t(c0) WHERE c2 > 0";

// Rows whose c0 rises, as an index to which entries are added wants it.
std::vector<Row> RisingRows(std::mt19937_64& random, size_t count, int64_t& next,
                            size_t text_bytes_max) {
  std::vector<Row> rows(count);
  for (Row& row : rows) {
    next += static_cast<int64_t>(1 + random() % 3);
    row.rowid = next;
    row.values = {next * 10};
    for (size_t i = 1; i < test::kColumns; ++i) row.values.push_back(test::RandomValue(random));
    if (random() % 9 == 0) row.values[1] = std::string(random() % text_bytes_max, 'k');
    if (random() % 9 == 0) row.values[5] = std::string(random() % text_bytes_max, 'v');
  }
  return rows;
}

class TreeGraftTest : public test::PagesTest {
 protected:
  // path_ and expected_ with `before`, source_ with `added`, and `added` in expected_ as well.
  void MakeAll(uint32_t page_bytes, const std::string& schema, const std::vector<Row>& before,
               const std::vector<Row>& added) {
    Make(page_bytes, schema);
    source_ = folder_ / "source.db";
    expected_ = folder_ / "expected.db";
    std::filesystem::copy_file(path_, source_, std::filesystem::copy_options::overwrite_existing);
    Insert(path_, before);
    Insert(source_, added);
    std::filesystem::copy_file(path_, expected_, std::filesystem::copy_options::overwrite_existing);
    Insert(expected_, added);
  }

  static void Insert(const std::string& path, const std::vector<Row>& rows) {
    Database db(path);
    db.Run("PRAGMA synchronous = OFF; BEGIN");
    ASSERT_NO_FATAL_FAILURE(test::InsertBySqlite(db, "t", rows));
    db.Run("COMMIT");
  }

  static std::vector<TreeGraft::Tree> Trees(const std::string& from, const std::string& to) {
    Database source(from);
    Database target(to);
    std::vector<TreeGraft::Tree> trees;
    for (const char* name : {"t", "t_c0", "t_some"}) {
      if (source.Ask("SELECT count(*) FROM sqlite_schema WHERE name = '" + std::string(name) +
                     "'") == "0") {
        continue;
      }
      trees.push_back({name != std::string("t"), source.RootPage(name), target.RootPage(name)});
    }
    return trees;
  }

  struct Outcome {
    bool committed = false;
    bool unfit = false;
  };

  // By whole leaves, or cell by cell.
  enum class Way { kLeaves, kCells };
  static constexpr Way kWays[] = {Way::kLeaves, Way::kCells};

  static Status AddTrees(TreeGraft& graft, const std::vector<TreeGraft::Tree>& trees, Way way) {
    if (way == Way::kLeaves) return graft.Add(trees);
    for (const TreeGraft::Tree& tree : trees) TRACEDB_TRY(graft.Append(tree));
    return Done{};
  }

  Outcome Graft(Way way) {
    const auto trees = Trees(source_, path_);
    auto staged = StagedChanges::Begin(path_, {});
    EXPECT_TRUE(staged.ok() && staged.value() != nullptr);
    const int source = open(source_.c_str(), O_RDONLY);
    const auto pages = std::filesystem::file_size(source_) / staged.value()->sizes().page_bytes;
    Outcome outcome;
    {
      // Somebody must count the change up, as the merge of the small tables does.
      auto db = staged.value()->Connect();
      EXPECT_TRUE(db.ok() && db.value().Execute("PRAGMA user_version = 7").ok());
    }
    TreeGraft graft(*staged.value(), {source, static_cast<uint32_t>(pages), source_});
    const Status added = AddTrees(graft, trees, way);
    outcome.unfit = !added.ok() && added.error().kind == ErrorKind::kUnfit;
    if (added.ok()) {
      const Status committed = staged.value()->Commit();
      outcome.committed = committed.ok();
      outcome.unfit = !committed.ok() && committed.error().kind == ErrorKind::kUnfit;
    }
    staged.value().reset();
    close(source);
    return outcome;
  }

  void ExpectAsExpected() {
    Database db(path_);
    db.Run("ATTACH '" + expected_ + "' AS expected");
    EXPECT_EQ(db.Ask("PRAGMA main.integrity_check"), "ok");
    ASSERT_NO_FATAL_FAILURE(test::ExpectSameRows(db, "main.t", "expected.t"));
    for (const std::string by : {" INDEXED BY t_c0 WHERE c0 > -1 ORDER BY c0, c1",
                                 " INDEXED BY t_some WHERE c2 > 0 AND c0 > -1 ORDER BY c0"}) {
      ASSERT_NO_FATAL_FAILURE(
          test::ExpectSameAnswers(db, "SELECT rowid, c0, c1, c2 FROM main.t" + by,
                                  "SELECT rowid, c0, c1, c2 FROM expected.t" + by));
    }
  }

  void ChangeBoth(std::mt19937_64& random) {
    const auto seed = std::to_string(random() % 1000);
    for (const std::string& path : {path_, expected_}) {
      Database db(path);
      db.Run(
          "PRAGMA synchronous = OFF; BEGIN;"
          "DELETE FROM t WHERE (rowid * 7 + " +
          seed +
          ") % 3 = 0;"
          "UPDATE t SET c0 = c0 + 5, c2 = 1 WHERE rowid % 5 = 0;"
          "INSERT INTO t(c0, c1, c2) SELECT c0 + 1000000, hex(zeroblob(rowid % 50)), 2 FROM t "
          "WHERE rowid % 4 = 0 ORDER BY rowid; COMMIT");
    }
  }

  std::string source_;
  std::string expected_;
};

TEST_F(TreeGraftTest, rows_of_any_number_behind_rows_of_any_number) {
  std::mt19937_64 random(41);
  for (const uint32_t page_bytes : {512u, 1024u, 4096u, 65536u}) {
    // Short enough for every row to be in its leaf.
    const size_t text_bytes_max = page_bytes / 24;
    for (const size_t before : {0u, 1u, 40u, 700u, 3000u}) {
      for (const size_t added : {0u, 1u, 2u, 40u, 700u, 3000u}) {
        int64_t next = 0;
        const auto first = RisingRows(random, before, next, text_bytes_max);
        const auto second = RisingRows(random, added, next, text_bytes_max);
        for (const Way way : kWays) {
          SCOPED_TRACE("page size " + std::to_string(page_bytes) + ", " + std::to_string(before) +
                       " rows, then " + std::to_string(added) +
                       (way == Way::kLeaves ? " by leaves" : " by cells"));
          ASSERT_NO_FATAL_FAILURE(MakeAll(page_bytes, kSchema, first, second));
          const Outcome outcome = Graft(way);
          if (!outcome.committed) {
            // Rows longer than a small page's share of a leaf, or a leaf of an index with a single
            // entry: left to SQLite, with the database as it was.
            EXPECT_TRUE(outcome.unfit);
            EXPECT_TRUE(page_bytes <= 1024 || (way == Way::kLeaves && added <= 2));
            Insert(path_, second);
          }
          ASSERT_NO_FATAL_FAILURE(ExpectAsExpected());
          ASSERT_NO_FATAL_FAILURE(ChangeBoth(random));
          ASSERT_NO_FATAL_FAILURE(ExpectAsExpected());
        }
      }
    }
  }
}

TEST_F(TreeGraftTest, many_times_one_behind_the_other) {
  std::mt19937_64 random(42);
  for (const Way way : kWays) {
    int64_t next = 0;
    ASSERT_NO_FATAL_FAILURE(MakeAll(1024, kSchema, {}, {}));
    const std::string empty = source_ + ".empty";
    std::filesystem::copy_file(source_, empty, std::filesystem::copy_options::overwrite_existing);
    int grafted = 0;
    for (int round = 0; round < 40; ++round) {
      const auto added = RisingRows(random, 100 + random() % 400, next, 20);
      std::filesystem::copy_file(empty, source_, std::filesystem::copy_options::overwrite_existing);
      Insert(source_, added);
      Insert(expected_, added);
      const bool committed = Graft(way).committed;
      grafted += committed ? 1 : 0;
      if (!committed) Insert(path_, added);
      ASSERT_NO_FATAL_FAILURE(ExpectAsExpected());
    }
    EXPECT_GT(grafted, 30);
  }
}

// As many pages as SQLite's own inserting leaves, which fills each leaf.
TEST_F(TreeGraftTest, cells_fill_the_leaves) {
  std::mt19937_64 random(47);
  int64_t next = 0;
  ASSERT_NO_FATAL_FAILURE(MakeAll(4096, kSchema, {}, {}));
  const std::string empty = source_ + ".empty";
  std::filesystem::copy_file(source_, empty);
  for (int round = 0; round < 60; ++round) {
    const auto added = RisingRows(random, 50, next, 20);
    std::filesystem::copy_file(empty, source_, std::filesystem::copy_options::overwrite_existing);
    Insert(source_, added);
    Insert(expected_, added);
    ASSERT_TRUE(Graft(Way::kCells).committed);
  }
  EXPECT_LE(std::filesystem::file_size(path_), std::filesystem::file_size(expected_));
}

// Several sources in the same changes: a connection sees the rows of each while they are copied,
// and what it adds after them goes into pages that are copied.
class GraftsTogether : public TreeGraftTest {
 protected:
  void SetUp() override {
    TreeGraftTest::SetUp();
    ASSERT_NO_FATAL_FAILURE(MakeAll(4096, kSchema, RisingRows(random_, 500, next_, 20), {}));
    std::filesystem::copy_file(path_, folder_ / "before.db");
    std::filesystem::copy_file(path_, empty_ = folder_ / "empty.db");
    Database(empty_).Run("DELETE FROM t; VACUUM");
    auto staged = StagedChanges::Begin(path_, {});
    ASSERT_TRUE(staged.ok() && staged.value() != nullptr);
    staged_ = std::move(staged.value());
    ASSERT_TRUE(staged_->Connect(connection_).ok());
  }
  void TearDown() override {
    staged_.reset();
    connection_.Drop();
    for (const int source : sources_) close(source);
  }

  // `rows` more rows, as pages, few of them cell by cell; then some through SQLite, which go into
  // the last of them.
  void AddBoth(size_t rows) {
    const auto added = RisingRows(random_, rows, next_, 20);
    const std::string source = folder_ / ("source-" + std::to_string(sources_.size()) + ".db");
    std::filesystem::copy_file(empty_, source);
    ASSERT_NO_FATAL_FAILURE(Insert(source, added));
    ASSERT_NO_FATAL_FAILURE(Insert(expected_, added));
    sources_.push_back(open(source.c_str(), O_RDONLY));
    const auto pages = std::filesystem::file_size(source) / staged_->sizes().page_bytes;
    TreeGraft graft(*staged_, {sources_.back(), static_cast<uint32_t>(pages), source});
    const Status grafted =
        AddTrees(graft, Trees(source, path_), rows < 1000 ? Way::kCells : Way::kLeaves);
    ASSERT_TRUE(grafted.ok()) << grafted.error().what;
    ASSERT_TRUE(staged_->CountPages().ok());
    ASSERT_NO_FATAL_FAILURE(ExpectSeen());
    next_ += 10;
    const std::string more = "INSERT INTO t(rowid, c0, c1) VALUES (" + std::to_string(next_) +
                             ", " + std::to_string(next_ * 10) + ", 'more')";
    ASSERT_TRUE(connection_.db->Execute(more.c_str()).ok());
    Database(expected_).Run(more);
    ASSERT_NO_FATAL_FAILURE(ExpectSeen());
  }
  void ExpectSeen() {
    for (const char* what : {"SELECT count(*) FROM t", "SELECT sum(c0) FROM t WHERE c0 > -1",
                             "SELECT count(*) FROM t INDEXED BY t_some WHERE c2 > 0"}) {
      const auto seen = connection_.db->Integer(what);
      ASSERT_TRUE(seen.ok()) << seen.error().what;
      EXPECT_EQ(std::to_string(seen.value()), Database(expected_).Ask(what));
    }
  }
  std::string Content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::mt19937_64 random_{46};
  int64_t next_ = 0;
  std::string empty_;
  std::vector<int> sources_;
  StagedConnection connection_;
  std::unique_ptr<StagedChanges> staged_;
};

TEST_F(GraftsTogether, all_are_there_after_one_commit) {
  for (const size_t rows : {3000u, 400u, 40u, 12000u, 1u, 900u})
    ASSERT_NO_FATAL_FAILURE(AddBoth(rows));
  EXPECT_EQ(Database(path_).Ask("SELECT count(*) FROM t"), "500");  // to others
  const Status committed = staged_->Commit();
  ASSERT_TRUE(committed.ok()) << committed.error().what;
  ASSERT_NO_FATAL_FAILURE(ExpectAsExpected());
  EXPECT_FALSE(std::filesystem::exists(path_ + "-journal"));
}

TEST_F(GraftsTogether, without_a_commit_not_a_byte_is_left) {
  for (const size_t rows : {12000u, 300u, 3000u}) ASSERT_NO_FATAL_FAILURE(AddBoth(rows));
  staged_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_ + "-journal"));
  EXPECT_EQ(Content(path_), Content(folder_ / "before.db"));
}

// The journal has no page then: it says how long the database was.
TEST_F(GraftsTogether, after_a_crash_while_pages_are_copied_sqlite_makes_it_what_it_was) {
  ASSERT_NO_FATAL_FAILURE(AddBoth(12000));
  while (std::filesystem::file_size(path_) <= std::filesystem::file_size(folder_ / "before.db")) {
    std::this_thread::yield();
  }
  const std::string crashed = folder_ / "crashed.db";
  std::filesystem::copy_file(path_, crashed);
  std::filesystem::copy_file(path_ + "-journal", crashed + "-journal");
  EXPECT_EQ(Database(crashed).Ask("SELECT count(*) FROM t"), "500");
  EXPECT_EQ(Database(crashed).Ask("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(Content(crashed), Content(folder_ / "before.db"));
  EXPECT_FALSE(std::filesystem::exists(crashed + "-journal"));
}

TEST_F(TreeGraftTest, a_row_beyond_its_page_changes_nothing) {
  std::mt19937_64 random(43);
  for (const size_t place : {0u, 500u, 999u}) {
    int64_t next = 0;
    const auto before = RisingRows(random, 500, next, 20);
    auto added = RisingRows(random, 1000, next, 20);
    added[place].values[5] = std::string(9000, 'L');
    for (const Way way : kWays) {
      ASSERT_NO_FATAL_FAILURE(MakeAll(4096, kSchema, before, added));
      const Outcome outcome = Graft(way);
      EXPECT_FALSE(outcome.committed);
      EXPECT_TRUE(outcome.unfit);
      Insert(path_, added);
      ASSERT_NO_FATAL_FAILURE(ExpectAsExpected());
    }
  }
}

TEST_F(TreeGraftTest, rows_that_do_not_come_last_are_refused) {
  std::mt19937_64 random(44);
  int64_t next = 0;
  auto before = RisingRows(random, 300, next, 20);
  auto added = RisingRows(random, 300, next, 20);
  std::swap(before, added);
  for (const Way way : kWays) {
    ASSERT_NO_FATAL_FAILURE(MakeAll(4096, "CREATE TABLE t(" + Columns() + ")", before, added));
    EXPECT_TRUE(Graft(way).unfit);
    EXPECT_EQ(Database(path_).Ask("SELECT count(*) FROM t"), "300");
  }
}

TEST_F(TreeGraftTest, pages_of_every_kind_of_damage_are_refused_or_harmless) {
  std::mt19937_64 random(45);
  int64_t next = 0;
  const auto before = RisingRows(random, 500, next, 20);
  const auto added = RisingRows(random, 2000, next, 20);
  ASSERT_NO_FATAL_FAILURE(MakeAll(1024, kSchema, before, added));
  const std::string good = folder_ / "good.db";
  const std::string good_source = folder_ / "good_source.db";
  std::filesystem::copy_file(path_, good);
  std::filesystem::copy_file(source_, good_source);
  const auto size = std::filesystem::file_size(source_);
  for (int round = 0; round < 600; ++round) {
    const auto all = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(good, path_, all);
    std::filesystem::copy_file(good_source, source_, all);
    // Not in the first page: SQLite itself refuses that one.
    const int file = open(source_.c_str(), O_WRONLY);
    for (int i = 0; i < 20; ++i) {
      const uint8_t byte = static_cast<uint8_t>(random());
      // Headers of pages more often than what lies behind them.
      auto at = 1024 + random() % (size - 1024);
      if (i % 2 == 0) at = at / 1024 * 1024 + random() % 16;
      ASSERT_EQ(pwrite(file, &byte, 1, static_cast<off_t>(at)), 1);
    }
    close(file);
    // It must end, and without what a sanitizer reports; what the rows then are nobody can say.
    Graft(kWays[round % 2]);
  }
}

}  // namespace
}  // namespace tracedb
