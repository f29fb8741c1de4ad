// Rows that come almost in order are brought in order, in bounded memory. Each goes to the end of a
// run that ends before it; what fits nowhere is sorted a lot at a time, and each lot goes after a
// run that ends before it begins. The runs are merged when they are read. A trace that was written
// in order is one run, and one in which two threads alternate is two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/memory/packed_rows.h"

namespace tracedb {

// A row's order: ts (rising), dur (falling), id (rising). So what holds another comes before it.
template <typename Row, typename OtherRow>
bool ComesBefore(const Row& a, const OtherRow& b) {
  if (a.ts != b.ts) return a.ts < b.ts;
  if (a.dur != b.dur) return a.dur > b.dur;
  return a.id < b.id;
}

// An object, so that sorting need not call it through a pointer.
struct ByTime {
  template <typename Row>
  bool operator()(const Row& a, const Row& b) const {
    return ComesBefore(a, b);
  }
};

struct RunLimits {
  size_t lot_rows = 8192;  // sorted at a time
  size_t runs_max = 48;    // each has a block of its own in memory, and one more while it is read
};

// Shares out the memory of a sort that is on its own: a quarter for what is being sorted, a quarter
// for runs, half for what runs that are written and read have at hand. Their blocks are small, so
// that many runs are merged at once where there is little memory.
class SortBudget {
 public:
  explicit SortBudget(size_t bytes_max) : bytes_max_(bytes_max) {}

  // `folder` is for what does not fit.
  std::shared_ptr<PackedSpace> Space(std::filesystem::path folder) const {
    return std::make_shared<PackedSpace>(std::move(folder), bytes_max_ / 4, kBlockBytes);
  }
  template <typename Row>
  RunLimits Limits() const {
    return {std::max<size_t>(1, bytes_max_ / 4 / sizeof(Row)),
            std::clamp<size_t>(bytes_max_ / 2 / (2 * kBlockBytes), 2, kRunsMax)};
  }

 private:
  static constexpr size_t kBlockBytes = 16 * 1024;
  static constexpr size_t kRunsMax = 64;
  size_t bytes_max_;
};

// `Row` is one that PackedRows take; Before()(a, b): whether a comes before b.
template <typename Row, typename Before = ByTime>
class SortedRuns {
 public:
  explicit SortedRuns(std::shared_ptr<PackedSpace> space, const RunLimits& limits = {})
      : space_(std::move(space)), limits_(limits) {}

  Status Add(const Row& row) {
    if (lot_.empty() && (IsNextAtHand(row) || FindRun(row))) return at_hand_->Add(row);
    if (lot_.size() == limits_.lot_rows) TRACEDB_TRY(Flush());
    lot_.push_back(row);
    return Done{};
  }
  // No row comes any more.
  Status Finish() {
    TRACEDB_TRY(Flush());
    lot_ = {};
    return Done{};
  }

  size_t runs() const { return runs_.size(); }

  // The rows in order; after Finish().
  class Reader {
   public:
    explicit Reader(const SortedRuns& runs) : Reader(std::span<const Run>(runs.runs_)) {}
    explicit Reader(std::span<const std::unique_ptr<PackedRows<Row>>> runs) {
      heads_.reserve(runs.size());
      for (const auto& run : runs) heads_.emplace_back(*run);
      for (Head& head : heads_) {
        if (head.cursor.Next(head.row)) order_.push_back(&head);
      }
      std::make_heap(order_.begin(), order_.end(), After);
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Null after the last one, and when reading failed: status() tells.
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
      explicit Head(const PackedRows<Row>& rows) : cursor(rows) {}
      typename PackedRows<Row>::Cursor cursor;
      Row row{};
    };
    static bool After(const Head* a, const Head* b) { return Before()(b->row, a->row); }

    // The first head has a new row; mostly it is still the first.
    void SiftDown() {
      for (size_t at = 0;;) {
        size_t child = 2 * at + 1;
        if (child >= order_.size()) return;
        if (child + 1 < order_.size() && Before()(order_[child + 1]->row, order_[child]->row)) {
          ++child;
        }
        if (!Before()(order_[child]->row, order_[at]->row)) return;
        std::swap(order_[at], order_[child]);
        at = child;
      }
    }

    std::vector<Head> heads_;
    std::vector<Head*> order_;  // a heap, the first row in front
  };

 private:
  using Run = std::unique_ptr<PackedRows<Row>>;
  static constexpr size_t kRunsAtOnceMax = 16;  // that rows go to one by one

  // Whether `row` goes after the row before, as most do: no run that it fits ends later.
  bool IsNextAtHand(const Row& row) const {
    return at_hand_ != nullptr && !Before()(row, at_hand_->last()) &&
           (beyond_ == nullptr || Before()(row, beyond_->last()));
  }

  // Makes the run at hand the one that ends last before `row`; a new one where there is none, and
  // only a few are. False: neither.
  bool FindRun(const Row& row) {
    Choose(row);
    if (at_hand_ == nullptr && runs_.size() < kRunsAtOnceMax && runs_.size() < limits_.runs_max) {
      at_hand_ = runs_.emplace_back(std::make_unique<PackedRows<Row>>(space_)).get();
    }
    return at_hand_ != nullptr;
  }

  void Choose(const Row& row) {
    at_hand_ = beyond_ = nullptr;
    for (const Run& run : runs_) {
      if (Before()(row, run->last())) {
        if (beyond_ == nullptr || Before()(run->last(), beyond_->last())) beyond_ = run.get();
      } else if (at_hand_ == nullptr || Before()(at_hand_->last(), run->last())) {
        at_hand_ = run.get();
      }
    }
  }

  Status Flush() {
    if (lot_.empty()) return Done{};
    if (!std::is_sorted(lot_.begin(), lot_.end(), Before())) {
      std::sort(lot_.begin(), lot_.end(), Before());
    }
    Choose(lot_.front());
    if (at_hand_ == nullptr) {
      if (runs_.size() >= limits_.runs_max) TRACEDB_TRY(MergeRuns());
      at_hand_ = runs_.emplace_back(std::make_unique<PackedRows<Row>>(space_)).get();
    }
    for (const Row& row : lot_) TRACEDB_TRY(at_hand_->Add(row));
    lot_.clear();
    Choose(at_hand_->last());
    return Done{};
  }

  // The smaller half into one: a row is merged again when its run is among the smaller ones again,
  // so a few times, however many lots there are.
  Status MergeRuns() {
    std::sort(runs_.begin(), runs_.end(),
              [](const Run& a, const Run& b) { return a->rows() < b->rows(); });
    const auto half = static_cast<ptrdiff_t>(std::max<size_t>(2, runs_.size() / 2));
    auto merged = std::make_unique<PackedRows<Row>>(space_);
    {
      Reader reader(std::span<const Run>(runs_).first(static_cast<size_t>(half)));
      for (; reader.row() != nullptr; reader.Next()) TRACEDB_TRY(merged->Add(*reader.row()));
      TRACEDB_TRY(reader.status());
    }
    runs_.erase(runs_.begin(), runs_.begin() + half);
    at_hand_ = beyond_ = nullptr;
    runs_.insert(runs_.begin(), std::move(merged));
    return Done{};
  }

  std::shared_ptr<PackedSpace> space_;
  RunLimits limits_;
  std::vector<Row> lot_;
  std::vector<Run> runs_;
  PackedRows<Row>* at_hand_ = nullptr;  // the run to which the last row went
  PackedRows<Row>* beyond_ = nullptr;   // of the runs that end after that one, the first to
};

}  // namespace tracedb
