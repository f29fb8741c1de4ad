// A trace file's text, unpacked, in pieces of any size. Tells gzip, Zstandard and plain text apart
// by the first bytes, never by the name. Knows nothing of JSON.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "tracedb/base/result.h"

namespace tracedb {

class EventIssues;

// kMade: the text is no file's, but made of what a file of another format says.
enum class BytePacking { kPlain, kGzip, kZstd, kMade };

// A compressed stream that breaks off or is wrong. What was unpacked before it is good.
struct ByteDamage {
  bool loses_text = true;      // false: only bytes after the stream's proper end are odd
  uint64_t packed_offset = 0;  // in the file, of the piece in which it was noticed
  std::string what;            // "the gzip data end too soon"
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills a part of `into` from its start; 0 at the end. An error only when reading itself fails.
  virtual Result<size_t> Read(std::span<char> into) = 0;
  // Set when Read has returned 0 too early because of damage.
  virtual const std::optional<ByteDamage>& damage() const = 0;
  virtual BytePacking packing() const = 0;
  // Bytes taken from the file so far: for progress.
  virtual uint64_t packed_bytes() const = 0;
  // Hash of the file as it is, once it has been read to its end; empty before.
  virtual std::string file_hash() const = 0;
  // Hash of the text, where a source makes it and Read has returned 0; else empty.
  virtual std::string text_hash() const { return ""; }
  // What could not be made text of; null: nothing is ever left out. Final once Read has returned 0.
  virtual const EventIssues* issues() const { return nullptr; }
};

// Threads that unpack pieces of one gzip file side by side.
struct UnpackThreads {
  unsigned count = 0;    // 0: there are none
  size_t bytes_max = 0;  // what they may take, together
};

// Opens a file, or standard input for "-". `block_bytes` limits what one Read returns (0: no
// limit); tests use it to cut the text at every place. Once `stop` is true, a Read that waits for
// a pipe fails. With `threads`, each Read has room for kPiecesRoomBytesMin at least.
inline constexpr size_t kPiecesRoomBytesMin = 4096;
Result<std::unique_ptr<ByteSource>> OpenByteSource(const std::filesystem::path& path,
                                                   size_t block_bytes,
                                                   const std::atomic<bool>* stop = nullptr,
                                                   const UnpackThreads& threads = {});

}  // namespace tracedb
