// What the allocator keeps of what was freed, for whoever asks next.
#pragma once

#include <cstddef>

namespace tracedb {

// Gives it to the system where the process may soon have more than `bytes_max`: where half of that
// is resident. Elsewhere it would only be asked for again, page by page, while other threads, which
// all wait meanwhile, lose what they freed as well.
void GiveFreedMemoryBack(size_t bytes_max);

}  // namespace tracedb
