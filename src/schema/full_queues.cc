#include "tracedb/schema/full_queues.h"

#include <algorithm>

#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

// CUDA's queues hold 1,024 launches; events and what other streams do take places as well.
constexpr size_t kPendingMin = 512;
constexpr int64_t kCallMinNs = 50'000;    // others take some thousand
constexpr int64_t kReturnMaxNs = 20'000;  // from the finish that made room to the call's end
// Of made-up traces: beyond them none is looked for.
constexpr size_t kPendingMax = 16'384;
constexpr size_t kStreamsMax = 256;

// The first that finishes after `ns`.
template <typename Queue>
auto FirstAfter(Queue& queue, int64_t ns) {
  return std::upper_bound(queue.begin(), queue.end(), ns,
                          [](int64_t at, const auto& launched) { return at < launched.finish_ns; });
}

}  // namespace

std::optional<int64_t> FullQueues::Add(const LaunchingCall& call) {
  if (gave_up_) return std::nullopt;
  const bool is_long = DifferenceNs(call.end_ns, call.start_ns) >= kCallMinNs;
  std::optional<int64_t> made_by;
  if (is_long && !call.is_wait) made_by = RoomMadeFor(call);
  Queue& own = by_stream_[call.stream];
  own.insert(FirstAfter(own, call.finish_ns), {call.finish_ns, call.slice_id});
  ++count_;
  for (; own.front().finish_ns < call.start_ns && own.size() > 1; --count_) own.pop_front();
  if (count_ > kPendingMax || by_stream_.size() > kStreamsMax) ForgetDone(call.start_ns);
  return made_by;
}

std::optional<int64_t> FullQueues::RoomMadeFor(const LaunchingCall& call) const {
  size_t pending = 0;
  for (const auto& [stream, queue] : by_stream_) {
    pending += static_cast<size_t>(queue.end() - FirstAfter(queue, call.end_ns));
  }
  const auto own = by_stream_.find(call.stream);
  if (pending < kPendingMin || own == by_stream_.end()) return std::nullopt;
  const auto after = FirstAfter(own->second, call.end_ns);
  if (after == own->second.begin()) return std::nullopt;
  const Launched& last = *(after - 1);
  const bool is_long_ago = DifferenceNs(call.end_ns, last.finish_ns) > kReturnMaxNs;
  if (is_long_ago || last.finish_ns < call.start_ns) return std::nullopt;
  return last.slice_id;
}

void FullQueues::ForgetDone(int64_t now_ns) {
  count_ = 0;
  for (auto at = by_stream_.begin(); at != by_stream_.end();) {
    Queue& queue = at->second;
    while (!queue.empty() && queue.front().finish_ns < now_ns) queue.pop_front();
    count_ += queue.size();
    at = queue.empty() ? by_stream_.erase(at) : std::next(at);
  }
  gave_up_ = count_ > kPendingMax || by_stream_.size() > kStreamsMax;
  if (gave_up_) by_stream_.clear();
}

}  // namespace tracedb
