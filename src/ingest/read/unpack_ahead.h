// Unpacking on a thread of its own, some blocks ahead of whoever reads the text: for machines that
// have a core for it.
#pragma once

#include <cstddef>
#include <memory>

#include "tracedb/ingest/read/byte_source.h"

namespace tracedb {

// The text of `source`, of which nothing has been read yet; `bytes_max` may be on their way. What
// source says of damage, hashes and issues it says here once Read has returned 0. `hash_beside`:
// another thread makes text_hash() of what has been unpacked, before it is read.
std::unique_ptr<ByteSource> UnpackAhead(std::unique_ptr<ByteSource> source, size_t bytes_max,
                                        bool hash_beside = false);

}  // namespace tracedb
