// Any bytes as a trace's text: framer and parser must survive them, and every way of cutting and
// parsing must make the same events and the same issues.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ingest/frame/event_framer.h"
#include "ingest/parse/event_parser.h"

namespace {

using namespace tracedb;

LoadLimits SmallLimits() {
  LoadLimits limits = LoadLimits::For(LoadLimits::kMemoryBytesMin, 1);
  limits.window_bytes = 512;  // so that windows end often
  limits.event_bytes_max = 4096;
  limits.resync_bytes = 256;
  limits.header_bytes_max = 4096;
  limits.dictionary_bytes_max = 16 * 1024;
  limits.depth_max = 64;
  return limits;
}

// The batch as text, with texts in place of their numbers.
class Listing {
 public:
  void Add(const EventBatch& batch) {
    if (batch.forgot) {
      for (auto& texts : texts_) texts.clear();
    }
    for (const EventBatch::NewText& text : batch.new_texts) {
      texts_[static_cast<size_t>(text.kind)].emplace_back(batch.Text(text));
    }
    for (const EventRecord& event : batch.events) AddEvent(batch, event);
    issues_.Merge(batch.issues);
  }

  std::string Text() const {
    std::string text = lines_;
    for (size_t i = 0; i < kIssueKinds; ++i) {
      const auto& entry = issues_.entry(static_cast<IssueKind>(i));
      text += std::to_string(entry.count) + "@" + std::to_string(entry.first_offset) + " ";
    }
    return text;
  }
  EventIssues& issues() { return issues_; }

 private:
  std::string TextOf(TextKind kind, uint32_t id) const {
    return id == kNoText ? "-" : texts_[static_cast<size_t>(kind)].at(id);
  }

  void AddEvent(const EventBatch& batch, const EventRecord& event) {
    lines_ += event.phase;
    lines_ += " " + std::to_string(event.has_ts ? event.ts_ns : -1) + " " +
              std::to_string(event.has_dur ? event.dur_ns : -1) + " @" +
              std::to_string(event.offset) + " " + std::to_string(batch.AsyncKey(event)) + " " +
              TextOf(TextKind::kEventName, event.event_name) + "|" +
              TextOf(TextKind::kTrack, event.track) + "|" +
              TextOf(TextKind::kArgsText, event.args_text);
    size_t at = event.values_at;
    for (uint32_t left = event.columns_mask; left != 0; left &= left - 1) {
      const int64_t value = batch.values.at(at++);
      const bool is_text = (event.text_mask & left & ~(left - 1)) != 0;
      lines_ += " " + (is_text ? std::string(batch.ValueText(value)) : std::to_string(value));
    }
    lines_ += '\n';
  }

  std::array<std::vector<std::string>, kTextKinds> texts_;
  std::string lines_;
  EventIssues issues_;
};

std::string Events(const std::string& text, size_t block_bytes, ParseWay way) {
  const LoadLimits limits = SmallLimits();
  Listing listing;
  EventIssues framing;
  EventParser parser(limits, 0, true, way);
  EventBatch batch;
  EventFramer framer(
      limits, framing, [] { return EventWindow{}; },
      [&](EventWindow window) {
        batch.Clear();
        parser.Parse(window, batch);
        listing.Add(batch);
        return true;
      });
  for (size_t at = 0; at < text.size();) {
    const auto room = framer.Room();
    const size_t count = std::min({room.size(), block_bytes, text.size() - at});
    text.copy(room.data(), count, at);
    framer.Added(count);
    at += count;
  }
  framer.Finish();
  listing.issues().Merge(framing);
  std::string listed = listing.Text() + (framer.complete() ? "complete" : "cut");
  for (const auto& [key, value] : framer.header().entries()) listed += "\n" + key + "=" + value;
  return listed;
}

void Expect(const std::string& wanted, const std::string& got, const char* how) {
  if (wanted == got) return;
  std::fprintf(stderr, "%s differs\n--- one by one\n%s\n--- it\n%s\n", how, wanted.c_str(),
               got.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string wanted = Events(text, text.size() + 1, ParseWay::kOneByOne);
  Expect(wanted, Events(text, text.size() + 1, ParseWay::kByLayout), "by layout");
  Expect(wanted, Events(text, text.size() + 1, ParseWay::kWhole), "whole windows");
  Expect(wanted, Events(text, 1, ParseWay::kByLayout), "cut into bytes");
  Expect(wanted, Events(text, 37, ParseWay::kByLayout), "cut into 37 bytes");
  return 0;
}
