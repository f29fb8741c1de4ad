// Which profiler step an instant lies in. A capture has a handful of steps, a hostile file may have
// millions: they are made into stretches that follow each other, and what does not fit in memory is
// in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/memory/block_store.h"

namespace tracedb {

// Copies share what they have read: they are for one thread together.
class StepFinder {
 public:
  struct Found {
    int64_t step = 0;
    size_t place = 0;  // of its number among those that occur, from 0
  };

  // Reads the table step of a database that holds one trace; times are its ts + `base_ns`.
  // `folder` is for what does not fit in `bytes_max`.
  static Result<StepFinder> Read(SqliteDb& db, int64_t base_ns, std::filesystem::path folder,
                                 size_t bytes_max);

  // The step in which `ts_ns` lies, its end excluded; of several the one that began last. Of more
  // than kOpenMax that are each within the one before, the outer ones are not known. Nothing as
  // well when reading failed: status() tells.
  std::optional<Found> Find(int64_t ts_ns) {
    if (ts_ns < from_ns_ || ts_ns >= to_ns_) Search(ts_ns);
    return found_;
  }
  std::optional<int64_t> At(int64_t ts_ns) {
    const auto found = Find(ts_ns);
    return found.has_value() ? std::optional(found->step) : std::nullopt;
  }
  const Status& status() const { return shared_->status; }
  size_t numbers() const { return shared_->numbers; }  // how many different ones occur

  static constexpr size_t kOpenMax = 4096;

 private:
  class Stretches;
  // From start_ns to the start of the next one.
  struct Stretch {
    int64_t start_ns;
    int64_t step;
    int64_t place;  // -1: in no step
  };
  struct Shared {
    Shared(std::filesystem::path folder, size_t bytes_max) : store(std::move(folder), bytes_max) {}
    BlockStore store;
    std::vector<int64_t> firsts;  // start_ns of the first stretch of each block, `last` as well
    std::vector<Stretch> last;    // the block that is not in `store`
    size_t numbers = 0;
    Status status = Done{};
  };
  static constexpr size_t kStretchesEach = BlockStore::kBlockBytes / sizeof(Stretch);

  void Search(int64_t ts_ns);

  explicit StepFinder(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  std::shared_ptr<Shared> shared_;
  // The last answer, which holds from the one to before the other: slices come in order.
  std::optional<Found> found_;
  int64_t from_ns_ = 0;
  int64_t to_ns_ = 0;
};

}  // namespace tracedb
