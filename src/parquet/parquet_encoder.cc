#include "tracedb/parquet/parquet_encoder.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "parquet/file_layout.h"
#include "parquet/page_compression.h"
#include "parquet/value_page.h"

namespace tracedb {
namespace {

// Some 100 MB of what the footer says of them: 3 billion rows of 20 columns.
constexpr size_t kChunksMax = size_t{1} << 20;

struct Page {
  PageEncoding encoding = PageEncoding::kPlain;
  std::string bytes;
  std::string packed;
};

Page PageOf(PageEncoding encoding, std::string bytes, PagePacker& packer, int level) {
  std::string packed = packer.Pack(bytes, level);
  return {encoding, std::move(bytes), std::move(packed)};
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

// PLAIN, or what is shorter. Of NULLs alone it is PLAIN, which fits a column of any type.
Page BestPage(const ParquetValues& values, bool is_empty, const ValueDictionary* dictionary,
              PagePacker& packer, int level) {
  const auto page = [&](PageEncoding encoding, std::string bytes) {
    return PageOf(encoding, std::move(bytes), packer, level);
  };
  if (dictionary != nullptr) {
    return page(PageEncoding::kRleDictionary, EncodePage(values, *dictionary));
  }
  Page plain = page(PageEncoding::kPlain, EncodePage(values, PageEncoding::kPlain));
  if (values.type != ParquetType::kInteger || is_empty) return plain;
  Page deltas =
      page(PageEncoding::kDeltaBinaryPacked, EncodePage(values, PageEncoding::kDeltaBinaryPacked));
  return deltas.packed.size() < plain.packed.size() ? deltas : plain;
}

}  // namespace

struct ParquetEncoder::Groups {
  std::vector<ParquetRowGroup> all;
  ParquetRowGroup next;
  size_t chunks = 0;
  PagePacker packer;
};

ParquetEncoder::ParquetEncoder(ParquetPacking packing, Take take)
    : packing_(packing), take_(std::move(take)), groups_(std::make_unique<Groups>()) {}
ParquetEncoder::~ParquetEncoder() = default;
ParquetEncoder::ParquetEncoder(ParquetEncoder&& other) noexcept = default;

Status ParquetEncoder::Write(std::string_view bytes) {
  bytes_ += static_cast<int64_t>(bytes.size());
  return take_(bytes);
}

Status ParquetEncoder::AddColumn(const ParquetValues& values, std::string_view name) {
  if (bytes_ == 0) TRACEDB_TRY(Write(kParquetMagic));
  if (++groups_->chunks > kChunksMax) {
    return Error{ErrorKind::kOutput, "too many rows for one Parquet file",
                 "ask for fewer at a time, with LIMIT or WHERE"};
  }
  ColumnChunk chunk;
  chunk.rows = static_cast<int64_t>(values.rows());
  chunk.nulls = std::count(values.is_there.begin(), values.is_there.end(), uint8_t{0});
  chunk.range = RangeOf(values);
  const auto write = [&](PageHeader header, const std::string& packed) -> Status {
    if (std::max(header.unpacked_bytes, header.packed_bytes) > LayoutLimits::kPageBytesMax) {
      return Error{ErrorKind::kOutput,
                   "column '" + std::string(name) + "': a text is too long for a Parquet file",
                   "leave it out, or cut it with substr()"};
    }
    const std::string head = WritePageHeader(header);
    chunk.packed_bytes += static_cast<int64_t>(head.size() + packed.size());
    chunk.unpacked_bytes += static_cast<int64_t>(head.size()) + header.unpacked_bytes;
    TRACEDB_TRY(Write(head));
    return Write(packed);
  };
  const bool may_repeat = packing_.dictionary && values.is_bytes();
  const auto dictionary = may_repeat ? MakeDictionary(values) : std::nullopt;
  if (dictionary.has_value()) {
    chunk.dictionary_offset = bytes_;
    const std::string packed = groups_->packer.Pack(dictionary->page, packing_.zstd_level);
    TRACEDB_TRY(
        write({true, PageEncoding::kPlain, static_cast<int64_t>(dictionary->texts),
               static_cast<int64_t>(packed.size()), static_cast<int64_t>(dictionary->page.size())},
              packed));
  }
  const Page page =
      BestPage(values, chunk.nulls == chunk.rows, dictionary.has_value() ? &*dictionary : nullptr,
               groups_->packer, packing_.zstd_level);
  chunk.encoding = page.encoding;
  chunk.offset = bytes_;
  TRACEDB_TRY(write({false, page.encoding, chunk.rows, static_cast<int64_t>(page.packed.size()),
                     static_cast<int64_t>(page.bytes.size())},
                    page.packed));
  groups_->next.chunks.push_back(chunk);
  return Done{};
}

Status ParquetEncoder::EndGroup() {
  ParquetRowGroup& group = groups_->next;
  group.rows = group.chunks.empty() ? 0 : group.chunks.front().rows;
  rows_ += group.rows;
  groups_->all.push_back(std::exchange(group, {}));
  return Done{};
}

Status ParquetEncoder::Finish(const std::vector<ParquetColumn>& columns) {
  if (bytes_ == 0) TRACEDB_TRY(Write(kParquetMagic));
  const std::string footer = WriteFooter({columns, std::move(groups_->all), rows_});
  const auto length = static_cast<uint32_t>(footer.size());
  std::string end(sizeof length, '\0');
  std::memcpy(end.data(), &length, sizeof length);
  TRACEDB_TRY(Write(footer));
  TRACEDB_TRY(Write(end));
  return Write(kParquetMagic);
}

}  // namespace tracedb
