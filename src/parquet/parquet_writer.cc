#include "tracedb/parquet/parquet_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "parquet/file_layout.h"

namespace tracedb {
namespace {

constexpr size_t kGroupRows = 16384;  // few enough for one of many to be looked up
constexpr size_t kTextBytesMax = 8 << 20;

Error WriteError(const std::filesystem::path& path, const char* doing) {
  return Error{ErrorKind::kOutput,
               path.string() + ": cannot " + doing + ": " + std::strerror(errno),
               "check that the folder exists, may be written, and has room"};
}

}  // namespace

Result<ParquetWriter> ParquetWriter::Create(const std::filesystem::path& path,
                                            std::vector<ParquetColumn> columns) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return WriteError(path, "create");
  return ParquetWriter(path, file, std::move(columns));
}

ParquetWriter::ParquetWriter(std::filesystem::path path, int file,
                             std::vector<ParquetColumn> columns)
    : path_(std::move(path)), file_(file), columns_(std::move(columns)), values_(columns_.size()) {
  for (size_t i = 0; i < columns_.size(); ++i) values_[i].type = columns_[i].type;
  encoder_ = std::make_unique<ParquetEncoder>(
      ParquetPacking{}, [at = path_, file](std::string_view bytes) -> Status {
        while (!bytes.empty()) {
          const ssize_t done = write(file, bytes.data(), bytes.size());
          if (done < 0 && errno == EINTR) continue;
          if (done < 0) return WriteError(at, "write");
          bytes.remove_prefix(static_cast<size_t>(done));
        }
        return Done{};
      });
}

ParquetWriter::ParquetWriter(ParquetWriter&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      columns_(std::move(other.columns_)),
      values_(std::move(other.values_)),
      encoder_(std::move(other.encoder_)),
      rows_(other.rows_) {}

ParquetWriter::~ParquetWriter() {
  if (file_ >= 0) close(file_);
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
  if (values_.front().rows() == 0) return Done{};
  for (size_t i = 0; i < values_.size(); ++i) {
    Status added = encoder_->AddColumn(values_[i], columns_[i].name);
    if (!added.ok()) {
      Error error = std::move(added).error();
      if (!error.what.starts_with(path_.string())) error.what = path_.string() + ": " + error.what;
      return error;
    }
    values_[i].Clear();
  }
  return encoder_->EndGroup();
}

Status ParquetWriter::Finish() {
  TRACEDB_TRY(EndGroup());
  TRACEDB_TRY(encoder_->Finish(columns_));
  if (fsync(file_) != 0) return WriteError(path_, "sync");
  return close(std::exchange(file_, -1)) == 0 ? Status(Done{}) : WriteError(path_, "close");
}

}  // namespace tracedb
