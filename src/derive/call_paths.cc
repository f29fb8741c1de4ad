#include "derive/call_paths.h"

#include <bit>

#include "tracedb/memory/number_hash.h"

namespace tracedb {

CallPaths::CallPaths(size_t nodes_max)
    : nodes_max_(nodes_max), nodes_(1), buckets_(std::bit_ceil(nodes_max * 2 + 2)) {}

bool CallPaths::IsOn(PathId path, int64_t label) const {
  for (; path != 0; path = nodes_[path].parent) {
    if (nodes_[path].label == label) return true;
  }
  return false;
}

PathId CallPaths::Child(PathId parent, HostKind kind, int64_t label, int64_t shape) {
  const size_t mask = buckets_.size() - 1;
  size_t at = HashNumbers(label * 8 + static_cast<int64_t>(kind), shape, parent) & mask;
  for (; buckets_[at] != 0; at = (at + 1) & mask) {
    const PathNode& node = nodes_[buckets_[at]];
    if (node.label == label && node.shape == shape && node.parent == parent && node.kind == kind) {
      return buckets_[at];
    }
  }
  if (count() == nodes_max_) return parent;
  const auto id = static_cast<PathId>(nodes_.size());
  const PathId op = kind == HostKind::kOperator ? id : nodes_[parent].op;
  nodes_.push_back({label, shape, parent, op, kind, IsOn(parent, label)});
  buckets_[at] = id;
  return id;
}

}  // namespace tracedb
