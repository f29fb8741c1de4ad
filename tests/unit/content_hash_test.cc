// ContentHash: the same whatever the pieces, and as the command xxhsum says it.

#include "tracedb/ingest/read/content_hash.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "query_fixture.h"
#include "random_json.h"

namespace tracedb {
namespace {

TEST(ContentHash, digits_are_those_of_xxh3_128) {
  EXPECT_EQ(ContentHash().Digits(), "99aa06d3014798d86001c324468d497f");
  ContentHash hash;
  const std::string text = "a";
  hash.Add(text);
  EXPECT_EQ(hash.Digits(), "a96faf705af16834e6c632b61e964e1f");
}

TEST(ContentHash, pieces_and_a_whole_file_give_the_same) {
  test::Random random(30);
  std::string text;
  for (int i = 0; i < 3000; ++i) text += test::RandomJson(random, 3);
  ContentHash whole;
  whole.Add(text);
  ContentHash pieces;
  size_t at = 0;
  for (const size_t size : test::RandomCuts(random, text.size(), 700)) {
    pieces.Add(std::span(text).subspan(at, size));
    at += size;
  }
  EXPECT_EQ(pieces.Digits(), whole.Digits());
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(HashFile(path).value(), whole.Digits());
  EXPECT_FALSE(HashFile(folder.path() / "missing").ok());
}

}  // namespace
}  // namespace tracedb
