// Puts whole b-trees of one SQLite database after those of another: the leaves are copied as they
// are, and only the pages above them are made anew, so a table of millions of rows costs what
// copying its bytes does.
//
// All keys of the tree that is added must be greater than those that are there: rowids for a
// table, entries for an index. Trees that cannot be added this way are an error of kUnfit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/pages/btree_page.h"
#include "tracedb/pages/staged_changes.h"

namespace tracedb {

class TreeGraft {
 public:
  struct Tree {
    bool is_index;
    uint32_t from_root;  // in the file that is added
    uint32_t to_root;    // in the database
  };

  // The file that is added: open for reading until the staged's Commit(), with pages of the
  // staged's sizes.
  struct Source {
    int file = -1;
    uint32_t pages = 0;
    std::filesystem::path path;
  };
  TreeGraft(StagedChanges& staged, Source source) : staged_(staged), source_(std::move(source)) {}

  // Whether the tree that begins at page `root` has many leaves. As each graft leaves its last leaf
  // partly empty, others are better copied row by row.
  static Result<bool> IsLarge(const Source& source, uint32_t page_bytes, uint32_t root);
  // Adds the trees, all at once: their leaves keep the order that they have in the file.
  Status Add(const std::vector<Tree>& trees);

 private:
  // A page, and what divides it from the next on its level: the greatest rowid under it as a
  // varint, or an entry of the index as a leaf's cell. The last page of all has none.
  struct Child {
    uint32_t page;
    std::string divider;
  };
  // The page being filled on one level above the leaves.
  struct Level {
    uint32_t page = 0;  // where it goes once it is full; 0: to a new page
    std::vector<Child> children;
    size_t cells_bytes = 0;  // of all but the last child
  };
  using Page = std::vector<uint8_t>;
  // A tree on its way.
  struct PendingTree {
    Tree tree;
    std::vector<Child> leaves;
    bool to_empty = false;  // the database's tree has no row yet
  };

  static Status ReadSource(const Source& source, uint32_t page_bytes, uint32_t number,
                           std::span<uint8_t> bytes);
  Result<Page> ReadSource(uint32_t number) const;
  Result<Page> ReadTarget(uint32_t number) const;
  Result<std::vector<Child>> Children(const Page& page, bool is_index) const;
  Result<std::vector<Child>> SourceLeaves(const Tree& tree) const;
  Result<std::vector<PendingTree>> PendingTrees(const std::vector<Tree>& trees) const;
  Result<std::vector<uint32_t>> NumberLeaves(const std::vector<PendingTree>& pending_trees);
  Result<std::string> TakeFirstEntry(Child& leaf);
  Status CheckRowids(const PendingTree& pending, const Child& last_leaf) const;
  Result<Child> LoadSpine(const Tree& tree);
  Status AddChild(size_t depth, Child child);
  Result<uint32_t> WriteLevel(Level& level, uint32_t number);
  Status FinishLevels(uint32_t root);

  StagedChanges& staged_;
  Source source_;
  bool is_index_ = false;      // of the tree being added
  std::vector<Level> levels_;  // of it, the leaves' parents first
};

}  // namespace tracedb
