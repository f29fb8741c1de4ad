#include "ranks/samples/device_load.h"

#include <algorithm>

namespace tracedb {

Result<DeviceLoad> DeviceLoad::Read(SqliteDb& db, int64_t trace_id, int64_t device,
                                    int64_t start_ns, int64_t end_ns) {
  DeviceLoad load;
  load.device_ = device;
  load.start_ns_ = start_ns;
  load.end_ns_ = end_ns;
  load.bin_ns_ = std::max(kBinNsMin, (end_ns - start_ns) / kBinsMax + 1);
  load.busy_ns_.assign(static_cast<size_t>((end_ns - start_ns) / load.bin_ns_) + 1, 0);
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT ts_ns, dur_ns FROM _busy_segment "
                                  "WHERE trace_id = ?1 AND device = ?2 AND ts_ns >= ?3 "
                                  "AND ts_ns <= ?4"));
  TRACEDB_TRY(rows.Bind(1, trace_id));
  TRACEDB_TRY(rows.Bind(2, device));
  TRACEDB_TRY(rows.Bind(3, start_ns));
  TRACEDB_TRY(rows.Bind(4, end_ns));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    int64_t from_ns = rows.Int(0) - start_ns;
    const int64_t to_ns = std::min(from_ns + rows.Int(1), end_ns - start_ns);
    while (from_ns < to_ns) {
      const int64_t bin = from_ns / load.bin_ns_;
      const int64_t until_ns = std::min(to_ns, (bin + 1) * load.bin_ns_);
      load.busy_ns_[static_cast<size_t>(bin)] += until_ns - from_ns;
      from_ns = until_ns;
    }
  }
  for (size_t i = 1; i < load.busy_ns_.size(); ++i) load.busy_ns_[i] += load.busy_ns_[i - 1];
  return load;
}

double DeviceLoad::BusyBefore(int64_t ns) const {
  const int64_t since_ns = std::clamp<int64_t>(ns - start_ns_, 0, end_ns_ - start_ns_);
  const size_t bin = static_cast<size_t>(since_ns / bin_ns_);
  const double before = bin == 0 ? 0 : static_cast<double>(busy_ns_[bin - 1]);
  const double within = static_cast<double>(busy_ns_[bin]) - before;
  return before + within * static_cast<double>(since_ns % bin_ns_) / static_cast<double>(bin_ns_);
}

double DeviceLoad::BusyShare(int64_t from_ns, int64_t to_ns) const {
  if (to_ns <= from_ns) return 0;
  return (BusyBefore(to_ns) - BusyBefore(from_ns)) / static_cast<double>(to_ns - from_ns);
}

}  // namespace tracedb
