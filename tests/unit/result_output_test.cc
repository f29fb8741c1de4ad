#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "query_fixture.h"
#include "tracedb/text/output_file.h"

namespace tracedb {
namespace {

std::string Contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int Entries(const std::filesystem::path& folder) {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(ResultOutput, AFileAppearsWhenItIsCommitted) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "out.csv";
  std::ofstream(path) << "old";
  chmod(path.c_str(), 0640);
  {
    auto output = FileOutput::Create(path, {});
    ASSERT_TRUE(output.ok());
    ASSERT_TRUE(output.value()->Write(std::string(200'000, 'x')).ok());
    EXPECT_EQ(Contents(path), "old");
    ASSERT_TRUE(output.value()->Commit().ok());
  }
  EXPECT_EQ(Contents(path), std::string(200'000, 'x'));
  EXPECT_EQ(Entries(folder.path()), 1);
  struct stat now {};
  stat(path.c_str(), &now);
  EXPECT_EQ(now.st_mode & 07777u, 0640u);
}

TEST(ResultOutput, AFileThatIsNotCommittedLeavesNothing) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "out.csv";
  std::ofstream(path) << "old";
  {
    auto output = FileOutput::Create(path, {});
    ASSERT_TRUE(output.ok());
    ASSERT_TRUE(output.value()->Write("new").ok());
    ASSERT_TRUE(output.value()->Flush().ok());
    EXPECT_EQ(Entries(folder.path()), 1);  // what is written has no name yet
  }
  EXPECT_EQ(Contents(path), "old");
  EXPECT_EQ(Entries(folder.path()), 1);
}

TEST(ResultOutput, ALinkStaysALink) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "real.csv") << "old";
  std::filesystem::create_symlink("real.csv", folder.path() / "link.csv");
  auto output = FileOutput::Create(folder.path() / "link.csv", {});
  ASSERT_TRUE(output.ok());
  ASSERT_TRUE(output.value()->Write("new").ok());
  ASSERT_TRUE(output.value()->Commit().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link.csv"));
  EXPECT_EQ(Contents(folder.path() / "real.csv"), "new");
}

TEST(ResultOutput, ADeviceIsWrittenTo) {
  auto output = FileOutput::Create("/dev/null", {});
  ASSERT_TRUE(output.ok());
  ASSERT_TRUE(output.value()->Write("new").ok());
  ASSERT_TRUE(output.value()->Commit().ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(ResultOutput, AFullDiskIsAnErrorWithThePath) {
  auto output = FileOutput::Create("/dev/full", {});
  ASSERT_TRUE(output.ok());
  ASSERT_TRUE(output.value()->Write("new").ok());
  const Status committed = output.value()->Commit();
  ASSERT_FALSE(committed.ok());
  EXPECT_EQ(committed.error().kind, ErrorKind::kOutput);
  EXPECT_EQ(committed.error().what, "/dev/full: cannot write: No space left on device");
  EXPECT_EQ(committed.error().advice, "free some space there, or write elsewhere");
}

TEST(ResultOutput, AFolderThatIsNotThereIsAnError) {
  const TemporaryFolder folder;
  auto output = FileOutput::Create(folder.path() / "none" / "out.csv", {});
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().what, (folder.path() / "none" / "out.csv").string() +
                                     ": cannot make the file: No such file or directory");
  EXPECT_FALSE(FileOutput::Create(folder.path(), {}).ok());
}

TEST(ResultOutput, AReaderThatHasGoneIsClosed) {
  signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  DescriptorOutput output(ends[1], "standard output");
  ASSERT_TRUE(output.Write("x").ok());
  const Status flushed = output.Flush();
  close(ends[1]);
  ASSERT_FALSE(flushed.ok());
  EXPECT_EQ(flushed.error().kind, ErrorKind::kClosed);
}

}  // namespace
}  // namespace tracedb
