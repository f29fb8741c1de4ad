#include "tracedb/pages/tree_graft.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "pages/btree_cells.h"
#include "pages/tree_spine.h"
#include "pages/whole_cells.h"
#include "tracedb/pages/page_bytes.h"

namespace tracedb {
namespace {

using Kind = BtreePage::Kind;

bool IsLeaf(std::span<const uint8_t> page) { return IsLeafKind(page[0]); }
bool IsOfIndex(std::span<const uint8_t> page) { return IsIndexKind(page[0]); }

// No cell leads to another page: those have other numbers now.
bool CanBeCopied(std::span<const uint8_t> leaf, PageSizes sizes) {
  if (!IsLeaf(leaf)) return false;
  const size_t local_max = IsOfIndex(leaf) ? IndexLocalBytesMax(sizes) : TableLocalBytesMax(sizes);
  const uint32_t cells = GetU16(&leaf[kCellCountAt]);
  for (uint32_t i = 0; i < cells; ++i) {
    const Varint payload = GetVarint(CellAt(leaf, sizes, i));
    if (payload.bytes == 0 || payload.value > local_max) return false;
  }
  return true;
}

}  // namespace

// The beginning of a page.
Status TreeGraft::ReadSource(const Source& source, uint32_t page_bytes, uint32_t number,
                             std::span<uint8_t> bytes) {
  if (number < 2 || number > source.pages) return Unfit("a page that is not there");
  const auto place = static_cast<off_t>(uint64_t{number - 1} * page_bytes);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t got = pread(source.file, bytes.data() + done, bytes.size() - done,
                              place + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) {
      return Error{ErrorKind::kOutput,
                   source.path.string() + ": cannot read it: " + std::strerror(errno),
                   "check the disk"};
    }
    done += static_cast<size_t>(got);
  }
  return Done{};
}

Result<TreeGraft::Page> TreeGraft::ReadSource(uint32_t number) const {
  const uint32_t page_bytes = staged_.sizes().page_bytes;
  Page page(page_bytes);
  TRACEDB_TRY(ReadSource(source_, page_bytes, number, page));
  return page;
}

Result<bool> TreeGraft::HasLeaves(const Source& source, uint32_t page_bytes, uint32_t root,
                                  uint32_t leaves_min) {
  std::array<uint8_t, kInteriorHeaderBytes> header{};
  TRACEDB_TRY(ReadSource(source, page_bytes, root, header));
  if (!IsInteriorKind(header[0])) return leaves_min <= 1;
  if (GetU16(&header[kCellCountAt]) + 1u >= leaves_min) return true;
  const uint32_t child = GetU32(&header[kRightmostChildAt]);
  TRACEDB_TRY(ReadSource(source, page_bytes, child, header));
  return IsInteriorKind(header[0]);
}

// In order, with what divides them.
Result<std::vector<TreeChild>> TreeGraft::SourceLeaves(const Tree& tree) const {
  std::vector<TreeChild> level = {{tree.from_root, {}}};
  for (int depth = 0; depth < kTreeDepthMax; ++depth) {
    TRACEDB_ASSIGN(first, ReadSource(level.front().page));
    if (IsLeaf(first)) return level;
    std::vector<TreeChild> below;
    for (const TreeChild& parent : level) {
      TRACEDB_ASSIGN(page, ReadSource(parent.page));
      TRACEDB_ASSIGN(children, TreeChildren(page, tree.is_index, staged_.sizes()));
      children.back().divider = parent.divider;
      std::move(children.begin(), children.end(), std::back_inserter(below));
      if (below.size() > source_.pages) return Unfit("a page that is in several places");
    }
    level = std::move(below);
  }
  return Unfit("a tree that is too deep");
}

// An index needs an entry between what is there and the first new leaf: that leaf's first one. The
// rest of it becomes a new page.
Result<std::string> TreeGraft::TakeFirstEntry(TreeChild& leaf) {
  TRACEDB_ASSIGN(page, ReadSource(leaf.page));
  const PageSizes sizes = staged_.sizes();
  BtreePage rest(Kind::kIndexLeaf, sizes);
  std::string first;
  const uint32_t cells = GetU16(&page[kCellCountAt]);
  for (uint32_t i = 0; i < cells; ++i) {
    const auto cell = WholeCell(CellAt(page, sizes, i), true, sizes);
    if (cell.empty()) return Unfit("an entry that goes beyond its page");
    if (i == 0) {
      first = AsText(cell);
    } else {
      const bool fits = cell.size() >= BtreePage::kCellBytesMin && rest.Fits(cell.size());
      if (!fits) return Unfit("entries that lie over one another");
      std::copy(cell.begin(), cell.end(), rest.AddCell(cell.size()));
    }
  }
  if (rest.cell_count() == 0) return Unfit("a page with a single entry");
  TRACEDB_ASSIGN(number, staged_.NewPage());
  TRACEDB_TRY(staged_.WritePage(number, rest.Finish()));
  leaf.page = number;
  return first;
}

Status TreeGraft::Add(const std::vector<Tree>& trees) {
  TRACEDB_ASSIGN(pending_trees, PendingTrees(trees));
  TRACEDB_ASSIGN(numbers, NumberLeaves(pending_trees));
  for (PendingTree& pending : pending_trees) {
    const bool is_index = pending.tree.is_index;
    TreeSpine spine(staged_, is_index);
    if (pending.to_empty && pending.leaves.size() == 1) {
      TRACEDB_ASSIGN(page, ReadSource(pending.leaves.front().page));
      if (!CanBeCopied(page, staged_.sizes())) return Unfit("a row beyond its page");
      TRACEDB_TRY(staged_.WritePage(pending.tree.to_root, page));
      continue;
    }
    if (!pending.to_empty) {
      TRACEDB_ASSIGN(last, LastLeaf(pending.tree, spine));
      if (is_index) {
        TRACEDB_ASSIGN(first, TakeFirstEntry(pending.leaves.front()));
        last.divider = std::move(first);
      } else {
        TRACEDB_TRY(CheckRowids(pending, last));
      }
      TRACEDB_TRY(spine.AddLeaf(std::move(last)));
    }
    for (TreeChild& leaf : pending.leaves) {
      const bool is_made = is_index && !pending.to_empty && &leaf == &pending.leaves.front();
      if (!is_made) leaf.page = numbers[leaf.page];
      TRACEDB_TRY(spine.AddLeaf(std::move(leaf)));
    }
    TRACEDB_TRY(spine.Finish(pending.tree.to_root));
  }
  return Done{};
}

// The trees that have rows, with their leaves.
Result<std::vector<TreeGraft::PendingTree>> TreeGraft::PendingTrees(
    const std::vector<Tree>& trees) const {
  std::vector<PendingTree> pending_trees;
  for (const Tree& tree : trees) {
    TRACEDB_ASSIGN(leaves, SourceLeaves(tree));
    TRACEDB_ASSIGN(first, ReadSource(leaves.front().page));
    if (GetU16(&first[kCellCountAt]) == 0) continue;
    TRACEDB_ASSIGN(root, TreeSpine::ReadPage(staged_, tree.to_root));
    if (IsOfIndex(root) != tree.is_index || IsOfIndex(first) != tree.is_index) {
      return Unfit("a tree of another kind");
    }
    const bool to_empty = IsLeaf(root) && GetU16(&root[kCellCountAt]) == 0;
    pending_trees.push_back({tree, std::move(leaves), to_empty});
  }
  return pending_trees;
}

// Gives the leaves that are copied as they are their new numbers, by their old ones.
Result<std::vector<uint32_t>> TreeGraft::NumberLeaves(
    const std::vector<PendingTree>& pending_trees) {
  std::vector<uint32_t> numbers(size_t{source_.pages} + 1);
  for (const PendingTree& pending : pending_trees) {
    for (const TreeChild& leaf : pending.leaves) {
      if (leaf.page > source_.pages) return Unfit("a page that is not there");
      numbers[leaf.page] = 1;  // to be given
    }
    const bool first_is_made =
        pending.to_empty ? pending.leaves.size() == 1 : pending.tree.is_index;
    if (first_is_made) numbers[pending.leaves.front().page] = 0;
  }
  std::vector<StagedChanges::Copy> copies;
  for (uint32_t page = 1; page <= source_.pages; ++page) {
    if (numbers[page] == 0) continue;
    TRACEDB_ASSIGN(number, staged_.NewPage());
    numbers[page] = number;
    copies.push_back({page, number});
  }
  TRACEDB_TRY(staged_.CopyPages(source_.file, std::move(copies), CanBeCopied));
  return numbers;
}

Status TreeGraft::CheckRowids(const PendingTree& pending, const TreeChild& last_leaf) const {
  TRACEDB_ASSIGN(page, ReadSource(pending.leaves.front().page));
  const auto first = RowidOf(CellAt(page, staged_.sizes(), 0));
  const std::string& before = last_leaf.divider;
  const Varint last = GetVarint({reinterpret_cast<const uint8_t*>(before.data()), before.size()});
  if (first.has_value() && *first > static_cast<int64_t>(last.value)) return Done{};
  return Unfit("rows that do not come last");
}

// The last leaf that the database's tree has, which stays as it is. The tree has rows.
Result<TreeChild> TreeGraft::LastLeaf(const Tree& tree, TreeSpine& spine) {
  TRACEDB_ASSIGN(last, spine.Load(tree.to_root));
  const uint32_t cells = GetU16(&last.bytes[kCellCountAt]);
  if (!IsLeaf(last.bytes) || cells == 0) return Unfit("a tree whose last leaf is empty");
  if (last.number == tree.to_root) {  // the root stays where it is: its rows move
    TRACEDB_ASSIGN(moved, staged_.NewPage());
    TRACEDB_TRY(staged_.WritePage(moved, last.bytes));
    last.number = moved;
  }
  if (tree.is_index) return TreeChild{last.number, {}};
  const auto rowid = RowidOf(CellAt(last.bytes, staged_.sizes(), cells - 1));
  if (!rowid.has_value()) return Unfit("a cell beyond its page");
  return TreeChild{last.number, RowidDivider(*rowid)};
}

}  // namespace tracedb
