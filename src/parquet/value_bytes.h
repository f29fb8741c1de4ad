// Numbers in the pages of a Parquet file, written and read.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tracedb {

inline void PutVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

inline uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

template <typename T>
void PutFixed(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof bytes);
}

// What is read may be anything; after the first thing that cannot be, ok is false.
struct PageBytes {
  std::string_view rest;
  bool ok = true;

  std::string_view Take(size_t bytes) {
    if (bytes > rest.size()) ok = false;
    if (!ok) return {};
    const std::string_view taken = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    return taken;
  }
  template <typename T>
  T Fixed() {
    T value{};
    const std::string_view bytes = Take(sizeof value);
    if (ok) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = Fixed<uint8_t>();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok = false;
    return 0;
  }
  int64_t ZigZagVarint() {
    const uint64_t value = Varint();
    return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1)));
  }
};

}  // namespace tracedb
