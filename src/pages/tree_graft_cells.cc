// A small tree's way into the database: its cells go one by one to where the database's tree ends,
// so that no leaf stays half empty but the last. An index keeps an entry between two leaves; here
// that is the last one of a leaf that is full.

#include "pages/tree_graft_cells.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tracedb/pages/page_bytes.h"
#include "tracedb/pages/tree_graft.h"

namespace tracedb {

// The leaf at the tree's end while it is filled.
struct TreeGraft::OpenLeaf {
  OpenLeaf(bool is_index, PageSizes sizes)
      : page(is_index ? BtreePage::Kind::kIndexLeaf : BtreePage::Kind::kTableLeaf, sizes) {}

  BtreePage page;
  uint32_t number = 0;  // where it goes; 0: to a new page, or to the root if that has no other
  std::optional<int64_t> last_rowid;
};

Status TreeGraft::AppendCells(const PendingTree& pending) {
  const uint32_t root = pending.tree.to_root;
  TRACEDB_ASSIGN(last, LoadSpine(pending.tree));
  OpenLeaf leaf(is_index_, staged_.sizes());
  if (last.number != root) leaf.number = last.number;
  TRACEDB_TRY(AppendLeaf(last.page, Origin::kDatabase, leaf));
  for (const Child& child : pending.leaves) {
    TRACEDB_ASSIGN(page, ReadSource(child.page));
    TRACEDB_TRY(AppendLeaf(page, Origin::kSource, leaf));
    if (!is_index_ || child.divider.empty()) continue;
    const auto* const entry = reinterpret_cast<const uint8_t*>(child.divider.data());
    TRACEDB_ASSIGN(to, AppendCell({entry, child.divider.size()}, leaf));
    (void)to;
  }
  if (levels_.empty()) return staged_.WritePage(root, leaf.page.Finish());
  TRACEDB_TRY(WriteLeaf(leaf, {}));
  return FinishLevels(root);
}

Status TreeGraft::AppendLeaf(const Page& from, Origin origin, OpenLeaf& leaf) {
  const PageSizes sizes = staged_.sizes();
  const uint32_t cells = GetU16(&from[kCellCountAt]);
  for (uint32_t i = 0; i < cells; ++i) {
    const auto cell = LeafCellAt(from, sizes, i);
    if (!cell.has_value()) return Unfit("a cell beyond its page");
    const bool is_old = origin == Origin::kDatabase;
    if (is_old && !leaf.page.Fits(cell->bytes.size())) return Unfit("cells over one another");
    if (!is_index_ && leaf.last_rowid >= cell->rowid) return Unfit("rows that do not come last");
    TRACEDB_ASSIGN(to, AppendCell(cell->bytes, leaf));
    if (!is_index_) leaf.last_rowid = cell->rowid;
    if (!is_old && cell->overflow_bytes > 0) TRACEDB_TRY(CopyOverflow(*cell, to));
  }
  return Done{};
}

// Where it is now; valid until the next one comes.
Result<uint8_t*> TreeGraft::AppendCell(std::span<const uint8_t> cell, OpenLeaf& leaf) {
  if (!leaf.page.Fits(cell.size())) {
    std::string divider;
    if (is_index_) {
      if (leaf.page.cell_count() < 2) return Unfit("a page with a single entry");
      divider = AsText(leaf.page.NewestCell());
      leaf.page.RemoveNewestCell();
    } else {
      divider = RowidDivider(leaf.last_rowid.value_or(0));
    }
    TRACEDB_TRY(WriteLeaf(leaf, std::move(divider)));
  }
  if (cell.size() < BtreePage::kCellBytesMin || !leaf.page.Fits(cell.size())) {
    return Unfit("a cell that fits no page");
  }
  uint8_t* const to = leaf.page.AddCell(cell.size());
  std::copy(cell.begin(), cell.end(), to);
  return to;
}

Status TreeGraft::WriteLeaf(OpenLeaf& leaf, std::string divider) {
  if (leaf.number == 0) {
    TRACEDB_ASSIGN(fresh, staged_.NewPage());
    leaf.number = fresh;
  }
  TRACEDB_TRY(staged_.WritePage(leaf.number, leaf.page.Finish()));
  leaf.page.Clear();
  return AddChild(0, {std::exchange(leaf.number, 0), std::move(divider)});
}

// What does not fit in a cell of the source: `to` is the cell in its new leaf, which gets the new
// number of its first page.
Status TreeGraft::CopyOverflow(const LeafCell& cell, uint8_t* to) {
  const size_t page_room = staged_.sizes().usable_bytes - kPageNumberBytes;
  const uint64_t pages = (cell.overflow_bytes + page_room - 1) / page_room;
  uint8_t* number_at = to + cell.bytes.size() - kPageNumberBytes;
  if (pages > source_.pages) return Unfit("a row that is longer than its file");
  uint32_t from = GetU32(number_at);
  std::optional<Page> before;
  uint32_t before_number = 0;
  for (uint64_t i = 0; i < pages; ++i) {
    TRACEDB_ASSIGN(page, ReadSource(from));
    TRACEDB_ASSIGN(number, staged_.NewPage());
    from = GetU32(page.data());
    PutU32(number_at, number);
    if (before.has_value()) TRACEDB_TRY(staged_.WritePage(before_number, *before));
    before = std::move(page);
    before_number = number;
    number_at = before->data();
  }
  PutU32(number_at, 0);
  return staged_.WritePage(before_number, *before);
}

}  // namespace tracedb
