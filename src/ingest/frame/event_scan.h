// Finds where events end in the text of a trace's event array, 64 bytes at a time, without
// looking at what they say: only quotes, backslashes and brackets count. Knows nothing of memory,
// files or JSON values. The text may be cut anywhere between two calls.
#pragma once

#include <cstdint>

namespace tracedb {

struct EventScanState {
  int64_t depth = 0;         // open brackets since the array's own '['; 0 is between two events
  uint64_t in_string = 0;    // all ones inside a string, else 0
  uint64_t escape_next = 0;  // 1 when the next byte is after a backslash
};

struct EventScan {
  const char* first_end = nullptr;  // just after the first event that ended; null when none did
  const char* last_end = nullptr;   // just after the last event that ended; null when none did
  const char* array_end = nullptr;  // at the bracket that closes the array; scanning stopped there
  int64_t depth_max = 0;            // the deepest level seen, give or take one block's brackets
};

// Scans [begin, end). Picks the widest vector unit that the processor has.
EventScan ScanEvents(EventScanState& state, const char* begin, const char* end);
// The same without first_end, in less time.
EventScan ScanLastEvent(EventScanState& state, const char* begin, const char* end);

// The versions it picks from; the vectored ones exist on x86-64 only.
EventScan ScanEventsPortable(EventScanState& state, const char* begin, const char* end);
EventScan ScanEventsAvx2(EventScanState& state, const char* begin, const char* end);
EventScan ScanEventsAvx512(EventScanState& state, const char* begin, const char* end);
EventScan ScanLastEventPortable(EventScanState& state, const char* begin, const char* end);
EventScan ScanLastEventAvx2(EventScanState& state, const char* begin, const char* end);
EventScan ScanLastEventAvx512(EventScanState& state, const char* begin, const char* end);

}  // namespace tracedb
