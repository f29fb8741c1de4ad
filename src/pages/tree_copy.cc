#include "tracedb/pages/tree_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "pages/record_sums.h"
#include "pages/table_appender.h"
#include "pages/tree_rows.h"
#include "tracedb/base/descriptor.h"
#include "tracedb/pages/index_appender.h"
#include "tracedb/pages/page_file.h"

namespace tracedb {
namespace {

template <typename Append>
Status CopyRows(const TreeRows::File& from, const CopiedTree& tree, const Append& append) {
  const size_t record_bytes_min = tree.is_index ? 3 : 2;  // as the appenders want it
  TreeRows rows(from, tree.root, tree.is_index);
  RecordSums sums(tree.sums);
  TreeRows::Row row;
  std::optional<int64_t> last;
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Next(row));
    if (!any) return Done{};
    const auto record = sums.Add(row.record);
    int64_t rowid = 0;
    const bool is_sound = record.size() >= record_bytes_min &&
                          !__builtin_add_overflow(row.rowid, tree.add_to_rowid, &rowid) &&
                          (tree.is_index || !last.has_value() || rowid > *last);
    if (!is_sound) {
      return Error{ErrorKind::kOutput, from.path.string() + ": a row that is none",
                   "check the disk"};
    }
    last = rowid;
    TRACEDB_TRY(append(rowid, record));
  }
}

Status CopyTree(const TreeRows::File& from, PageFile& to, const CopiedTree& tree) {
  if (tree.is_index) {
    TRACEDB_ASSIGN(index, IndexAppender::Create(to, tree.root));
    TRACEDB_TRY(CopyRows(from, tree, [&](int64_t, std::span<const uint8_t> record) {
      return index.Append(record);
    }));
    return index.Finish();
  }
  TRACEDB_ASSIGN(table, TableAppender::Create(to, tree.root));
  TRACEDB_TRY(CopyRows(from, tree, [&](int64_t rowid, std::span<const uint8_t> record) {
    return table.Append(rowid, record);
  }));
  return table.Finish();
}

}  // namespace

Status CopyTrees(const std::filesystem::path& from, const std::filesystem::path& to,
                 const std::vector<CopiedTree>& trees) {
  TRACEDB_ASSIGN(file, PageFile::Open(to));
  const Descriptor opened(open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (opened.number < 0 || fstat(opened.number, &status) != 0) {
    return Error{ErrorKind::kOutput, from.string() + ": cannot read it: " + std::strerror(errno),
                 "check the disk"};
  }
  const auto pages = static_cast<uint32_t>(status.st_size / file->sizes().page_bytes);
  const TreeRows::File source{opened.number, from, file->sizes(), pages};
  for (const CopiedTree& tree : trees) TRACEDB_TRY(CopyTree(source, *file, tree));
  return file->Finish();
}

}  // namespace tracedb
