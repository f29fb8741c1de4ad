// Where the next event begins behind one that lost a quote or a brace.

#include "ingest/frame/event_resync.h"

#include <gtest/gtest.h>

#include <string>

namespace tracedb {
namespace {

constexpr size_t kNone = std::string_view::npos;

TEST(EventResync, a_lost_quote_shows_where_events_meet_inside_a_string) {
  const std::string first = R"({"ph": "X", "name": "5" disk", "pid": 1})";
  std::string text = first;
  text += ",\n  ";
  text += R"({"ph": "X", "name": "b"})";
  EXPECT_EQ(NextEventAfterLostQuote(text), first.size() + 4);
}

TEST(EventResync, valid_events_have_no_such_place) {
  const std::string event =
      R"({"ph": "X", "name": "a }, {\"ph\": ", "args": {"k": [{}, {"id": 1}]}})";
  EXPECT_EQ(NextEventAfterLostQuote(event + ",\n" + event), kNone);
}

TEST(EventResync, the_next_and_the_last_event_with_a_phase) {
  const std::string a = R"({"ph": "X", "args": {"k": [{"name": 1}, {"name": 2}]})";  // no end
  const std::string b = R"({"name": "b", "cat": "c", "ph": "i"})";
  const std::string text = a + ", " + b + ",\n" + b;
  // `a` lacks its own brace, but its args have one in front of the comma.
  EXPECT_EQ(EventStarts(text).NextAfter(0), a.size() + 2);
  EXPECT_EQ(LastEventWithPhase(text), a.size() + 2 + b.size() + 2);
  EXPECT_EQ(EventStarts(b).NextAfter(0), kNone);
  EXPECT_EQ(LastEventWithPhase(b), kNone);
}

TEST(EventResync, args_first_and_the_one_behind_an_event_without_its_brace) {
  const std::string a = R"({"args": {"ph": 1}, "name": "a", "ph": "X", "ts": 1)";  // no end
  const std::string b = R"({"args": {"k": [{"id": "}"}]}, "name": "b", "ph": "X"})";
  const std::string text = a + ",\n" + b + "," + b;
  EventStarts starts(text);
  EXPECT_EQ(starts.NextAfter(0), a.size() + 2);
  EXPECT_EQ(starts.NextAfter(5), a.size() + 2);
  EXPECT_EQ(starts.NextAfter(a.size() + 2), a.size() + 2 + b.size() + 1);
  EXPECT_EQ(starts.NextAfter(a.size() + 2 + b.size() + 1), kNone);
}

TEST(EventResync, the_arrays_end_behind_a_lost_brace) {
  const std::string text = R"({"ph": "X", "args": {"k": [1]}, {"ph": "i"}], "traceName": "x"})";
  EXPECT_EQ(ArrayEndAfterLostBrace(text), text.find("], \"traceName"));
  EXPECT_EQ(ArrayEndAfterLostBrace(R"({"ph": "X", "args": {"k": [{}], "l": 1}})"), kNone);
}

TEST(EventResync, an_object_of_args_is_no_event) {
  const std::string text = R"({"ph": "X", "args": {"k": [{"name": 1}, {"name": {"ph": 2}}]}})";
  EXPECT_EQ(EventStarts(text).NextAfter(0), kNone);
}

TEST(EventResync, the_arrays_end_behind_a_lost_quote) {
  const std::string event = R"({"ph": "X", "name": "5" disk", "pid": 1})";
  for (const std::string rest : {"\n],\n \"traceName\": 1}", "]}", "\n]\n}\n", "]"}) {
    const std::string text = event + rest;
    EXPECT_EQ(ArrayEndAfterLostQuote(text), event.size() + rest.find(']')) << rest;
  }
  EXPECT_EQ(ArrayEndAfterLostQuote(event), kNone);
  EXPECT_EQ(ArrayEndAfterLostQuote(event + "] x"), kNone);
}

TEST(EventResync, only_blanks_commas_and_plain_values_let_an_array_end) {
  for (const std::string text : {"", " ,\n", "1, null, \"a ] b\"", "-1.5e3,true"}) {
    EXPECT_TRUE(MayEndArray(text)) << text;
  }
  for (const std::string text : {"ph\": \"X\", \"name\": \"a", "foo bar", "\"a\" \"b\"", "1 2"}) {
    EXPECT_FALSE(MayEndArray(text)) << text;
  }
}

}  // namespace
}  // namespace tracedb
