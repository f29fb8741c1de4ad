// EventFields, through the parser: what is taken out of an event's args comes back to the letter.

#include "ingest/parse/event_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parsed_events.h"
#include "random_json.h"

namespace tracedb {
namespace {

using test::ParsedEvent;
using test::ParseText;

// The one event in `text`, which must have no issue.
ParsedEvent One(const std::string& text) {
  const test::Parsed parsed = ParseText(text);
  EXPECT_FALSE(parsed.issues.Any()) << text;
  EXPECT_EQ(parsed.events.size(), 1u) << text;
  return parsed.events.size() == 1 ? parsed.events[0] : ParsedEvent{};
}

ParsedEvent WithArgs(const std::string& args, const std::string& category = "cpu_op") {
  return One("{\"ph\":\"X\",\"cat\":\"" + category +
             "\",\"name\":\"n\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1,\"args\":" + args + "}");
}

using ArgsColumns = std::map<ArgsColumn, std::string>;

TEST(EventFields, every_named_key_has_its_slot) {
  const std::string args =
      R"({"External id":11,"correlation":12,"Ev Idx":13,"Record function id":14,)"
      R"("Sequence number":15,"Fwd thread id":16,"Python id":17,"Python parent id":18,)"
      R"("Python module id":19,"Addr":20,"Bytes":-21,"Total Allocated":22,"Total Reserved":23,)"
      R"("Seq":24})";
  const ParsedEvent event = WithArgs(args);
  const ArgsColumns wanted = {
      {ArgsColumn::kExternalId, "11"},     {ArgsColumn::kCorrelation, "12"},
      {ArgsColumn::kEvIdx, "13"},          {ArgsColumn::kRecordFunctionId, "14"},
      {ArgsColumn::kSequenceNumber, "15"}, {ArgsColumn::kFwdThreadId, "16"},
      {ArgsColumn::kPythonId, "17"},       {ArgsColumn::kPythonParentId, "18"},
      {ArgsColumn::kPythonModuleId, "19"}, {ArgsColumn::kAddr, "20"},
      {ArgsColumn::kBytes, "-21"},         {ArgsColumn::kTotalAllocated, "22"},
      {ArgsColumn::kTotalReserved, "23"},  {ArgsColumn::kCollectiveSeq, "24"}};
  EXPECT_EQ(event.values, wanted);
  EXPECT_EQ(event.text_slots, 0u);
  EXPECT_EQ(event.args, args);
}

TEST(EventFields, other_spellings_of_a_key_share_its_slot) {
  EXPECT_EQ(WithArgs(R"({"external id":7})").values, (ArgsColumns{{ArgsColumn::kExternalId, "7"}}));
  EXPECT_EQ(WithArgs(R"({"Profiler Event Index":7})").values,
            (ArgsColumns{{ArgsColumn::kEvIdx, "7"}}));
  EXPECT_EQ(WithArgs(R"({"bytes":7})").values, (ArgsColumns{{ArgsColumn::kBytes, "7"}}));
}

TEST(EventFields, small_numbers_and_those_of_few_values_stay_in_the_text) {
  const std::string args =
      R"({"a":999,"b":-999,"stream":100007,"device":4000,"cbid":21100,"In msg nelems":1000000,)"
      R"("shared memory":49152,"f":1.5,"est. achieved occupancy %":12.345})";
  const ParsedEvent event = WithArgs(args);
  EXPECT_TRUE(event.values.empty());
  EXPECT_EQ(event.args, args);
}

TEST(EventFields, large_numbers_and_pointers_take_the_free_slots_in_order) {
  const std::string args = R"({"a":1000,"p":"0x7f0012345678","b":-123456,"f":12345.678901})";
  const ParsedEvent event = WithArgs(args);
  const ArgsColumns wanted = {{ArgsColumn::kValue1, "1000"},
                              {ArgsColumn::kValue2, "0x7f0012345678"},
                              {ArgsColumn::kValue3, "-123456"},
                              {ArgsColumn::kValue4, "12345.678901"}};
  EXPECT_EQ(event.values, wanted);
  EXPECT_EQ(event.args, args);
}

TEST(EventFields, what_finds_no_free_slot_stays_in_the_text) {
  std::string args = "{";
  for (int i = 0; i < 12; ++i) {
    args += "\"k" + std::to_string(i) + "\":" + std::to_string(100000 + i) + ",";
  }
  args.back() = '}';
  const ParsedEvent event = WithArgs(args);
  EXPECT_EQ(event.values.size(), 6u);
  EXPECT_EQ(event.args, args);
}

TEST(EventFields, a_number_that_would_not_be_written_the_same_again_is_no_integer) {
  for (const char* number : {"-0", "0.0", "1e3", "123456.0", "18446744073709551615", "1E2",
                             "12345678901234567890123", "9223372036854775808"}) {
    const std::string args = std::string("{\"correlation\":") + number + "}";
    const ParsedEvent event = WithArgs(args);
    EXPECT_EQ(event.args, args);
    EXPECT_FALSE(event.values.contains(ArgsColumn::kCorrelation)) << number;
  }
}

TEST(EventFields, integers_of_all_64_bits_are_integers) {
  for (const char* number :
       {"9223372036854775807", "-9223372036854775808", "1000000000000000000"}) {
    const ParsedEvent event = WithArgs(std::string("{\"correlation\":") + number + "}");
    EXPECT_EQ(event.values, (ArgsColumns{{ArgsColumn::kCorrelation, number}}));
    EXPECT_EQ(event.text_slots, 0u);
  }
}

TEST(EventFields, of_a_key_written_twice_the_last_value_is_the_columns_and_both_are_kept) {
  const std::string args = R"({"correlation":1,"correlation":2000,"a":5000,"a":6000})";
  const ParsedEvent event = WithArgs(args);
  EXPECT_EQ(event.values.at(ArgsColumn::kCorrelation), "2000");
  EXPECT_EQ(event.args, args);
}

TEST(EventFields, nested_values_are_left_alone) {
  const std::string args =
      R"({"Input Dims": [[1234567, 2], []], "o": {"correlation": 9999999, "p":"0x7f0012"}})";
  const ParsedEvent event = WithArgs(args);
  EXPECT_TRUE(event.values.empty());
  EXPECT_EQ(event.args, args);
}

TEST(EventFields, device_and_stream_make_the_track_of_gpu_rows_wherever_args_stand) {
  const std::string args = R"({"stream":7,"device":"0","x":{"stream":9}})";
  EXPECT_EQ(WithArgs(args, "kernel").track, "1/2/0/7");
  EXPECT_EQ(WithArgs(args, "cpu_op").track, "1/2");
  EXPECT_EQ(One(R"({"args":{"stream":7,"device":0},"ph":"X","ts":1,"dur":1,"tid":2,"pid":1,)"
                R"("name":"n","cat":"kernel"})")
                .track,
            "1/2/0/7");
  EXPECT_EQ(WithArgs("{}", "gpu_memcpy").track, "1/2/1/2");
}

TEST(EventFields, args_that_are_no_object_are_kept) {
  for (const char* args : {"[1, 2]", "\"text\"", "5", "null", "{}", "{ }"}) {
    EXPECT_EQ(WithArgs(args).args, args);
  }
}

TEST(EventFields, keys_written_with_escapes_are_known) {
  const ParsedEvent event =
      One(R"({"\u0070h":"X","na\u006de":"n","ca\u0074":"c","ts":1,"dur":2,"\u0070id":3,"tid":4,)"
          R"("arg\u0073":{"a":1}})");
  EXPECT_EQ(event.phase, 'X');
  EXPECT_EQ(event.name, "n");
  EXPECT_EQ(event.category, "c");
  EXPECT_EQ(event.track, "3/4");
  EXPECT_EQ(event.args, R"({"a":1})");
  EXPECT_EQ(event.others, "");
}

TEST(EventFields, a_key_that_contains_a_quote_or_backslash_is_kept_raw) {
  const std::string args = R"({"a\"b":1,"c\\":123456,"\\\"":"0x1234567"})";
  EXPECT_EQ(WithArgs(args).args, args);
}

TEST(EventFields, other_keys_are_kept_in_order_with_their_blanks_trimmed) {
  const ParsedEvent event =
      One(R"({"ph":"i","s" : "t" ,"ts":1,"pid":1,"tid":1,"x":{"y": 1} ,"z":1234567,"w":null})");
  EXPECT_EQ(event.others, R"("s":"t","x":{"y": 1},"z":1234567,"w":null)");
  EXPECT_EQ(event.values, (ArgsColumns{{ArgsColumn::kValue1, "1234567"}}));
}

TEST(EventFields, an_id_goes_into_its_slot_as_number_or_text) {
  const ParsedEvent number = One(R"({"ph":"b","id":17,"ts":1,"name":"n","pid":1,"tid":1})");
  EXPECT_EQ(number.values, (ArgsColumns{{ArgsColumn::kId, "17"}}));
  EXPECT_EQ(number.others, R"("id":17)");
  const ParsedEvent text = One(R"({"ph":"e","id":"0x1f","ts":1,"name":"n","pid":1,"tid":1})");
  EXPECT_EQ(text.values, (ArgsColumns{{ArgsColumn::kId, "0x1f"}}));
  EXPECT_EQ(text.others, R"("id":"0x1f")");
  EXPECT_NE(number.async_key, text.async_key);
}

TEST(EventFields, args_written_twice_count_once_and_other_keys_keep_their_values) {
  EXPECT_EQ(One(R"({"ph":"X","args":{"a":111111},"ts":1,"dur":1,"args":{"b":222222}})").args,
            R"({"b":222222})");
  const ParsedEvent event = One(
      R"({"ph":"X","args":{"a":111111},"args":5,"x":333333,"args":{"b":222222},"ts":1,"dur":1})");
  EXPECT_EQ(event.args, R"({"b":222222})");
  EXPECT_EQ(event.others, R"("x":333333)");
}

TEST(EventFields, a_name_that_is_no_string_is_kept_whole) {
  EXPECT_EQ(One(R"({"ph":"X","name":5,"ts":1,"dur":1})").name, "5");
  EXPECT_EQ(One(R"({"ph":"X","name":{"a":1},"ts":1,"dur":1})").name, R"({"a":1})");
}

// A member of args: keys with values, keys that stay, keys of any kind.
std::string RandomMember(test::Random& random) {
  std::string key = random.OneIn(2)
                        ? random.Pick({"correlation", "External id", "stream", "device", "Addr",
                                       "Seq", "Ev Idx", "cbid", "Bytes", "bytes", "grid"})
                        : test::RandomStringInside(random, 4);
  return '"' + key + '"' + random.Pick({":", ": ", " :\n"}) + test::RandomJson(random, 2);
}

TEST(EventFields, random_args_come_back_to_the_letter) {
  test::Random random(14);
  for (int round = 0; round < 5000; ++round) {
    std::string args = "{";
    for (size_t left = random.Below(14); left > 0; --left) {
      args += random.Pick({"", " ", "\n  "}) + RandomMember(random) + random.Pick({"", " ", "\t"});
      if (left > 1) args += ",";
    }
    args += random.Pick({"}", " }", "\n}"});
    std::string text = "{\"ph\":\"X\",\"ts\":1,\"dur\":1,";
    std::string others;
    if (random.OneIn(3)) {
      const std::string value = test::RandomJson(random, 2);
      text += "\"extra\":" + value + ", ";
      others = "\"extra\":" + value;
    }
    const bool last = random.OneIn(2);
    text += "\"args\":" + args + (last ? "" : ",\"name\":\"n\"") + random.Pick({"}", " }"});
    for (const ParseWay way : test::kParseWays) {
      const test::Parsed parsed = ParseText(text + ",\n" + text, {.way = way});
      ASSERT_FALSE(parsed.issues.Any()) << text;
      ASSERT_EQ(parsed.events.size(), 2u) << text;
      for (const ParsedEvent& event : parsed.events) {
        ASSERT_EQ(event.args, args);
        ASSERT_EQ(event.others, others);
      }
    }
  }
}

}  // namespace
}  // namespace tracedb
