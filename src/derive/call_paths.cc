#include "derive/call_paths.h"

#include <utility>

namespace tracedb {

CallPaths::CallPaths(size_t nodes_max)
    : nodes_max_(nodes_max), nodes_(1), guesses_(1), buckets_(kStartBuckets) {}

bool CallPaths::IsOn(PathId path, int64_t event_name) const {
  for (; path != 0; path = nodes_[path].parent) {
    if (nodes_[path].event_name == event_name) return true;
  }
  return false;
}

void CallPaths::MakeRoom() {
  std::vector<PathId> larger(buckets_.size() * 2);
  const size_t mask = larger.size() - 1;
  for (PathId id = 1; id < nodes_.size(); ++id) {
    const PathNode& node = nodes_[id];
    size_t at = HashOf(node.parent, node.kind, node.event_name, node.args_text) & mask;
    while (larger[at] != 0) at = (at + 1) & mask;
    larger[at] = id;
  }
  buckets_ = std::move(larger);
}

PathId CallPaths::Child(PathId parent, HostKind kind, int64_t event_name, int64_t args_text) {
  if (nodes_.size() * 2 >= buckets_.size()) MakeRoom();
  const size_t mask = buckets_.size() - 1;
  size_t at = HashOf(parent, kind, event_name, args_text) & mask;
  for (; buckets_[at] != 0; at = (at + 1) & mask) {
    const PathNode& node = nodes_[buckets_[at]];
    if (node.event_name == event_name && node.args_text == args_text && node.parent == parent &&
        node.kind == kind) {
      return buckets_[at];
    }
  }
  if (count() == nodes_max_) return parent;
  const auto id = static_cast<PathId>(nodes_.size());
  const PathId op = kind == HostKind::kOperator ? id : nodes_[parent].op;
  nodes_.push_back({event_name, args_text, parent, op, kind, IsOn(parent, event_name)});
  guesses_.emplace_back();
  buckets_[at] = id;
  return id;
}

}  // namespace tracedb
