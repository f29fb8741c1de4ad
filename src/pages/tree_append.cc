// TreeGraft::Append: cell by cell.

#include <optional>
#include <utility>
#include <vector>

#include "pages/tree_spine.h"
#include "pages/whole_cells.h"
#include "tracedb/pages/tree_graft.h"

namespace tracedb {
namespace {

using Cell = std::span<const uint8_t>;

Status AddCells(Cell leaf, bool is_index, PageSizes sizes, std::vector<Cell>& cells) {
  if (!IsLeafKind(leaf[0]) || IsIndexKind(leaf[0]) != is_index) {
    return Unfit("a page of another kind");
  }
  const uint32_t count = GetU16(&leaf[kCellCountAt]);
  for (uint32_t i = 0; i < count; ++i) {
    const Cell cell = WholeCell(CellAt(leaf, sizes, i), is_index, sizes);
    if (cell.size() < BtreePage::kCellBytesMin) return Unfit("a row beyond its page");
    cells.push_back(cell);
  }
  return Done{};
}

Status CheckRowidsRise(const std::vector<Cell>& cells) {
  std::optional<int64_t> last;
  for (const Cell cell : cells) {
    const auto rowid = RowidOf(cell);
    if (!rowid.has_value() || (last.has_value() && *rowid <= *last)) {
      return Unfit("rows that do not come last");
    }
    last = rowid;
  }
  return Done{};
}

// Of a leaf: its cells, and what divides it from the next.
struct PlannedLeaf {
  size_t first;
  size_t end;
  std::string divider;
};

// How many cells from this one on lie in memory as they do in a page, each before the one before.
size_t RunAt(const std::vector<Cell>& cells, size_t first, size_t end) {
  size_t next = first + 1;
  while (next < end && cells[next].data() + cells[next].size() == cells[next - 1].data()) ++next;
  return next - first;
}

// As full as they can be, one after the other.
Result<std::vector<PlannedLeaf>> PlanLeaves(const std::vector<Cell>& cells, bool is_index,
                                            PageSizes sizes) {
  std::vector<PlannedLeaf> leaves;
  for (size_t first = 0; first < cells.size();) {
    size_t room = sizes.usable_bytes - kLeafHeaderBytes;
    size_t end = first;
    while (end < cells.size() && cells[end].size() + kPointerBytes <= room) {
      room -= cells[end++].size() + kPointerBytes;
    }
    if (end == cells.size()) {
      leaves.push_back({first, end, {}});
      break;
    }
    // Of an index the next entry divides, and the last leaf has one of its own.
    if (is_index && end + 1 == cells.size()) --end;
    if (end <= first) return Unfit("entries that are too long");
    if (is_index) {
      leaves.push_back({first, end, AsText(cells[end])});
      first = end + 1;
    } else {
      leaves.push_back({first, end, RowidDivider(*RowidOf(cells[end - 1]))});
      first = end;
    }
  }
  return leaves;
}

}  // namespace

// The cells of the tree that is added, in order; `pages` and `leaves` are where they lie.
Status TreeGraft::ReadCells(const Tree& tree, const std::vector<TreeChild>& leaves,
                            std::vector<Page>& pages,
                            std::vector<std::span<const uint8_t>>& cells) const {
  for (const TreeChild& leaf : leaves) {
    TRACEDB_ASSIGN(page, ReadSource(leaf.page));
    pages.push_back(std::move(page));
    TRACEDB_TRY(AddCells(pages.back(), tree.is_index, staged_.sizes(), cells));
    if (!tree.is_index || leaf.divider.empty()) continue;
    cells.emplace_back(reinterpret_cast<const uint8_t*>(leaf.divider.data()), leaf.divider.size());
  }
  return Done{};
}

Status TreeGraft::Append(const Tree& tree) {
  const PageSizes sizes = staged_.sizes();
  TRACEDB_ASSIGN(leaves, SourceLeaves(tree));
  std::vector<Page> pages;
  std::vector<Cell> added;
  TRACEDB_TRY(ReadCells(tree, leaves, pages, added));
  if (added.empty()) return Done{};

  TreeSpine spine(staged_, tree.is_index);
  TRACEDB_ASSIGN(last, spine.Load(tree.to_root));
  std::vector<Cell> cells;
  TRACEDB_TRY(AddCells(last.bytes, tree.is_index, sizes, cells));
  const bool is_root = last.number == tree.to_root;
  if (cells.empty() && !is_root) return Unfit("a tree whose last leaf is empty");
  cells.insert(cells.end(), added.begin(), added.end());
  if (!tree.is_index) TRACEDB_TRY(CheckRowidsRise(cells));

  TRACEDB_ASSIGN(plan, PlanLeaves(cells, tree.is_index, sizes));
  BtreePage page(tree.is_index ? BtreePage::Kind::kIndexLeaf : BtreePage::Kind::kTableLeaf, sizes);
  for (PlannedLeaf& leaf : plan) {
    page.Clear();
    for (size_t i = leaf.first; i < leaf.end;) {
      const size_t run = RunAt(cells, i, leaf.end);
      page.AddRun(std::span(cells).subspan(i, run));
      i += run;
    }
    // The pages above name the last leaf, not what is in it.
    if (plan.size() == 1) return staged_.WritePage(last.number, page.Finish());
    uint32_t number = last.number;
    if (is_root || leaf.first > 0) {
      TRACEDB_ASSIGN(fresh, staged_.NewPage());
      number = fresh;
    }
    TRACEDB_TRY(staged_.WritePage(number, page.Finish()));
    TRACEDB_TRY(spine.AddLeaf({number, std::move(leaf.divider)}));
  }
  return spine.Finish(tree.to_root);
}

}  // namespace tracedb
