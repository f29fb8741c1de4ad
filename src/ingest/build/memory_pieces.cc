#include "ingest/build/memory_pieces.h"

#include <algorithm>
#include <utility>

namespace tracedb {
namespace {

constexpr uint32_t BitOf(ArgsColumn column) { return uint32_t{1} << static_cast<int>(column); }

constexpr uint32_t kColumns = BitOf(ArgsColumn::kBytes) | BitOf(ArgsColumn::kTotalAllocated) |
                              BitOf(ArgsColumn::kTotalReserved);

void Widen(int64_t value, bool is_first, int64_t& least, int64_t& most) {
  least = is_first ? value : std::min(least, value);
  most = is_first ? value : std::max(most, value);
}

}  // namespace

void MemoryPiece::Add(const MemoryEvent& event, const ArgsValues& values) {
  const bool is_first = events == 0;
  if (is_first) {
    first = event;
    columns = values.mask & kColumns;
  }
  is_odd |= (values.text_mask & values.mask & kColumns) != 0;
  ++events;
  last_id = event.id;
  if (is_first || event.ts < start_ts) {
    start_ts = event.ts;
    start_id = event.id;
  }
  if (is_first || event.ts >= end_ts) {
    end_ts = event.ts;
    end_id = event.id;
  }
  const auto value = [&](ArgsColumn column) { return values.ints[static_cast<size_t>(column)]; };
  if (is_odd) return;
  if (Has(ArgsColumn::kTotalAllocated)) {
    Widen(value(ArgsColumn::kTotalAllocated), is_first, min_allocated, max_allocated);
  }
  if (Has(ArgsColumn::kTotalReserved)) {
    Widen(value(ArgsColumn::kTotalReserved), is_first, min_reserved, max_reserved);
  }
  if (!Has(ArgsColumn::kBytes)) return;
  const int64_t bytes = value(ArgsColumn::kBytes);
  allocations += bytes > 0 ? 1 : 0;
  releases += bytes < 0 ? 1 : 0;
  largest_bytes = is_first ? bytes : std::max(largest_bytes, bytes);
  is_odd |= __builtin_add_overflow(sum_bytes, bytes, &sum_bytes);
  is_odd |= __builtin_add_overflow(taken_bytes, std::max<int64_t>(bytes, 0), &taken_bytes);
}

void MemoryPieces::Add(const MemoryEvent& event, const ArgsValues& values) {
  const auto fits = [&](const MemoryPiece& piece) {
    return piece.first.track == event.track && piece.first.args_text == event.args_text &&
           piece.columns == (values.mask & kColumns);
  };
  if (last_ >= open_.size() || !fits(open_[last_])) {
    const auto at = std::find_if(open_.begin(), open_.end(), fits);
    last_ = static_cast<size_t>(at - open_.begin());
    if (last_ == kOpenMax) {
      Finish();
      last_ = 0;
    }
    if (last_ == open_.size()) open_.emplace_back();
  }
  MemoryPiece& piece = open_[last_];
  if (piece.events > 0 && event.id - piece.first.id > kRowsMax) {
    whole_.push_back(piece);
    piece = {};
  }
  piece.Add(event, values);
  if (piece.events < kEventsMax) return;
  whole_.push_back(piece);
  piece = std::move(open_.back());
  open_.pop_back();
}

void MemoryPieces::Finish() {
  whole_.insert(whole_.end(), open_.begin(), open_.end());
  open_.clear();
}

}  // namespace tracedb
