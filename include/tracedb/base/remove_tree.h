// A folder of our own goes, with all that is in it.
#pragma once

namespace tracedb {

// Links are removed, not followed. What cannot be removed stays. Takes no memory from the heap: it
// is called while what ended for want of memory is undone.
void RemoveTree(const char* folder) noexcept;

}  // namespace tracedb
