// A stretch of whole events: what goes from the framer to a parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracedb/base/uninitialized_bytes.h"

namespace tracedb {

struct EventWindow {
  // Room in front of the text for the parser's own '[', and after it for what a vector load may
  // touch past the end.
  static constexpr size_t kFrontBytes = 64;
  static constexpr size_t kBackBytes = 128;

  UninitializedBytes bytes;  // kFrontBytes + room + kBackBytes
  size_t begin = 0;          // in bytes: the events with the commas and blanks around them
  size_t end = 0;
  uint64_t offset = 0;   // of `begin`, in the unpacked stream
  uint64_t ordinal = 0;  // windows are numbered from 0 in the stream's order
  bool deep = false;     // some event in it may be nested too deep

  size_t room() const { return bytes.size() - kFrontBytes - kBackBytes; }
  void SetRoom(size_t room_bytes) { bytes.resize(kFrontBytes + room_bytes + kBackBytes); }
  char* data() { return bytes.data(); }
  std::string_view text() const { return {bytes.data() + begin, end - begin}; }
};

}  // namespace tracedb
