// Rows of integers that are gathered while a trace is read, to be gone through once it is: a few
// bytes a row, as differences to the row before. Memory is bounded: what is more goes to a file
// without a name, beside the database that is being made.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/memory/spill_file.h"

namespace tracedb {

// Where rows are kept: memory, and a file for what does not fit. Several PackedRows may share one.
struct PackedSpace {
  static constexpr size_t kBlockBytes = 64 * 1024;

  PackedSpace(std::filesystem::path folder, size_t bytes_max, size_t block = kBlockBytes)
      : spill(std::move(folder)), block_bytes(block), blocks_left(bytes_max / block) {}

  SpillFile spill;
  const size_t block_bytes;  // each PackedRows that is added to has one in memory
  size_t blocks_left;        // that may still stay in memory
};

// `Row` is a struct, or an array, of nothing but int64_t.
template <typename Row>
class PackedRows {
 public:
  static constexpr size_t kColumns = sizeof(Row) / sizeof(int64_t);
  static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) == kColumns * sizeof(int64_t));

  // `folder` is for what does not fit in `bytes_max`.
  PackedRows(std::filesystem::path folder, size_t bytes_max)
      : PackedRows(std::make_shared<PackedSpace>(std::move(folder), bytes_max)) {}
  explicit PackedRows(std::shared_ptr<PackedSpace> space)
      : space_(std::move(space)), block_bytes_(space_->block_bytes) {}

  size_t rows() const { return rows_; }
  // The row that was added last; none yet: zeros.
  const Row& last() const { return last_; }

  Status Add(const Row& row) {
    if (block_ == nullptr || used_ + kRowBytesMax > block_bytes_) TRACEDB_TRY(NextBlock());
    const uint8_t* out = EncodeRow(row, last_, block_.get() + used_);
    used_ = static_cast<size_t>(out - block_.get());
    ++rows_in_block_;
    ++rows_;
    return Done{};
  }

  // Calls `take` for each row, in the order in which they were added. Several threads may at once.
  template <typename Take>
  Status ForEach(Take take) const {
    return ForEach(0, rows_, take);
  }
  // Of rows `first` to `end` - 1, counted from 0 as they were added. Blocks before and after them
  // are not touched.
  template <typename Take>
  Status ForEach(size_t first, size_t end, Take take) const {
    if (first >= end) return Done{};
    Bytes read;
    size_t begin = 0;  // the block's first row
    for (const Block& block : blocks_) {
      const size_t at = begin;
      begin += block.rows;
      if (begin <= first) continue;
      if (at >= end) return Done{};
      const uint8_t* bytes = block.bytes.get();
      if (bytes == nullptr) {
        if (read == nullptr) read = NewBlock();
        TRACEDB_TRY(space_->spill.Read(block.place, {read.get(), block.used}));
        bytes = read.get();
      }
      Decode(bytes, Within(at, first), std::min(end - at, block.rows), take);
    }
    if (block_ != nullptr && begin < end) {
      Decode(block_.get(), Within(begin, first), std::min(end - begin, rows_in_block_), take);
    }
    return Done{};
  }

  // The rows one by one, in the order in which they were added; none may be added meanwhile.
  class Cursor {
   public:
    explicit Cursor(const PackedRows& rows) : rows_(&rows) {}

    // `row` is the one that it was before. False after the last one, and when reading failed:
    // status() tells.
    bool Next(Row& row) {
      while (left_ == 0) {
        if (!NextBlock()) return false;
        row = {};
      }
      at_ = DecodeRow(at_, row);
      --left_;
      return true;
    }
    const Status& status() const { return status_; }

   private:
    bool NextBlock() {
      if (next_ < rows_->blocks_.size()) {
        const Block& block = rows_->blocks_[next_];
        at_ = block.bytes.get();
        if (at_ == nullptr) {
          if (read_ == nullptr) read_ = rows_->NewBlock();
          status_ = rows_->space_->spill.Read(block.place, {read_.get(), block.used});
          if (!status_.ok()) return false;
          at_ = read_.get();
        }
        left_ = block.rows;
      } else if (next_ == rows_->blocks_.size() && rows_->block_ != nullptr) {
        at_ = rows_->block_.get();
        left_ = rows_->rows_in_block_;
      } else {
        return false;
      }
      ++next_;
      return true;
    }

    const PackedRows* rows_;
    std::unique_ptr<uint8_t[]> read_;
    const uint8_t* at_ = nullptr;
    size_t left_ = 0;  // rows of the block at hand
    size_t next_ = 0;  // block
    Status status_ = Done{};
  };

 private:
  using Bytes = std::unique_ptr<uint8_t[]>;
  struct Block {
    Bytes bytes;  // null: in the file
    uint64_t place = 0;
    size_t used = 0;
    size_t rows = 0;
  };

  // Sixteen columns at a time: a control word, four bits a column that say how many bytes its
  // difference has, and those bytes, lowest first. Eight bytes are written and read at a time, so
  // that up to seven after the last one are touched.
  static_assert(std::endian::native == std::endian::little);
  static constexpr size_t kGroup = 16;
  static constexpr size_t kSlackBytes = 7;
  static constexpr size_t kRowBytesMax = kColumns / kGroup * 8 + 8 + kColumns * 8;

  static constexpr size_t ControlBytes(size_t first) {
    return (std::min(kColumns - first, kGroup) + 1) / 2;
  }

  Bytes NewBlock() const {
    return std::make_unique_for_overwrite<uint8_t[]>(block_bytes_ + kSlackBytes);
  }

  // Small differences of either sign become small numbers.
  static uint64_t Folded(uint64_t difference) { return difference << 1 ^ (0 - (difference >> 63)); }

  // `last` becomes `row`. Columns are read and written one by one: copies of several at once would
  // have to wait until each of them has been stored.
  static uint8_t* EncodeRow(const Row& row, Row& last, uint8_t* out) {
    const auto* const from = reinterpret_cast<const std::byte*>(&row);
    auto* const before = reinterpret_cast<std::byte*>(&last);
    for (size_t first = 0; first < kColumns; first += kGroup) {
      uint64_t control = 0;
      uint8_t* const start = out;
      out += ControlBytes(first);
      for (size_t i = first; i < std::min(kColumns, first + kGroup); ++i) {
        uint64_t column, column_before;
        std::memcpy(&column, from + i * 8, 8);
        std::memcpy(&column_before, before + i * 8, 8);
        std::memcpy(before + i * 8, &column, 8);
        const uint64_t bits = Folded(column - column_before);
        const auto bytes = static_cast<unsigned>(std::bit_width(bits) + 7) / 8;
        std::memcpy(out, &bits, 8);
        control |= uint64_t{bytes} << (4 * (i - first));
        out += bytes;
      }
      std::memcpy(start, &control, ControlBytes(first));
    }
    return out;
  }

  // `row` is the one before. Its columns are read and written one by one as well.
  static const uint8_t* DecodeRow(const uint8_t* in, Row& row) {
    auto* const columns = reinterpret_cast<std::byte*>(&row);
    static constexpr std::array<uint64_t, 16> kMasks = [] {
      std::array<uint64_t, 16> masks{};
      for (size_t i = 1; i < masks.size(); ++i)
        masks[i] = i < 8 ? (uint64_t{1} << (8 * i)) - 1 : ~uint64_t{0};
      return masks;
    }();
    for (size_t first = 0; first < kColumns; first += kGroup) {
      // Eight bytes at once, as more are not read past the row than for a difference: a word that
      // is put together from parts waits for each of them.
      uint64_t control;
      std::memcpy(&control, in, 8);
      in += ControlBytes(first);
      for (size_t i = first; i < std::min(kColumns, first + kGroup); ++i, control >>= 4) {
        uint64_t bits, column;
        std::memcpy(&bits, in, 8);
        std::memcpy(&column, columns + i * 8, 8);
        bits &= kMasks[control & 15];
        in += control & 15;
        column += bits >> 1 ^ (0 - (bits & 1));
        std::memcpy(columns + i * 8, &column, 8);
      }
    }
    return in;
  }

  // How many rows of a block that begins with row `begin` are before row `first`.
  static size_t Within(size_t begin, size_t first) { return first > begin ? first - begin : 0; }

  // Rows `first` to `end` - 1 of a block.
  template <typename Take>
  static void Decode(const uint8_t* in, size_t first, size_t end, Take& take) {
    Row row{};
    size_t at = 0;
    for (; at < std::min(first, end); ++at) in = DecodeRow(in, row);
    for (; at < end; ++at) {
      in = DecodeRow(in, row);
      take(std::as_const(row));
    }
  }

  // Puts the full block away and begins another, from zero.
  Status NextBlock() {
    if (block_ != nullptr) {
      Block full{nullptr, 0, used_, rows_in_block_};
      if (space_->blocks_left > 0) {
        --space_->blocks_left;
        full.bytes = std::move(block_);
      } else {
        TRACEDB_ASSIGN(place, space_->spill.Append({block_.get(), used_}));
        full.place = place;
      }
      blocks_.push_back(std::move(full));
    }
    if (block_ == nullptr) block_ = NewBlock();
    used_ = rows_in_block_ = 0;
    last_ = {};
    return Done{};
  }

  std::shared_ptr<PackedSpace> space_;
  size_t block_bytes_;
  std::vector<Block> blocks_;
  Bytes block_;
  size_t used_ = 0;
  size_t rows_in_block_ = 0;
  size_t rows_ = 0;
  Row last_{};
};

}  // namespace tracedb
