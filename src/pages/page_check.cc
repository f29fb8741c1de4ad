#include "tracedb/pages/page_check.h"

#include <sqlite3.h>

#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "pages/btree_cells.h"
#include "pages/database_header.h"
#include "pages/record_pages.h"

namespace tracedb {
namespace {

using Page = std::vector<uint8_t>;

struct Root {
  std::string of;  // "table _trace"
  int64_t page = 0;
};

// The roots of all trees, the schema's own first.
Result<std::vector<Root>> ReadRoots(SqliteDb& db) {
  std::vector<Root> roots = {{"the schema", 1}};
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT type || ' ' || name, rootpage FROM main.sqlite_schema "
                                  "WHERE type IN ('table', 'index') AND rootpage IS NOT 0"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return roots;
    roots.push_back({std::string(rows.Text(0)), rows.Int(1)});
  }
}

class PageCheck {
 public:
  PageCheck(SqliteDb& db, const std::atomic<bool>* stop) : db_(db), stop_(stop) {}

  Status Run() {
    TRACEDB_ASSIGN(roots, ReadRoots(db_));  // from here on the file stays as it is
    sqlite3_file_control(db_.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file_);
    TRACEDB_TRY(ReadBytes(header_, 0));
    if (header_[kWriteVersionAt] != 1 || header_[kReadVersionAt] != 1) return Done{};
    TRACEDB_TRY(ReadSizes());
    TRACEDB_TRY(MarkPointerMaps());
    for (const Root& root : roots) TRACEDB_TRY(CheckTree(root));
    return CheckFreePages();
  }

 private:
  Error Damaged(const std::string& what) const { return DamagedDatabase(db_, what); }

  Status ReadBytes(std::span<uint8_t> bytes, uint64_t offset) const {
    // Through SQLite's file: closing another of ours would drop its locks.
    const int code = file_->pMethods->xRead(file_, bytes.data(), static_cast<int>(bytes.size()),
                                            static_cast<sqlite3_int64>(offset));
    if (code == SQLITE_OK) return Done{};
    if (code == SQLITE_IOERR_SHORT_READ) return Damaged("it ends too early");
    return Error{ErrorKind::kOutput, db_.path().string() + ": disk I/O error",
                 "the disk reports an error: see the system's log"};
  }

  Status ReadSizes() {
    const uint32_t size = GetU16(&header_[kPageSizeAt]);
    sizes_.page_bytes = size == 1 ? 65536 : size;
    sizes_.usable_bytes = sizes_.page_bytes - header_[kReservedBytesAt];
    if (sizes_.page_bytes < 512 || !std::has_single_bit(sizes_.page_bytes) ||
        sizes_.usable_bytes < kUsableBytesMin || sizes_.usable_bytes > sizes_.page_bytes) {
      return Damaged("its page size is impossible");
    }
    TRACEDB_ASSIGN(pages, db_.Integer("PRAGMA main.page_count"));
    seen_.assign(static_cast<size_t>(pages) + 1, false);
    page_.resize(sizes_.page_bytes);
    const uint64_t lock_page = kLockByte / sizes_.page_bytes + 1;
    if (lock_page < seen_.size()) seen_[lock_page] = true;  // nothing may be there
    return Done{};
  }

  // With auto_vacuum some pages say what the ones after them are.
  Status MarkPointerMaps() {
    if (GetU32(&header_[kLargestRootAt]) == 0) return Done{};
    for (size_t page = 2; page < seen_.size(); page += sizes_.usable_bytes / 5 + 1) {
      TRACEDB_TRY(Mark(page, "the map of pages"));
    }
    return Done{};
  }

  // Each page is counted once, so all this ends.
  Status Mark(uint64_t page, const std::string& of) {
    if (stop_ != nullptr && stop_->load()) {
      return Error{ErrorKind::kInput, "interrupted", "the database is as it was"};
    }
    if (page == 0 || page >= seen_.size()) {
      return Damaged(of + " goes on at page " + std::to_string(page) + ", which is not there");
    }
    if (seen_[page]) {
      return Damaged("page " + std::to_string(page) + " is in " + of + ", and elsewhere as well");
    }
    seen_[page] = true;
    return Done{};
  }

  // Into page_. Where its own header begins.
  Result<size_t> Read(uint64_t page) {
    TRACEDB_TRY(ReadBytes(page_, (page - 1) * sizes_.page_bytes));
    return page == 1 ? kDatabaseHeaderBytes : size_t{0};
  }

  // Of the interior page that was read last.
  Result<std::vector<uint32_t>> Children(size_t header_at, const std::string& of) const {
    std::vector<uint32_t> children;
    const uint32_t cells = GetU16(&page_[header_at + kCellCountAt]);
    for (uint32_t i = 0; i < cells; ++i) {
      const auto cell = CellAt(page_, sizes_, i, header_at);
      if (cell.size() <= kPageNumberBytes) return Damaged(of + " has an entry beyond its page");
      children.push_back(GetU32(cell.data()));
    }
    children.push_back(GetU32(&page_[header_at + kRightmostChildAt]));
    return children;
  }

  // How many pages are above a leaf: along the first children.
  Result<int> DepthOf(const Root& root) {
    auto page = static_cast<uint64_t>(root.page);
    for (int depth = 0; depth < kTreeDepthMax; ++depth) {
      if (page == 0 || page >= seen_.size()) {
        return Damaged(root.of + " begins at page " + std::to_string(page) +
                       ", which is not there");
      }
      TRACEDB_ASSIGN(at, Read(page));
      const uint8_t kind = page_[at];
      if (IsLeafKind(kind)) return depth;
      if (!IsInteriorKind(kind)) return Damaged(root.of + " has a page of another kind");
      TRACEDB_ASSIGN(children, Children(at, root.of));
      page = children.front();
    }
    return Damaged(root.of + " goes round in circles");
  }

  Status CheckTree(const Root& root) {
    TRACEDB_ASSIGN(depth, DepthOf(root));
    TRACEDB_TRY(Mark(static_cast<uint64_t>(root.page), root.of));
    std::vector<uint32_t> level = {static_cast<uint32_t>(root.page)};
    for (int above = depth; above > 0; --above) {
      std::vector<uint32_t> below;
      for (const uint32_t page : level) {
        TRACEDB_ASSIGN(at, Read(page));
        if (!IsInteriorKind(page_[at])) return Damaged(root.of + " has a page of another kind");
        TRACEDB_ASSIGN(children, Children(at, root.of));
        for (const uint32_t child : children) TRACEDB_TRY(Mark(child, root.of));
        if (above > 1) below.insert(below.end(), children.begin(), children.end());
      }
      level = std::move(below);
    }
    return Done{};
  }

  // Pages that list others; SQLite takes new ones from there.
  Status CheckFreePages() {
    const std::string of = "the list of free pages";
    uint64_t count = 0;
    for (uint32_t list = GetU32(&header_[kFirstFreePageAt]); list != 0;) {
      TRACEDB_TRY(Mark(list, of));
      TRACEDB_TRY(Read(list));
      const uint32_t listed = GetU32(&page_[4]);
      if (listed > sizes_.usable_bytes / 4 - 2) return Damaged(of + " is longer than its page");
      for (uint32_t i = 0; i < listed; ++i) {
        TRACEDB_TRY(Mark(GetU32(&page_[8 + 4 * size_t{i}]), of));
      }
      count += 1 + uint64_t{listed};
      list = GetU32(&page_[0]);
    }
    if (count == GetU32(&header_[kFreePagesAt])) return Done{};
    return Damaged(of + " has not as many as the header says");
  }

  SqliteDb& db_;
  const std::atomic<bool>* stop_;
  sqlite3_file* file_ = nullptr;
  std::array<uint8_t, kDatabaseHeaderBytes> header_{};
  PageSizes sizes_;
  std::vector<bool> seen_;  // by page number
  Page page_;
};

}  // namespace

Error DamagedDatabase(const SqliteDb& db, const std::string& what) {
  return Error{ErrorKind::kOutput, db.path().string() + ": the database is damaged: " + what,
               "nothing was added; ingest its traces again into a new one, named with --db"};
}

Status CheckPages(SqliteDb& db, const std::atomic<bool>* stop) {
  TRACEDB_TRY(db.Execute("BEGIN"));
  const Status checked = PageCheck(db, stop).Run();
  const Status ended = db.Execute("ROLLBACK");
  TRACEDB_TRY(checked);
  return ended;
}

}  // namespace tracedb
