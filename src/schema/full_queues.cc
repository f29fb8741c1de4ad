#include "tracedb/schema/full_queues.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <tuple>

#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

// CUDA's queues hold 1,024 launches; events and what other streams do take places as well.
constexpr std::ptrdiff_t kPendingMin = 512;
constexpr int64_t kCallMinNs = 50'000;    // others take some thousand
constexpr int64_t kReturnMaxNs = 20'000;  // from the finish that made room to the call's end
constexpr size_t kLookBack = 64;          // calls of a stream, from the last to finish

class Queues {
 public:
  explicit Queues(std::span<const LaunchingCall> calls) : calls_(calls) {
    for (uint32_t i = 0; i < calls.size(); ++i) {
      starts_.push_back(calls[i].start_ns);
      finishes_.push_back(calls[i].finish_ns);
      by_stream_.emplace_back(calls[i].stream, calls[i].finish_ns, i);
    }
    std::sort(starts_.begin(), starts_.end());
    std::sort(finishes_.begin(), finishes_.end());
    std::sort(by_stream_.begin(), by_stream_.end());
  }

  // Nothing where there was room, or nobody is seen to have made it.
  std::optional<uint32_t> RoomMadeFor(const LaunchingCall& call) const {
    const auto before = std::ranges::lower_bound(starts_, call.start_ns) - starts_.begin();
    const auto done = std::ranges::upper_bound(finishes_, call.end_ns) - finishes_.begin();
    if (before - done < kPendingMin) return std::nullopt;
    constexpr uint32_t kLast = std::numeric_limits<uint32_t>::max();
    auto at = std::ranges::upper_bound(by_stream_, Finished{call.stream, call.end_ns, kLast});
    for (size_t i = 0; i < kLookBack && at != by_stream_.begin(); ++i) {
      const auto& [stream, finish_ns, other] = *--at;
      const bool is_long_ago = DifferenceNs(call.end_ns, finish_ns) > kReturnMaxNs;
      if (stream != call.stream || is_long_ago || finish_ns < call.start_ns) break;
      if (calls_[other].start_ns < call.start_ns) return other;
    }
    return std::nullopt;
  }

 private:
  using Finished = std::tuple<uint32_t, int64_t, uint32_t>;  // stream, finish, call

  std::span<const LaunchingCall> calls_;
  std::vector<int64_t> starts_, finishes_;
  std::vector<Finished> by_stream_;
};

}  // namespace

std::vector<FullQueue> FindFullQueues(std::span<const LaunchingCall> calls) {
  std::vector<FullQueue> found;
  const auto may_be = [](const LaunchingCall& call) {
    return !call.is_wait && DifferenceNs(call.end_ns, call.start_ns) >= kCallMinNs;
  };
  if (calls.size() < size_t{kPendingMin} || std::ranges::none_of(calls, may_be)) return found;
  const Queues queues(calls);
  for (uint32_t i = 0; i < calls.size(); ++i) {
    if (!may_be(calls[i])) continue;
    const std::optional<uint32_t> made_by = queues.RoomMadeFor(calls[i]);
    if (made_by.has_value()) found.push_back({i, *made_by});
  }
  return found;
}

}  // namespace tracedb
