#include "derive/gathered/slices_ahead.h"

#include <utility>

#include "tracedb/base/prefetch.h"
#include "tracedb/base/run_caught.h"

namespace tracedb {

SlicesAhead::SlicesAhead(const HostSlices& slices, bool in_stages)
    : slices_(slices),
      in_stages_(in_stages),
      has_thread_(slices.count() > kFew),
      empty_(kLotsInStages),
      full_(kLotsInStages) {
  if (!has_thread_) return;
  for (size_t i = 0; i < (in_stages ? kLotsInStages : kLots); ++i)
    static_cast<void>(empty_.Push(Lot()));
  thread_ = std::jthread([this] {
    read_ = RunCaught([this] { return ReadAll(); });
    full_.Close();
  });
}

SlicesAhead::~SlicesAhead() {
  empty_.Close();
  full_.Close();
}

void SlicesAhead::ReadLot(HostSlices::Reader& reader, Lot& lot) {
  constexpr size_t kAhead = 8;  // others have had the lot before
  lot.resize(kLotSlices);
  size_t count = 0;
  while (count < kLotSlices && reader.Next(lot[count])) {
    if (count + kAhead < kLotSlices) PrefetchToWrite(&lot[count + kAhead]);
    ++count;
  }
  lot.resize(count);
}

// What the thread writes with each slice is memory of its own, not beside that of others.
Status SlicesAhead::ReadAll() {
  HostSlices::Reader reader(slices_, in_stages_);
  for (;;) {
    auto lot = empty_.Pop();
    if (!lot.has_value()) return Done{};
    ReadLot(reader, *lot);
    if (lot->empty()) return reader.status();
    if (!full_.Push(std::move(*lot))) return Done{};
  }
}

std::optional<SlicesAhead::Lot> SlicesAhead::Next() {
  if (has_thread_) return full_.Pop();
  if (!reader_.has_value()) reader_.emplace(slices_);
  Lot lot;
  ReadLot(*reader_, lot);
  read_ = reader_->status();
  return lot.empty() ? std::nullopt : std::optional(std::move(lot));
}

void SlicesAhead::Return(Lot lot) {
  if (has_thread_) static_cast<void>(empty_.Push(std::move(lot)));
}

}  // namespace tracedb
