#include "tracedb/base/remove_tree.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tracedb/base/folder_entries.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

class TreeTest : public testing::Test {
 protected:
  TreeTest() {
    std::string name = (fs::temp_directory_path() / "tracedb-tree-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~TreeTest() override { fs::remove_all(folder_); }

  void Write(const fs::path& name) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << "text";
  }

  fs::path folder_;
};

class RemoveTreeOf : public TreeTest {};
class FolderEntriesOf : public TreeTest {};

TEST_F(RemoveTreeOf, files_and_folders_in_it_go) {
  for (int i = 0; i < 700; ++i) Write("gone/file" + std::to_string(i));  // several reads of names
  Write("gone/.hidden/deep/er/file");
  Write("stays");
  RemoveTree((folder_ / "gone").c_str());
  EXPECT_FALSE(fs::exists(folder_ / "gone"));
  EXPECT_TRUE(fs::exists(folder_ / "stays"));
}

TEST_F(RemoveTreeOf, links_are_not_followed) {
  Write("kept/file");
  fs::create_directory(folder_ / "gone");
  fs::create_directory_symlink(folder_ / "kept", folder_ / "gone" / "link");
  fs::create_directory_symlink(folder_ / "kept", folder_ / "link");
  RemoveTree((folder_ / "gone").c_str());
  RemoveTree((folder_ / "link").c_str());
  EXPECT_FALSE(fs::exists(fs::symlink_status(folder_ / "gone")));
  EXPECT_FALSE(fs::exists(fs::symlink_status(folder_ / "link")));
  EXPECT_TRUE(fs::exists(folder_ / "kept" / "file"));
}

TEST_F(RemoveTreeOf, what_is_not_there_is_no_matter) {
  RemoveTree((folder_ / "none").c_str());
  RemoveTree("");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(FolderEntriesOf, files_folders_and_links_are_told_apart) {
  Write("file");
  Write("folder/inside");
  fs::create_symlink("file", folder_ / "to_file");
  fs::create_symlink("folder", folder_ / "to_folder");
  fs::create_symlink("none", folder_ / "to_nothing");
  size_t seen = 0;
  for (FolderEntries entries(folder_); entries.Next(); ++seen) {
    const std::string name(entries.name());
    EXPECT_EQ(entries.path(), folder_ / name);
    EXPECT_EQ(entries.IsLink(), name.starts_with("to_")) << name;
    EXPECT_EQ(entries.IsFolder(), name.ends_with("folder")) << name;
    EXPECT_EQ(entries.IsFile(), name.ends_with("file")) << name;
  }
  EXPECT_EQ(seen, 5U);
}

TEST_F(FolderEntriesOf, a_folder_that_is_not_there_is_an_error) {
  FolderEntries entries(folder_ / "none");
  EXPECT_FALSE(entries.Next());
  EXPECT_EQ(entries.error(), std::errc::no_such_file_or_directory);
  FolderEntries here(folder_);
  EXPECT_FALSE(here.Next());
  EXPECT_FALSE(here.error());
}

}  // namespace
}  // namespace tracedb
