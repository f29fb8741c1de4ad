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
#include "pages/record_pages.h"
#include "tracedb/pages/page_bytes.h"

namespace tracedb {
namespace {

using Kind = BtreePage::Kind;

bool IsInterior(std::span<const uint8_t> page) { return IsInteriorKind(page[0]); }
bool IsLeaf(std::span<const uint8_t> page) { return IsLeafKind(page[0]); }
bool IsOfIndex(std::span<const uint8_t> page) { return IsIndexKind(page[0]); }

// A leaf's cell that is whole in its page; nothing where some of it is elsewhere.
std::span<const uint8_t> WholeCell(std::span<const uint8_t> from, bool is_index, PageSizes sizes) {
  const Varint payload = GetVarint(from);
  const size_t local_max = is_index ? IndexLocalBytesMax(sizes) : TableLocalBytesMax(sizes);
  if (payload.bytes == 0 || payload.value > local_max) return {};
  size_t head = payload.bytes;
  if (!is_index) head += GetVarint(from.subspan(head)).bytes;
  const size_t bytes = head + static_cast<size_t>(payload.value);
  return bytes <= from.size() ? from.first(bytes) : std::span<const uint8_t>();
}

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

std::string RowidDivider(int64_t rowid) {
  uint8_t bytes[kVarintBytesMax];
  const uint8_t* const end = PutVarint(bytes, static_cast<uint64_t>(rowid));
  return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(end - bytes)};
}

std::string AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The rowid in a table leaf's n-th cell.
std::optional<int64_t> RowidAt(std::span<const uint8_t> page, PageSizes sizes, uint32_t n) {
  const auto cell = CellAt(page, sizes, n);
  const Varint payload = GetVarint(cell);
  if (payload.bytes == 0) return std::nullopt;
  const Varint rowid = GetVarint(cell.subspan(payload.bytes));
  if (rowid.bytes == 0) return std::nullopt;
  return static_cast<int64_t>(rowid.value);
}

Error Unfit(const char* what) {
  return Error{ErrorKind::kUnfit, std::string("pages cannot be added: ") + what, ""};
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

Result<TreeGraft::Page> TreeGraft::ReadTarget(uint32_t number) const {
  if (number < 2 || number > staged_.page_count()) return Unfit("a page that is not there");
  Page page(staged_.sizes().page_bytes);
  TRACEDB_TRY(staged_.ReadPage(number, page));
  return page;
}

// An interior page's children, the rightmost last.
Result<std::vector<TreeGraft::Child>> TreeGraft::Children(const Page& page, bool is_index) const {
  if (!IsInterior(page) || IsOfIndex(page) != is_index) return Unfit("a page of another kind");
  std::vector<Child> children;
  const uint32_t cells = GetU16(&page[kCellCountAt]);
  for (uint32_t i = 0; i < cells; ++i) {
    const auto cell = CellAt(page, staged_.sizes(), i);
    if (cell.size() <= kPageNumberBytes) return Unfit("a cell beyond its page");
    const auto divider_cell = cell.subspan(kPageNumberBytes);
    const auto divider = is_index ? WholeCell(divider_cell, true, staged_.sizes())
                                  : divider_cell.first(GetVarint(divider_cell).bytes);
    if (divider.empty()) return Unfit("an entry that goes beyond its page");
    children.push_back({GetU32(cell.data()), AsText(divider)});
  }
  children.push_back({GetU32(&page[kRightmostChildAt]), {}});
  return children;
}

Result<bool> TreeGraft::IsLarge(const Source& source, uint32_t page_bytes, uint32_t root) {
  constexpr uint32_t kLeavesMin = 16;
  std::array<uint8_t, kInteriorHeaderBytes> header{};
  TRACEDB_TRY(ReadSource(source, page_bytes, root, header));
  if (!IsInteriorKind(header[0])) return false;
  if (GetU16(&header[kCellCountAt]) + 1u >= kLeavesMin) return true;
  const uint32_t child = GetU32(&header[kRightmostChildAt]);
  TRACEDB_TRY(ReadSource(source, page_bytes, child, header));
  return IsInteriorKind(header[0]);
}

// In order, with what divides them.
Result<std::vector<TreeGraft::Child>> TreeGraft::SourceLeaves(const Tree& tree) const {
  std::vector<Child> level = {{tree.from_root, {}}};
  for (int depth = 0; depth < kTreeDepthMax; ++depth) {
    TRACEDB_ASSIGN(first, ReadSource(level.front().page));
    if (IsLeaf(first)) return level;
    std::vector<Child> below;
    for (const Child& parent : level) {
      TRACEDB_ASSIGN(page, ReadSource(parent.page));
      TRACEDB_ASSIGN(children, Children(page, tree.is_index));
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
Result<std::string> TreeGraft::TakeFirstEntry(Child& leaf) {
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
    levels_.clear();
    is_index_ = pending.tree.is_index;
    if (pending.to_empty && pending.leaves.size() == 1) {
      TRACEDB_ASSIGN(page, ReadSource(pending.leaves.front().page));
      if (!CanBeCopied(page, staged_.sizes())) return Unfit("a row beyond its page");
      TRACEDB_TRY(staged_.WritePage(pending.tree.to_root, page));
      continue;
    }
    if (!pending.to_empty) {
      TRACEDB_ASSIGN(last, LoadSpine(pending.tree));
      if (is_index_) {
        TRACEDB_ASSIGN(first, TakeFirstEntry(pending.leaves.front()));
        last.divider = std::move(first);
      } else {
        TRACEDB_TRY(CheckRowids(pending, last));
      }
      TRACEDB_TRY(AddChild(0, std::move(last)));
    }
    for (Child& leaf : pending.leaves) {
      const bool is_made = is_index_ && !pending.to_empty && &leaf == &pending.leaves.front();
      if (!is_made) leaf.page = numbers[leaf.page];
      TRACEDB_TRY(AddChild(0, std::move(leaf)));
    }
    TRACEDB_TRY(FinishLevels(pending.tree.to_root));
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
    TRACEDB_ASSIGN(root, ReadTarget(tree.to_root));
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
    for (const Child& leaf : pending.leaves) {
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

Status TreeGraft::CheckRowids(const PendingTree& pending, const Child& last_leaf) const {
  TRACEDB_ASSIGN(page, ReadSource(pending.leaves.front().page));
  const auto first = RowidAt(page, staged_.sizes(), 0);
  const std::string& before = last_leaf.divider;
  const Varint last = GetVarint({reinterpret_cast<const uint8_t*>(before.data()), before.size()});
  if (first.has_value() && *first > static_cast<int64_t>(last.value)) return Done{};
  return Unfit("rows that do not come last");
}

// Reads the pages from the root down to the last leaf, all of which get further children, and
// gives that leaf. The tree has rows.
Result<TreeGraft::Child> TreeGraft::LoadSpine(const Tree& tree) {
  uint32_t number = tree.to_root;
  TRACEDB_ASSIGN(page, ReadTarget(number));
  while (IsInterior(page)) {
    if (levels_.size() == kTreeDepthMax) return Unfit("a tree that is too deep");
    TRACEDB_ASSIGN(children, Children(page, tree.is_index));
    Level level;
    level.page = number == tree.to_root ? 0 : number;
    number = children.back().page;
    children.pop_back();  // the one below gives itself back when it is finished
    for (size_t i = 0; i + 1 < children.size(); ++i) {
      level.cells_bytes += kPageNumberBytes + kPointerBytes + children[i].divider.size();
    }
    level.children = std::move(children);
    levels_.insert(levels_.begin(), std::move(level));
    TRACEDB_ASSIGN(next, ReadTarget(number));
    page = std::move(next);
  }
  const uint32_t cells = GetU16(&page[kCellCountAt]);
  if (!IsLeaf(page) || cells == 0) return Unfit("a tree whose last leaf is empty");
  if (number == tree.to_root) {  // the root stays where it is: its rows move
    TRACEDB_ASSIGN(moved, staged_.NewPage());
    TRACEDB_TRY(staged_.WritePage(moved, page));
    number = moved;
  }
  if (tree.is_index) return Child{number, {}};
  const auto rowid = RowidAt(page, staged_.sizes(), cells - 1);
  if (!rowid.has_value()) return Unfit("a cell beyond its page");
  return Child{number, RowidDivider(*rowid)};
}

Status TreeGraft::AddChild(size_t depth, Child child) {
  for (;; ++depth) {
    if (depth == levels_.size()) levels_.emplace_back();
    Level& level = levels_[depth];
    if (level.children.empty()) {
      level.children.push_back(std::move(child));
      return Done{};
    }
    const size_t cell = kPageNumberBytes + kPointerBytes + level.children.back().divider.size();
    const size_t room = staged_.sizes().usable_bytes - kInteriorHeaderBytes;
    if (level.cells_bytes + cell <= room) {
      level.cells_bytes += cell;
      level.children.push_back(std::move(child));
      return Done{};
    }
    // Full: the last child begins the next page, as a page needs two.
    if (level.children.size() < 3) return Unfit("entries that are too long");
    Child last = std::move(level.children.back());
    level.children.pop_back();
    Child finished{0, level.children.back().divider};
    TRACEDB_ASSIGN(number, WriteLevel(level, level.page));
    finished.page = number;
    level.page = 0;
    level.cells_bytes = kPageNumberBytes + kPointerBytes + last.divider.size();
    level.children.push_back(std::move(last));
    level.children.push_back(std::move(child));
    child = std::move(finished);
  }
}

// Writes the level's page and empties it. `number` 0 stands for a new page.
Result<uint32_t> TreeGraft::WriteLevel(Level& level, uint32_t number) {
  BtreePage page(is_index_ ? Kind::kIndexInterior : Kind::kTableInterior, staged_.sizes());
  for (size_t i = 0; i + 1 < level.children.size(); ++i) {
    const Child& child = level.children[i];
    const size_t bytes = kPageNumberBytes + child.divider.size();
    if (!page.Fits(bytes)) return Unfit("a page that is too full");
    uint8_t* const cell = page.AddCell(bytes);
    PutU32(cell, child.page);
    std::memcpy(cell + kPageNumberBytes, child.divider.data(), child.divider.size());
  }
  page.SetRightmostChild(level.children.back().page);
  level.children.clear();
  if (number == 0) {
    TRACEDB_ASSIGN(fresh, staged_.NewPage());
    number = fresh;
  }
  TRACEDB_TRY(staged_.WritePage(number, page.Finish()));
  return number;
}

Status TreeGraft::FinishLevels(uint32_t root) {
  for (size_t depth = 0; depth < levels_.size(); ++depth) {  // may add a level
    Level& level = levels_[depth];
    if (level.children.size() < 2) return Unfit("a page with a single child");
    const bool is_top = depth + 1 == levels_.size();
    TRACEDB_ASSIGN(number, WriteLevel(level, is_top ? root : level.page));
    if (!is_top) TRACEDB_TRY(AddChild(depth + 1, {number, {}}));
  }
  return Done{};
}

}  // namespace tracedb
