// Rows that come almost in order are brought in order, in bounded memory: sorted a lot at a time,
// each lot behind a run that ends before it begins, and the runs merged when they are read. A trace
// that was written in order is one run.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/memory/packed_rows.h"

namespace tracedb {

// A row's first three columns are its order: start (rising), length (falling), id (rising). So what
// holds another comes before it.
template <size_t kColumns>
class SortedRuns {
 public:
  using Row = std::array<int64_t, kColumns>;

  static bool Before(const Row& a, const Row& b) {
    if (a[0] != b[0]) return a[0] < b[0];
    if (a[1] != b[1]) return a[1] > b[1];
    return a[2] < b[2];
  }

  explicit SortedRuns(std::shared_ptr<PackedSpace> space) : space_(std::move(space)) {}

  Status Add(const Row& row) {
    if (lot_.size() == kLotRows) TRACEDB_TRY(Flush());
    lot_.push_back(row);
    return Done{};
  }
  // No row comes any more.
  Status Finish() {
    TRACEDB_TRY(Flush());
    lot_ = {};
    return Done{};
  }

  // The rows in order; after Finish().
  class Reader {
   public:
    explicit Reader(const SortedRuns& runs) {
      heads_.reserve(runs.runs_.size());
      for (const Run& run : runs.runs_) heads_.emplace_back(*run);
      for (Head& head : heads_) {
        if (head.cursor.Next(head.row)) order_.push_back(&head);
      }
      std::make_heap(order_.begin(), order_.end(), After);
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Null behind the last one, and when reading failed: status() tells.
    const Row* row() const { return order_.empty() ? nullptr : &order_.front()->row; }
    void Next() {
      Head* head = order_.front();
      if (head->cursor.Next(head->row)) {
        SiftDown();
        return;
      }
      std::pop_heap(order_.begin(), order_.end(), After);
      order_.pop_back();
    }
    Status status() const {
      for (const Head& head : heads_) TRACEDB_TRY(head.cursor.status());
      return Done{};
    }

   private:
    struct Head {
      explicit Head(const PackedRows<kColumns>& rows) : cursor(rows) {}
      typename PackedRows<kColumns>::Cursor cursor;
      Row row{};
    };
    static bool After(const Head* a, const Head* b) { return Before(b->row, a->row); }

    // The first head has a new row; mostly it is still the first.
    void SiftDown() {
      for (size_t at = 0;;) {
        size_t child = 2 * at + 1;
        if (child >= order_.size()) return;
        if (child + 1 < order_.size() && Before(order_[child + 1]->row, order_[child]->row)) {
          ++child;
        }
        if (!Before(order_[child]->row, order_[at]->row)) return;
        std::swap(order_[at], order_[child]);
        at = child;
      }
    }

    std::vector<Head> heads_;
    std::vector<Head*> order_;  // a heap, the first row in front
  };

 private:
  using Run = std::unique_ptr<PackedRows<kColumns>>;
  static constexpr size_t kLotRows = 8192;
  static constexpr size_t kRunsMax = 48;  // each has a block of its own in memory

  Status Flush() {
    if (lot_.empty()) return Done{};
    if (!std::is_sorted(lot_.begin(), lot_.end(), Before)) {
      std::sort(lot_.begin(), lot_.end(), Before);
    }
    TRACEDB_ASSIGN(run, RunFor(lot_.front()));
    for (const Row& row : lot_) TRACEDB_TRY(run->Add(row));
    lot_.clear();
    return Done{};
  }

  // The run that ends last before `first`, else a new one.
  Result<PackedRows<kColumns>*> RunFor(const Row& first) {
    PackedRows<kColumns>* best = nullptr;
    for (const Run& run : runs_) {
      if (Before(first, run->last())) continue;
      if (best == nullptr || Before(best->last(), run->last())) best = run.get();
    }
    if (best != nullptr) return best;
    if (runs_.size() == kRunsMax) {
      TRACEDB_TRY(MergeRuns());
      if (!Before(first, runs_.front()->last())) return runs_.front().get();
    }
    runs_.push_back(std::make_unique<PackedRows<kColumns>>(space_));
    return runs_.back().get();
  }

  Status MergeRuns() {
    auto merged = std::make_unique<PackedRows<kColumns>>(space_);
    Reader reader(*this);
    for (; reader.row() != nullptr; reader.Next()) TRACEDB_TRY(merged->Add(*reader.row()));
    TRACEDB_TRY(reader.status());
    runs_.clear();
    runs_.push_back(std::move(merged));
    return Done{};
  }

  std::shared_ptr<PackedSpace> space_;
  std::vector<Row> lot_;
  std::vector<Run> runs_;
};

}  // namespace tracedb
