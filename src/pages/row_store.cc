#include "tracedb/pages/row_store.h"

#include <utility>

#include "pages/table_appender.h"
#include "tracedb/pages/page_file.h"

namespace tracedb {
RowStore::RowStore(std::unique_ptr<PageFile> file) : file_(std::move(file)) {}
RowStore::RowStore(RowStore&&) noexcept = default;
RowStore& RowStore::operator=(RowStore&&) noexcept = default;
RowStore::~RowStore() = default;

Result<RowStore> RowStore::Open(const std::filesystem::path& path,
                                const std::vector<uint32_t>& roots, bool on_thread) {
  PageFileOptions options;
  options.write_on_thread = on_thread;
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
