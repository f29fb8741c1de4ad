// What is left out where a cut would have more events than wanted.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cut/cut_rows.h"

namespace tracedb {

// The longest slices stay, for they are what a person sees; then, while there is room, counters and
// instants as the file has them, and flows if there is room for all. First every event is shown to
// Count, then Decide is called, then every event is shown to Takes, in any order of traces. Needs
// half a megabyte whatever is counted.
class CutBudget {
 public:
  // `events`: how many the row becomes in the file.
  void Count(const CutRow& row, int events);
  void Decide(int64_t events_max);
  bool Takes(const CutRow& row, int events);

  // What was left out, for a person; empty when nothing was.
  std::string LeftOut() const;

 private:
  // Lengths in 1024 steps from each power of two to the next; what is that close together counts as
  // one length, of which the first slices stay.
  static constexpr int kStepBits = 10;
  static size_t BucketOf(const CutRow& row);
  bool TakesSlice(const CutRow& row, int events);

  std::vector<int64_t> buckets_ = std::vector<int64_t>(size_t{64} << kStepBits);
  std::array<int64_t, static_cast<size_t>(EventTable::kCount)> counted_{};  // by table
  std::array<int64_t, static_cast<size_t>(EventTable::kCount)> left_out_{};
  size_t shortest_ = 0;        // slices of longer buckets all stay
  int64_t room_shortest_ = 0;  // for events of slices of this one
  int64_t room_points_ = 0;    // for counters and instants
  bool with_flows_ = true;
  int64_t longest_left_out_ns_ = 0;
};

}  // namespace tracedb
