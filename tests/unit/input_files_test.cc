// What the inputs of a command stand for.

#include "tracedb/ingest/read/input_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "query_fixture.h"

namespace tracedb {
namespace {

class InputFilesTest : public testing::Test {
 protected:
  std::string Make(const std::string& name) {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "{}";
    return path.string();
  }

  // The files found, by their names below the folder.
  std::vector<std::string> Found(const std::vector<std::string>& inputs) {
    const auto found = FindInputFiles(inputs);
    EXPECT_TRUE(found.ok());
    std::vector<std::string> names;
    if (!found.ok()) return names;
    for (const InputFile& file : found.value()) {
      names.push_back(file.path.lexically_relative(folder_.path()).string());
    }
    return names;
  }
  std::vector<std::string> FoundInFolder() { return Found({folder_.path().string()}); }

  using Names = std::vector<std::string>;
  TemporaryFolder folder_;
};

TEST_F(InputFilesTest, numbers_in_names_are_ordered_by_value) {
  for (const char* name : {"rank10.json", "rank2.json", "rank1.json", "rank100.json", "a.json"}) {
    Make(name);
  }
  EXPECT_EQ(FoundInFolder(),
            (Names{"a.json", "rank1.json", "rank2.json", "rank10.json", "rank100.json"}));
}

TEST_F(InputFilesTest, numbers_of_any_length_and_leading_zeros_are_ordered_by_value) {
  for (const char* name : {"r123456789012345678901234567890.json", "r0010.json", "r9.json",
                           "r008.json", "r99999999999999999999999999999.json"}) {
    Make(name);
  }
  EXPECT_EQ(FoundInFolder(),
            (Names{"r008.json", "r9.json", "r0010.json", "r99999999999999999999999999999.json",
                   "r123456789012345678901234567890.json"}));
}

TEST_F(InputFilesTest, a_folder_is_searched_below_and_names_of_traces_are_told_from_others) {
  for (const char* name : {"a.json", "b.json.gz", "deep/er/c.json.zst", "d.txt", "e.json.tmp",
                           ".hidden.json", "f.pt.trace.json", "g.gz", "json"}) {
    Make(name);
  }
  EXPECT_EQ(FoundInFolder(), (Names{"a.json", "b.json.gz", "d.txt", "deep/er/c.json.zst",
                                    "f.pt.trace.json", "g.gz", "json"}));
  const auto found = FindInputFiles({folder_.path().string()});
  ASSERT_TRUE(found.ok());
  Names like_traces;
  for (const InputFile& file : found.value()) {
    if (file.is_named_like_trace) like_traces.push_back(file.path.filename());
  }
  EXPECT_EQ(like_traces, (Names{"a.json", "b.json.gz", "c.json.zst", "f.pt.trace.json"}));
}

TEST_F(InputFilesTest, in_hidden_folders_names_of_traces_alone_are_looked_at) {
  for (const char* name : {".git/config", ".git/objects/ab/c", ".cache/deep/a.json", "log.txt"}) {
    Make(name);
  }
  EXPECT_EQ(FoundInFolder(), (Names{".cache/deep/a.json", "log.txt"}));
}

TEST_F(InputFilesTest, files_are_taken_as_named_in_the_order_given) {
  const std::string odd = Make("odd.name");
  const std::string trace = Make("a.json");
  EXPECT_EQ(Found({odd, trace, odd}), (Names{"odd.name", "a.json", "odd.name"}));
}

TEST_F(InputFilesTest, only_files_found_by_searching_are_marked_so) {
  const std::string named = Make("x/a.json");
  const auto found = FindInputFiles({named, (folder_.path() / "x").string(), "-"});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found.value().size(), 3u);
  EXPECT_FALSE(found.value()[0].is_searched());
  EXPECT_TRUE(found.value()[1].is_searched());
  EXPECT_FALSE(found.value()[2].is_searched());
  EXPECT_EQ(found.value()[2].path, "-");
}

TEST_F(InputFilesTest, what_is_missing_is_an_error_that_names_it) {
  const std::string missing = (folder_.path() / "missing.json").string();
  const auto found = FindInputFiles({missing});
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().what.find(missing), std::string::npos);
}

}  // namespace
}  // namespace tracedb
