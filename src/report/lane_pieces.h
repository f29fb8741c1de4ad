// One GPU's time cut into equal pieces, and what each piece went to.
//
//   time      0        10        20        30
//   segments  [compute ][comm   ]    [compute]
//   kernels         [reduce, waits until 15 ]
//   pieces    compute | wait, comm | idle, compute
//
// A stretch with a compute kernel is computing; else one with communication is that of the kernel
// which ends last (as in `time_partition`), waiting until the last rank has come; else one with
// copies is memory; where nothing runs it is idle, by the cause of the gap. All of them add up to
// each piece, in ns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tracedb {

struct LaneGap {
  int64_t dur_ns = 0;
  int64_t sync_ns = 0;  // at its end
  bool is_known = false;
  bool is_host = false;  // what is not sync: else it depended on another stream
  std::string host_name;
  std::string sync_name;
};

struct LaneKernel {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t wait_end_ns = 0;  // when the last rank had come; its start where nobody was waited for
  std::string parallelism;
  bool is_schedule = false;  // of a pipeline: nobody is to blame
  std::optional<int64_t> root_rank;
  std::string root_name;
};

struct LaneState {
  // compute, comm, wait, schedule, memory, idle_host, idle_sync, idle_dependency, idle; before:
  // nothing has run yet, or nothing runs any more
  std::string kind;
  std::string parallelism = {};      // of comm, wait and schedule
  std::optional<int64_t> rank = {};  // of wait: for whom
  std::string name = {};             // what held that rank, or this host, up
  bool operator<(const LaneState& other) const;
};

// Numbers for states, the same for all lanes.
class LaneStates {
 public:
  size_t Number(const LaneState& state);
  std::string Json() const;  // objects with commas between them

 private:
  static constexpr size_t kNamedMax = 500;  // beyond, states lose their names
  std::map<LaneState, size_t> numbers_;
  std::vector<LaneState> states_;
};

// Rounded up: the last end is within the last piece.
int64_t PieceLength(int64_t first_ns, int64_t last_ns, int64_t pieces);

class LanePieces {
 public:
  LanePieces(int64_t first_ns, int64_t last_ns, int64_t pieces, LaneStates& states);

  void Begin(const std::map<int64_t, LaneGap>* gaps) { gaps_ = gaps; }  // by start; may be null
  // In the order of their starts; kernels that start before a segment's end before that segment.
  void AddKernel(LaneKernel kernel) { coming_.push_back(std::move(kernel)); }
  void AddSegment(int64_t start_ns, int64_t dur_ns, int64_t kinds);
  void End();

  // repeat, states, then state and share in thousandths of each; and so on.
  std::string Cells() const;

 private:
  using Piece = std::vector<std::pair<size_t, int64_t>>;  // state, ns
  void Add(const LaneState& state, int64_t from_ns, int64_t to_ns);
  void AddIdle(int64_t from_ns, int64_t to_ns);
  void StartKernels(int64_t at_ns);  // those that start by then
  void AddCommunication(int64_t from_ns, int64_t to_ns);

  const int64_t first_ns_;
  const int64_t last_ns_;
  const int64_t piece_ns_;
  LaneStates& states_;
  std::vector<Piece> pieces_;
  const std::map<int64_t, LaneGap>* gaps_ = nullptr;
  int64_t at_ns_;
  bool has_begun_ = false;
  LaneKernel current_;              // of those that have started the one that ends last
  std::vector<LaneKernel> coming_;  // from next_ on
  size_t next_ = 0;
};

}  // namespace tracedb
