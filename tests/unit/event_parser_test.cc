// EventParser: the same by every way of parsing, bad events that cost only themselves, and
// what it does when its dictionaries are full.

#include "ingest/parse/event_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parsed_events.h"
#include "random_json.h"

namespace tracedb {
namespace {

using test::Parsed;
using test::ParsedEvent;
using test::ParseText;

std::string X(const std::string& more) {
  return "{\"ph\":\"X\",\"name\":\"n\",\"ts\":5,\"dur\":2,\"pid\":1,\"tid\":1" + more + "}";
}

// All ways of parsing must come to the same.
Parsed ParseAllWays(const std::string& text) {
  const Parsed first = ParseText(text, {.way = ParseWay::kOneByOne});
  for (const ParseWay way : {ParseWay::kByLayout, ParseWay::kWhole}) {
    const Parsed other = ParseText(text, {.way = way});
    EXPECT_EQ(first.events, other.events) << text;
    for (size_t i = 0; i < kIssueKinds; ++i) {
      const auto kind = static_cast<IssueKind>(i);
      EXPECT_EQ(first.Count(kind), other.Count(kind)) << IssueName(kind) << " in " << text;
      EXPECT_EQ(first.issues.entry(kind).first_offset, other.issues.entry(kind).first_offset);
    }
  }
  return first;
}

TEST(EventParser, an_events_fields_are_read) {
  const Parsed parsed = ParseAllWays(
      R"({"ph":"X","cat":"cpu_op","name":"a\"b","pid":"p 1","tid":-2,"ts":12.5,"dur":"0.001"})");
  ASSERT_EQ(parsed.events.size(), 1u);
  const ParsedEvent& event = parsed.events[0];
  EXPECT_EQ(event.phase, 'X');
  EXPECT_EQ(event.name, "a\\\"b");
  EXPECT_EQ(event.category, "cpu_op");
  EXPECT_EQ(event.track, "p 1/-2");
  EXPECT_EQ(event.ts_ns, 12500);
  EXPECT_EQ(event.dur_ns, 1);
  EXPECT_EQ(event.offset, 1000u);
}

TEST(EventParser, absent_keys_are_absent) {
  const Parsed parsed = ParseAllWays(R"({"ph":"M"},{"ph":"i","ts":0,"cat":""})");
  ASSERT_EQ(parsed.events.size(), 2u);
  EXPECT_EQ(parsed.events[0].ts_ns, std::nullopt);
  EXPECT_EQ(parsed.events[0].dur_ns, std::nullopt);
  EXPECT_EQ(parsed.events[0].category, std::nullopt);
  EXPECT_EQ(parsed.events[0].name, "");
  EXPECT_EQ(parsed.events[0].track, "/");
  EXPECT_EQ(parsed.events[0].args, "");
  EXPECT_EQ(parsed.events[1].ts_ns, 0);
}

TEST(EventParser, offsets_are_those_in_the_stream) {
  const std::string text =
      " \n," + X("") + " ,\n  " + X(",\"args\":{\"a\":1}") + "," + X("") + "\n";
  const Parsed parsed = ParseAllWays(text);
  ASSERT_EQ(parsed.events.size(), 3u);
  for (const ParsedEvent& event : parsed.events) EXPECT_EQ(text[event.offset - 1000], '{');
  EXPECT_EQ(parsed.events[0].offset, 1003u);
}

TEST(EventParser, a_window_of_blanks_has_no_events) {
  EXPECT_TRUE(ParseAllWays(" ,\n").events.empty());
  EXPECT_TRUE(ParseAllWays("").events.empty());
}

TEST(EventParser, a_broken_event_costs_only_itself_and_its_place_is_told) {
  const std::string good = X(",\"args\":{\"correlation\":77}");
  for (const char* broken :
       {R"({"ph":"X" "t":1,"ts":1})", R"({"ph":"X","ts":1,"a":tru})", R"({"ph":"X",,"ts":1})",
        R"({"ph":"X","ts":1,"args":{"a":nope}})", R"({"ph":"X","ts":1,"args":{"a" 1}})",
        R"({"ph":"X","ts":1,"args":{1:2}})", R"({"ph":"X","ts":1,"args":{"a":}})"}) {
    const Parsed parsed = ParseAllWays(good + "," + broken + "," + good);
    EXPECT_EQ(parsed.events.size(), 2u) << broken;
    for (const ParsedEvent& event : parsed.events) {
      EXPECT_EQ(event.args, R"({"correlation":77})") << broken;
    }
    EXPECT_EQ(parsed.Count(IssueKind::kMalformedEvent), 1u) << broken;
    EXPECT_EQ(parsed.issues.entry(IssueKind::kMalformedEvent).first_offset, 1001 + good.size())
        << broken;
  }
}

TEST(EventParser, text_that_can_be_mended_is_kept_and_counted) {
  const Parsed control = ParseAllWays(X(",\"args\":{\"x\":\"a\nb\x01\"}"));
  EXPECT_EQ(control.Count(IssueKind::kRepairedText), 1u);
  ASSERT_EQ(control.events.size(), 1u);
  EXPECT_EQ(control.events[0].args, R"({"x":"a\u000ab\u0001"})");
  const Parsed nan = ParseAllWays(X(",\"args\":{\"x\":NaN,\"y\":-Infinity}"));
  EXPECT_EQ(nan.Count(IssueKind::kNonFiniteNumber), 1u);
  ASSERT_EQ(nan.events.size(), 1u);
  EXPECT_EQ(nan.events[0].args, R"({"x":null,"y":null})");
}

TEST(EventParser, an_unknown_escape_in_args_is_left_for_whoever_reads_the_shape) {
  const Parsed parsed = ParseAllWays(X(R"(,"args":{"path":"C:\dir"})") + "," + X(""));
  ASSERT_EQ(parsed.events.size(), 2u);
  EXPECT_EQ(parsed.events[0].args, R"({"path":"C:\dir"})");
}

TEST(EventParser, elements_that_are_no_events_are_counted) {
  const Parsed parsed =
      ParseAllWays(X("") + ",5,\"text\",null,[1,{\"ph\":\"X\"}],{\"ts\":1}," + X(""));
  EXPECT_EQ(parsed.events.size(), 2u);
  EXPECT_EQ(parsed.Count(IssueKind::kNotAnEvent), 5u);
}

TEST(EventParser, an_empty_object_is_passed_over) {
  const Parsed parsed = ParseAllWays(X("") + ",{},{ }");
  EXPECT_EQ(parsed.events.size(), 1u);
  EXPECT_FALSE(parsed.issues.Any());
}

TEST(EventParser, times_that_are_missing_or_no_numbers_are_counted_apart) {
  const Parsed parsed = ParseAllWays(
      R"({"ph":"X","dur":1},{"ph":"X","ts":null,"dur":1},{"ph":"X","ts":"soon"},)"
      R"({"ph":"X","ts":1,"dur":"long"},{"ph":"X","ts":9223372036854775,"dur":9223372036854775},)"
      R"({"ph":"X","ts":1e400},{"ph":"X","ts":7})");
  EXPECT_EQ(parsed.Count(IssueKind::kMissingTime), 2u);
  EXPECT_EQ(parsed.Count(IssueKind::kBadTime), 4u);
  ASSERT_EQ(parsed.events.size(), 1u);
  EXPECT_EQ(parsed.events[0].ts_ns, 7000);
}

TEST(EventParser, a_time_made_of_quotient_and_remainder_is_read) {
  const Parsed parsed = ParseAllWays(R"({"ph":"X","ts":-5.-123,"dur":0.-50})"
                                     "," +
                                     X(""));
  ASSERT_EQ(parsed.events.size(), 2u);
  EXPECT_EQ(parsed.events[0].ts_ns, -5123);
  EXPECT_EQ(parsed.events[0].dur_ns, -50);
}

TEST(EventParser, a_phase_of_several_letters_is_unknown_and_kept) {
  const Parsed parsed = ParseAllWays(R"({"ph":"XX","ts":1,"a":1})");
  ASSERT_EQ(parsed.events.size(), 1u);
  EXPECT_EQ(parsed.events[0].phase, '?');
  EXPECT_EQ(parsed.events[0].others, R"("a":1,"ph":"XX")");
}

TEST(EventParser, an_event_nested_too_deep_costs_only_itself) {
  const auto nested = [](int depth) {
    return X(",\"args\":{\"a\":" + std::string(static_cast<size_t>(depth), '[') +
             std::string(static_cast<size_t>(depth), ']') + "}");
  };
  const int depth_max = test::ParserLimits().depth_max;
  const Parsed parsed = ParseText(X("") + "," + nested(depth_max) + "," + nested(depth_max - 2),
                                  {.way = ParseWay::kOneByOne});
  EXPECT_EQ(parsed.events.size(), 2u);
  EXPECT_EQ(parsed.Count(IssueKind::kEventTooDeep), 1u);
}

TEST(EventParser, without_args_named_slots_and_what_the_analysis_needs_remain) {
  const std::string text =
      R"({"ph":"X","cat":"cpu_op","ts":1,"dur":1,"args":{"correlation":5,"big":123456}},)"
      R"({"ph":"X","cat":"kernel","ts":1,"dur":1,"args":{"correlation":5,"big":123456}},)"
      R"({"ph":"M","args":{"name":"x"}},{"ph":"C","ts":1,"args":{"v":123456}})";
  const Parsed parsed = ParseText(text, {.keep_args = false});
  ASSERT_EQ(parsed.events.size(), 4u);
  EXPECT_EQ(parsed.events[0].args, "");
  EXPECT_EQ(parsed.events[0].values,
            (std::map<ArgsColumn, std::string>{{ArgsColumn::kCorrelation, "5"}}));
  EXPECT_EQ(parsed.events[1].args, R"({"correlation":5,"big":123456})");
  EXPECT_EQ(parsed.events[2].args, R"({"name":"x"})");
  EXPECT_EQ(parsed.events[3].args, R"({"v":123456})");
}

std::string RandomEvent(test::Random& random) {
  std::string text = "{\"ph\":\"" + random.Pick({"X", "X", "X", "i", "s", "M", "C", "b"}) + "\"";
  const auto add = [&](const char* key, const std::string& value) {
    text += std::string(",\"") + key + "\":" + value;
  };
  if (!random.OneIn(20)) add("ts", random.Pick({"5", "1.5", "\"7.25\"", "1e3", "-0.001", "x"}));
  if (!random.OneIn(4)) add("dur", random.Pick({"0", "2.125", "\"3\"", "null", "-1"}));
  if (!random.OneIn(4)) add("name", '"' + test::RandomStringInside(random, 3) + '"');
  if (!random.OneIn(4)) add("cat", random.Pick({"\"kernel\"", "\"cpu_op\"", "\"gpu_memcpy\""}));
  if (!random.OneIn(4)) add("pid", random.Pick({"1", "\"p\"", "0"}));
  if (!random.OneIn(4)) add("args", test::RandomJson(random, 3));
  if (random.OneIn(3)) add("id", random.Pick({"5", "\"0x12\"", "\"a\"", "[1]"}));
  if (random.OneIn(5)) add("more", test::RandomJson(random, 2));
  return text + "}";
}

// Events, and here and there one with a byte put in, taken out or changed.
std::string RandomEvents(test::Random& random, bool damage) {
  std::string text;
  for (size_t left = 1 + random.Below(8); left > 0; --left) {
    std::string event = RandomEvent(random);
    if (damage && random.OneIn(4)) {
      // No quotes and brackets: they would move the borders between events.
      const size_t at = 1 + random.Below(event.size() - 2);
      const std::string_view kept = "\"\\{}[]";
      if (kept.find(event[at]) == std::string_view::npos && event[at - 1] != '\\') {
        event[at] = random.Of("x1, :\x01\n-\xff");
      }
    }
    text += event + (left > 1 ? random.Pick({",", ", ", ",\n"}) : "");
  }
  return text;
}

TEST(EventParser, random_windows_read_the_same_in_every_way) {
  test::Random random(15);
  for (int round = 0; round < 8000 && !testing::Test::HasFailure(); ++round) {
    ParseAllWays(RandomEvents(random, round % 2 == 0));
  }
}

TEST(EventParser, random_damage_never_costs_a_neighbour) {
  test::Random random(16);
  const std::string good = X(",\"cat\":\"sound\"");
  for (int round = 0; round < 5000; ++round) {
    const std::string text = good + "," + RandomEvents(random, true) + "," + good;
    const Parsed parsed = ParseText(text);
    size_t found = 0;
    for (const ParsedEvent& event : parsed.events) found += event.category == "sound" ? 1 : 0;
    ASSERT_EQ(found, 2u) << text;
  }
}

TEST(EventParser, full_dictionaries_are_forgotten_and_the_batch_says_so) {
  LoadLimits limits = test::ParserLimits();
  limits.dictionary_bytes_max = 20000;
  EventParser parser(limits, 3, true);
  test::BatchReader reader;
  EventBatch batch;
  int forgotten = 0;
  for (int round = 0; round < 50; ++round) {
    std::string text;
    for (int i = 0; i < 20; ++i) {
      const std::string name = "name " + std::to_string(i % 2 == 0 ? i : round * 20 + i);
      text += "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"" + name + "\",\"args\":{\"k" + name +
              "\":1}},";
    }
    EventWindow window = test::WindowOf(text, 0);
    window.ordinal = static_cast<uint64_t>(round);
    batch.Clear();
    parser.Parse(window, batch);
    forgotten += batch.forgot ? 1 : 0;
    EXPECT_EQ(batch.ordinal, window.ordinal);
    EXPECT_EQ(batch.parser, 3u);
    const auto events = reader.Read(batch);
    ASSERT_EQ(events.size(), 20u);
    for (int i = 0; i < 20; ++i) {
      const std::string name = "name " + std::to_string(i % 2 == 0 ? i : round * 20 + i);
      EXPECT_EQ(events[static_cast<size_t>(i)].name, name);
      EXPECT_EQ(events[static_cast<size_t>(i)].args, "{\"k" + name + "\":1}");
    }
  }
  EXPECT_GE(forgotten, 2);
  EXPECT_LT(forgotten, 50);
  EXPECT_EQ(reader.wrong_numbers(), 0);
}

TEST(EventParser, texts_known_from_an_earlier_window_are_not_sent_again) {
  EventParser parser(test::ParserLimits(), 0, true);
  test::BatchReader reader;
  for (int round = 0; round < 3; ++round) {
    EventWindow window = test::WindowOf(X(",\"args\":{\"a\":1}"), 0);
    EventBatch batch;
    parser.Parse(window, batch);
    EXPECT_EQ(batch.new_texts.size(), round == 0 ? 3u : 0u);
    const auto events = reader.Read(batch);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].args, "{\"a\":1}");
  }
}

TEST(EventParser, the_windows_text_is_as_it_was) {
  const std::string text = X("") + "," + X("");
  EventParser parser(test::ParserLimits(), 0, true);
  EventWindow window = test::WindowOf(text, 0);
  EventBatch batch;
  parser.Parse(window, batch);
  EXPECT_EQ(window.text(), text);
}

}  // namespace
}  // namespace tracedb
