// NCCL's kernels and what they carry: a kernel is of the NCCL call in which it was launched, or of
// the calls of the group in whose end it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sources/nsys/nccl_payloads.h"
#include "sources/nsys/part_reading.h"

namespace tracedb {

// What a communicator is to one part.
struct CommunicatorRanks {
  std::string name;
  int64_t size = 0;            // 0: it began before the recording
  bool is_all = false;         // all ranks of the job, in their order
  std::vector<int64_t> ranks;  // of others: in the job, by their rank in it; empty: not all known
  std::string list;            // JSON, where it is short: else the trace's header has it

  bool AreKnown() const { return is_all || !ranks.empty(); }
  // In the job; `own` is in it.
  int64_t RankOf(int64_t own) const { return is_all ? own : ranks[static_cast<size_t>(own)]; }
};

// Ranks of all parts of an export, by the communicators that they began.
class NcclCommunicators {
 public:
  explicit NcclCommunicators(const std::vector<NsysPart>& parts) : parts_(parts) {}
  CommunicatorRanks Ranks(uint64_t communicator, size_t part) const;
  // JSON of the groups of a part whose ranks are known, of those that fit.
  std::string Groups(size_t part, size_t bytes_max) const;

 private:
  const std::vector<NsysPart>& parts_;
};

// The arguments of kernels that carry a collective, by their correlation.
class NcclCalls {
 public:
  // Reads calls and launches of the part; `rows_max` as in NsysSource. What it keeps takes up to
  // `bytes_max`, and up to eight times that before the first event is read; what is beyond is
  // counted, and its kernels stay without a collective.
  static Result<NcclCalls> Read(PartReading& part, const NcclPayloads& payloads, uint64_t rows_max,
                                size_t bytes_max);

  // As PyTorch's profiler writes them; nothing where none is known.
  void WriteArgs(std::optional<int64_t> correlation, EventJson& out) const;

 private:
  struct Call {
    int64_t thread = 0;
    int64_t start = 0;
    int64_t end = 0;
    uint8_t kind = 0;  // of kNames; or the end of a group
    uint64_t communicator = 0;
    int64_t bytes = -1;
    int64_t peer = -1;
  };
  struct Carried {
    int64_t correlation = 0;
    uint8_t kind = 0;
    uint64_t communicator = 0;
    int64_t in_bytes = -1;
    int64_t out_bytes = -1;
    int64_t peer = -1;
  };
  using Launches = std::vector<std::pair<int64_t, int64_t>>;  // start, correlation

  Status ReadCalls(PartReading& part, const NcclPayloads& payloads, uint64_t rows_max,
                   size_t bytes_max);
  Status ReadLaunches(PartReading& part, uint64_t rows_max, size_t bytes_max);
  void Assign();
  void Keep(PartReading& part, size_t bytes_max);
  void AssignGroup(const std::vector<Call>& calls, const Launches& launches);
  Carried Of(const Call& call) const;
  void Carry(int64_t correlation, Carried carried) {
    carried.correlation = correlation;
    carried_.push_back(carried);
  }

  std::vector<Call> calls_;                         // by thread and start
  std::unordered_map<int64_t, Launches> launches_;  // by thread
  std::vector<Carried> carried_;                    // by correlation
  std::unordered_map<uint64_t, CommunicatorRanks> communicators_;
};

}  // namespace tracedb
