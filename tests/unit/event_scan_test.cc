// ScanEvents: every vector unit against one byte after the other, wherever the text is cut.

#include "ingest/frame/event_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "random_json.h"

namespace tracedb {
namespace {

using Scan = EventScan (*)(EventScanState&, const char*, const char*);

struct Unit {
  const char* name;
  Scan scan;
  Scan scan_last;  // which leaves out the first end
  bool (*supported)();
};

// The scan as its header describes it, a byte at a time.
struct NaiveScan {
  int64_t depth = 0;
  bool in_string = false;
  bool escaped = false;

  EventScan Run(const char* begin, const char* end) {
    EventScan found;
    found.depth_max = depth;
    for (const char* at = begin; at != end; ++at) {
      const bool literal = escaped;
      escaped = *at == '\\' && !literal;
      if (*at == '"' && !literal) in_string = !in_string;
      if (in_string) continue;
      if (*at == '{' || *at == '[') found.depth_max = std::max(found.depth_max, ++depth);
      if (*at != '}' && *at != ']') continue;
      if (--depth == 0) {
        found.last_end = at + 1;
        if (found.first_end == nullptr) found.first_end = at + 1;
      }
      if (depth < 0) {
        found.array_end = at;
        return found;
      }
    }
    return found;
  }
};

class EventScanTest : public testing::TestWithParam<Unit> {
 protected:
  // Scans `text` in pieces of the given sizes; after each all must be as the naive scan says.
  void ExpectSameAsNaive(const std::string& text, const std::vector<size_t>& sizes) {
    EventScanState state;
    EventScanState last_state;
    NaiveScan naive;
    const char* at = text.data();
    for (const size_t size : sizes) {
      const EventScan wanted = naive.Run(at, at + size);
      const EventScan found = GetParam().scan(state, at, at + size);
      const auto where = [&] {
        return text.substr(0, 300) + " in a piece of " + std::to_string(size);
      };
      const auto place = [&](const char* p) { return p == nullptr ? -1 : p - text.data(); };
      ASSERT_EQ(place(found.first_end), place(wanted.first_end)) << where();
      ASSERT_EQ(place(found.last_end), place(wanted.last_end)) << where();
      ASSERT_EQ(place(found.array_end), place(wanted.array_end)) << where();
      const EventScan last = GetParam().scan_last(last_state, at, at + size);
      ASSERT_EQ(place(last.last_end), place(wanted.last_end)) << where();
      ASSERT_EQ(place(last.array_end), place(wanted.array_end)) << where();
      ASSERT_EQ(last_state.depth, state.depth) << where();
      ASSERT_EQ(last_state.in_string, state.in_string) << where();
      ASSERT_EQ(last_state.escape_next, state.escape_next) << where();
      ASSERT_EQ(last.depth_max, found.depth_max) << where();
      if (wanted.array_end != nullptr) return;
      ASSERT_LE(found.depth_max, wanted.depth_max) << where();
      ASSERT_GE(found.depth_max, wanted.depth_max - 64) << where();
      ASSERT_EQ(state.depth, naive.depth) << where();
      ASSERT_EQ(state.in_string != 0, naive.in_string) << where();
      ASSERT_EQ(state.escape_next != 0, naive.escaped) << where();
      at += size;
    }
    ASSERT_EQ(at, text.data() + text.size());
  }
};

TEST_P(EventScanTest, backslash_runs_of_every_length_are_right_across_block_borders) {
  for (size_t before = 0; before < 70; ++before) {
    for (size_t run = 0; run < 140; ++run) {
      // The quote behind the run ends the string when the run is even.
      const std::string text =
          "{\"" + std::string(before, 'a') + std::string(run, '\\') + "\":\"}\"},{}";
      ExpectSameAsNaive(text, {text.size()});
      const size_t cut = 2 + before + run / 2;
      ExpectSameAsNaive(text, {cut, text.size() - cut});
    }
  }
}

TEST_P(EventScanTest, every_byte_value_counts_as_what_it_is) {
  for (int byte = 0; byte < 256; ++byte) {
    for (const size_t at : {0u, 1u, 7u, 8u, 31u, 32u, 63u, 64u, 100u}) {
      std::string text(130, ' ');
      text[at] = static_cast<char>(byte);
      ExpectSameAsNaive(text, {text.size()});
    }
  }
}

TEST_P(EventScanTest, random_bytes_cut_anywhere_give_the_same_as_one_byte_at_a_time) {
  test::Random random(1);
  for (int round = 0; round < 4000; ++round) {
    // More opening than closing brackets, so that the array does not end at once.
    const std::string bytes = random.Pick(
        {"\"\\{}[],: ab\n", "\\\\\\\\\"{}", "{{}aaaaaaaaaa\"", "{[]}", "\"\\a", "{[aaaaaaaa\"\\}"});
    std::string text = random.OneIn(2) ? "{" : "";
    for (size_t left = random.Below(400); left > 0; --left) text += random.Of(bytes);
    ExpectSameAsNaive(text, test::RandomCuts(random, text.size(), 1 + random.Below(200)));
  }
}

TEST_P(EventScanTest, random_events_cut_anywhere_give_the_same_as_one_byte_at_a_time) {
  test::Random random(2);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (size_t left = random.Below(12); left > 0; --left) {
      text += "{\"args\":" + test::RandomJson(random, 4) + "}";
      if (left > 1) text += random.Pick({",", ",\n", " , "});
    }
    text += random.Pick({"]", "", "\n  ]}"});
    ExpectSameAsNaive(text, test::RandomCuts(random, text.size(), 1 + random.Below(300)));
    ExpectSameAsNaive(text, std::vector<size_t>(text.size(), 1));
  }
}

// So long that it is gone through in parts, some of which no event ends in.
TEST_P(EventScanTest, long_texts_give_the_same_as_one_byte_at_a_time) {
  test::Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    const size_t wanted = random.Below(150'000);
    constexpr size_t kLongest[] = {20, 300, 5'000, 90'000};
    const size_t longest = kLongest[random.Below(4)];
    while (text.size() < wanted) {
      text += "{\"args\":" + test::RandomJson(random, 3) + ",\"name\":\"";
      text += std::string(random.Below(longest), random.OneIn(9) ? '}' : 'n') + "\"},\n";
    }
    if (random.OneIn(2)) text += "{}]}, \"more\": {\"a\":[1]}";
    ExpectSameAsNaive(text, test::RandomCuts(random, text.size(), 1 + random.Below(70'000)));
  }
}

TEST_P(EventScanTest, the_deepest_level_is_found) {
  const std::string text = std::string(1000, '[') + std::string(990, ']');
  EventScanState state;
  const EventScan found = GetParam().scan(state, text.data(), text.data() + text.size());
  EXPECT_GE(found.depth_max, 1000 - 64);
  EXPECT_LE(found.depth_max, 1000);
  EXPECT_EQ(state.depth, 10);
}

bool Always() { return true; }

const Unit kUnits[] = {
    {"widest", ScanEvents, ScanLastEvent, Always},
    {"portable", ScanEventsPortable, ScanLastEventPortable, Always},
#if defined(__x86_64__)
    {"avx2", ScanEventsAvx2, ScanLastEventAvx2,
     [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul"); }},
    {"avx512", ScanEventsAvx512, ScanLastEventAvx512,
     [] { return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("pclmul"); }},
#endif
};

// Those that this processor has; the portable one always.
std::vector<Unit> SupportedUnits() {
  std::vector<Unit> units;
  for (const Unit& unit : kUnits) {
    if (unit.supported()) units.push_back(unit);
  }
  return units;
}

INSTANTIATE_TEST_SUITE_P(Units, EventScanTest, testing::ValuesIn(SupportedUnits()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tracedb
