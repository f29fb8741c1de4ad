// Puts whole b-trees of one SQLite database after those of another. Of a large one the leaves are
// copied as they are, and only the pages above them are made anew, so a table of millions of rows
// costs what copying its bytes does. Of others the cells are added to the last leaf, and to new
// ones once that is full: a sixth of the instructions that SQLite takes to insert the rows.
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

struct TreeChild;
class TreeSpine;

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

  // Whether the tree that begins at page `root` has so many leaves.
  static Result<bool> HasLeaves(const Source& source, uint32_t page_bytes, uint32_t root,
                                uint32_t leaves_min);
  // Of fewer leaves a tree is to be appended: each graft leaves its last leaf partly empty.
  static constexpr uint32_t kGraftedLeavesMin = 16;
  // Adds large trees, all at once: their leaves keep the order that they have in the file.
  Status Add(const std::vector<Tree>& trees);
  // Adds the cells of one that is not.
  Status Append(const Tree& tree);

 private:
  using Page = std::vector<uint8_t>;
  // A tree on its way.
  struct PendingTree {
    Tree tree;
    std::vector<TreeChild> leaves;
    bool to_empty = false;  // the database's tree has no row yet
  };

  static Status ReadSource(const Source& source, uint32_t page_bytes, uint32_t number,
                           std::span<uint8_t> bytes);
  Result<Page> ReadSource(uint32_t number) const;
  Result<std::vector<TreeChild>> SourceLeaves(const Tree& tree) const;
  Status ReadCells(const Tree& tree, const std::vector<TreeChild>& leaves, std::vector<Page>& pages,
                   std::vector<std::span<const uint8_t>>& cells) const;
  Result<std::vector<PendingTree>> PendingTrees(const std::vector<Tree>& trees) const;
  Result<std::vector<uint32_t>> NumberLeaves(const std::vector<PendingTree>& pending_trees);
  Result<std::string> TakeFirstEntry(TreeChild& leaf);
  Status CheckRowids(const PendingTree& pending, const TreeChild& last_leaf) const;
  Result<TreeChild> LastLeaf(const Tree& tree, TreeSpine& spine);

  StagedChanges& staged_;
  Source source_;
};

}  // namespace tracedb
