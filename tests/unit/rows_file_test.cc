// RowsFile: once its file is the database, nothing of it may be in the way of the database's locks.

#include "tracedb/ingest/load/rows_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "tracedb/base/descriptor.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// As another process sees it.
bool IsLocked(const fs::path& file) {
  const pid_t child = fork();
  if (child == 0) {
    const int opened = open(file.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    _exit(fcntl(opened, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

class RowsFileTest : public testing::Test {
 protected:
  RowsFileTest()
      : folder_(fs::path(testing::TempDir()) / ("rows_file" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~RowsFileTest() override { fs::remove_all(folder_); }

  fs::path folder_;
};

// A process loses all its locks on a file when it closes any descriptor of it: SQLite's, while a
// later trace lands, so that a reader took the journal for that of a crash.
TEST_F(RowsFileTest, WhoeverThrowsItAwayLeavesTheDatabasesLocks) {
  const fs::path database = folder_ / "trace.db";
  auto made = RowsFile::Make(database);
  ASSERT_TRUE(made.ok());
  std::optional<RowsFile> rows(std::move(made).value());
  fs::rename(rows->path(), database);
  rows->Landed();
  const Descriptor locked(open(database.c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  ASSERT_EQ(fcntl(locked.number, F_SETLK, &lock), 0);
  EXPECT_TRUE(IsLocked(database));
  rows.reset();
  EXPECT_TRUE(IsLocked(database));
  EXPECT_TRUE(fs::exists(database));
}

TEST_F(RowsFileTest, WithoutALandingItGoes) {
  auto made = RowsFile::Make(folder_ / "trace.db");
  ASSERT_TRUE(made.ok());
  std::optional<RowsFile> rows(std::move(made).value());
  const fs::path path = rows->path();
  EXPECT_TRUE(fs::exists(path));
  rows.reset();
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace tracedb
