// TextDictionary: numbers in order of first appearance, whatever it has grown to.

#include "tracedb/memory/text_dictionary.h"

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "random_json.h"

namespace tracedb {
namespace {

TEST(TextDictionary, numbers_come_in_order_of_first_appearance) {
  TextDictionary texts;
  EXPECT_EQ(texts.Intern("b").id, 0u);
  EXPECT_EQ(texts.Intern("a").id, 1u);
  EXPECT_TRUE(texts.Intern("").is_new);
  EXPECT_FALSE(texts.Intern("b").is_new);
  EXPECT_EQ(texts.Intern("b").id, 0u);
  EXPECT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts.Text(2), "");
}

TEST(TextDictionary, find_does_not_add) {
  TextDictionary texts;
  EXPECT_EQ(texts.Find("a"), std::nullopt);
  texts.Intern("a");
  EXPECT_EQ(texts.Find("a"), 0u);
  EXPECT_EQ(texts.Find("b"), std::nullopt);
  EXPECT_EQ(texts.size(), 1u);
}

TEST(TextDictionary, growing_keeps_texts_and_numbers) {
  TextDictionary texts;
  const std::string first(100, 'x');
  texts.Intern(first);
  const char* const stored = texts.Text(0).data();
  for (uint32_t i = 1; i < 50000; ++i) {
    const auto [id, is_new] = texts.Intern("kernel " + std::to_string(i));
    ASSERT_TRUE(is_new);
    ASSERT_EQ(id, i);
  }
  EXPECT_EQ(texts.Text(0).data(), stored);
  for (uint32_t i = 1; i < 50000; ++i) {
    const std::string text = "kernel " + std::to_string(i);
    ASSERT_EQ(texts.Text(i), text);
    ASSERT_EQ(texts.Find(text), i);
  }
}

TEST(TextDictionary, texts_of_any_size_and_bytes_agree_with_a_map) {
  test::Random random(5);
  TextDictionary texts;
  std::unordered_map<std::string, uint32_t> naive;
  std::vector<std::string> order;
  for (int round = 0; round < 20000; ++round) {
    const size_t size = random.OneIn(500) ? random.Below(70000) : random.Below(4);
    std::string text(size, random.Of(std::string_view("\0ab\xff", 4)));
    if (!text.empty()) text.back() = random.Of("xyz");
    const auto [at, added] = naive.emplace(text, static_cast<uint32_t>(naive.size()));
    const auto [id, is_new] = texts.Intern(text);
    ASSERT_EQ(id, at->second);
    ASSERT_EQ(is_new, added);
    if (added) order.push_back(text);
  }
  ASSERT_EQ(texts.size(), order.size());
  for (uint32_t id = 0; id < order.size(); ++id) ASSERT_EQ(texts.Text(id), order[id]);
}

TEST(TextDictionary, bytes_cover_the_texts_and_clear_begins_anew) {
  TextDictionary texts;
  EXPECT_EQ(texts.bytes(), 0u);
  for (int i = 0; i < 5000; ++i) texts.Intern(std::string(10, 'a') + std::to_string(i));
  EXPECT_GE(texts.bytes(), 5000u * 11);
  texts.Clear();
  EXPECT_EQ(texts.bytes(), 0u);
  EXPECT_EQ(texts.size(), 0u);
  EXPECT_EQ(texts.Find("aaaaaaaaaa1"), std::nullopt);
  const auto [id, is_new] = texts.Intern("again");
  EXPECT_EQ(id, 0u);
  EXPECT_TRUE(is_new);
}

}  // namespace
}  // namespace tracedb
