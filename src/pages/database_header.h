// Where things are in the header of a SQLite database file, on its first page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracedb {

inline constexpr size_t kDatabaseHeaderBytes = 100;
inline constexpr std::string_view kMagic("SQLite format 3\0", 16);

inline constexpr size_t kPageSizeAt = 16;
inline constexpr size_t kWriteVersionAt = 18;  // and of reading, next to it: 1; 2 in WAL mode
inline constexpr size_t kReadVersionAt = 19;
inline constexpr size_t kReservedBytesAt = 20;
inline constexpr size_t kChangeCounterAt = 24;
inline constexpr size_t kPageCountAt = 28;
inline constexpr size_t kFirstFreePageAt = 32;
inline constexpr size_t kFreePagesAt = 36;
inline constexpr size_t kLargestRootAt = 52;  // not 0: auto_vacuum
inline constexpr size_t kTextEncodingAt = 56;
inline constexpr size_t kVersionValidForAt = 92;

inline constexpr uint32_t kUsableBytesMin = 480;  // of a page: its size less what is reserved

// The page with this byte is left empty: locks are taken there.
inline constexpr uint64_t kLockByte = uint64_t{1} << 30;

}  // namespace tracedb
