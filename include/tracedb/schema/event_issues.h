// The tally of what was wrong in a trace: kinds, counts, and where each kind was first met.
// A bad event is counted here and reading goes on; it is never an Error.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tracedb {

enum class IssueKind : uint8_t {
  kMalformedEvent,      // no JSON object could be made of it; skipped
  kNotAnEvent,          // an element of the event array that is no object, or has no phase; skipped
  kEventTooLarge,       // longer than the memory bound allows; skipped
  kEventTooDeep,        // nested deeper than the bound; skipped
  kBadTime,             // ts or dur is no number that fits 64-bit nanoseconds
  kMissingTime,         // no ts where the phase needs one; skipped
  kMissingDuration,     // an X event without dur: kept, its duration is NULL
  kNegativeDuration,    // kept as it is, adds nothing to any busy time
  kImpossibleTime,      // hours, days or years off: kept as it is, in nothing that is worked out
  kNoTiming,            // a GPU activity or event at ts 0 without length: in no busy time or span
  kBeginWithoutEnd,     // kept as an instant
  kEndWithoutBegin,     // kept as an instant
  kTooManyOpen,         // begin events beyond the bound: kept as instants
  kUnknownPhase,        // kept as an instant
  kRepairedText,        // bad escapes, control characters or UTF-8 were replaced in the event
  kNonFiniteNumber,     // NaN or an infinity, replaced by null
  kRepeatedEventArray,  // a second traceEvents: its events were added
  kHeaderMalformed,     // a header value that is no JSON: kept as text
  kHeaderTooLarge,      // header values beyond the bound: left out
  kTruncated,           // the file ends inside the event array
  kDamagedCompression,  // the compressed stream breaks off or is wrong
  kUnusableRow,         // a row of a source's table without what an event needs; skipped
  kRowLeftOut,          // a row of a table that is only kept when asked for, or looked into and
                        // does not fit in memory; skipped
  kTrailingGarbage,     // bytes after the end of the trace, or after the last gzip member
  kCount
};

inline constexpr size_t kIssueKinds = static_cast<size_t>(IssueKind::kCount);

// As stored in the table `issues`: "malformed_event" and so on.
std::string_view IssueName(IssueKind kind);
// True when each count of it is one event that is in no table.
bool IssueLosesEvents(IssueKind kind);

class EventIssues {
 public:
  static constexpr size_t kExcerptBytes = 160;

  struct Entry {
    uint64_t count = 0;
    uint64_t first_offset = 0;  // in the unpacked stream
    std::string first_excerpt;  // at most kExcerptBytes of the place, printable
  };

  void Add(IssueKind kind, uint64_t offset, std::string_view excerpt, uint64_t count = 1);
  // Adds another tally; of two first places the earlier one stays.
  void Merge(const EventIssues& other);
  const Entry& entry(IssueKind kind) const { return entries_[static_cast<size_t>(kind)]; }
  bool Any() const;
  // Events that are in no table.
  uint64_t Lost() const;
  void Clear() { entries_ = {}; }

 private:
  std::array<Entry, kIssueKinds> entries_{};
};

}  // namespace tracedb
