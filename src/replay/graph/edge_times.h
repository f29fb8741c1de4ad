// A length of time for each edge of a graph. There are four to five edges for each GPU activity,
// and nearly all of their times are below two seconds: such take four bytes, and eight where one of
// their block is longer. Copies share their blocks until one is set: most changes are of few edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace tracedb {

// What an edge says is left out of a replay where its time is this.
inline constexpr int64_t kNoEdge = std::numeric_limits<int64_t>::min();

class EdgeTimes {
 public:
  EdgeTimes() = default;
  explicit EdgeTimes(const std::vector<int64_t>& times_ns) {
    for (const int64_t ns : times_ns) Add(ns);
  }

  size_t size() const { return size_; }

  int64_t operator[](size_t edge) const {
    const Block& block = *blocks_[edge / kBlockEdges];
    const size_t place = edge % kBlockEdges;
    if (!block.wide.empty()) return block.wide[place];
    return block.narrow[place] == kNarrowNone ? kNoEdge : block.narrow[place];
  }

  void Set(size_t edge, int64_t ns) {
    Block& block = Own(edge / kBlockEdges);
    const size_t place = edge % kBlockEdges;
    if (block.wide.empty() && IsNarrow(ns)) {
      block.narrow[place] = Narrow(ns);
      return;
    }
    if (block.wide.empty()) Widen(block);
    block.wide[place] = ns;
  }

  void Add(int64_t ns) {
    if (size_ % kBlockEdges == 0) {
      blocks_.push_back(std::make_shared<Block>());
      blocks_.back()->narrow.reserve(kBlockEdges);
    }
    Block& block = Own(blocks_.size() - 1);
    if (block.wide.empty() && !IsNarrow(ns)) Widen(block);
    if (block.wide.empty() && IsNarrow(ns)) {
      block.narrow.push_back(Narrow(ns));
    } else {
      block.wide.push_back(ns);
    }
    ++size_;
  }

 private:
  static constexpr size_t kBlockEdges = 4096;
  static constexpr int32_t kNarrowNone = std::numeric_limits<int32_t>::min();
  struct Block {
    std::vector<int32_t> narrow;
    std::vector<int64_t> wide;  // where not empty, in place of them
  };

  Block& Own(size_t number) {
    std::shared_ptr<Block>& block = blocks_[number];
    if (block.use_count() > 1) block = std::make_shared<Block>(*block);
    return *block;
  }

  static bool IsNarrow(int64_t ns) {
    return ns == kNoEdge || (ns > kNarrowNone && ns <= std::numeric_limits<int32_t>::max());
  }
  static int32_t Narrow(int64_t ns) {
    return ns == kNoEdge ? kNarrowNone : static_cast<int32_t>(ns);
  }
  static void Widen(Block& block) {
    block.wide.reserve(kBlockEdges);
    for (const int32_t ns : block.narrow) block.wide.push_back(ns == kNarrowNone ? kNoEdge : ns);
    block.narrow = {};
  }

  std::vector<std::shared_ptr<Block>> blocks_;
  size_t size_ = 0;
};

}  // namespace tracedb
