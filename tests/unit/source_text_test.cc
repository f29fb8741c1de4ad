#include "tracedb/sources/read/source_text.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "packed_bytes.h"
#include "query_fixture.h"
#include "tracedb/ingest/read/content_hash.h"

namespace tracedb {
namespace {

struct Line {
  std::string text;
  uint64_t offset;
  bool was_cut;
  bool operator==(const Line&) const = default;
};

std::vector<Line> LinesOf(const std::string& content, size_t block_bytes) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "log";
  std::ofstream(path, std::ios::binary) << content;
  auto text = SourceText::Open(path, block_bytes, nullptr);
  EXPECT_TRUE(text.ok());
  std::vector<Line> lines;
  for (std::string_view line;;) {
    const auto more = text.value().NextLine(line);
    EXPECT_TRUE(more.ok());
    if (!more.value()) break;
    lines.push_back({std::string(line), text.value().line_offset(), text.value().was_cut()});
    EXPECT_EQ(text.value().line_number(), lines.size());
  }
  EXPECT_EQ(text.value().text_bytes(), content.size());
  return lines;
}

TEST(SourceText, lines_end_with_lf_or_cr_lf_or_the_file) {
  const std::vector<Line> wanted{
      {"a", 0, false}, {"", 2, false}, {"b\rc", 3, false}, {"", 8, false}, {"d", 10, false}};
  for (const size_t block : std::array<size_t, 5>{0, 1, 2, 3, 5}) {
    EXPECT_EQ(LinesOf("a\n\nb\rc\r\n\r\nd", block), wanted) << block;
    EXPECT_EQ(LinesOf("a\n\nb\rc\r\n\r\nd\n", block), wanted) << block;
  }
}

TEST(SourceText, a_line_that_is_too_long_is_given_as_its_beginning) {
  constexpr size_t kMax = SourceText::kLineBytesMax;
  const std::string longest(kMax, 'x');
  for (const size_t more : {size_t{0}, size_t{1}, kMax, 3 * kMax + 7}) {
    const std::string line = longest + std::string(more, 'y');
    const uint64_t next = line.size() + 1;
    for (const size_t block : {size_t{0}, size_t{60'013}}) {
      const auto lines = LinesOf(line + "\nz\n" + line, block);
      ASSERT_EQ(lines.size(), 3u) << more;
      EXPECT_EQ(lines[0], (Line{longest, 0, more > 0})) << more;
      EXPECT_EQ(lines[1], (Line{"z", next, false})) << more;
      EXPECT_EQ(lines[2], (Line{longest, next + 2, more > 0})) << more;
    }
  }
}

// Packed, as only then a thread unpacks ahead.
std::filesystem::path LongFile(const TemporaryFolder& folder, bool is_packed,
                               std::string& content) {
  for (int i = 0; content.size() < (size_t{8} << 20); ++i) {
    content += "line " + std::to_string(i) + std::string(static_cast<size_t>(i % 90), '.') + "\n";
  }
  const auto path = folder.path() / "log";
  std::ofstream(path, std::ios::binary) << (is_packed ? test::Gzipped(content) : content);
  return path;
}

TEST(SourceText, a_thread_that_unpacks_ahead_changes_nothing) {
  const TemporaryFolder folder;
  std::string content;
  const auto path = LongFile(folder, true, content);
  for (const size_t ahead : {size_t{0}, size_t{4096}, size_t{1} << 19}) {
    auto text = SourceText::Open(path, 0, nullptr, ahead);
    ASSERT_TRUE(text.ok());
    std::string all;
    for (std::string_view line;;) {
      const auto more = text.value().NextLine(line);
      ASSERT_TRUE(more.ok());
      if (!more.value()) break;
      all.append(line).append(1, '\n');
    }
    EXPECT_TRUE(all == content) << ahead;
    EXPECT_EQ(text.value().packed_bytes(), std::filesystem::file_size(path)) << ahead;
    EXPECT_EQ(text.value().file_hash(), HashFile(path).value()) << ahead;
    EXPECT_FALSE(text.value().damage().has_value());
  }
}

TEST(SourceText, reading_ends_once_a_stop_is_asked_for) {
  for (const bool is_packed : {false, true}) {
    const TemporaryFolder folder;
    std::string content;
    const auto path = LongFile(folder, is_packed, content);
    std::atomic<bool> stop = false;
    auto text = SourceText::Open(path, 0, &stop, 4096);
    ASSERT_TRUE(text.ok());
    std::string_view line;
    ASSERT_TRUE(text.value().NextLine(line).ok());
    stop = true;
    size_t lines = 0;
    for (; lines < content.size(); ++lines) {
      const auto more = text.value().NextLine(line);
      if (more.ok() && more.value()) continue;
      ASSERT_FALSE(more.ok());
      EXPECT_EQ(more.error().what, "interrupted");
      break;
    }
    EXPECT_LT(lines, content.size());
  }
}

}  // namespace
}  // namespace tracedb
