#include "tracedb/parquet/parquet_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "parquet/file_layout.h"
#include "parquet/page_compression.h"
#include "parquet/value_page.h"

namespace tracedb {
namespace {

constexpr int64_t kFooterBytesMax = 8 << 20;
constexpr int64_t kEndBytes = 8;  // the footer's length, and the mark

int64_t At(std::string_view all, std::string_view rest) {
  return static_cast<int64_t>(all.size() - rest.size());
}

// The next page of a chunk, unpacked; nothing where it is damaged.
std::optional<PageHeader> TakePage(std::string_view& rest, PageUnpacker& unpacker,
                                   std::optional<std::string>& page) {
  const auto head = ReadPageHeader(rest);
  if (!head.has_value()) return std::nullopt;
  rest.remove_prefix(head->second);
  const auto packed = static_cast<size_t>(head->first.packed_bytes);
  if (packed > rest.size()) return std::nullopt;
  page = unpacker.Unpack(rest.substr(0, packed), static_cast<size_t>(head->first.unpacked_bytes));
  rest.remove_prefix(packed);
  return page.has_value() ? std::optional(head->first) : std::nullopt;
}

}  // namespace

struct ParquetReader::Contents {
  std::filesystem::path path;
  int file = -1;
  int64_t bytes = 0;
  FileLayout layout;
  PageUnpacker unpacker;

  ~Contents() {
    if (file >= 0) close(file);
  }
  Error Bad(const std::string& what) const {
    return Error{ErrorKind::kInput, path.string() + ": " + what,
                 "run tracedb ingest --shard for that rank again: it replaces the file"};
  }
  Result<std::string> Take(int64_t offset, int64_t count) const {
    std::string taken(static_cast<size_t>(count), '\0');
    for (size_t done = 0; done < taken.size();) {
      const ssize_t got = pread(file, taken.data() + done, taken.size() - done,
                                static_cast<off_t>(offset + static_cast<int64_t>(done)));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Bad(std::string("cannot read: ") + std::strerror(errno));
      if (got == 0) return Bad("it ends too early");
      done += static_cast<size_t>(got);
    }
    return taken;
  }
  Status ReadLayout();
};

Status ParquetReader::Contents::ReadLayout() {
  const auto mark = static_cast<int64_t>(kParquetMagic.size());
  if (bytes < 2 * mark + kEndBytes) return Bad("too short for a Parquet file");
  TRACEDB_ASSIGN(start, Take(0, mark));
  TRACEDB_ASSIGN(end, Take(bytes - kEndBytes, kEndBytes));
  uint32_t length = 0;
  std::memcpy(&length, end.data(), sizeof length);
  if (start != kParquetMagic || !end.ends_with(kParquetMagic)) return Bad("no Parquet file");
  const int64_t footer_at = bytes - kEndBytes - int64_t{length};
  if (length > kFooterBytesMax || footer_at < mark) return Bad("its footer cannot be so long");
  TRACEDB_ASSIGN(footer, Take(footer_at, length));
  auto found = ReadFooter(footer);
  if (!found.has_value()) return Bad("its footer is not as tracedb writes it");
  layout = *std::move(found);
  for (const ParquetRowGroup& group : layout.groups) {
    for (const ColumnChunk& chunk : group.chunks) {
      const int64_t pages_at = chunk.dictionary_offset.value_or(chunk.offset);
      const bool fits = pages_at >= mark && chunk.packed_bytes >= 0 && pages_at <= footer_at &&
                        chunk.packed_bytes <= footer_at - pages_at;
      if (!fits) return Bad("its footer names places beyond its end");
    }
  }
  return Done{};
}

ParquetReader::ParquetReader(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
ParquetReader::~ParquetReader() = default;
ParquetReader::ParquetReader(ParquetReader&& other) noexcept = default;

Result<ParquetReader> ParquetReader::Open(const std::filesystem::path& path) {
  auto contents = std::make_unique<Contents>();
  contents->path = path;
  contents->file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (contents->file < 0) {
    return contents->Bad(std::string("cannot open: ") + std::strerror(errno));
  }
  struct stat status {};
  if (fstat(contents->file, &status) != 0 || !S_ISREG(status.st_mode)) {
    return contents->Bad("not a regular file");
  }
  contents->bytes = status.st_size;
  TRACEDB_TRY(contents->ReadLayout());
  return ParquetReader(std::move(contents));
}

const std::vector<ParquetColumn>& ParquetReader::columns() const {
  return contents_->layout.columns;
}
size_t ParquetReader::groups() const { return contents_->layout.groups.size(); }
int64_t ParquetReader::GroupRows(size_t group) const {
  return contents_->layout.groups[group].rows;
}
std::optional<std::pair<int64_t, int64_t>> ParquetReader::Range(size_t group, size_t column) const {
  return contents_->layout.groups[group].chunks[column].range;
}

Result<ParquetValues> ParquetReader::Read(size_t group, size_t column) const {
  const ParquetRowGroup& from = contents_->layout.groups[group];
  const ColumnChunk& chunk = from.chunks[column];
  const ParquetColumn& kind = contents_->layout.columns[column];
  const auto bad = [&] { return contents_->Bad("column " + kind.name + " is damaged"); };
  const int64_t start = chunk.dictionary_offset.value_or(chunk.offset);
  if (chunk.packed_bytes > 2 * LayoutLimits::kPageBytesMax) return bad();
  TRACEDB_ASSIGN(bytes, contents_->Take(start, chunk.packed_bytes));
  std::string_view rest = bytes;
  std::optional<std::string> texts;  // what `dictionary` points into
  std::optional<std::vector<std::string_view>> dictionary;
  if (chunk.dictionary_offset.has_value()) {
    const auto head = TakePage(rest, contents_->unpacker, texts);
    if (!head.has_value() || !head->is_dictionary || start + At(bytes, rest) != chunk.offset ||
        head->rows < 0) {
      return bad();
    }
    dictionary = DecodeDictionary(*texts, static_cast<size_t>(head->rows));
    if (!dictionary.has_value()) return bad();
  }
  std::optional<std::string> page;
  const auto head = TakePage(rest, contents_->unpacker, page);
  const bool fits = head.has_value() && !head->is_dictionary && head->rows == from.rows &&
                    head->encoding == chunk.encoding && rest.empty();
  if (!fits) return bad();
  auto values = DecodePage(*page, kind.type, head->encoding, static_cast<size_t>(head->rows),
                           dictionary.has_value() ? *dictionary : std::vector<std::string_view>());
  if (!values.has_value()) return bad();
  return *std::move(values);
}

}  // namespace tracedb
