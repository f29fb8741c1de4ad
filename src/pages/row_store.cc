#include "tracedb/pages/row_store.h"

#include <utility>

#include "pages/table_appender.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/pages/page_file.h"

namespace tracedb {
namespace {

Result<std::vector<uint32_t>> RootPages(const std::filesystem::path& path,
                                        const std::vector<std::string>& tables) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(path, SqliteMode::kFrozen));
  TRACEDB_ASSIGN(
      root, db.Prepare("SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?1"));
  std::vector<uint32_t> roots;
  for (const std::string& table : tables) {
    TRACEDB_TRY(root.Bind(1, std::string_view(table)));
    TRACEDB_ASSIGN(found, root.Step());
    if (!found) {
      return Error{ErrorKind::kOutput, path.string() + ": has no table " + table, ""};
    }
    roots.push_back(static_cast<uint32_t>(root.Int(0)));
    root.Reset();
  }
  return roots;
}

}  // namespace

RowStore::RowStore(std::unique_ptr<PageFile> file) : file_(std::move(file)) {}
RowStore::RowStore(RowStore&&) noexcept = default;
RowStore& RowStore::operator=(RowStore&&) noexcept = default;
RowStore::~RowStore() = default;

Result<RowStore> RowStore::Open(const std::filesystem::path& path,
                                const std::vector<std::string>& tables) {
  TRACEDB_ASSIGN(roots, RootPages(path, tables));
  PageFileOptions options;
  options.start_writeback_early = true;
  TRACEDB_ASSIGN(file, PageFile::Open(path, options));
  RowStore store(std::move(file));
  for (const uint32_t root : roots) {
    TRACEDB_ASSIGN(table, TableAppender::Create(*store.file_, root));
    store.tables_.push_back(std::move(table));
  }
  return store;
}

Status RowStore::Append(size_t table, int64_t rowid, std::span<const uint8_t> record) {
  return tables_[table].Append(rowid, record);
}

Status RowStore::Finish() {
  for (TableAppender& table : tables_) TRACEDB_TRY(table.Finish());
  return file_->Finish();
}

}  // namespace tracedb
