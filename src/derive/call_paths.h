// The ways on which the host came to its launches: a tree of operators, annotations, Python
// functions and modules, each below what it was called in. Calls of one thing in one place are one
// node, whatever their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracedb/derive/host_slices.h"

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
  // What one node takes.
  static constexpr size_t kBytesEach = sizeof(PathNode) + 4 * sizeof(PathId);

  // The node for this below `parent`. When there is no room for a new one, `parent` itself.
  PathId Child(PathId parent, HostKind kind, int64_t event_name, int64_t args_text);

  const PathNode& node(PathId id) const { return nodes_[id]; }
  size_t count() const { return nodes_.size() - 1; }
  // True when `event_name` is on the path.
  bool IsOn(PathId path, int64_t event_name) const;

 private:
  size_t nodes_max_;
  std::vector<PathNode> nodes_;  // [0] stands for none
  std::vector<PathId> buckets_;  // 0 is empty
};

}  // namespace tracedb
