#include "sources/nsys/nccl_calls.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "sources/nsys/gpu_rows.h"
#include "sources/nsys/host_rows.h"
#include "sources/nsys/range_rows.h"

namespace tracedb {
namespace {

constexpr size_t kListBytesMax = 1024;  // of ranks, with each kernel

struct CallName {
  std::string_view of_nccl;    // without nccl
  std::string_view of_kineto;  // what PyTorch's profiler calls it
};
constexpr CallName kNames[] = {{"AllReduce", "allreduce"},
                               {"AllGather", "_allgather_base"},
                               {"ReduceScatter", "_reduce_scatter_base"},
                               {"Broadcast", "broadcast"},
                               {"Bcast", "broadcast"},
                               {"Reduce", "reduce"},
                               {"AlltoAll", "all_to_all"},
                               {"AllToAll", "all_to_all"},
                               {"Gather", "gather"},
                               {"Scatter", "scatter"},
                               {"Send", "send"},
                               {"Recv", "recv"}};
constexpr uint8_t kAllGather = 1;
constexpr uint8_t kReduceScatter = 2;
constexpr uint8_t kSend = 10;
constexpr uint8_t kRecv = 11;
constexpr uint8_t kSendRecv = 100;  // sends and receives of one group
constexpr uint8_t kGroupStart = 101;
constexpr uint8_t kGroupEnd = 102;

// With advanced tracing names have lost their nccl.
std::optional<uint8_t> KindOf(std::string_view name) {
  if (name.starts_with("nccl")) name.remove_prefix(4);
  if (name == "GroupStart") return kGroupStart;
  if (name == "GroupEnd") return kGroupEnd;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i].of_nccl == name) return static_cast<uint8_t>(i);
  }
  return std::nullopt;
}

// Without 0x, with which it would be taken for an address.
std::string HexName(uint64_t communicator) {
  std::array<char, 20> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), communicator, 16).ptr;
  return std::string(digits.data(), end);
}

// Not less than AppendRanks() appends.
size_t ListBytes(const CommunicatorRanks& ranks) {
  constexpr size_t kBytesEach = 12;
  const size_t each = ranks.is_all ? std::to_string(ranks.size).size() + 2 : kBytesEach;
  return (ranks.is_all ? static_cast<size_t>(ranks.size) : ranks.ranks.size()) * each + 2;
}

void AppendRanks(const CommunicatorRanks& ranks, std::string& json) {
  json += '[';
  for (int64_t own = 0; own < ranks.size; ++own) {
    if (own > 0) json += ", ";
    json += std::to_string(ranks.RankOf(own));
  }
  json += ']';
}

bool IsNcclKernel(const std::string* name) {
  if (name == nullptr) return false;
  constexpr std::string_view kWord = "nccl";
  return std::search(name->begin(), name->end(), kWord.begin(), kWord.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != name->end();
}

}  // namespace

CommunicatorRanks NcclCommunicators::Ranks(uint64_t communicator, size_t part) const {
  CommunicatorRanks found{HexName(communicator), 0, false, {}, {}};
  const NsysPart& own = parts_[part];
  for (const NsysCommunicator& known : own.communicators) {
    if (known.id != communicator) continue;
    found.size = known.size;
    found.is_all = known.size == own.world_size && known.rank == own.rank;
  }
  if (found.size <= 0) return found;
  if (!found.is_all) {  // by the ranks of those in this export, where they are all here
    std::map<int64_t, int64_t> ranks;
    std::set<int64_t> in_job;
    for (const NsysPart& other : parts_) {
      for (const NsysCommunicator& known : other.communicators) {
        if (known.id == communicator && other.rank.has_value()) {
          ranks.emplace(known.rank, *other.rank);
          in_job.insert(*other.rank);
        }
      }
    }
    const auto size = static_cast<size_t>(found.size);
    if (ranks.size() != size || in_job.size() != size) return found;
    for (const auto& [in_it, rank] : ranks) found.ranks.push_back(rank);
  }
  if (ListBytes(found) <= kListBytesMax) AppendRanks(found, found.list);
  return found;
}

std::string NcclCommunicators::Groups(size_t part, size_t bytes_max) const {
  constexpr size_t kBytesEach = 100;  // beside the ranks
  std::string json;
  for (const NsysCommunicator& known : parts_[part].communicators) {
    const CommunicatorRanks ranks = Ranks(known.id, part);
    if (!ranks.AreKnown()) continue;
    if (json.size() + ListBytes(ranks) + kBytesEach > bytes_max) continue;
    json += (json.empty() ? "[" : ",") + ("{\"pg_name\":\"" + ranks.name) +
            "\",\"pg_desc\":\"\",\"pg_size\":" + std::to_string(ranks.size) + ",\"ranks\":";
    AppendRanks(ranks, json);
    json += "}";
  }
  return json.empty() ? json : json + "]";
}

Result<NcclCalls> NcclCalls::Read(PartReading& part, const NcclPayloads& payloads,
                                  uint64_t rows_max, size_t bytes_max) {
  NcclCalls calls;
  if (!payloads.Any()) return calls;
  TRACEDB_TRY(calls.ReadCalls(part, payloads, rows_max, 4 * bytes_max));
  if (calls.calls_.empty()) return calls;
  const NcclCommunicators communicators(part.parts());
  for (const Call& call : calls.calls_) {
    if (call.kind == kGroupEnd || calls.communicators_.contains(call.communicator)) continue;
    CommunicatorRanks ranks = communicators.Ranks(call.communicator, part.index());
    if (ranks.size > 0) calls.communicators_.emplace(call.communicator, std::move(ranks));
  }
  TRACEDB_TRY(calls.ReadLaunches(part, rows_max, 2 * bytes_max));
  calls.Assign();
  calls.Keep(part, bytes_max);
  return calls;
}

Status NcclCalls::ReadCalls(PartReading& part, const NcclPayloads& payloads, uint64_t rows_max,
                            size_t bytes_max) {
  enum { kStart, kEnd, kTid, kText, kTextId, kBlob };
  TRACEDB_ASSIGN(
      rows, part.db().Prepare("SELECT " +
                              part.tables().Select(kRangeTable, {"start", "end", "globalTid",
                                                                 "text", "textId", "binaryData"}) +
                              " FROM " + kRangeTable + " WHERE " + part.Condition(kRangeTable)));
  const size_t kept_max = bytes_max / (2 * sizeof(Call));  // while it grows it is there twice
  uint64_t without = 0;
  for (uint64_t count = 0;; ++count) {
    TRACEDB_ASSIGN(row, StepRow(rows, count, rows_max));
    if (!row) break;
    const auto start = IntIn(rows, kStart);
    const auto end = IntIn(rows, kEnd);
    if (!start.has_value() || !end.has_value()) continue;
    const std::string* const by_id = part.Text(IntIn(rows, kTextId));
    const auto kind = KindOf(by_id != nullptr ? std::string_view(*by_id) : rows.Text(kText));
    if (!kind.has_value()) continue;
    Call call{IntIn(rows, kTid).value_or(0), *start, *end, *kind};
    if (part.IsForeign(call.thread)) continue;
    if (*kind < std::size(kNames)) {
      const auto payload = payloads.Of(rows.Text(kBlob));
      if (!payload.has_value()) continue;
      call.communicator = payload->communicator;
      call.bytes = payload->bytes.value_or(-1);
      call.peer = payload->peer.value_or(-1);
    }
    if (calls_.size() < kept_max) {
      calls_.push_back(call);
    } else {
      ++without;
    }
  }
  part.NotKept(kRangeTable, without);
  std::sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) {
    return std::tuple(a.thread, a.start, a.end) < std::tuple(b.thread, b.start, b.end);
  });
  return Done{};
}

// Of NCCL's kernels: where and when each was launched.
Status NcclCalls::ReadLaunches(PartReading& part, uint64_t rows_max, size_t bytes_max) {
  const ExportTables& tables = part.tables();
  if (!tables.Has(kKernelTable, "correlationId") || !tables.Has(kCallTable, "correlationId")) {
    return Done{};
  }
  TRACEDB_ASSIGN(kernels, part.db().Prepare(
                              "SELECT " +
                              tables.Select(kKernelTable, {"correlationId", "shortName",
                                                           "demangledName", "globalPid"}) +
                              " FROM " + kKernelTable + " WHERE " + part.Condition(kKernelTable)));
  constexpr size_t kBytesEach = 2 * (sizeof(int64_t) + sizeof(Launches::value_type));
  const size_t kept_max = bytes_max / kBytesEach;
  std::vector<int64_t> wanted;
  uint64_t without = 0;
  for (uint64_t count = 0;; ++count) {
    TRACEDB_ASSIGN(row, StepRow(kernels, count, rows_max));
    if (!row) break;
    if (IntIn(kernels, 3).has_value() && part.IsForeign(kernels.Int(3))) continue;
    const auto correlation = IntIn(kernels, 0);
    if (!correlation.has_value()) continue;
    if (IsNcclKernel(part.Text(IntIn(kernels, 1))) || IsNcclKernel(part.Text(IntIn(kernels, 2)))) {
      if (wanted.size() < kept_max) {
        wanted.push_back(*correlation);
      } else {
        ++without;
      }
    }
  }
  part.NotKept(kKernelTable, without);
  std::sort(wanted.begin(), wanted.end());
  size_t kept = 0;
  TRACEDB_ASSIGN(
      calls, part.db().Prepare("SELECT " +
                               tables.Select(kCallTable, {"correlationId", "start", "globalTid"}) +
                               " FROM " + kCallTable + " WHERE " + part.Condition(kCallTable)));
  for (uint64_t count = 0;; ++count) {
    TRACEDB_ASSIGN(row, StepRow(calls, count, rows_max));
    if (!row) break;
    const auto start = IntIn(calls, 1);
    const int64_t thread = IntIn(calls, 2).value_or(0);
    if (!start.has_value() || part.IsForeign(thread) || kept == kept_max ||
        !std::binary_search(wanted.begin(), wanted.end(), calls.Int(0))) {
      continue;
    }
    ++kept;
    launches_[thread].emplace_back(*start, calls.Int(0));
  }
  for (auto& [thread, launches] : launches_) std::sort(launches.begin(), launches.end());
  return Done{};
}

NcclCalls::Carried NcclCalls::Of(const Call& call) const {
  Carried carried{0, call.kind, call.communicator, call.bytes, call.bytes, call.peer};
  const auto communicator = communicators_.find(call.communicator);
  const int64_t size = communicator == communicators_.end() ? 0 : communicator->second.size;
  // NCCL tells the bytes of one rank.
  if (call.kind == kAllGather) carried.out_bytes = size > 0 ? call.bytes * size : -1;
  if (call.kind == kReduceScatter) carried.in_bytes = size > 0 ? call.bytes * size : -1;
  return carried;
}

// Walks each thread's calls in their order: those between the start and the end of a group are
// carried out in its end, others by themselves.
void NcclCalls::Assign() {
  std::vector<Call> group;
  int depth = 0;
  for (size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    if (i == 0 || calls_[i - 1].thread != call.thread) {
      group.clear();
      depth = 0;
    }
    const auto of_thread = launches_.find(call.thread);
    if (call.kind == kGroupStart) {
      ++depth;
      continue;
    }
    if (call.kind == kGroupEnd && depth > 0) --depth;
    const bool carries = call.kind != kGroupEnd || depth == 0;
    Launches within;
    if (carries && of_thread != launches_.end()) {
      const Launches& all = of_thread->second;
      auto at = std::lower_bound(all.begin(), all.end(),
                                 std::pair(call.start, std::numeric_limits<int64_t>::min()));
      for (; at != all.end() && at->first <= call.end; ++at) within.push_back(*at);
    }
    if (call.kind != kGroupEnd) {
      if (depth > 0 && within.empty()) {
        group.push_back(call);
      } else {
        for (const auto& [start, correlation] : within) Carry(correlation, Of(call));
      }
    } else if (depth == 0) {
      AssignGroup(group, within);
      group.clear();
    }
  }
}

// Of one that is carried twice the last counts.
void NcclCalls::Keep(PartReading& part, size_t bytes_max) {
  calls_ = {};
  launches_ = {};
  std::stable_sort(carried_.begin(), carried_.end(), [](const Carried& a, const Carried& b) {
    return a.correlation < b.correlation;
  });
  const size_t kept_max = bytes_max / sizeof(Carried);
  if (carried_.size() > kept_max) {
    part.NotKept(kKernelTable, carried_.size() - kept_max);
    carried_.resize(kept_max);
  }
  carried_.shrink_to_fit();
}

void NcclCalls::AssignGroup(const std::vector<Call>& calls, const Launches& launches) {
  if (calls.empty() || launches.empty()) return;
  if (calls.size() == launches.size()) {
    for (size_t i = 0; i < calls.size(); ++i) Carry(launches[i].second, Of(calls[i]));
    return;
  }
  // One kernel for all; of several nobody tells which carries what.
  Carried all = Of(calls.front());
  all.in_bytes = all.out_bytes = launches.size() == 1 ? 0 : -1;
  for (const Call& call : calls) {
    if (call.communicator != all.communicator) return;
    if (call.kind != all.kind) all.kind = kSendRecv;
    if (call.peer != all.peer) all.peer = -1;
    if (launches.size() > 1) continue;
    const Carried one = Of(call);
    if (call.kind != kRecv && one.in_bytes >= 0) all.in_bytes += one.in_bytes;
    if (call.kind != kSend && one.out_bytes >= 0) all.out_bytes += one.out_bytes;
  }
  for (const auto& [start, correlation] : launches) Carry(correlation, all);
}

void NcclCalls::WriteArgs(std::optional<int64_t> correlation, EventJson& out) const {
  if (carried_.empty() || !correlation.has_value()) return;
  const auto after =
      std::upper_bound(carried_.begin(), carried_.end(), *correlation,
                       [](int64_t wanted, const Carried& one) { return wanted < one.correlation; });
  if (after == carried_.begin() || (after - 1)->correlation != *correlation) return;
  const Carried& carried = *(after - 1);
  out.ArgInside("Collective name",
                carried.kind == kSendRecv ? "send_recv" : kNames[carried.kind].of_kineto);
  out.ArgInside("dtype", "bytes");
  if (carried.in_bytes >= 0) out.Arg("In msg nelems", carried.in_bytes);
  if (carried.out_bytes >= 0) out.Arg("Out msg nelems", carried.out_bytes);
  const auto communicator = communicators_.find(carried.communicator);
  if (communicator == communicators_.end()) {  // it began before the recording
    out.ArgInside("Process Group Name", HexName(carried.communicator));
    return;
  }
  const CommunicatorRanks& ranks = communicator->second;
  out.Arg("Group size", ranks.size);
  out.ArgInside("Process Group Name", ranks.name);
  if (!ranks.AreKnown()) return;
  if (!ranks.list.empty()) out.ArgInside("Process Group Ranks", ranks.list);
  const bool has_peer = carried.peer >= 0 && carried.peer < ranks.size;
  if (!has_peer || (carried.kind != kSend && carried.kind != kRecv)) return;
  out.Arg(carried.kind == kSend ? "Dst Rank" : "Src Rank", ranks.RankOf(carried.peer));
}

}  // namespace tracedb
