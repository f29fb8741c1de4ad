#include "tracedb/pages/row_store.h"

#include <utility>

#include "pages/sqlite_row_store.h"
#include "pages/table_appender.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/pages/page_file.h"

namespace tracedb {
namespace {

class PageRowStore final : public RowStore {
 public:
  explicit PageRowStore(std::unique_ptr<PageFile> file) : file_(std::move(file)) {}

  Status AddTable(uint32_t root_page) {
    TRACEDB_ASSIGN(table, TableAppender::Create(*file_, root_page));
    tables_.push_back(std::move(table));
    return Done{};
  }

  Status Append(size_t table, int64_t rowid, std::span<const uint8_t> record) override {
    return tables_[table].Append(rowid, record);
  }

  Status Finish() override {
    for (TableAppender& table : tables_) TRACEDB_TRY(table.Finish());
    return file_->Finish();
  }

 private:
  std::unique_ptr<PageFile> file_;
  std::vector<TableAppender> tables_;
};

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

Result<std::unique_ptr<RowStore>> OpenPages(const std::filesystem::path& path,
                                            const std::vector<std::string>& tables) {
  TRACEDB_ASSIGN(roots, RootPages(path, tables));
  PageFileOptions options;
  options.start_writeback_early = true;
  TRACEDB_ASSIGN(file, PageFile::Open(path, options));
  auto store = std::make_unique<PageRowStore>(std::move(file));
  for (const uint32_t root : roots) TRACEDB_TRY(store->AddTable(root));
  return std::unique_ptr<RowStore>(std::move(store));
}

}  // namespace

RowStore::~RowStore() = default;

Result<std::unique_ptr<RowStore>> RowStore::Open(const std::filesystem::path& path,
                                                 const std::vector<std::string>& tables,
                                                 const RowStoreOptions& options) {
  switch (options.writer) {
    case RowWriter::kPages:
      return OpenPages(path, tables);
    case RowWriter::kSqlite:
      return OpenSqliteRowStore(path, tables, options.cache_kib);
  }
  return Error{ErrorKind::kOutput, path.string() + ": no such writer", ""};
}

}  // namespace tracedb
