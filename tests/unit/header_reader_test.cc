// HeaderReader: keys and raw values outside the event array, wherever they stand.

#include "ingest/frame/header_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "random_json.h"

namespace tracedb {
namespace {

constexpr size_t kBytesMax = 1 << 20;

struct Read {
  EventIssues issues;
  HeaderReader::Entries entries;
  bool finished = false;
  bool is_json = true;
  int arrays = 0;

  uint64_t Count(IssueKind kind) const { return issues.entry(kind).count; }
};

// Reads `text` in pieces of the given size (0: whole). Event arrays must be empty.
Read ReadAll(const std::string& text, size_t piece = 0, size_t bytes_max = kBytesMax) {
  Read read;
  HeaderReader reader(bytes_max, read.issues);
  for (size_t at = 0; at < text.size();) {
    if (reader.in_events()) {
      ++read.arrays;
      EXPECT_EQ(text[at], ']') << text;
      ++at;
      reader.EndEvents();
      continue;
    }
    const size_t size = piece == 0 ? text.size() - at : std::min(piece, text.size() - at);
    at += reader.Read(std::string_view(text).substr(at, size), at);
  }
  reader.Finish();
  read.entries = reader.entries();
  read.finished = reader.finished();
  read.is_json = reader.is_json();
  return read;
}

using Entries = HeaderReader::Entries;

TEST(HeaderReader, keys_before_and_behind_the_events_are_kept_raw) {
  const Read read = ReadAll(
      "{\"a\": 1.50, \"b\":\"x\\\"y\" ,\"traceEvents\" : [], \"c\":{\"d\": [1, {\"e\":\"}\"}]}, "
      "\"f\":true}\n");
  const Entries wanted = {
      {"a", "1.50"}, {"b", "\"x\\\"y\""}, {"c", "{\"d\": [1, {\"e\":\"}\"}]}"}, {"f", "true"}};
  EXPECT_EQ(read.entries, wanted);
  EXPECT_EQ(read.arrays, 1);
  EXPECT_TRUE(read.finished);
  EXPECT_FALSE(read.issues.Any());
}

TEST(HeaderReader, random_headers_cut_anywhere_read_the_same) {
  test::Random random(8);
  for (int round = 0; round < 2000; ++round) {
    Entries wanted;
    std::string text = "{";
    for (size_t left = random.Below(6); left > 0; --left) {
      const std::string key = test::RandomStringInside(random, 5);
      const std::string value = test::RandomJson(random, 3);
      const std::string blank = random.Pick({"", " ", "\n\t"});
      text += blank + '"' + key + '"' + blank + ":" + blank + value + blank;
      text += random.OneIn(4) ? ",\"traceEvents\":[]" : "";
      text += left > 1 ? "," : "";
      wanted.emplace_back(key, value);
    }
    text += "}";
    for (const size_t piece : {size_t{0}, size_t{1}, 1 + random.Below(20)}) {
      const Read read = ReadAll(text, piece);
      ASSERT_EQ(read.entries, wanted) << text;
      ASSERT_TRUE(read.finished) << text;
      ASSERT_EQ(read.Count(IssueKind::kHeaderMalformed), 0u) << text;
    }
  }
}

TEST(HeaderReader, a_bare_array_of_events_has_no_header) {
  const Read read = ReadAll(" [] ");
  EXPECT_EQ(read.arrays, 1);
  EXPECT_TRUE(read.entries.empty());
  EXPECT_TRUE(read.finished);
}

TEST(HeaderReader, a_byte_order_mark_in_front_is_passed_over) {
  const Read read = ReadAll("\xef\xbb\xbf{\"traceEvents\":[]}", 1);
  EXPECT_TRUE(read.finished);
  EXPECT_EQ(read.arrays, 1);
}

TEST(HeaderReader, text_that_is_no_json_is_told_by_its_first_byte) {
  EXPECT_FALSE(ReadAll("hello").is_json);
  EXPECT_FALSE(ReadAll("\"string\"").is_json);
  EXPECT_FALSE(ReadAll("\xef\xbbx").is_json);
  EXPECT_TRUE(ReadAll("  {").is_json);
  EXPECT_TRUE(ReadAll("").is_json);
}

TEST(HeaderReader, trace_events_that_is_no_array_is_an_ordinary_value) {
  const Read read = ReadAll("{\"traceEvents\":null,\"x\":{\"traceEvents\":[1]}}");
  EXPECT_EQ(read.arrays, 0);
  EXPECT_EQ(read.entries.size(), 2u);
}

TEST(HeaderReader, events_behind_a_broken_value_are_still_found) {
  for (const char* broken :
       {"{\"a\":,", "{\"a\" 5,", "{nokey:1,", "{\"a\":1 2,", "{\"a\":{}x,", "{\"a\":\"x\"\"y\","}) {
    for (const size_t piece : {0u, 1u, 2u}) {
      const Read read = ReadAll(std::string(broken) + "\"traceEvents\": [],\"z\":1}", piece);
      EXPECT_EQ(read.arrays, 1) << broken;
      EXPECT_EQ(read.Count(IssueKind::kHeaderMalformed), 1u) << broken;
      ASSERT_FALSE(read.entries.empty()) << broken;
      EXPECT_EQ(read.entries.back(), (Entries::value_type{"z", "1"})) << broken;
    }
  }
}

TEST(HeaderReader, a_value_beyond_the_bound_is_left_out_and_the_others_are_kept) {
  const std::string large(5000, 'x');
  const Read read =
      ReadAll("{\"a\":1,\"b\":\"" + large + "\",\"c\":2,\"traceEvents\":[],\"d\":3}", 0, 1000);
  const Entries wanted = {{"a", "1"}, {"c", "2"}, {"d", "3"}};
  EXPECT_EQ(read.entries, wanted);
  EXPECT_EQ(read.Count(IssueKind::kHeaderTooLarge), 1u);
  EXPECT_EQ(read.issues.entry(IssueKind::kHeaderTooLarge).first_offset, 11u);
  EXPECT_EQ(read.arrays, 1);
}

TEST(HeaderReader, very_many_keys_stay_within_the_bound) {
  std::string text = "{";
  for (int i = 0; i < 20000; ++i) text += "\"k" + std::to_string(i) + "\":\"" + "v" + "\",";
  text += "\"traceEvents\":[]}";
  const Read read = ReadAll(text, 0, 10000);
  size_t bytes = 0;
  for (const auto& [key, value] : read.entries) bytes += key.size() + value.size();
  EXPECT_LE(bytes, 10000u);
  EXPECT_GT(read.Count(IssueKind::kHeaderTooLarge), 0u);
  EXPECT_EQ(read.arrays, 1);
}

TEST(HeaderReader, what_follows_the_end_is_noted_once_unless_it_is_blank_or_zero) {
  EXPECT_FALSE(ReadAll(std::string("{\"traceEvents\":[]}\n \0\0", 22)).issues.Any());
  const Read read = ReadAll("{\"traceEvents\":[]} x y");
  EXPECT_EQ(read.Count(IssueKind::kTrailingGarbage), 1u);
  EXPECT_EQ(read.issues.entry(IssueKind::kTrailingGarbage).first_offset, 19u);
  EXPECT_TRUE(read.finished);
}

TEST(HeaderReader, a_header_cut_at_any_byte_is_not_finished) {
  const std::string text = "{\"a\":\"\\\\\",\"traceEvents\":[],\"b\":[1,{}]}";
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(ReadAll(text.substr(0, size)).finished) << size;
  }
  EXPECT_TRUE(ReadAll(text).finished);
}

}  // namespace
}  // namespace tracedb
