#include "derive/gathered/slices_ahead.h"

#include <utility>

#include "tracedb/base/run_caught.h"

namespace tracedb {

SlicesAhead::SlicesAhead(const HostSlices& slices) : reader_(slices), empty_(kLots), full_(kLots) {
  if (slices.count() <= kFew) return;
  for (size_t i = 0; i < kLots; ++i) static_cast<void>(empty_.Push(Lot()));
  thread_ = std::jthread([this] {
    read_ = RunCaught([this] { return ReadAll(); });
    full_.Close();
  });
}

SlicesAhead::~SlicesAhead() {
  empty_.Close();
  full_.Close();
}

void SlicesAhead::ReadLot(Lot& lot) {
  lot.resize(kLotSlices);
  size_t count = 0;
  while (count < kLotSlices && reader_.Next(lot[count])) ++count;
  lot.resize(count);
}

Status SlicesAhead::ReadAll() {
  for (;;) {
    auto lot = empty_.Pop();
    if (!lot.has_value()) return Done{};
    ReadLot(*lot);
    if (lot->empty()) return reader_.status();
    if (!full_.Push(std::move(*lot))) return Done{};
  }
}

Status SlicesAhead::ForEach(const Take& take) {
  if (!thread_.joinable()) {
    for (Lot lot;;) {
      ReadLot(lot);
      if (lot.empty()) return reader_.status();
      TRACEDB_TRY(take(lot));
    }
  }
  for (;;) {
    auto lot = full_.Pop();
    if (!lot.has_value()) break;
    TRACEDB_TRY(take(*lot));
    static_cast<void>(empty_.Push(std::move(*lot)));
  }
  thread_.join();
  return read_;
}

}  // namespace tracedb
