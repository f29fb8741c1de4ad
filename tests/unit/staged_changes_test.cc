// StagedChanges among other connections to the same database: what they see and when, who waits
// for whom, and that its rollback journal is one that SQLite rolls back.

#include "tracedb/pages/staged_changes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "page_test_tools.h"

namespace tracedb {
namespace {

using test::Database;

constexpr StagedChanges::Wait kNoWait{};

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class StagedChangesTest : public test::PagesTest {
 protected:
  void MakeFilled(uint32_t page_bytes) {
    Make(page_bytes,
         "CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE INDEX t_b ON t(b); "
         "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
         "INSERT INTO t SELECT i, hex(i * 7919 % 5003) FROM n");
  }

  std::unique_ptr<StagedChanges> Begin(StagedChanges::Wait wait = kNoWait) {
    auto staged = StagedChanges::Begin(path_, wait);
    EXPECT_TRUE(staged.ok());
    return staged.ok() ? std::move(staged.value()) : nullptr;
  }

  // In old pages and in new ones.
  static void Change(StagedChanges& staged) {
    auto db = staged.Connect();
    ASSERT_TRUE(db.ok()) << db.error().what;
    const Status changed = db.value().Execute(
        "UPDATE t SET b = b || 'x' WHERE a % 3 = 0; DELETE FROM t WHERE a % 7 = 0;"
        "INSERT INTO t SELECT a + 100000, hex(b) FROM t; CREATE TABLE u AS SELECT * FROM t");
    ASSERT_TRUE(changed.ok()) << changed.error().what;
  }

  bool HasJournal() const { return std::filesystem::exists(path_ + "-journal"); }
};

TEST_F(StagedChangesTest, changes_are_seen_once_they_are_committed) {
  for (const uint32_t page_bytes : {512u, 4096u, 65536u}) {
    SCOPED_TRACE(page_bytes);
    MakeFilled(page_bytes);
    const std::string expected = folder_ / "expected.db";
    std::filesystem::copy_file(path_, expected, std::filesystem::copy_options::overwrite_existing);
    auto staged = Begin();
    ASSERT_NE(staged, nullptr);
    ASSERT_NO_FATAL_FAILURE(Change(*staged));
    Database reader(path_);
    EXPECT_EQ(reader.Ask("SELECT count(*) FROM t"), "5000");
    EXPECT_EQ(staged->Connect().value().Integer("SELECT count(*) FROM u").value(), 8572);
    const Status committed = staged->Commit();
    ASSERT_TRUE(committed.ok()) << committed.error().what;
    staged.reset();
    EXPECT_FALSE(HasJournal());
    EXPECT_EQ(reader.Ask("SELECT count(*) FROM u"), "8572");
    EXPECT_EQ(reader.Ask("PRAGMA integrity_check"), "ok");
    Database by_sqlite(expected);
    by_sqlite.Run(
        "UPDATE t SET b = b || 'x' WHERE a % 3 = 0; DELETE FROM t WHERE a % 7 = 0;"
        "INSERT INTO t SELECT a + 100000, hex(b) FROM t; "
        "CREATE TABLE u AS SELECT * FROM t");
    by_sqlite.Run("ATTACH '" + path_ + "' AS ours");
    for (const std::string table : {"t", "u"}) {
      ASSERT_NO_FATAL_FAILURE(test::ExpectSameRows(by_sqlite, "main." + table, "ours." + table));
    }
    reader.Run("PRAGMA synchronous = OFF; DELETE FROM t WHERE a % 2; VACUUM");
    EXPECT_EQ(reader.Ask("PRAGMA integrity_check"), "ok");
  }
}

TEST_F(StagedChangesTest, a_kept_connection_is_to_the_database_itself_between_changes) {
  MakeFilled(4096);
  auto opened = StagedConnection::Open(path_);
  ASSERT_TRUE(opened.ok());
  StagedConnection& kept = opened.value();
  Database other(path_);
  const auto seen = [&](const std::string& what) {
    const std::string count = "SELECT count(*) FROM t WHERE b = '" + what + "'";
    return std::to_string(kept.db->Integer(count).value()) + " " + other.Ask(count);
  };
  for (const std::string turn : {"0", "1"}) {
    other.Run("INSERT INTO t(b) VALUES ('other" + turn + "')");
    EXPECT_EQ(seen("other" + turn), "1 1");

    auto staged = Begin();
    ASSERT_TRUE(staged != nullptr && staged->Connect(kept).ok());
    ASSERT_TRUE(kept.db->Execute("INSERT INTO t(b) VALUES ('staged" + turn + "')").ok());
    EXPECT_EQ(seen("staged" + turn), "1 0");
    ASSERT_TRUE(staged->Commit().ok());
    staged.reset();
    ASSERT_TRUE(kept.LeaveChanges().ok());
    EXPECT_EQ(seen("staged" + turn), "1 1");

    // Its own have SQLite's journal and locks.
    ASSERT_TRUE(kept.db->Execute("BEGIN; INSERT INTO t(b) VALUES ('own" + turn + "')").ok());
    EXPECT_TRUE(HasJournal());
    auto third = SqliteDb::Open(path_, SqliteMode::kReadWrite);
    ASSERT_TRUE(third.ok());
    EXPECT_FALSE(third.value().Execute("BEGIN IMMEDIATE").ok());
    EXPECT_EQ(seen("own" + turn), "1 0");
    ASSERT_TRUE(kept.db->Execute(turn == "0" ? "ROLLBACK" : "COMMIT").ok());
    EXPECT_FALSE(HasJournal());
    EXPECT_EQ(seen("own" + turn), turn == "0" ? "0 0" : "1 1");
  }
  EXPECT_EQ(other.Ask("PRAGMA integrity_check"), "ok");
}

TEST_F(StagedChangesTest, without_a_commit_not_a_byte_changes) {
  MakeFilled(4096);
  const std::string before = Bytes(path_);
  {
    auto staged = Begin();
    ASSERT_NE(staged, nullptr);
    ASSERT_NO_FATAL_FAILURE(Change(*staged));
    // What is new is after the database's end, where nobody looks.
    EXPECT_TRUE(Bytes(path_).starts_with(before));
    EXPECT_GT(Bytes(path_).size(), before.size());
    Database reader(path_);
    EXPECT_EQ(reader.Ask("SELECT count(*) FROM t"), "5000");
  }
  EXPECT_TRUE(Bytes(path_) == before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(StagedChangesTest, another_writer_waits) {
  MakeFilled(4096);
  auto staged = Begin();
  ASSERT_NE(staged, nullptr);
  Database other(path_);
  EXPECT_EQ(sqlite3_exec(other.get(), "DELETE FROM t", nullptr, nullptr, nullptr), SQLITE_BUSY);
  EXPECT_FALSE(StagedChanges::Begin(path_, kNoWait).ok());
  staged.reset();
  other.Run("DELETE FROM t WHERE a = 1");
  other.Run("BEGIN IMMEDIATE");
  const auto second = StagedChanges::Begin(path_, {.ms = 30, .stop = nullptr});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().what.find("locked"), std::string::npos) << second.error().what;
}

TEST_F(StagedChangesTest, a_reader_who_stays_makes_the_commit_fail_with_nothing_changed) {
  MakeFilled(4096);
  const std::string before = Bytes(path_);
  Database reader(path_);
  reader.Run("BEGIN");
  EXPECT_EQ(reader.Ask("SELECT count(*) FROM t"), "5000");
  auto staged = Begin({.ms = 100, .stop = nullptr});
  ASSERT_NE(staged, nullptr);
  ASSERT_NO_FATAL_FAILURE(Change(*staged));
  const Status committed = staged->Commit();
  ASSERT_FALSE(committed.ok());
  EXPECT_NE(committed.error().what.find("locked"), std::string::npos) << committed.error().what;
  staged.reset();
  EXPECT_FALSE(HasJournal());
  EXPECT_EQ(reader.Ask("SELECT count(*) FROM t"), "5000");
  reader.Run("COMMIT");
  EXPECT_EQ(Bytes(path_), before);
}

TEST_F(StagedChangesTest, a_reader_who_leaves_lets_the_commit_go_on) {
  MakeFilled(4096);
  Database reader(path_);
  reader.Run("BEGIN");
  EXPECT_EQ(reader.Ask("SELECT count(*) FROM t"), "5000");
  auto staged = Begin({.ms = 20'000, .stop = nullptr});
  ASSERT_NE(staged, nullptr);
  ASSERT_NO_FATAL_FAILURE(Change(*staged));
  std::thread leaving([&reader] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    reader.Run("COMMIT");
  });
  const Status committed = staged->Commit();
  leaving.join();
  EXPECT_TRUE(committed.ok()) << committed.error().what;
  EXPECT_EQ(reader.Ask("SELECT count(*) FROM u"), "8572");
}

TEST_F(StagedChangesTest, told_to_stop_it_goes_back) {
  MakeFilled(4096);
  const std::string before = Bytes(path_);
  Database reader(path_);
  reader.Run("BEGIN");
  EXPECT_EQ(reader.Ask("SELECT count(*) FROM t"), "5000");
  std::atomic<bool> stop = false;
  auto staged = Begin({.ms = 20'000, .stop = &stop});
  ASSERT_NE(staged, nullptr);
  ASSERT_NO_FATAL_FAILURE(Change(*staged));
  stop = true;
  EXPECT_FALSE(staged->Commit().ok());
  staged.reset();
  EXPECT_FALSE(HasJournal());
  EXPECT_EQ(Bytes(path_), before);
}

// While the commit waits for a reader, journal and new pages are on the disk: that is a crash at
// the last moment, if the old pages are garbage as well.
TEST_F(StagedChangesTest, sqlite_rolls_back_from_the_journal) {
  for (const uint32_t page_bytes : {512u, 4096u, 65536u}) {
    SCOPED_TRACE(page_bytes);
    MakeFilled(page_bytes);
    const std::string before = Bytes(path_);
    Database reader(path_);
    reader.Run("BEGIN");
    EXPECT_EQ(reader.Ask("SELECT count(*) FROM t"), "5000");
    std::atomic<bool> stop = false;
    auto staged = Begin({.ms = 60'000, .stop = &stop});
    ASSERT_NE(staged, nullptr);
    ASSERT_NO_FATAL_FAILURE(Change(*staged));
    std::thread committing([&staged] { EXPECT_FALSE(staged->Commit().ok()); });
    // The database is lengthened after the journal is whole.
    while (std::filesystem::file_size(path_) == before.size()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const std::string crashed = folder_ / "crashed.db";
    std::filesystem::copy_file(path_, crashed, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::copy_file(path_ + "-journal", crashed + "-journal",
                               std::filesystem::copy_options::overwrite_existing);
    stop = true;
    committing.join();
    staged.reset();
    EXPECT_EQ(Bytes(path_), before);
    // Every page that the journal has.
    const std::string journal = Bytes(crashed + "-journal");
    const int file = open(crashed.c_str(), O_WRONLY);
    size_t pages = 0;
    for (size_t at = 4096; at < journal.size(); at += page_bytes + 8, ++pages) {
      const uint32_t number = test::BigEndian(journal, at);
      const std::string garbage(page_bytes, '\xaa');
      ASSERT_EQ(pwrite(file, garbage.data(), page_bytes, off_t{number - 1} * page_bytes),
                page_bytes);
    }
    close(file);
    EXPECT_GT(pages, 2u);
    EXPECT_EQ(Database(crashed).Ask("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(Bytes(crashed), before);
  }
}

TEST_F(StagedChangesTest, databases_that_pages_cannot_be_added_to) {
  for (const std::string pragma :
       {"PRAGMA journal_mode = WAL", "PRAGMA encoding = 'UTF-16'", "PRAGMA auto_vacuum = FULL"}) {
    SCOPED_TRACE(pragma);
    Make(4096, pragma + "; CREATE TABLE t(a)");
    EXPECT_EQ(Begin(), nullptr);
    Database(path_).Run("INSERT INTO t VALUES(1)");  // it left no lock behind
  }
  Make(4096, "CREATE TABLE t(a)");
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) + 100);
  EXPECT_EQ(Begin(), nullptr);
}

// New pages go past the one that holds SQLite's locks.
TEST_F(StagedChangesTest, the_page_with_the_lock_bytes_is_left_out) {
  constexpr uint32_t kPageBytes = 65536;
  Make(kPageBytes, "CREATE TABLE t(a)");
  ASSERT_NO_FATAL_FAILURE(test::GrowToLockPage(path_, kPageBytes, 3));
  auto staged = Begin();
  ASSERT_NE(staged, nullptr);
  constexpr uint32_t kLockPage = (1u << 30) / kPageBytes + 1;
  std::vector<uint32_t> numbers;
  for (int i = 0; i < 5; ++i) numbers.push_back(staged->NewPage().value());
  EXPECT_EQ(numbers, (std::vector<uint32_t>{kLockPage - 3, kLockPage - 2, kLockPage - 1,
                                            kLockPage + 1, kLockPage + 2}));
}

}  // namespace
}  // namespace tracedb
