// A hash of a few integers, for tables in memory.
#pragma once

#include <cstdint>

namespace tracedb {

inline uint64_t HashNumbers(int64_t a, int64_t b, int64_t c) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  uint64_t hash = static_cast<uint64_t>(a) * kOdd;
  hash = (hash ^ hash >> 32 ^ static_cast<uint64_t>(b)) * kOdd;
  hash = (hash ^ hash >> 32 ^ static_cast<uint64_t>(c)) * kOdd;
  return hash ^ hash >> 32;
}

}  // namespace tracedb
