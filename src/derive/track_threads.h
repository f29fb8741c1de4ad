// What is known of each thread of a trace, by its track, of a bounded number of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace tracedb {

template <typename Thread>
class TrackThreads {
 public:
  explicit TrackThreads(size_t threads_max) : threads_max_(threads_max) {}

  // Null where there is no room for another. Pointers stay.
  Thread* Of(int64_t track) {
    Near& near = near_[static_cast<uint64_t>(track) % kNear];
    if (near.thread != nullptr && near.track == track) return near.thread;
    auto found = threads_.find(track);
    if (found == threads_.end()) {
      if (threads_.size() >= threads_max_) return nullptr;
      found = threads_.try_emplace(track).first;
    }
    near = {track, &found->second};
    return near.thread;
  }
  size_t count() const { return threads_.size(); }
  auto begin() { return threads_.begin(); }
  auto end() { return threads_.end(); }

 private:
  // Threads take turns: those of the last ones are found without the map.
  struct Near {
    int64_t track = 0;
    Thread* thread = nullptr;
  };
  static constexpr size_t kNear = 16;  // a power of two

  size_t threads_max_;
  std::unordered_map<int64_t, Thread> threads_;
  std::array<Near, kNear> near_{};
};

}  // namespace tracedb
