// Which time zone local times are of, by what GPUs did: their load as it was sampled against how
// busy their kernels kept them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ranks/samples/device_load.h"

namespace tracedb {

class ZoneGuess {
 public:
  // What would not be certain is not said: few samples in the traces' time; a load that differs
  // from that of the kernels; another zone that does nearly as well.
  static constexpr int kSamplesMin = 4;
  static constexpr double kDifferenceMax = 0.2;
  static constexpr double kLeadMin = 0.15;

  explicit ZoneGuess(const std::vector<DeviceLoad>& loads) : loads_(loads) {}

  // `load` from 0 to 1, in the time before local_ns.
  void Add(int64_t gpu, int64_t local_ns, double load);

  // To be taken from local times; null: it cannot be told.
  std::optional<int64_t> OffsetNs() const;
  // Whether samples lie in the traces' time, moved by `offset_ns`, and no window makes their load
  // that of the kernels.
  bool SpeaksAgainst(int64_t offset_ns) const;

 private:
  static constexpr int64_t kQuarterNs = int64_t{900} * 1'000'000'000;
  static constexpr int64_t kFirstQuarter = -48;  // 12 hours west
  static constexpr int64_t kLastQuarter = 56;    // 14 hours east
  static constexpr size_t kQuarters = kLastQuarter - kFirstQuarter + 1;

  // A tool says neither how long it measured nor when in the second that it prints.
  struct Window {
    int64_t from_ns, to_ns;  // since the time that is printed
  };
  static constexpr int64_t kMsNs = 1'000'000;
  static constexpr std::array<Window, 5> kWindows = {{{-166 * kMsNs, 0},
                                                      {-500 * kMsNs, 0},
                                                      {-1000 * kMsNs, 0},
                                                      {-500 * kMsNs, 500 * kMsNs},
                                                      {0, 1000 * kMsNs}}};
  struct Fit {
    int samples = 0;
    double difference = 0;  // summed
    double Mean() const { return difference / samples; }
  };

  const std::vector<DeviceLoad>& loads_;
  std::array<std::array<Fit, kWindows.size()>, kQuarters> fits_{};
};

}  // namespace tracedb
