// Which events of a trace have a time that cannot be, decided when all of them have been read.
// DECISION-impossible-times.md says why it is decided so.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace tracedb {

struct TimeRule {
  // Nothing that a profiler records lasts as long.
  static constexpr int64_t kDurationMaxNs = int64_t{100} * 24 * 3600 * 1'000'000'000;
  // 146 years either way: the difference of two such times fits 64 bits.
  static constexpr int64_t kTimeMaxNs = int64_t{1} << 62;

  // Starts, both ends included, counted as a row's ts is.
  struct Window {
    int64_t from = std::numeric_limits<int64_t>::min();
    int64_t to = std::numeric_limits<int64_t>::max();
    bool Has(int64_t ts) const { return from <= ts && ts <= to; }
  };

  bool KeepsActivity(int64_t ts, int64_t dur) const {
    return gpu.Has(ts) && dur <= kDurationMaxNs && !(dur > 0 && ts == no_time);
  }
  bool KeepsHost(int64_t ts, int64_t dur) const { return host.Has(ts) && dur <= kDurationMaxNs; }

  // The same rule for times that count from `origin_ns`.
  TimeRule Since(int64_t origin_ns) const {
    const auto moved = [origin_ns](int64_t ns) {
      const bool open = ns == Window().from || ns == Window().to;
      return open ? ns : ns - origin_ns;
    };
    TimeRule rule = *this;
    rule.gpu = {moved(gpu.from), moved(gpu.to)};
    rule.host = {moved(host.from), moved(host.to)};
    if (no_time.has_value()) rule.no_time = *no_time - origin_ns;
    return rule;
  }

  bool any = false;  // whether the trace has an event that it does not keep
  Window gpu;
  Window host;                     // of every other event as well
  std::optional<int64_t> no_time;  // GPU activities that start there have no time of their own
};

}  // namespace tracedb
