#include "tracedb/parquet/parquet_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "parquet/file_layout.h"
#include "parquet/page_compression.h"
#include "parquet/value_page.h"

namespace tracedb {
namespace {

constexpr size_t kGroupRows = 16384;  // few enough for one of many to be looked up
constexpr size_t kTextBytesMax = 8 << 20;

Error WriteError(const std::filesystem::path& path, const char* doing) {
  return Error{ErrorKind::kOutput,
               path.string() + ": cannot " + doing + ": " + std::strerror(errno),
               "check that the folder exists, may be written, and has room"};
}

std::optional<std::pair<int64_t, int64_t>> RangeOf(const ParquetValues& values) {
  std::optional<std::pair<int64_t, int64_t>> range;
  if (values.type != ParquetType::kInteger) return range;
  for (size_t row = 0; row < values.rows(); ++row) {
    if (values.is_there[row] == 0) continue;
    const int64_t value = values.integers[row];
    if (!range.has_value()) range = {value, value};
    range->first = std::min(range->first, value);
    range->second = std::max(range->second, value);
  }
  return range;
}

}  // namespace

struct ParquetWriter::Groups {
  std::vector<ParquetRowGroup> all;
};

Result<ParquetWriter> ParquetWriter::Create(const std::filesystem::path& path,
                                            std::vector<ParquetColumn> columns) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return WriteError(path, "create");
  ParquetWriter writer(path, file, std::move(columns));
  TRACEDB_TRY(writer.Write(kParquetMagic));
  return writer;
}

ParquetWriter::ParquetWriter(std::filesystem::path path, int file,
                             std::vector<ParquetColumn> columns)
    : path_(std::move(path)),
      file_(file),
      columns_(std::move(columns)),
      values_(columns_.size()),
      groups_(std::make_unique<Groups>()) {
  for (size_t i = 0; i < columns_.size(); ++i) values_[i].type = columns_[i].type;
}

ParquetWriter::ParquetWriter(ParquetWriter&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      columns_(std::move(other.columns_)),
      values_(std::move(other.values_)),
      groups_(std::move(other.groups_)),
      rows_(other.rows_),
      offset_(other.offset_) {}

ParquetWriter::~ParquetWriter() {
  if (file_ >= 0) close(file_);
}

Status ParquetWriter::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(file_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return WriteError(path_, "write");
    bytes.remove_prefix(static_cast<size_t>(done));
    offset_ += done;
  }
  return Done{};
}

Status ParquetWriter::EndRow() {
  if (++rows_ > LayoutLimits::kRowsMax) {
    return Error{ErrorKind::kOutput, path_.string() + ": too many rows for a summary",
                 "without --shard the trace is ingested as ever"};
  }
  const bool is_long = std::any_of(values_.begin(), values_.end(), [](const ParquetValues& values) {
    return values.bytes.size() >= kTextBytesMax;
  });
  return values_.front().rows() >= kGroupRows || is_long ? EndGroup() : Status(Done{});
}

Status ParquetWriter::EndGroup() {
  ParquetRowGroup group;
  group.rows = static_cast<int64_t>(values_.front().rows());
  if (group.rows == 0) return Done{};
  for (ParquetValues& values : values_) {
    std::string page = EncodePage(values, PageEncoding::kPlain);
    std::string packed = CompressPage(page);
    ColumnChunk chunk;
    if (values.type == ParquetType::kInteger) {
      std::string deltas = EncodePage(values, PageEncoding::kDeltaBinaryPacked);
      std::string packed_deltas = CompressPage(deltas);
      if (packed_deltas.size() < packed.size()) {
        chunk.encoding = PageEncoding::kDeltaBinaryPacked;
        page = std::move(deltas);
        packed = std::move(packed_deltas);
      }
    }
    if (static_cast<int64_t>(page.size()) > LayoutLimits::kPageBytesMax) {
      return Error{ErrorKind::kOutput, path_.string() + ": a text is too long for a summary",
                   "tell the authors; without --shard the trace is ingested as ever"};
    }
    const std::string head =
        WritePageHeader({chunk.encoding, group.rows, static_cast<int64_t>(packed.size()),
                         static_cast<int64_t>(page.size())});
    chunk.offset = offset_;
    chunk.packed_bytes = static_cast<int64_t>(head.size() + packed.size());
    chunk.unpacked_bytes = static_cast<int64_t>(head.size() + page.size());
    chunk.nulls = std::count(values.is_there.begin(), values.is_there.end(), uint8_t{0});
    chunk.range = RangeOf(values);
    TRACEDB_TRY(Write(head));
    TRACEDB_TRY(Write(packed));
    group.chunks.push_back(chunk);
    values.Clear();
  }
  groups_->all.push_back(std::move(group));
  return Done{};
}

Status ParquetWriter::Finish() {
  TRACEDB_TRY(EndGroup());
  const std::string footer = WriteFooter({columns_, groups_->all, rows_});
  const auto length = static_cast<uint32_t>(footer.size());
  std::string end(sizeof length, '\0');
  std::memcpy(end.data(), &length, sizeof length);
  TRACEDB_TRY(Write(footer));
  TRACEDB_TRY(Write(end));
  TRACEDB_TRY(Write(kParquetMagic));
  if (fsync(file_) != 0) return WriteError(path_, "sync");
  return close(std::exchange(file_, -1)) == 0 ? Status(Done{}) : WriteError(path_, "close");
}

}  // namespace tracedb
