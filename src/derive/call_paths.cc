#include "derive/call_paths.h"

#include <bit>

#include "tracedb/memory/number_hash.h"

namespace tracedb {

CallPaths::CallPaths(size_t nodes_max)
    : nodes_max_(nodes_max), nodes_(1), guesses_(1), buckets_(std::bit_ceil(nodes_max * 2 + 2)) {}

bool CallPaths::IsOn(PathId path, int64_t event_name) const {
  for (; path != 0; path = nodes_[path].parent) {
    if (nodes_[path].event_name == event_name) return true;
  }
  return false;
}

PathId CallPaths::Child(PathId parent, HostKind kind, int64_t event_name, int64_t args_text) {
  const size_t mask = buckets_.size() - 1;
  size_t at = HashNumbers(event_name * 8 + static_cast<int64_t>(kind), args_text, parent) & mask;
  for (; buckets_.ToWrite(at) != 0; at = (at + 1) & mask) {
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
  buckets_.ToWrite(at) = id;
  return id;
}

}  // namespace tracedb
