// The rows of sorted runs one by one, in order; where cores are to spare they are brought together
// on a thread of its own, some lots ahead of whoever reads them.
#pragma once

#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tracedb/base/apart_bytes.h"
#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/result.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/memory/sorted_runs.h"

namespace tracedb {

template <typename Row, typename Before = ByTime>
class alignas(kApartBytes) RowsAhead {
 public:
  // `runs`, after Finish(), must outlive it.
  RowsAhead(const SortedRuns<Row, Before>& runs, bool on_thread)
      : has_thread_(on_thread), empty_(kLots), full_(kLots) {
    if (!has_thread_) {
      reader_.emplace(runs);
      row_ = reader_->row();
      return;
    }
    for (size_t i = 0; i < kLots; ++i) static_cast<void>(empty_.Push(Lot()));
    thread_ = std::jthread([this, &runs] {
      read_ = RunCaught([&] { return ReadAll(runs); });
      full_.Close();
    });
    TakeLot();
  }
  ~RowsAhead() {
    empty_.Close();
    full_.Close();
  }
  RowsAhead(const RowsAhead&) = delete;
  RowsAhead& operator=(const RowsAhead&) = delete;

  // Null after the last one, and when reading failed: status() tells then, and not before.
  const Row* row() const { return row_; }
  void Next() {
    if (!has_thread_) {
      reader_->Next();
      row_ = reader_->row();
    } else if (++row_ == lot_.data() + lot_.size()) {
      static_cast<void>(empty_.Push(std::move(lot_)));
      TakeLot();
    }
  }
  Status status() const { return has_thread_ ? read_ : reader_->status(); }

 private:
  using Lot = std::vector<Row>;
  static constexpr size_t kLots = 4;
  static constexpr size_t kLotRows = 2048;

  void TakeLot() {
    auto lot = full_.Pop();
    lot_ = lot.has_value() ? std::move(*lot) : Lot();
    row_ = lot_.empty() ? nullptr : lot_.data();
  }
  // What the thread writes with each row is memory of its own, not beside that of others.
  Status ReadAll(const SortedRuns<Row, Before>& runs) {
    typename SortedRuns<Row, Before>::Reader reader(runs);
    while (reader.row() != nullptr) {
      auto lot = empty_.Pop();
      if (!lot.has_value()) return Done{};
      lot->resize(kLotRows);
      size_t count = 0;
      for (; count < kLotRows && reader.row() != nullptr; reader.Next()) {
        (*lot)[count++] = *reader.row();
      }
      lot->resize(count);
      if (!full_.Push(std::move(*lot))) return Done{};
    }
    return reader.status();
  }

  const bool has_thread_;
  std::optional<typename SortedRuns<Row, Before>::Reader> reader_;  // where there is no thread
  const Row* row_ = nullptr;
  Lot lot_;  // the one that row_ is in
  BoundedQueue<Lot> empty_;
  BoundedQueue<Lot> full_;
  Status read_ = Done{};  // by the thread, before full_ is closed
  std::jthread thread_;
};

}  // namespace tracedb
