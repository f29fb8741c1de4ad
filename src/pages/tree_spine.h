// The right edge of a b-tree of a database: the pages from its root down to its last leaf, where
// leaves that come after all others are added. Of a page that is full a new one begins beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/pages/staged_changes.h"

namespace tracedb {

// A page, and what divides it from the next on its level: the greatest rowid under it as a varint,
// or an entry of the index as a leaf's cell. The last page of all has none.
struct TreeChild {
  uint32_t page;
  std::string divider;
};

// An interior page's children, the rightmost last.
Result<std::vector<TreeChild>> TreeChildren(std::span<const uint8_t> page, bool is_index,
                                            PageSizes sizes);

class TreeSpine {
 public:
  TreeSpine(StagedChanges& staged, bool is_index) : staged_(staged), is_index_(is_index) {}

  using Page = std::vector<uint8_t>;
  static Result<Page> ReadPage(const StagedChanges& staged, uint32_t number);

  // Reads the pages from the root down, and gives the last leaf, which may be the root itself; else
  // it is to be added again: all above it get further children.
  struct Leaf {
    uint32_t number;
    Page bytes;
  };
  Result<Leaf> Load(uint32_t root);
  Status AddLeaf(TreeChild leaf) { return AddChild(0, std::move(leaf)); }
  // Writes the pages above the leaves; the topmost becomes the page `root`.
  Status Finish(uint32_t root);

 private:
  // The page being filled on one level above the leaves.
  struct Level {
    uint32_t page = 0;  // where it goes once it is full; 0: to a new page
    std::vector<TreeChild> children;
    size_t cells_bytes = 0;  // of all but the last child
  };

  Status AddChild(size_t depth, TreeChild child);
  Result<uint32_t> WriteLevel(Level& level, uint32_t number);

  StagedChanges& staged_;
  bool is_index_;
  std::vector<Level> levels_;  // the leaves' parents first
};

}  // namespace tracedb
