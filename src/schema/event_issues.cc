#include "tracedb/schema/event_issues.h"

#include <algorithm>

namespace tracedb {
namespace {

struct KindText {
  IssueKind kind;
  std::string_view name;
  bool loses;
};

constexpr std::array<KindText, kIssueKinds> kKinds = {{
    {IssueKind::kMalformedEvent, "malformed_event", true},
    {IssueKind::kNotAnEvent, "not_an_event", true},
    {IssueKind::kEventTooLarge, "event_too_large", true},
    {IssueKind::kEventTooDeep, "event_too_deep", true},
    {IssueKind::kBadTime, "bad_time", true},
    {IssueKind::kMissingTime, "missing_time", true},
    {IssueKind::kMissingDuration, "missing_duration", false},
    {IssueKind::kNegativeDuration, "negative_duration", false},
    {IssueKind::kImpossibleTime, "impossible_time", false},
    {IssueKind::kNoTiming, "no_timing", false},
    {IssueKind::kBeginWithoutEnd, "begin_without_end", false},
    {IssueKind::kEndWithoutBegin, "end_without_begin", false},
    {IssueKind::kTooManyOpen, "too_many_open", false},
    {IssueKind::kUnknownPhase, "unknown_phase", false},
    {IssueKind::kRepairedText, "repaired_text", false},
    {IssueKind::kNonFiniteNumber, "non_finite_number", false},
    {IssueKind::kRepeatedEventArray, "repeated_event_array", false},
    {IssueKind::kHeaderMalformed, "header_malformed", false},
    {IssueKind::kHeaderTooLarge, "header_too_large", false},
    {IssueKind::kTruncated, "truncated", true},
    {IssueKind::kDamagedCompression, "damaged_compression", false},
    {IssueKind::kUnusableRow, "unusable_row", true},
    {IssueKind::kRowLeftOut, "row_left_out", false},
    {IssueKind::kTrailingGarbage, "trailing_garbage", false},
}};

// Printable ASCII stays; all else becomes '?', so that an excerpt is harmless wherever it is shown.
std::string Printable(std::string_view text) {
  std::string printable(text.substr(0, EventIssues::kExcerptBytes));
  for (char& c : printable) {
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
    if (c < ' ' || c > '~') c = '?';
  }
  return printable;
}

}  // namespace

std::string_view IssueName(IssueKind kind) { return kKinds[static_cast<size_t>(kind)].name; }

bool IssueLosesEvents(IssueKind kind) { return kKinds[static_cast<size_t>(kind)].loses; }

void EventIssues::Add(IssueKind kind, uint64_t offset, std::string_view excerpt, uint64_t count) {
  Entry& entry = entries_[static_cast<size_t>(kind)];
  if (entry.count == 0 || offset < entry.first_offset) {
    entry.first_offset = offset;
    entry.first_excerpt = Printable(excerpt);
  }
  entry.count += count;
}

void EventIssues::Merge(const EventIssues& other) {
  for (size_t i = 0; i < kIssueKinds; ++i) {
    const Entry& from = other.entries_[i];
    Entry& to = entries_[i];
    if (from.count == 0) continue;
    if (to.count == 0 || from.first_offset < to.first_offset) {
      to.first_offset = from.first_offset;
      to.first_excerpt = from.first_excerpt;
    }
    to.count += from.count;
  }
}

bool EventIssues::Any() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& e) { return e.count != 0; });
}

uint64_t EventIssues::Lost() const {
  uint64_t lost = 0;
  for (const KindText& kind : kKinds) {
    if (kind.loses) lost += entry(kind.kind).count;
  }
  return lost;
}

}  // namespace tracedb
