// EventLayouts: an event known by its layout becomes the very record that parsing makes of it.

#include "ingest/parse/event_layouts.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "parsed_events.h"
#include "random_json.h"

namespace tracedb {
namespace {

using test::ParsedEvent;

// One event's fields, as the parser reads them.
class ReadEvent {
 public:
  explicit ReadEvent(const std::string& event) : text_(event) {
    padded_ = text_ + std::string(simdjson::SIMDJSON_PADDING, ' ');
    simdjson::ondemand::object object;
    EXPECT_EQ(parser_.iterate(padded_.data(), text_.size(), padded_.size()).get(document_),
              simdjson::SUCCESS);
    EXPECT_EQ(document_.get_object().get(object), simdjson::SUCCESS);
    EXPECT_EQ(fields.Read(document_, object), simdjson::SUCCESS);
  }
  std::string_view text() const { return {padded_.data(), text_.size()}; }
  EventFields fields;

 private:
  std::string text_;
  std::string padded_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
};

void Learn(EventLayouts& layouts, const std::string& event) {
  const ReadEvent read(event);
  EventRecord record{};
  record.phase = 'X';
  record.has_ts = record.has_dur = true;
  record.columns_mask = read.fields.columns_mask & EventRecord::kColumnsMask;
  record.text_mask = read.fields.text_mask & EventRecord::kColumnsMask;
  layouts.Learn(read.text(), read.fields, record);
}

// How many bytes at the start of `text` fit a layout; 0 when none does.
size_t Matched(EventLayouts& layouts, const std::string& text, EventBatch& batch) {
  const std::string padded = text + std::string(64, '\0');
  const char* const end = layouts.Match(padded.data(), padded.data() + text.size(), 7, batch);
  return end == nullptr ? 0 : static_cast<size_t>(end - padded.data());
}

const std::string kEvent =
    R"({"ph":"X","name":"a","ts":1.5,"dur":2,"args":{"correlation":5,"x":123456,"f":0.12345,)"
    R"("p":"0x7f0012"}})";

TEST(EventLayouts, an_event_that_differs_in_its_numbers_only_is_known) {
  EventLayouts layouts(1 << 20);
  Learn(layouts, kEvent);
  const std::string other =
      R"({"ph":"X","name":"a","ts":-17.125,"dur":0.001,"args":{"correlation":-99,"x":1000,)"
      R"("f":-7.5e10,"p":"0xabcdef0123"}})";
  EventBatch batch;
  EXPECT_EQ(Matched(layouts, other + ",{}", batch), other.size());
  ASSERT_EQ(batch.events.size(), 1u);
  EXPECT_EQ(batch.events[0].ts_ns, -17125);
  EXPECT_EQ(batch.events[0].dur_ns, 1);
  EXPECT_EQ(batch.events[0].offset, 7u);
  ASSERT_EQ(batch.values.size(), 4u);
  EXPECT_EQ(batch.values[0], -99);
  EXPECT_EQ(batch.values[1], 1000);
  EXPECT_EQ(batch.ValueText(batch.values[2]), "-7.5e10");
  EXPECT_EQ(batch.ValueText(batch.values[3]), "0xabcdef0123");
}

TEST(EventLayouts, an_event_that_differs_in_anything_else_is_not_known) {
  EventLayouts layouts(1 << 20);
  Learn(layouts, kEvent);
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string event = kEvent;
    return event.replace(event.find(from), from.size(), to);
  };
  for (const std::string& event : {changed("\"a\"", "\"b\""),
                                   changed("\"X\"", "\"i\""),
                                   changed("1.5", "\"1.5\""),
                                   changed("1.5", ""),
                                   changed("1.5", "+1.5"),
                                   changed("1.5", ".5"),
                                   changed("1.5", "-.5"),
                                   changed("1.5", "1.5x"),
                                   changed("1.5", "1e999"),
                                   changed("1.5", "9223372036854775.808"),
                                   changed("1.5", "9223372036854775.800"),  // and dur: too much
                                   changed("123456", "999"),
                                   changed("123456", "-0"),
                                   changed("123456", "0123456"),
                                   changed("123456", "1234567890123456789"),
                                   changed("123456", "123456.5"),
                                   changed("123456", "123456e2"),
                                   changed(":5,", ":05,"),
                                   changed(":5,", ":5 ,"),
                                   changed(":5,", ":-0,"),
                                   changed("0.12345", "12345"),
                                   changed("0.12345", "0.1"),
                                   changed("0.12345", "00.12345"),
                                   changed("0.12345", "0.1234.5"),
                                   changed("0x7f0012", "0x7f"),
                                   changed("0x7f0012", "0x7g0012"),
                                   changed("0x7f0012", "0x"),
                                   changed("}}", "}"),
                                   changed("}}", "},\"more\":1}"),
                                   kEvent.substr(0, kEvent.size() - 1),
                                   std::string()}) {
    EventBatch batch;
    EXPECT_EQ(Matched(layouts, event, batch), 0u) << event;
    EXPECT_TRUE(batch.events.empty() && batch.values.empty() && batch.texts.empty()) << event;
  }
}

TEST(EventLayouts, a_time_in_any_form_is_the_same_time) {
  const std::vector<std::pair<std::string, int64_t>> times = {
      {"1661203462599206", 1661203462599206000},
      {"1661203462599206.25", 1661203462599206250},
      {"1.5004", 1500},
      {"1.5005", 1501},
      {"-1.50049999999999999999999", -1500},
      {"1e3", 1000000},
      {"1.661203462599206e+15", 1661203462599206000},
      {"1E-3", 1},
      {"-5.-123", -5123},
      {"9223372036854773.807", 9223372036854773807}};
  for (const bool quoted : {false, true}) {
    const auto event = [quoted](const std::string& time) {
      const std::string quote = quoted ? "\"" : "";
      return R"({"name":"a","ph":"X","ts":)" + quote + time + quote + R"(,"dur":0.001})";
    };
    for (const auto& [learned, learned_ns] : times) {
      EventLayouts layouts(1 << 20);
      Learn(layouts, event(learned));
      for (const auto& [time, ns] : times) {
        // In quotes it is the start of what is looked up; these forms are too rare to be known.
        if (quoted && time.find_first_of("eE-") != std::string::npos) continue;
        if (quoted && learned.find_first_of("eE-") != std::string::npos) continue;
        EventBatch batch;
        ASSERT_EQ(Matched(layouts, event(time), batch), event(time).size()) << time;
        EXPECT_EQ(batch.events[0].ts_ns, ns) << time;
        EXPECT_EQ(batch.events[0].dur_ns, 1) << time;
      }
    }
  }
}

// Every way of comparing says the same of texts that differ in any byte, or nowhere.
TEST(EventLayouts, every_vector_unit_agrees) {
  std::vector<FitLayout> fits = {FitLayoutPlain};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
    fits.push_back(FitLayoutAvx2);
  }
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("bmi2")) {
    fits.push_back(FitLayoutAvx512);
  }
#endif
  test::Random random(12);
  for (uint32_t size = 0; size < 200; ++size) {
    std::string literal;
    for (uint32_t i = 0; i < size; ++i) literal += static_cast<char>(random.Below(256));
    const std::string texts = literal + std::string(kLayoutPaddingBytes, 'x');
    const LayoutPiece pieces[] = {{0, size, LayoutField::kInt, 0}, {0, 0, LayoutField::kEnd, 0}};
    for (uint32_t changed = 0; changed <= size; ++changed) {
      std::string text = literal + "123456," + std::string(kLayoutPaddingBytes, 'y');
      if (changed < size) text[changed] = static_cast<char>(text[changed] ^ 1 << random.Below(8));
      for (const FitLayout fit : fits) {
        FittedValues fitted{};
        const char* const end = text.data() + size + 7;
        const char* const after = fit(pieces, texts.data(), text.data(), end, fitted);
        ASSERT_EQ(after, changed < size ? nullptr : text.data() + size + 6) << size << changed;
        if (after != nullptr) {
          ASSERT_EQ(fitted.values[0], 123456);
        }
      }
    }
  }
}

TEST(EventLayouts, of_a_text_cut_anywhere_nothing_behind_its_end_counts) {
  EventLayouts layouts(1 << 20);
  Learn(layouts, kEvent);
  EventBatch batch;
  for (size_t size = 0; size < kEvent.size(); ++size) {
    // What is behind the end would fit; or digits would go on.
    for (const std::string& behind : {kEvent.substr(size), std::string(32, '7')}) {
      const std::string text = kEvent.substr(0, size) + behind + std::string(64, '\0');
      EXPECT_EQ(layouts.Match(text.data(), text.data() + size, 0, batch), nullptr) << size;
    }
  }
}

TEST(EventLayouts, clear_forgets_and_the_bound_holds) {
  EventLayouts layouts(10000);
  EventBatch batch;
  Learn(layouts, kEvent);
  EXPECT_GT(Matched(layouts, kEvent, batch), 0u);
  layouts.Clear();
  EXPECT_EQ(Matched(layouts, kEvent, batch), 0u);
  const auto named = [](int i) {
    return "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"" + std::to_string(i) + "\"}";
  };
  int known = 0;
  for (int i = 0; i < 2000; ++i) Learn(layouts, named(i));
  for (int i = 0; i < 2000; ++i) known += Matched(layouts, named(i), batch) > 0 ? 1 : 0;
  EXPECT_GT(known, 0);
  EXPECT_LT(known, 200);
}

// --- Through the parser: whatever the events, as if each had been parsed. ------------------------

// A number as traces write it, or one that only looks like it.
std::string RandomNumber(test::Random& random) {
  switch (random.Below(8)) {
    case 0:
      return random.Pick({"0", "-0", "5", "999", "1000", "-999", "-1000", "05", "1e3", "1E5"});
    case 1:
      return random.Pick({"1.5", "0.1", "-0.5", "12.3456", "1.", "1234.5678", "0.0005", "-.5"});
    case 2:
      return random.Pick({"123456789012345", "1234567890123456", "123456789012345678",
                          "1234567890123456789", "18446744073709551616", "-123456789012345678"});
    case 3:
      return random.Pick({"null", "true", "\"5\"", "\"1.25\"", "\"\"", "{}", "[5]", "NaN"});
    case 4:
      return std::to_string(random.Between(-3000, 3000)) + "." + std::to_string(random.Below(9999));
    default:
      return std::to_string(random.Between(0, 9999999));
  }
}

std::string RandomPointer(test::Random& random) {
  return random.Pick({"\"0x7f00deadbeef\"", "\"0x1\"", "\"0x12\"", "\"0x123\"", "\"0xABCdef\"",
                      "\"0x12g4\"", "\"0x\"", "\"0x1234 \"", "\"0x12\\u0033\"", "\"1x234\""});
}

// An event text with '#' for numbers and '@' for pointers.
std::string RandomTemplate(test::Random& random) {
  std::string text = "{\"ph\":\"" + random.Pick({"X", "X", "X", "i", "s", "C", "M", "b"}) + "\"";
  const auto add = [&](const std::string& member) {
    text += random.Pick({",", ",", ", ", ",\n  "}) + member;
  };
  add("\"name\":\"" + random.Pick({"a", "b", "c#", "d"}) + "\"");
  if (random.OneIn(2)) add("\"cat\":\"" + random.Pick({"kernel", "cpu_op", "cuda_runtime"}) + "\"");
  add("\"pid\":" + random.Pick({"1", "2"}) + ",\"tid\": " + random.Pick({"1", "\"t\""}));
  add("\"ts\":#");
  if (!random.OneIn(4)) add("\"dur\": #");
  if (random.OneIn(4)) add("\"ts\":#");
  if (random.OneIn(4)) add("\"id\":" + random.Pick({"#", "@", "\"x\""}));
  if (random.OneIn(4)) add("\"extra\":" + random.Pick({"#", "@", "[#]"}));
  // Args once, sometimes not at all or twice.
  for (size_t left = random.OneIn(4) ? random.Below(3) : 1; left > 0; --left) {
    std::string args;
    for (size_t members = random.Below(8); members > 0; --members) {
      args += (args.empty() ? "\"" : ", \"") +
              random.Pick({"correlation", "External id", "stream", "device", "x", "y", "Addr",
                           "Seq", "cbid", "\\u0078"}) +
              "\":" + random.Pick({"#", "#", "#", "@", "[#,2]", "{\"z\":#}", "\"text #\""});
    }
    add("\"args\":{" + args + "}");
  }
  return text + random.Pick({"}", "}", " }"});
}

// A number that every event may have: in a column or not, in the plain form of a time or not.
std::string SoundNumber(test::Random& random) {
  if (random.OneIn(8)) {
    return random.Pick({"0", "5", "-5", "999", "1000", "-999", "-1000", "1.5", "0.25", "-12.125",
                        "12.3456", "1e3", "1234.5678", "123456789012345"});
  }
  return std::to_string(random.Between(1000, 99999));
}

std::string Instance(test::Random& random, const std::string& pattern, bool sound) {
  std::string text;
  for (const char c : pattern) {
    if (c == '#') {
      text += sound ? SoundNumber(random) : RandomNumber(random);
    } else if (c == '@') {
      text += sound ? "\"0x7f" + std::to_string(random.Between(1000, 99999)) + "\""
                    : RandomPointer(random);
    } else {
      text += c;
    }
  }
  return text;
}

struct WayOutcome {
  std::vector<ParsedEvent> events;
  std::array<uint64_t, kIssueKinds> issues{};
  int wrong_numbers = 0;
};

WayOutcome ParseWindows(const std::vector<std::string>& windows, ParseWay way, bool keep_args,
                        size_t dictionary_bytes_max) {
  LoadLimits limits = test::ParserLimits();
  limits.dictionary_bytes_max = dictionary_bytes_max;
  EventParser parser(limits, 0, keep_args, way);
  test::BatchReader reader;
  WayOutcome outcome;
  uint64_t offset = 0;
  for (const std::string& text : windows) {
    EventWindow window = test::WindowOf(text, offset);
    offset += text.size();
    EventBatch batch;
    parser.Parse(window, batch);
    const auto events = reader.Read(batch);
    outcome.events.insert(outcome.events.end(), events.begin(), events.end());
    for (size_t kind = 0; kind < kIssueKinds; ++kind) {
      outcome.issues[kind] += batch.issues.entry(static_cast<IssueKind>(kind)).count;
    }
  }
  outcome.wrong_numbers = reader.wrong_numbers();
  return outcome;
}

TEST(EventLayouts, a_stream_written_as_a_pointer_decides_the_track) {
  const auto on_stream = [](const char* stream) {
    return std::string(R"({"ph":"X","cat":"kernel","name":"k","pid":1,"tid":2,"ts":1,"dur":1,)") +
           "\"args\":{\"device\":0,\"stream\":\"" + stream + "\"}}";
  };
  const auto parsed = test::ParseText(on_stream("0x7f0001") + "," + on_stream("0x7f0002"));
  ASSERT_EQ(parsed.events.size(), 2u);
  EXPECT_EQ(parsed.events[0].track, "1/2/0/0x7f0001");
  EXPECT_EQ(parsed.events[1].track, "1/2/0/0x7f0002");
}

TEST(EventLayouts, random_repeated_events_are_read_the_same_by_every_way) {
  test::Random random(25);
  for (int round = 0; round < 600; ++round) {
    std::vector<std::string> templates;
    for (size_t left = 1 + random.Below(6); left > 0; --left) {
      templates.push_back(RandomTemplate(random));
    }
    const bool sound = !random.OneIn(3);
    std::vector<std::string> windows(1 + random.Below(5));
    for (std::string& window : windows) {
      for (size_t left = random.Below(60); left > 0; --left) {
        window += Instance(random, templates[random.Below(templates.size())], sound);
        if (left > 1) window += random.Pick({",", ",\n", ", "});
      }
    }
    const bool keep_args = !random.OneIn(3);
    const size_t bytes_max = random.OneIn(2) ? 1 << 20 : 3000;
    const auto by_layout = ParseWindows(windows, ParseWay::kByLayout, keep_args, bytes_max);
    const auto whole = ParseWindows(windows, ParseWay::kWhole, keep_args, bytes_max);
    const auto alone = ParseWindows(windows, ParseWay::kOneByOne, keep_args, bytes_max);
    ASSERT_EQ(by_layout.events.size(), alone.events.size()) << windows[0];
    for (size_t i = 0; i < alone.events.size(); ++i) {
      ASSERT_EQ(by_layout.events[i], alone.events[i]) << round;
      ASSERT_EQ(whole.events[i], alone.events[i]) << round;
    }
    ASSERT_EQ(by_layout.issues, alone.issues);
    ASSERT_EQ(whole.issues, alone.issues);
    ASSERT_EQ(by_layout.wrong_numbers, 0);
  }
}

}  // namespace
}  // namespace tracedb
