#include "pages/record_sums.h"

#include <array>
#include <bit>
#include <cstring>

#include "pages/btree_cells.h"
#include "pages/tree_rows.h"
#include "tracedb/pages/page_bytes.h"

namespace tracedb {
namespace {

constexpr uint64_t kNullType = 0;
constexpr uint64_t kZeroType = 8;  // and 9 is the constant 1
constexpr uint64_t kTextTypeMin = 12;
constexpr std::array<uint8_t, 10> kNumberBytes = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};  // by type

bool IsInteger(uint64_t type) { return (type >= 1 && type <= 6) || type == 8 || type == 9; }

size_t BytesOf(uint64_t type) {
  return type >= kTextTypeMin         ? static_cast<size_t>((type - kTextTypeMin) / 2)
         : type < kNumberBytes.size() ? kNumberBytes[type]
                                      : 0;
}

// As many bytes as fill whole blocks: what is too much is overwritten, or is the slack after both.
void CopyBlocks(uint8_t* to, const uint8_t* from, size_t bytes) {
  constexpr size_t kBlock = TreeRows::Row::kSlackBytes;
  for (size_t at = 0; at < bytes; at += kBlock) std::memcpy(to + at, from + at, kBlock);
}

// The bits of eight bytes, of which the first `bytes` are the integer's.
int64_t IntegerAt(const uint8_t* from, uint64_t type) {
  if (type >= kZeroType) return static_cast<int64_t>(type - kZeroType);
  uint64_t bits;
  std::memcpy(&bits, from, sizeof bits);
  if constexpr (std::endian::native == std::endian::little) bits = __builtin_bswap64(bits);
  return static_cast<int64_t>(bits) >> (64 - 8 * kNumberBytes[type]);
}

// The shortest type that has it.
uint8_t TypeOf(int64_t value) {
  if (value == 0 || value == 1)
    return static_cast<uint8_t>(kZeroType + static_cast<uint64_t>(value));
  const auto bits = std::bit_width(static_cast<uint64_t>(value ^ (value >> 63)));
  return bits < 8 ? 1 : bits < 16 ? 2 : bits < 24 ? 3 : bits < 32 ? 4 : bits < 48 ? 5 : 6;
}

uint8_t* PutInteger(uint8_t* to, int64_t value, uint8_t type) {
  const size_t bytes = kNumberBytes[type];
  if (bytes > 0) PutU64(to, static_cast<uint64_t>(value) << (64 - 8 * bytes));
  return to + bytes;
}

// A record's column types are one byte but those of long texts.
Varint TypeAt(std::span<const uint8_t> header, size_t at) {
  return header[at] < 0x80 ? Varint{header[at], 1} : GetVarint(header.subspan(at));
}

}  // namespace

// An integer's type is one byte, whichever: the header keeps its length, and what is after the last
// sum is copied as a whole.
std::span<const uint8_t> RecordSums::Add(std::span<const uint8_t> record) {
  if (sums_.empty()) return record;
  const Varint header = GetVarint(record);
  if (header.bytes == 0 || header.value > record.size()) return {};
  const auto header_bytes = static_cast<size_t>(header.value);
  const size_t room = record.size() + 8 * sums_.size() + 2 * TreeRows::Row::kSlackBytes;
  if (summed_.size() < room) summed_.resize(2 * room);
  CopyBlocks(summed_.data(), record.data(), header_bytes);
  uint8_t* out = summed_.data() + header_bytes;
  size_t type_at = header.bytes;
  size_t from = header_bytes;  // of the body, what is not copied yet
  size_t at = header_bytes;
  auto next = sums_.begin();
  for (size_t column = 0; type_at < header_bytes && next != sums_.end(); ++column) {
    const Varint type = TypeAt(record.first(header_bytes), type_at);
    if (type.bytes == 0) return {};
    const size_t bytes = BytesOf(type.value);
    if (bytes > record.size() - at) return {};
    if (column == next->column) {
      const int64_t add = (next++)->add;
      if (type.value != kNullType) {
        int64_t sum;
        if (!IsInteger(type.value)) return {};
        const int64_t value = IntegerAt(record.data() + at, type.value);
        if (__builtin_add_overflow(value, add, &sum)) return {};
        CopyBlocks(out, record.data() + from, at - from);
        out += at - from;
        from = at + bytes;
        const uint8_t wanted = TypeOf(sum);
        summed_[type_at] = wanted;
        out = PutInteger(out, sum, wanted);
      }
    }
    type_at += type.bytes;
    at += bytes;
  }
  CopyBlocks(out, record.data() + from, record.size() - from);
  out += record.size() - from;
  return {summed_.data(), out};
}

}  // namespace tracedb
