// How busy a GPU was, by its kernels, at any time of a trace.
#pragma once

#include <cstdint>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class DeviceLoad {
 public:
  // Bounds memory: 8 MB a GPU of a trace, however long that is.
  static constexpr int64_t kBinsMax = 1'000'000;
  static constexpr int64_t kBinNsMin = 5'000'000;

  static Result<DeviceLoad> Read(SqliteDb& db, int64_t trace_id, int64_t device, int64_t start_ns,
                                 int64_t end_ns);

  int64_t device() const { return device_; }
  int64_t start_ns() const { return start_ns_; }  // of its first activity
  int64_t end_ns() const { return end_ns_; }
  // The share of that time in which something ran, to a bin's length; it lies within the two.
  double BusyShare(int64_t from_ns, int64_t to_ns) const;

 private:
  double BusyBefore(int64_t ns) const;

  int64_t device_ = 0;
  int64_t start_ns_ = 0;
  int64_t end_ns_ = 0;
  int64_t bin_ns_ = 0;
  std::vector<int64_t> busy_ns_;  // up to the end of each bin
};

}  // namespace tracedb
