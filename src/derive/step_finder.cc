#include "derive/step_finder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <limits>
#include <utility>

namespace tracedb {
namespace {

int64_t Sum(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

}  // namespace

// Steps in the order of their start -> stretches.
class StepFinder::Stretches {
 public:
  explicit Stretches(Shared& shared) : shared_(&shared) {}

  Status Add(int64_t start_ns, int64_t end_ns, int64_t step, int64_t place) {
    TRACEDB_TRY(CloseUntil(start_ns));
    // What ends no later than this one is not seen again.
    while (!open_.empty() && open_.back().end_ns <= end_ns) open_.pop_back();
    if (open_.size() == kOpenMax) open_.pop_front();
    open_.push_back({end_ns, step, place});
    return Begin({start_ns, step, place});
  }
  Status Finish() {
    TRACEDB_TRY(CloseUntil(std::numeric_limits<int64_t>::max()));
    if (pending_.has_value()) TRACEDB_TRY(Store(*pending_));
    return Done{};
  }

 private:
  struct Open {
    int64_t end_ns;
    int64_t step;
    int64_t place;
  };

  Status CloseUntil(int64_t now_ns) {
    while (!open_.empty() && open_.back().end_ns <= now_ns) {
      const int64_t end_ns = open_.back().end_ns;
      open_.pop_back();  // those below end later
      TRACEDB_TRY(Begin(open_.empty() ? Stretch{end_ns, 0, -1}
                                      : Stretch{end_ns, open_.back().step, open_.back().place}));
    }
    return Done{};
  }

  // The one before is over; unless it was no longer than nothing.
  Status Begin(const Stretch& stretch) {
    if (pending_.has_value() && pending_->start_ns != stretch.start_ns) {
      TRACEDB_TRY(Store(*pending_));
    }
    pending_ = stretch;
    return Done{};
  }

  Status Store(const Stretch& stretch) {
    std::vector<Stretch>& last = shared_->last;
    if (last.size() == kStretchesEach) {
      std::array<uint8_t, BlockStore::kBlockBytes> block{};
      std::memcpy(block.data(), last.data(), last.size() * sizeof(Stretch));
      TRACEDB_TRY(shared_->store.Add(block));
      last.clear();
    }
    if (last.empty()) shared_->firsts.push_back(stretch.start_ns);
    last.push_back(stretch);
    return Done{};
  }

  Shared* shared_;
  std::deque<Open> open_;  // each ends before the one in front of it
  std::optional<Stretch> pending_;
};

Result<StepFinder> StepFinder::Read(SqliteDb& db, int64_t base_ns, std::filesystem::path folder,
                                    size_t bytes_max) {
  auto shared = std::make_shared<Shared>(std::move(folder), bytes_max);
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT ts, dur, step, dense_rank() OVER (ORDER BY step) - 1 "
                                  "FROM _step WHERE dur > 0 ORDER BY ts, rowid"));
  Stretches stretches(*shared);
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    const int64_t start_ns = Sum(rows.Int(0), base_ns);
    const int64_t place = rows.Int(3);
    TRACEDB_TRY(stretches.Add(start_ns, Sum(start_ns, rows.Int(1)), rows.Int(2), place));
    shared->numbers = std::max(shared->numbers, static_cast<size_t>(place) + 1);
  }
  TRACEDB_TRY(stretches.Finish());
  return StepFinder(std::move(shared));
}

void StepFinder::Search(int64_t ts_ns) {
  const std::vector<int64_t>& firsts = shared_->firsts;
  const auto after = std::upper_bound(firsts.begin(), firsts.end(), ts_ns);
  found_ = std::nullopt;
  from_ns_ = ts_ns;
  to_ns_ = after == firsts.end() ? std::numeric_limits<int64_t>::max() : *after;
  if (after == firsts.begin()) return;
  const auto block = static_cast<size_t>(after - firsts.begin()) - 1;
  const Stretch* begin = shared_->last.data();
  const Stretch* end = begin + shared_->last.size();
  if (block + 1 < firsts.size()) {
    const auto bytes = shared_->store.Get(block);
    if (!bytes.ok()) {
      shared_->status = bytes.error();
      return;
    }
    begin = reinterpret_cast<const Stretch*>(bytes.value());
    end = begin + kStretchesEach;
  }
  const Stretch* const next = std::upper_bound(
      begin, end, ts_ns, [](int64_t ts, const Stretch& stretch) { return ts < stretch.start_ns; });
  if (next != end) to_ns_ = next->start_ns;
  const Stretch& found = *(next - 1);
  from_ns_ = found.start_ns;
  if (found.place >= 0) found_ = Found{found.step, static_cast<size_t>(found.place)};
}

}  // namespace tracedb
