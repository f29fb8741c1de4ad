// EventFramer: windows of whole events whatever the blocks, and what is too large or cut off.

#include "ingest/frame/event_framer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "random_json.h"

namespace tracedb {
namespace {

struct Event {
  uint64_t offset;
  std::string text;
  bool operator==(const Event&) const = default;
};

void PrintTo(const Event& event, std::ostream* out) {
  *out << "at " << event.offset << ": " << event.text.substr(0, 60);
}

struct Framed {
  std::vector<EventWindow> windows;
  EventIssues issues;
  HeaderReader::Entries header;
  bool complete = false;
  uint64_t text_bytes = 0;

  uint64_t Count(IssueKind kind) const { return issues.entry(kind).count; }
  uint64_t Offset(IssueKind kind) const { return issues.entry(kind).first_offset; }
};

LoadLimits SmallLimits() {
  LoadLimits limits;
  limits.window_bytes = 128;
  limits.event_bytes_max = 512;
  limits.header_bytes_max = 4096;
  return limits;
}

// Frames `text`, given in pieces of at most `piece_max` bytes, or whole (0).
Framed Frame(const std::string& text, const LoadLimits& limits, size_t piece_max, uint64_t seed) {
  Framed framed;
  test::Random random(seed);
  EventFramer framer(
      limits, framed.issues, [] { return EventWindow{}; },
      [&framed](EventWindow window) {
        framed.windows.push_back(std::move(window));
        return true;
      });
  for (size_t at = 0; at < text.size();) {
    const std::span<char> room = framer.Room();
    EXPECT_FALSE(room.empty());
    if (room.empty()) break;
    const size_t wanted = piece_max == 0 ? room.size() : 1 + random.Below(piece_max);
    const size_t count = std::min({wanted, room.size(), text.size() - at});
    std::memcpy(room.data(), text.data() + at, count);
    framer.Added(count);
    at += count;
  }
  framer.Finish();
  framed.header = framer.header().entries();
  framed.complete = framer.complete();
  framed.text_bytes = framer.text_bytes();
  return framed;
}

// The objects in a window's text, with their places in the whole.
std::vector<Event> EventsIn(const Framed& framed) {
  std::vector<Event> events;
  for (const EventWindow& window : framed.windows) {
    const std::string_view text = window.text();
    int depth = 0;
    bool in_string = false;
    size_t begin = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (in_string) {
        if (c == '\\') ++at;
        in_string = c != '"';
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        if (depth++ == 0) begin = at;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        events.push_back({window.offset + begin, std::string(text.substr(begin, at + 1 - begin))});
      }
    }
    EXPECT_TRUE(depth == 0 && !in_string) << "a window ends inside an event: " << text;
  }
  return events;
}

void ExpectSound(const Framed& framed, const std::string& text, const LoadLimits& limits) {
  uint64_t ordinal = 0;
  uint64_t end = 0;
  for (const EventWindow& window : framed.windows) {
    EXPECT_EQ(window.ordinal, ordinal++);
    EXPECT_GE(window.offset, end);
    EXPECT_EQ(text.substr(window.offset, window.text().size()), window.text());
    EXPECT_GE(window.begin, EventWindow::kFrontBytes);
    EXPECT_LE(window.end + EventWindow::kBackBytes, window.bytes.size());
    EXPECT_LE(window.room(), std::max(limits.window_bytes, limits.event_bytes_max));
    end = window.offset + window.text().size();
  }
}

// A trace made of random parts, and what should be found in it.
struct Trace {
  std::string text;
  std::vector<Event> events;
  std::vector<Event> too_large;
  HeaderReader::Entries header;
};

void AddHeader(Trace& trace, test::Random& random) {
  std::string key = "key" + std::to_string(trace.header.size());
  std::string value = test::RandomJson(random, 2);
  trace.text += '"' + key + "\":" + random.Pick({"", " "}) + value;
  trace.header.emplace_back(std::move(key), std::move(value));
}

void AddEvents(Trace& trace, test::Random& random) {
  for (size_t left = random.Below(30); left > 0; --left) {
    const bool too_large = random.OneIn(15);
    std::string event = "{\"a\":\"" + test::RandomStringInside(random) + "\",\"b\":";
    event += too_large ? '"' + std::string(700 + random.Below(900), 'x') + '"'
                       : '"' + test::RandomStringInside(random, 20) + '"';
    event += "}";
    (too_large ? trace.too_large : trace.events).push_back({trace.text.size(), event});
    trace.text += event;
    if (left > 1) trace.text += random.Pick({",", ", ", ",\n  ", " ,"});
  }
}

Trace RandomTrace(test::Random& random) {
  Trace trace;
  if (random.OneIn(4)) trace.text += random.Pick({" \n", "\xef\xbb\xbf"});
  if (random.OneIn(4)) {
    trace.text += "[";
    AddEvents(trace, random);
    trace.text += "]\n";
    return trace;
  }
  trace.text += "{";
  for (size_t left = random.Below(4); left > 0; --left) {
    AddHeader(trace, random);
    trace.text += ", ";
  }
  trace.text += std::string("\"traceEvents\":") + (random.OneIn(2) ? " [" : "[\n");
  AddEvents(trace, random);
  trace.text += "]";
  for (size_t left = random.Below(4); left > 0; --left) {
    trace.text += ",";
    AddHeader(trace, random);
  }
  trace.text += "}\n";
  return trace;
}

TEST(EventFramer, random_traces_cut_anywhere_give_the_same_events_header_and_windows) {
  test::Random random(7);
  const LoadLimits limits = SmallLimits();
  for (uint64_t round = 0; round < 1500; ++round) {
    const Trace trace = RandomTrace(random);
    const Framed whole = Frame(trace.text, limits, 0, 0);
    ExpectSound(whole, trace.text, limits);
    if (testing::Test::HasFailure()) return;
    ASSERT_TRUE(whole.complete) << trace.text;
    ASSERT_EQ(whole.header, trace.header) << trace.text;
    ASSERT_EQ(EventsIn(whole), trace.events) << trace.text;
    ASSERT_EQ(whole.Count(IssueKind::kEventTooLarge), trace.too_large.size()) << trace.text;
    ASSERT_EQ(whole.text_bytes, trace.text.size());
    const Framed cut = Frame(trace.text, limits, random.OneIn(2) ? 3 : 90, round);
    ExpectSound(cut, trace.text, limits);
    ASSERT_TRUE(cut.complete);
    ASSERT_EQ(cut.header, whole.header);
    ASSERT_EQ(cut.windows.size(), whole.windows.size()) << trace.text;
    for (size_t i = 0; i < cut.windows.size(); ++i) {
      ASSERT_EQ(cut.windows[i].offset, whole.windows[i].offset);
      ASSERT_EQ(cut.windows[i].text(), whole.windows[i].text());
    }
    for (size_t kind = 0; kind < kIssueKinds; ++kind) {
      ASSERT_EQ(cut.Count(static_cast<IssueKind>(kind)), whole.Count(static_cast<IssueKind>(kind)));
      ASSERT_EQ(cut.Offset(static_cast<IssueKind>(kind)),
                whole.Offset(static_cast<IssueKind>(kind)));
    }
  }
}

TEST(EventFramer, windows_are_small_at_the_start_of_a_large_text) {
  LoadLimits limits = SmallLimits();
  limits.window_bytes = size_t{1} << 20;
  limits.event_bytes_max = size_t{1} << 20;
  limits.start_text_bytes = size_t{8} << 20;
  std::string text = R"({"traceEvents":[)";
  const std::string event = R"({"ph":"X","name":")" + std::string(1000, 'n') + R"("},)";
  while (text.size() < size_t{12} << 20) text += event;
  text += "{}]}";
  const Framed framed = Frame(text, limits, 0, 1);
  ExpectSound(framed, text, limits);
  size_t small = 0, large = 0;
  for (const EventWindow& window : framed.windows) {
    if (window.offset < size_t{7} << 20) {
      EXPECT_EQ(window.room(), limits.start_window_bytes);
      ++small;
    } else if (window.offset > size_t{9} << 20) {
      EXPECT_EQ(window.room(), limits.window_bytes);
      ++large;
    }
  }
  EXPECT_GE(small, 28u);
  EXPECT_GE(large, 3u);
}

TEST(EventFramer, an_event_cut_by_the_windows_end_is_carried_over) {
  std::string text = "[";
  for (int i = 0; i < 100; ++i)
    text += "{\"i\":" + std::to_string(i) + ",\"x\":\"aaaaaaaaaaaaa\"},";
  text.back() = ']';
  const Framed framed = Frame(text, SmallLimits(), 0, 0);
  EXPECT_GT(framed.windows.size(), 10u);
  EXPECT_EQ(EventsIn(framed).size(), 100u);
}

TEST(EventFramer, an_event_larger_than_a_window_but_within_the_bound_is_kept) {
  const std::string large = "{\"x\":\"" + std::string(400, 'x') + "\"}";
  const std::string text = "[{\"a\":1}," + large + ",{\"b\":2}]";
  const Framed framed = Frame(text, SmallLimits(), 0, 0);
  const std::vector<Event> wanted = {
      {1, "{\"a\":1}"}, {9, large}, {10 + large.size(), "{\"b\":2}"}};
  EXPECT_EQ(EventsIn(framed), wanted);
  EXPECT_FALSE(framed.issues.Any());
}

TEST(EventFramer, an_event_over_the_bound_costs_only_itself_and_is_counted_with_its_place) {
  for (const size_t size : {513u, 1000u, 5000u, 100000u}) {
    const std::string large = "{\"x\":\"" + std::string(size + 130, '{') + "\"}";
    const std::string text = "[{\"a\":1}," + large + ",{\"b\":2},{\"c\":3}]";
    const Framed framed = Frame(text, SmallLimits(), 50, size);
    const uint64_t behind = 10 + large.size();
    const std::vector<Event> wanted = {
        {1, "{\"a\":1}"}, {behind, "{\"b\":2}"}, {behind + 8, "{\"c\":3}"}};
    EXPECT_EQ(EventsIn(framed), wanted) << size;
    EXPECT_EQ(framed.Count(IssueKind::kEventTooLarge), 1u) << size;
    EXPECT_GE(framed.Offset(IssueKind::kEventTooLarge), 8u) << size;
    EXPECT_LE(framed.Offset(IssueKind::kEventTooLarge), 9u) << size;
    EXPECT_TRUE(framed.complete);
  }
}

TEST(EventFramer, too_large_events_one_behind_the_other_and_at_the_end_are_each_counted) {
  const std::string large = "{\"x\":\"" + std::string(2000, 'x') + "\"}";
  const std::string text = "{\"traceEvents\":[" + large + "," + large + "],\"after\":1}";
  const Framed framed = Frame(text, SmallLimits(), 0, 0);
  EXPECT_TRUE(EventsIn(framed).empty());
  EXPECT_EQ(framed.Count(IssueKind::kEventTooLarge), 2u);
  ASSERT_EQ(framed.header.size(), 1u);
  EXPECT_EQ(framed.header[0].first, "after");
}

TEST(EventFramer, blanks_between_events_may_be_longer_than_the_bound) {
  const std::string text = "[{\"a\":1}," + std::string(3000, '\n') + "{\"b\":2}]";
  const Framed framed = Frame(text, SmallLimits(), 0, 0);
  EXPECT_EQ(EventsIn(framed).size(), 2u);
  EXPECT_FALSE(framed.issues.Any());
}

TEST(EventFramer, an_array_that_stays_open_is_complete_only_in_the_array_form) {
  const Framed array = Frame("[{\"a\":1},\n{\"b\":2},\n", SmallLimits(), 0, 0);
  EXPECT_TRUE(array.complete);
  EXPECT_FALSE(array.issues.Any());
  EXPECT_EQ(EventsIn(array).size(), 2u);
  const Framed object = Frame("{\"traceEvents\":[{\"a\":1},\n{\"b\":2}", SmallLimits(), 0, 0);
  EXPECT_FALSE(object.complete);
  EXPECT_EQ(object.Count(IssueKind::kTruncated), 1u);
  EXPECT_EQ(EventsIn(object).size(), 2u);
}

TEST(EventFramer, a_trace_cut_at_any_byte_keeps_its_whole_events_and_is_never_complete) {
  const std::string text =
      "{\"k\":[1,2],\"traceEvents\":[{\"a\":\"]}\"}, {\"b\":{\"c\":[2]}}],\"z\":\"\\\"\"}";
  const size_t first_end = text.find(", {");
  const size_t second_end = text.find("],\"z\"");
  for (size_t size = 0; size < text.size(); ++size) {
    const Framed framed = Frame(text.substr(0, size), SmallLimits(), 0, 0);
    EXPECT_FALSE(framed.complete) << size;
    EXPECT_EQ(EventsIn(framed).size(), (size >= first_end) + (size >= second_end)) << size;
    if (size < text.find('[', 10) + 1) continue;
    EXPECT_EQ(framed.Count(IssueKind::kTruncated), 1u) << size;
    EXPECT_LE(framed.Offset(IssueKind::kTruncated), size) << size;
  }
}

TEST(EventFramer, the_place_of_a_cut_event_is_where_it_begins) {
  const Framed framed = Frame("[{\"a\":1}, {\"b\":", SmallLimits(), 0, 0);
  EXPECT_EQ(framed.Count(IssueKind::kTruncated), 1u);
  EXPECT_EQ(framed.Offset(IssueKind::kTruncated), 10u);
  EXPECT_EQ(framed.issues.entry(IssueKind::kTruncated).first_excerpt, "{\"b\":");
}

TEST(EventFramer, a_second_event_array_is_added_and_noted) {
  const Framed framed = Frame("{\"traceEvents\":[{\"a\":1}],\"x\":1,\"traceEvents\":[{\"b\":2}]}",
                              SmallLimits(), 0, 0);
  EXPECT_EQ(EventsIn(framed).size(), 2u);
  EXPECT_EQ(framed.Count(IssueKind::kRepeatedEventArray), 1u);
  EXPECT_TRUE(framed.complete);
}

TEST(EventFramer, windows_with_events_nested_too_deep_are_marked) {
  LoadLimits limits = SmallLimits();
  limits.depth_max = 100;
  const auto deep = [](size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  const auto marked = [&](size_t depth) {
    const Framed framed = Frame("[" + deep(depth) + ",{\"b\":1}]", limits, 0, 0);
    return std::any_of(framed.windows.begin(), framed.windows.end(),
                       [](const EventWindow& window) { return window.deep; });
  };
  EXPECT_FALSE(marked(5));
  EXPECT_TRUE(marked(200));
}

TEST(EventFramer, nothing_more_is_asked_for_when_the_reader_of_windows_has_gone) {
  EventIssues issues;
  EventFramer framer(
      SmallLimits(), issues, [] { return EventWindow{}; }, [](EventWindow) { return false; });
  const std::string event = "{\"x\":1},";
  std::string text = "[";
  while (text.size() < 1000) text += event;
  size_t at = 0;
  while (!framer.stopped() && at < text.size()) {
    const std::span<char> room = framer.Room();
    const size_t count = std::min(room.size(), text.size() - at);
    std::memcpy(room.data(), text.data() + at, count);
    framer.Added(count);
    at += count;
  }
  EXPECT_TRUE(framer.stopped());
  EXPECT_LT(at, text.size());
  EXPECT_TRUE(framer.Room().empty());
}

}  // namespace
}  // namespace tracedb
