#include "pages/tree_spine.h"

#include <cstring>
#include <utility>

#include "pages/whole_cells.h"
#include "tracedb/pages/btree_page.h"

namespace tracedb {

Result<std::vector<TreeChild>> TreeChildren(std::span<const uint8_t> page, bool is_index,
                                            PageSizes sizes) {
  if (!IsInteriorKind(page[0]) || IsIndexKind(page[0]) != is_index) {
    return Unfit("a page of another kind");
  }
  std::vector<TreeChild> children;
  const uint32_t cells = GetU16(&page[kCellCountAt]);
  for (uint32_t i = 0; i < cells; ++i) {
    const auto cell = CellAt(page, sizes, i);
    if (cell.size() <= kPageNumberBytes) return Unfit("a cell beyond its page");
    const auto divider_cell = cell.subspan(kPageNumberBytes);
    const auto divider = is_index ? WholeCell(divider_cell, true, sizes)
                                  : divider_cell.first(GetVarint(divider_cell).bytes);
    if (divider.empty()) return Unfit("an entry that goes beyond its page");
    children.push_back({GetU32(cell.data()), AsText(divider)});
  }
  children.push_back({GetU32(&page[kRightmostChildAt]), {}});
  return children;
}

Result<TreeSpine::Page> TreeSpine::ReadPage(const StagedChanges& staged, uint32_t number) {
  if (number < 2 || number > staged.page_count()) return Unfit("a page that is not there");
  Page page(staged.sizes().page_bytes);
  TRACEDB_TRY(staged.ReadPage(number, page));
  return page;
}

Result<TreeSpine::Leaf> TreeSpine::Load(uint32_t root) {
  uint32_t number = root;
  for (;;) {
    TRACEDB_ASSIGN(page, ReadPage(staged_, number));
    if (!IsInteriorKind(page[0])) return Leaf{number, std::move(page)};
    if (levels_.size() == kTreeDepthMax) return Unfit("a tree that is too deep");
    TRACEDB_ASSIGN(children, TreeChildren(page, is_index_, staged_.sizes()));
    Level level;
    level.page = number == root ? 0 : number;
    number = children.back().page;
    children.pop_back();  // the one below gives itself back when it is finished
    for (size_t i = 0; i + 1 < children.size(); ++i) {
      level.cells_bytes += kPageNumberBytes + kPointerBytes + children[i].divider.size();
    }
    level.children = std::move(children);
    levels_.insert(levels_.begin(), std::move(level));
  }
}

Status TreeSpine::AddChild(size_t depth, TreeChild child) {
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
    TreeChild last = std::move(level.children.back());
    level.children.pop_back();
    TreeChild finished{0, level.children.back().divider};
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
Result<uint32_t> TreeSpine::WriteLevel(Level& level, uint32_t number) {
  using Kind = BtreePage::Kind;
  BtreePage page(is_index_ ? Kind::kIndexInterior : Kind::kTableInterior, staged_.sizes());
  for (size_t i = 0; i + 1 < level.children.size(); ++i) {
    const TreeChild& child = level.children[i];
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

Status TreeSpine::Finish(uint32_t root) {
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
