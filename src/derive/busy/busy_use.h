// Sums over busy time: what the canned queries ask of a device and of a stream. Knows nothing of
// SQL.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "derive/busy/busy_sweep.h"
#include "tracedb/base/interval.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

// An activity's time on a device. One that waits keeps its stream, but a device that only waits is
// idle.
struct BusyInterval : Interval {
  GpuKind kind = GpuKind::kCompute;
};

// One stream's activities, in the order of their start.
class StreamUse {
 public:
  void Add(const BusyInterval& interval) {
    span_ = activities_++ == 0 ? Interval(interval) : span_.Hull(interval);
    busy_.Add(interval.start_ns, interval.end_ns);
    if (interval.kind == GpuKind::kWaiting) return;
    kinds_[static_cast<size_t>(interval.kind)].Add(interval.start_ns, interval.end_ns);
  }
  int64_t activities() const { return activities_; }
  const Interval& span() const { return span_; }
  int64_t busy_ns() const { return busy_.busy_ns(); }
  int64_t kind_ns(size_t kind) const { return kinds_[kind].busy_ns(); }

 private:
  int64_t activities_ = 0;
  Interval span_;
  BusyUnion busy_;
  std::array<BusyUnion, kBusyKinds> kinds_;
};

// One device's activities, in the order of their start, and the segments they make up.
class DeviceUse {
 public:
  // Segments that are complete are appended to `done`.
  void Add(const BusyInterval& interval, std::vector<BusySegment>& done) {
    span_ = any_ ? span_.Hull(interval) : Interval(interval);
    any_ = true;
    if (interval.kind == GpuKind::kWaiting) return;
    const size_t before = done.size();
    sweep_.Add(interval.start_ns, interval.end_ns, static_cast<int>(interval.kind), done);
    for (size_t i = before; i < done.size(); ++i) Count(done[i]);
  }
  void Finish(std::vector<BusySegment>& done) {
    const size_t before = done.size();
    sweep_.Finish(done);
    for (size_t i = before; i < done.size(); ++i) Count(done[i]);
  }

  bool any() const { return any_; }
  const Interval& span() const { return span_; }
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;
  int64_t overlap_ns = 0;                // both
  int64_t exposed_communication_ns = 0;  // communication without compute
  int64_t exposed_memory_ns = 0;         // memory without either
  // What is left of the span.
  int64_t idle_ns() const {
    return span_.length() - compute_ns - exposed_communication_ns - exposed_memory_ns;
  }

 private:
  void Count(const BusySegment& segment) {
    const int64_t length = segment.length();
    const bool compute = (segment.kinds & 1) != 0;
    const bool communication = (segment.kinds & 2) != 0;
    if (compute) compute_ns += length;
    if (communication) communication_ns += length;
    if (compute && communication) overlap_ns += length;
    if (communication && !compute) exposed_communication_ns += length;
    if (segment.kinds == 4) exposed_memory_ns += length;
  }

  BusySweep sweep_;
  Interval span_;
  bool any_ = false;
};

}  // namespace tracedb
