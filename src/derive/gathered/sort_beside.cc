#include "derive/gathered/sort_beside.h"

#include <span>
#include <utility>

#include "tracedb/base/run_caught.h"

namespace tracedb {
namespace {

Error NobodyTakes() { return {ErrorKind::kClosed, "nobody takes what is sorted", ""}; }

}  // namespace

SortBeside::SortBeside(std::filesystem::path folder, size_t bytes_max, size_t count)
    : entries_(std::move(folder), bytes_max), added_(kLots), sorted_(kLots) {
  if (count <= kFew) return;
  thread_ = std::jthread([this] {
    outcome_ = RunCaught([this] { return Sort(); });
    added_.Close();
    sorted_.Close();
  });
}

SortBeside::~SortBeside() {
  added_.Close();
  sorted_.Close();
}

Status SortBeside::Add(const SortEntry& entry) {
  if (!thread_.joinable()) return entries_.Add(entry);
  lot_.push_back(entry);
  return lot_.size() < SortedEntries::kGivenMax ? Status(Done{}) : AddLot();
}

Status SortBeside::AddLot() {
  if (added_.Push(std::exchange(lot_, {}))) {
    lot_.reserve(SortedEntries::kGivenMax);
    return Done{};
  }
  thread_.join();  // it has ended early: this says why
  return outcome_.ok() ? Status(NobodyTakes()) : outcome_;
}

// An empty lot ends what is added.
Status SortBeside::Sort() {
  for (;;) {
    const auto lot = added_.Pop();
    if (!lot.has_value()) return NobodyTakes();
    if (lot->empty()) break;
    for (const SortEntry& entry : *lot) TRACEDB_TRY(entries_.Add(entry));
  }
  TRACEDB_TRY(entries_.Finish());
  return entries_.ForEach([this](std::span<const SortEntry> entries) {
    return sorted_.Push(Lot(entries.begin(), entries.end())) ? Status(Done{}) : NobodyTakes();
  });
}

Status SortBeside::ForEach(const SortedEntries::Give& give) {
  if (!thread_.joinable()) {
    TRACEDB_TRY(entries_.Finish());
    return entries_.ForEach(give);
  }
  if (!lot_.empty()) TRACEDB_TRY(AddLot());
  TRACEDB_TRY(AddLot());
  while (const auto lot = sorted_.Pop()) TRACEDB_TRY(give(*lot));
  thread_.join();
  return outcome_;
}

}  // namespace tracedb
