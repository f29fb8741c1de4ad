// The ways on which the host came to its launches: a tree of operators, annotations, Python
// functions and modules, each below what it was called in. Calls of one thing in one place are one
// node, whatever their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracedb/derive/gathered/host_slices.h"
#include "tracedb/memory/number_hash.h"

namespace tracedb {

// Number of a node, from 1 in the order of first appearance; 0 is no path.
using PathId = uint32_t;

struct PathNode {
  int64_t event_name = 0;
  int64_t args_text = 0;  // of an operator's args
  PathId parent = 0;
  PathId op = 0;  // the nearest operator upwards, itself included
  HostKind kind = HostKind::kOperator;
  bool recursive = false;  // something above has its name
};

class CallPaths {
 public:
  // Holds at most `nodes_max`.
  explicit CallPaths(size_t nodes_max);

  // The node for this below `parent`. When there is no room for a new one, `parent` itself.
  PathId Child(PathId parent, HostKind kind, int64_t event_name, int64_t args_text);
  // The same. `before` is the child of `parent` that came before this one, 0 if it is the first:
  // a training loop calls the same things in the same order, so that what followed `before` last
  // time is looked at before all others.
  PathId ChildAfter(PathId parent, PathId before, HostKind kind, int64_t event_name,
                    int64_t args_text) {
    PathId& guess = before != 0 ? guesses_[before].next : guesses_[parent].first_child;
    const PathNode& node = nodes_[guess];
    if (guess != 0 && node.event_name == event_name && node.args_text == args_text &&
        node.kind == kind && node.parent == parent) {
      return guess;
    }
    const PathId id = Child(parent, kind, event_name, args_text);
    if (id != parent) (before != 0 ? guesses_[before].next : guesses_[parent].first_child) = id;
    return id;
  }

  const PathNode& node(PathId id) const { return nodes_[id]; }
  size_t count() const { return nodes_.size() - 1; }
  // True when `event_name` is on the path.
  bool IsOn(PathId path, int64_t event_name) const;

 private:
  // What came after a node last time: the first of its children, and the next one of its parent.
  struct Guess {
    PathId first_child = 0;
    PathId next = 0;
  };

 public:
  // What one node takes.
  static constexpr size_t kBytesEach = sizeof(PathNode) + sizeof(Guess) + 4 * sizeof(PathId);

 private:
  // Of so many places a small trace touches few pages.
  static constexpr size_t kStartBuckets = 512;

  static uint64_t HashOf(PathId parent, HostKind kind, int64_t event_name, int64_t args_text) {
    return HashNumbers(event_name * 8 + static_cast<int64_t>(kind), args_text, parent);
  }
  void MakeRoom();

  size_t nodes_max_;
  std::vector<PathNode> nodes_;  // [0] stands for none
  std::vector<Guess> guesses_;   // one a node
  std::vector<PathId> buckets_;  // 0 is empty; a power of two, and half of them are
};

}  // namespace tracedb
