// PageFile: what it refuses, what it does when the disk fails it, and the page it must not use.

#include "tracedb/pages/page_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "page_test_tools.h"
#include "pages/table_appender.h"
#include "tracedb/pages/page_bytes.h"
#include "tracedb/pages/record_encoder.h"

namespace tracedb {
namespace {

using test::Database;
using test::Encode;

class PageFileTest : public test::PagesTest {
 protected:
  // Opening must fail with a message that names the file and has `part` in it.
  void ExpectRefused(const std::string& part) {
    const auto file = PageFile::Open(path_);
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().kind, ErrorKind::kOutput);
    EXPECT_EQ(file.error().what.find(path_), 0u) << file.error().what;
    EXPECT_NE(file.error().what.find(part), std::string::npos) << file.error().what;
    EXPECT_FALSE(file.error().advice.empty());
  }

  void ExpectNoEmptyTable(uint32_t root_page, const std::string& part) {
    auto file = PageFile::Open(path_);
    ASSERT_TRUE(file.ok()) << file.error().what;
    const auto appender = TableAppender::Create(*file.value(), root_page);
    ASSERT_FALSE(appender.ok());
    EXPECT_EQ(appender.error().what.find(path_), 0u) << appender.error().what;
    EXPECT_NE(appender.error().what.find(part), std::string::npos) << appender.error().what;
  }

  void WriteFile(const std::string& content) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
  }
};

TEST_F(PageFileTest, what_is_no_database_is_refused) {
  ExpectRefused("No such file");
  WriteFile("");
  ExpectRefused("too short");
  WriteFile(std::string(5000, 'x'));
  ExpectRefused("not a SQLite database");
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  ExpectRefused("directory");
}

TEST_F(PageFileTest, a_fifo_is_refused) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  ExpectRefused("not a regular file");
}

TEST_F(PageFileTest, modes_that_the_pages_would_break_are_refused) {
  Make(4096, "PRAGMA journal_mode = WAL; CREATE TABLE t(c)");
  ExpectRefused("WAL");
  Make(4096, "PRAGMA auto_vacuum = FULL; CREATE TABLE t(c)");
  ExpectRefused("auto_vacuum");
  Make(4096, "PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE t(c)");
  ExpectRefused("auto_vacuum");
  Make(4096, "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(c)");
  ExpectRefused("UTF-16");
}

TEST_F(PageFileTest, a_length_that_is_not_the_headers_is_refused) {
  Make(4096, "CREATE TABLE t(c)");
  for (off_t bytes : {8191, 4096, 8193, 12288}) {
    ASSERT_EQ(truncate(path_.c_str(), bytes), 0);
    ExpectRefused("its header says 8192");
  }
  ASSERT_EQ(truncate(path_.c_str(), 8192), 0);
  EXPECT_TRUE(PageFile::Open(path_).ok());
  Patch(95, {77});  // version-valid-for differs from the change counter
  ExpectRefused("its header says");
}

TEST_F(PageFileTest, damaged_page_sizes_are_refused) {
  Make(512, "CREATE TABLE t(c)");
  Patch(20, {33});  // reserved: 479 bytes would be left
  ExpectRefused("page size");
  Patch(20, {0});
  for (const auto& size : std::vector<std::vector<uint8_t>>{{0, 0}, {1, 0}, {3, 0}, {0, 2}}) {
    Patch(16, size);
    ExpectRefused("page size");
  }
}

TEST_F(PageFileTest, a_journal_to_be_played_back_is_refused_a_used_one_is_not) {
  Make(4096, "CREATE TABLE t(c)");
  std::ofstream(path_ + "-journal") << std::string(512, '\0');
  EXPECT_TRUE(PageFile::Open(path_).ok());
  std::ofstream(path_ + "-journal") << "\xd9\xd5\x05\xf9";
  ExpectRefused("unfinished transaction");
}

TEST_F(PageFileTest, a_file_that_may_not_be_written_is_refused) {
  Make(4096, "CREATE TABLE t(c)");
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  const uid_t user = geteuid();
  // Root may write anything: be nobody for a moment.
  if (user == 0) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const auto file = PageFile::Open(path_);
  ASSERT_EQ(seteuid(user), 0);
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().what.find("Permission denied"), std::string::npos) << file.error().what;
  EXPECT_FALSE(file.error().advice.empty());
}

TEST_F(PageFileTest, only_the_root_of_an_empty_rowid_table_can_be_filled) {
  Make(1024,
       "CREATE TABLE full(c); INSERT INTO full VALUES(1);"
       "CREATE TABLE without(c PRIMARY KEY) WITHOUT ROWID;"
       "CREATE TABLE big(c); CREATE INDEX i ON full(c);"
       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
       "INSERT INTO big SELECT i FROM n");
  std::vector<uint32_t> roots;
  {
    Database db(path_);
    for (const char* name : {"full", "without", "big", "i"}) roots.push_back(db.RootPage(name));
  }
  for (uint32_t root : roots) ExpectNoEmptyTable(root, "not the root of an empty rowid table");
  for (uint32_t root : {0u, 1u, 1000u, 0xffffffffu}) ExpectNoEmptyTable(root, "no table's root");
}

size_t OpenFiles() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

TEST_F(PageFileTest, the_file_is_closed_once_with_and_without_finish) {
  Make(4096, "CREATE TABLE t(c)");
  const size_t before = OpenFiles();
  for (const bool finish : {true, false}) {
    auto file = PageFile::Open(path_, {.start_writeback_early = false, .sync_at_finish = true});
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(OpenFiles(), before + 1);
    if (finish) {
      ASSERT_TRUE(file.value()->Finish().ok());
      // Another file may get the same number now: the destructor must leave it alone.
      const int other = open("/dev/null", O_RDONLY);
      file.value().reset();
      EXPECT_EQ(close(other), 0);
    }
  }
  EXPECT_EQ(OpenFiles(), before);
  Database db(path_);
  EXPECT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
}

// A limit on this process's files stands for a full disk while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_signal_(signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &old_), 0);
    const rlimit limit = {bytes, old_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() {
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &old_), 0);
    signal(SIGXFSZ, old_signal_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_ = {};
  void (*old_signal_)(int);
};

TEST_F(PageFileTest, a_disk_that_fills_up_gives_an_error_and_keeps_giving_it) {
  RecordEncoder encoder;
  const std::string row_text(100, 'r');
  // The limit lies within the second write of a full buffer, so that write is cut short.
  for (const size_t text_bytes : {size_t{100}, size_t{3'000'000}}) {
    Make(4096, "CREATE TABLE t(c)");
    auto file = PageFile::Open(path_);
    ASSERT_TRUE(file.ok());
    auto appender = TableAppender::Create(*file.value(), 2);
    ASSERT_TRUE(appender.ok());
    const auto record = Encode(encoder, {std::string(text_bytes, 'r')});
    const FileSizeLimit limit(1'500'000);
    Status status = Done{};
    for (int64_t rowid = 0; status.ok() && rowid < 100'000; ++rowid) {
      status = appender.value().Append(rowid, record);
    }
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().kind, ErrorKind::kOutput);
    EXPECT_EQ(status.error().what, path_ + ": cannot write to it: File too large");
    EXPECT_FALSE(status.error().advice.empty());
    const Status finished = file.value()->Finish();
    ASSERT_FALSE(finished.ok());
    EXPECT_EQ(finished.error().what, status.error().what);
  }
}

TEST_F(PageFileTest, a_disk_that_is_full_at_the_very_end_gives_an_error) {
  Make(4096, "CREATE TABLE t(c)");
  auto file = PageFile::Open(path_);
  ASSERT_TRUE(file.ok());
  auto appender = TableAppender::Create(*file.value(), 2);
  ASSERT_TRUE(appender.ok());
  RecordEncoder encoder;
  ASSERT_TRUE(appender.value().Append(1, Encode(encoder, {std::string(50'000, 'r')})).ok());
  ASSERT_TRUE(appender.value().Finish().ok());  // only the root page is written so far
  const FileSizeLimit limit(10'000);
  EXPECT_FALSE(file.value()->Finish().ok());
}

TEST_F(PageFileTest, the_page_with_sqlites_lock_bytes_is_left_out) {
  RecordEncoder encoder;
  for (uint32_t page_bytes : {4096u, 65536u}) {
    // First a chain of three overflow pages, then leaves: each gets to lie around the lock page.
    for (uint32_t pages_before = 0; pages_before <= 6; ++pages_before) {
      SCOPED_TRACE(std::to_string(page_bytes) + ", " + std::to_string(pages_before));
      const uint32_t lock_page = (1u << 30) / page_bytes + 1;
      Make(page_bytes, "CREATE TABLE t(c); CREATE TABLE u(c)");
      ASSERT_NO_FATAL_FAILURE(test::GrowToLockPage(path_, page_bytes, pages_before));
      auto file = PageFile::Open(path_);
      ASSERT_TRUE(file.ok()) << file.error().what;
      auto appender = TableAppender::Create(*file.value(), 2);
      ASSERT_TRUE(appender.ok());
      const std::string text(3 * page_bytes, 't');
      ASSERT_TRUE(appender.value().Append(1, Encode(encoder, {text})).ok());
      for (int64_t rowid = 2; rowid <= 3000; ++rowid) {
        ASSERT_TRUE(appender.value().Append(rowid, Encode(encoder, {std::string(99, 'x')})).ok());
      }
      ASSERT_TRUE(appender.value().Finish().ok());
      ASSERT_TRUE(file.value()->Finish().ok());
      ASSERT_GT(file.value()->page_count(), lock_page);

      std::ifstream raw(path_, std::ios::binary);
      std::string locked(page_bytes, 'x');
      raw.seekg(std::streamoff{1} << 30);
      raw.read(locked.data(), page_bytes);
      EXPECT_EQ(locked, std::string(page_bytes, '\0'));
      Database db(path_);
      EXPECT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
      EXPECT_EQ(db.Ask("SELECT c FROM t WHERE rowid = 1"), text);
      EXPECT_EQ(db.Ask("SELECT sum(length(c)) FROM t WHERE rowid > 1"), std::to_string(2999 * 99));
      db.Run(
          "PRAGMA synchronous = OFF; DELETE FROM t WHERE rowid % 2; INSERT INTO u SELECT c FROM t");
      EXPECT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
      db.Run("VACUUM");
      EXPECT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
      EXPECT_EQ(db.Ask("SELECT count(*) FROM u"), "1500");
    }
  }
}

}  // namespace
}  // namespace tracedb
