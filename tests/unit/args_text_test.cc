// ArgsTexts: what the analysis reads out of the text of args, and texts that are no valid JSON.

#include "ingest/build/args_text.h"

#include <gtest/gtest.h>

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <string>

#include "random_json.h"
#include "tracedb/schema/args_columns.h"

namespace tracedb {
namespace {

const std::string kMark(1, ArgsMark(4));

ArgsText ReadText(std::string_view text) { return ArgsTextReader().Read(text); }

TEST(ArgsTextReader, what_the_analysis_wants_is_read) {
  const ArgsText args_text = ReadText(
      R"({"Collective name":"allreduce","dtype":"BFloat16","In msg nelems":1024,)"
      R"("Out msg nelems":"2048","Group size":8,"Process Group Name":"3",)"
      R"("Process Group Description":"default_pg","Process Group Ranks":"[1, 0]","Src Rank":1,)"
      R"("Dst Rank":0,"grid":[1, 2,3],"block":[4,5,6],"registers per thread":32,)"
      R"("shared memory":49152,"est. achieved occupancy %":12.5,"Device Type":1,"Device Id":0})");
  EXPECT_EQ(args_text.collective, "allreduce");
  EXPECT_EQ(args_text.dtype, "BFloat16");
  EXPECT_EQ(args_text.in_nelems, 1024);
  EXPECT_EQ(args_text.out_nelems, 2048);
  EXPECT_EQ(args_text.group_size, 8);
  EXPECT_EQ(args_text.group_name, "3");
  EXPECT_EQ(args_text.group_description, "default_pg");
  EXPECT_EQ(args_text.group_ranks, "[0,1]");
  EXPECT_EQ(args_text.src_rank, 1);
  EXPECT_EQ(args_text.dst_rank, 0);
  EXPECT_EQ(args_text.grid, "[1,2,3]");
  EXPECT_EQ(args_text.block, "[4,5,6]");
  EXPECT_EQ(args_text.registers, 32);
  EXPECT_EQ(args_text.shared_memory_bytes, 49152);
  EXPECT_EQ(args_text.occupancy_pct, 12.5);
  EXPECT_EQ(args_text.device_type, 1);
  EXPECT_EQ(args_text.device_id, 0);
  EXPECT_FALSE(args_text.repaired);
}

TEST(ArgsTextReader, an_empty_text_and_an_empty_object_are_told_apart) {
  EXPECT_EQ(ReadText("").args, std::nullopt);
  EXPECT_EQ(ReadText("{ }").args, "{}");
  EXPECT_EQ(ReadText("{}").others, std::nullopt);
}

TEST(ArgsTextReader, marks_stay_and_blanks_outside_strings_go) {
  const ArgsText args_text = ReadText("{ \"a b\" : " + kMark + ",\n \"p\":\"" + kMark + "\" }");
  EXPECT_EQ(args_text.args, "{\"a b\":" + kMark + ",\"p\":\"" + kMark + "\"}");
  EXPECT_FALSE(args_text.repaired);
}

TEST(ArgsTextReader, other_keys_stand_behind_the_part_mark) {
  const ArgsText args_text = ReadText(std::string("{\"a\":1}") + kPartMark + "\"id\":" + kMark);
  EXPECT_EQ(args_text.args, "{\"a\":1}");
  EXPECT_EQ(args_text.others, "\"id\":" + kMark);
  const ArgsText only = ReadText(kPartMark + std::string("\"s\":\"t\""));
  EXPECT_EQ(only.args, std::nullopt);
  EXPECT_EQ(only.others, "\"s\":\"t\"");
}

TEST(ArgsTextReader, values_of_the_wrong_type_are_as_if_absent) {
  const ArgsText args_text = ReadText(
      R"({"In msg nelems":1.5,"Group size":null,"Process Group Ranks":"[0, ..., 7]","grid":5})");
  EXPECT_EQ(args_text.in_nelems, std::nullopt);
  EXPECT_EQ(args_text.group_size, std::nullopt);
  EXPECT_EQ(args_text.group_ranks, std::nullopt);
}

TEST(ArgsTextReader, a_broken_text_is_mended_and_marks_stay) {
  const ArgsText args_text = ReadText("{\"p\":\"C:\\dir\",\"dtype\":\"x\",\"v\":" + kMark + "}");
  EXPECT_EQ(args_text.args, "{\"p\":\"C:\\\\dir\",\"dtype\":\"x\",\"v\":" + kMark + "}");
  EXPECT_EQ(args_text.dtype, "x");
  EXPECT_TRUE(args_text.repaired);
}

TEST(ArgsTextReader, args_with_a_lone_surrogate_stay_an_object) {
  const ArgsText args_text = ReadText(R"({"x":"\ud83d","dtype":"Float"})");
  ASSERT_TRUE(args_text.args.has_value());
  EXPECT_EQ(args_text.args->front(), '{');
}

TEST(ArgsTextReader, numbers_of_any_size_are_valid_json) {
  for (const char* number : {"18446744073709551616", "-9223372036854775809", "1e999"}) {
    const std::string args = "{\"x\":[" + std::string(number) + "],\"dtype\":\"Float\"}";
    const ArgsText args_text = ReadText(args);
    EXPECT_EQ(args_text.args, args);
    if (number != std::string("1e999")) {
      EXPECT_EQ(args_text.dtype, "Float") << number;
    }
    EXPECT_FALSE(args_text.repaired) << number;
  }
}

TEST(ArgsTextReader, digits_in_texts_are_all_read) {
  const ArgsText args_text = ReadText(
      R"({"Process Group Name":"12345678901234567890123","dtype":"18446744073709551616"})");
  EXPECT_EQ(args_text.group_name, "12345678901234567890123");
  EXPECT_EQ(args_text.dtype, "18446744073709551616");
}

TEST(ArgsTextReader, a_text_past_mending_is_kept_as_a_string) {
  const ArgsText args_text = ReadText("{\"a\" 1}");
  EXPECT_EQ(args_text.args, R"("{\"a\" 1}")");
  EXPECT_TRUE(args_text.repaired);
}

TEST(ArgsTextReader, a_very_large_text_is_made_valid_without_being_looked_into) {
  const ArgsText args_text =
      ReadText("{\"dtype\":\"x\", \"big\":\"" + std::string(300 * 1024, 'y') + "\",\"n\":NaN}");
  EXPECT_EQ(args_text.dtype, std::nullopt);
  EXPECT_TRUE(args_text.repaired);
  ASSERT_TRUE(args_text.args.has_value());
  EXPECT_TRUE(args_text.args->ends_with("\"n\":null}"));
}

TEST(SortedRanks, lists_are_sorted_and_written_one_way) {
  EXPECT_EQ(SortedRanks("[1, 0]"), "[0,1]");
  EXPECT_EQ(SortedRanks("[10,9,  2]"), "[2,9,10]");
  EXPECT_EQ(SortedRanks("5"), "[5]");
  EXPECT_EQ(SortedRanks("[0]"), "[0]");
}

TEST(SortedRanks, what_is_no_list_of_numbers_or_is_shortened_gives_nothing) {
  for (const char* list : {"", "[]", "[0, 1, ...]", "[0, ..., 7]", "[a]", "all", "[1.5]",
                           "[99999999999999999999]", "null"}) {
    EXPECT_EQ(SortedRanks(list), std::nullopt) << list;
  }
}

TEST(MergedObjects, both_have_their_members_and_the_second_wins) {
  EXPECT_EQ(MergedObjects(R"({"a":1,"b":2})", R"({"b":3,"c":4})"), R"({"a":1,"b":3,"c":4})");
  EXPECT_EQ(MergedObjects("{}", "{}"), "{}");
  EXPECT_EQ(MergedObjects(R"({"a":1})", "{}"), R"({"a":1})");
  EXPECT_EQ(MergedObjects("{}", R"({"a":1})"), R"({"a":1})");
}

TEST(MergedObjects, brackets_commas_and_quotes_in_values_are_no_borders) {
  EXPECT_EQ(MergedObjects(R"({"a":"},\"x\":\\","n":{"b":[1,{"b":2}]}})", R"({"b":"{"})"),
            R"({"a":"},\"x\":\\","n":{"b":[1,{"b":2}]},"b":"{"})");
}

TEST(MergedObjects, random_objects_merge_into_valid_json_with_every_key) {
  test::Random random(18);
  simdjson::dom::parser parser;
  simdjson::dom::parser first_parser;
  simdjson::dom::parser second_parser;
  int merged_objects = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string objects[2];
    std::vector<std::string> keys[2];
    for (int i = 0; i < 2; ++i) {
      objects[i] = "{";
      for (int k = 0; k < 5; ++k) {
        if (random.OneIn(2)) continue;
        const std::string key = "k" + std::to_string(k);
        objects[i] +=
            (keys[i].empty() ? "\"" : ", \"") + key + "\" : " + test::RandomJson(random, 2);
        keys[i].push_back(key);
      }
      objects[i] += "}";
    }
    const std::string merged = MergedObjects(objects[0], objects[1]);
    simdjson::dom::element first;
    simdjson::dom::element second;
    if (first_parser.parse(objects[0]).get(first) != simdjson::SUCCESS ||
        second_parser.parse(objects[1]).get(second) != simdjson::SUCCESS) {
      continue;  // the library refuses integers of more than 64 bits
    }
    ++merged_objects;
    simdjson::dom::element element;
    ASSERT_EQ(parser.parse(merged).get(element), simdjson::SUCCESS) << merged;
    for (const std::string& key : keys[1]) {
      ASSERT_EQ(std::string(simdjson::minify(element.at_key(key).value_unsafe())),
                std::string(simdjson::minify(second.at_key(key).value_unsafe())));
    }
    for (const std::string& key : keys[0]) {
      ASSERT_EQ(element.at_key(key).error(), simdjson::SUCCESS) << merged;
    }
  }
  EXPECT_GT(merged_objects, 1000);
}

}  // namespace
}  // namespace tracedb
